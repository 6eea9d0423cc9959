"""The HTML page without a browser: it is whole in itself, holds every case, and text is text."""

import json
import re
from html.parser import HTMLParser

import pytest
import samples
from ep.layout.cells import LAYOUTS
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import list_ids
from ep_conformance.plan.place import Place
from ep_conformance.report.columns import SHOWN, columns, shown
from ep_conformance.report.page import page_text, write_page

import ep

EVERY = samples.every_kind()
PAGE = page_text(EVERY)


class Reader(HTMLParser):
    """Collects elements, and the text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.words = []
        self.scripts = []
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside[-1:] == [tag]:
            self.inside.pop()

    def handle_data(self, data):
        (self.scripts if self.inside else self.words).append(data)


READ = Reader(PAGE)


def spread(pairs):
    return [value for value, count in zip(pairs[::2], pairs[1::2], strict=True) for _ in range(count)]


def carried(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


def test_page_needs_nothing_but_itself():
    for tag, attributes in READ.elements:
        assert tag not in {"iframe", "object", "embed", "base", "img", "video", "audio", "source"}
        assert "src" not in attributes
        assert tag != "link" or attributes["href"] == "data:,"
        assert not [name for name in attributes if name.startswith("on")]
    for text in READ.scripts:
        assert not re.search(
            r"@import|url\(|\bfetch\(|XMLHttpRequest|import\(|innerHTML|insertAdjacentHTML|document\.write|eval\(", text
        )


def test_policy_forbids_the_network():
    (policy,) = [each["content"] for tag, each in READ.elements if each.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:")


def test_text_of_vendors_is_text():
    assert samples.ATTACK not in PAGE
    assert "<script>document.title" not in PAGE
    scripts = [attributes for tag, attributes in READ.elements if tag == "script"]
    assert len([each for each in scripts if "id" in each]) == 1
    assert all(not attributes.get("href", "").startswith(("javascript:", "//")) for _, attributes in READ.elements)
    assert any("document.title='pwned'" in word for word in READ.words), "shown, as text"


@pytest.mark.parametrize("path", ["javascript:alert(1)", "a b/<c>.json", "../up.json"])
def test_replay_file_is_a_relative_address(path):
    page = page_text(samples.report(samples.verdict("one", Status.FAIL, replay=path)))
    (address,) = [each["href"] for _, each in Reader(page).elements if each.get("href", "").startswith("./")]
    assert not re.match(r"\w+:|//", address)
    assert not set("<> :") & set(address)


@pytest.mark.parametrize("path", ["//evil.example/x", "/tmp/x.json"])
def test_replay_file_of_one_machine_is_no_link(path):
    page = page_text(samples.report(samples.verdict("one", Status.FAIL, replay=path)))
    assert path in page
    assert not [each for _, each in Reader(page).elements if path in each.get("href", "")]


def test_replay_file_is_found_from_another_folder(tmp_path):
    page = tmp_path / "pages" / "page.html"
    page.parent.mkdir()
    write_page(
        samples.report(samples.verdict("one", Status.FAIL, replay="r-failures/one.json")), page, tmp_path / "json"
    )
    (address,) = [
        each["href"] for _, each in Reader(page.read_text()).elements if each.get("href", "").startswith("./")
    ]
    assert (page.parent / address).resolve() == (tmp_path / "json" / "r-failures" / "one.json").resolve()


def test_verdict_exit_code_and_environment_are_there_without_a_script():
    words = " ".join(" ".join(READ.words).split())
    for said in (
        EVERY.sentence,
        "Exit code 1",
        "Abacus | Two",
        "3.0 GiB",
        "3.0 MiB",
        "CPython 3.11.2",
        "EP_CPU_THREADS",
        "beads 3",
    ):
        assert said in words, said
    for verdict in EVERY.failures:
        assert verdict.id in words
    for said in ("2027-03-01", "@numerics", "copy/-/int16/strided", "call (1 cases)"):
        assert said in words, said


def test_every_case_is_carried_with_all_that_is_known_of_it():
    data = carried(PAGE)
    verdicts = EVERY.verdicts
    areas, statuses = spread(data["area"]), spread(data["status"])
    assert len(areas) == len(statuses) == data["count"] == len(verdicts)
    for at, verdict in enumerate(verdicts):
        family, op, dtypes, layout = data["areas"][4 * areas[at] : 4 * areas[at] + 4]
        place = Place(
            data["families"][family],
            data["ops"][op],
            data["dtypes"][dtypes],
            data["layouts"][layout],
            data["names"][data["name"][at]],
        )
        assert place.id == verdict.id
        assert data["shown"][statuses[at]] == shown(verdict)
        assert data["elements"][data["element"][dtypes]] == place.element
        for name in ("reason", "at"):
            where, values = data[name]
            text = data["texts"][values[where.index(at)]] if at in where else ""
            assert text == getattr(verdict.outcome, name)
        margin = dict(zip(*data["margin"], strict=True)).get(at)
        assert (margin is None) == (verdict.outcome.margin is None)
    more = dict(zip(*data["more"], strict=True))
    assert {at for at, each in enumerate(verdicts) if each.waiver or each.first or each.replay} == set(more)


def test_hundred_thousand_cases_take_less_than_10_mb():
    assert len(page_text(samples.large(5_000))) * 20 < 10_000_000


def test_a_run_in_which_everything_fails_is_a_page_as_well():
    failing = [samples.verdict(f"case-{at}", Status.FAIL, f"{at} {'x' * 2000}") for at in range(5000)]
    page = page_text(samples.report(*failing))
    assert len(page) < 6_000_000
    assert "left out here" in carried(page)["texts"][-1]


def test_page_of_nothing_is_a_page():
    assert "no case was expected to run" in page_text(samples.report())


def test_what_is_shown_are_the_statuses():
    assert set(SHOWN) == {*map(str, Status), "waived", "notice"}
    assert [shown(each) for each in EVERY.verdicts if each.waiver or each.notice] == ["waived", "notice"]


@pytest.mark.parametrize(
    ("dtypes", "element"),
    [
        ("float32", "float32"),
        ("int8->int32", "int8"),
        ("bool,float32->float32", "float32"),
        ("int32,int64->int32", "int32"),
        ("", ""),
    ],
)
def test_element_type_of_a_cell(dtypes, element):
    assert Place("where", "-", dtypes, "dense", "x").element == element


def test_places_are_those_of_the_families():
    cells = [cell for family in ep.families().values() for cell in family.cells()]
    assert {cell.layout for cell in cells} <= set(LAYOUTS)
    assert Place.of(f"primitives/{cells[0]}/x").cell == str(cells[0])


def test_columns_of_nothing():
    assert columns(())["count"] == 0


def test_pairs_that_a_run_has_met_are_counted_by_family():
    ids = [*list_ids("quick", "primitives/copy/*")]
    whole = page_text(samples.report(*(samples.verdict(each, Status.PASS) for each in ids)))
    (row,) = [line for line in whole.splitlines() if line.strip().startswith('<tr><td class="id">copy</td>')]
    met, possible = re.findall(r'<td class="number">([\d,]+)</td>', row)[:2]
    assert met == possible != "0"
    assert "nothing is repeated" in row
    part = page_text(samples.report(*(samples.verdict(each, Status.PASS) for each in ids[::2])))
    assert f'<td class="number">{met}</td><td class="number">{possible}</td>' not in part
