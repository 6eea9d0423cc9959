"""The graph benchmark's rows; its timings decide nothing here."""

from __future__ import annotations

from ep_benchmarks.graph import graph_rows

import ep


def test_graph_rows_measure_graphs_and_what_they_replace():
    device = ep.device("cpu:0")
    rows = [*graph_rows(device, entries=(3,))]
    assert [row.name for row in rows] == [
        "graph of 3",
        "rebound graph of 3",
        "bound launches of 3",
        "checked launches of 3",
    ]
    assert all(row.microseconds > 0 for row in rows)
    assert all("checked" in row.peers for row in rows[:-1])


def test_budget_stands_where_the_call_itself_does_not_count():
    budgets = {row.name: row.budget for row in graph_rows(ep.device("cpu:0"), entries=(1000,))}
    assert budgets["graph of 1000"] == 0.01
    assert [name for name, budget in budgets.items() if budget is not None] == ["graph of 1000"]
