"""The overlap benchmark's rows; its timings decide nothing here."""

from __future__ import annotations

import pytest
from ep_benchmarks import overlap
from ep_benchmarks.overlap import Overlap, overlap_rows, streams_row

import ep


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(overlap, "_SECONDS", 0.0005)
    monkeypatch.setattr(overlap, "_ROUNDS", 2)


def test_rows_pair_kernels_copies_and_the_host():
    rows = [*overlap_rows(ep.device("cpu:0"))]
    assert [row.name.split()[0] for row in rows] == ["kernels", "kernels", "copies", "kernels", "kernels", "copies"]
    assert all(min(row.first, row.second, row.both) > 0 for row in rows)


def test_same_launches_are_timed_on_one_two_and_four_streams():
    assert sorted(streams_row(ep.device("cpu:0"))) == [1, 2, 4]


@pytest.mark.parametrize(("both", "share"), [(4.0, 1.0), (6.0, 0.0), (5.0, 0.5), (7.0, -0.5)])
def test_share_is_of_the_shorter_work(both, share):
    assert Overlap("pair", 4.0, 2.0, both).share == share
