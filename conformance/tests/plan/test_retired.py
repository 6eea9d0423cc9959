"""A case whose id changed is found by the one that it had, wherever somebody wrote it down."""

import datetime as dt

import pytest
from click.testing import CliRunner
from ep.plugin.claims import parse_version
from ep_conformance import SUITE
from ep_conformance.commands import list as listing
from ep_conformance.plan import retired
from ep_conformance.plan.catalogue import find
from ep_conformance.plan.retired import RETIRED, Retired
from ep_conformance.plan.waiver import Waiver

OLD = "primitives/copy/-/float32/dense/length-17"
NEW = "primitives/copy/-/float32/dense/size-17"


@pytest.fixture(autouse=True)
def _retire(monkeypatch):
    monkeypatch.setattr(retired, "RETIRED", (Retired(OLD, NEW, "1.1"),))


def test_case_is_found_by_its_retired_id():
    assert find(OLD).id == NEW
    assert find(NEW).id == NEW


def test_waiver_of_a_retired_id_covers_its_successor():
    waiver = Waiver(OLD, "late", "kernels", "https://bugs.toy.example/7", dt.date(2999, 1, 1))
    assert waiver.covers(NEW)
    assert not waiver.covers(NEW + "-and-more")


def test_filter_takes_a_retired_id():
    done = CliRunner().invoke(listing.command, ["--filter", OLD], standalone_mode=False)
    assert done.output.split() == [NEW]


def test_retired_ids_are_of_this_minor_or_the_one_before_and_have_successors():
    for each in RETIRED:
        (major, minor), (of_major, of_minor) = (parse_version(text)[:2] for text in (SUITE, each.since))
        assert (major, minor - of_minor in {0, 1}) == (of_major, True), f"{each.id}: drop it"
        assert find(each.successor).id == each.successor != each.id
