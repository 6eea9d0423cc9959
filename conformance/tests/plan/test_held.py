"""Ids and cells that were published stay: claims, waivers and replay files of others name them."""

import held


def test_every_id_and_cell_that_was_published_is_there_today():
    found = held.today()
    gone = [f"{place}/{name}" for place, names in held.held().items() for name in names - found.get(place, set())]
    assert sorted(gone)[:20] == [], f"{len(gone)} are gone"


def test_the_file_holds_cells_with_versions_their_cases_and_those_of_the_runtime():
    found = held.held()
    assert "wait-orders-copies" in found["runtime/event"]
    assert "70001-batches" in found["matmul/-/float32/dense since 1.0"]
    assert sum(map(len, found.values())) >= 100_000
