"""The .def files against the families: each row is an op of its family, with its results and attributes."""

from __future__ import annotations

import ep_simt
import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS
from ep_simt import ELEMENTS
from ep_simt.elements import kinds_of
from ep_simt.elementwise.rows import _row, rows

import ep

INFO = ep.DeviceInfo("any", "EP", dtypes=frozenset(ELEMENTS))
_TABLES = {"elementwise_unary": UNARY_OPS, "broadcast_binary": BINARY_OPS}


@pytest.mark.parametrize("family", _TABLES)
def test_rows_are_ops_of_the_family_for_types_that_the_dialect_has(family):
    known = {
        (op.name, kind)
        for op in _TABLES[family].values()
        for dtype in op.dtypes
        if dtype in ELEMENTS
        for kind in kinds_of(ELEMENTS[dtype])
    }
    have = [(row.op, row.kind) for row in rows(family)]
    assert len(have) == len(set(have))
    assert set(have) <= known


@pytest.mark.parametrize("family", ep.families().values(), ids=lambda family: family.name)
def test_every_cell_has_kernels_or_lowers_to_what_has(family):
    lacking = {cell.op: cell.dtypes for cell in family.cells() if not ep_simt.has_kernels(family.sample(cell), INFO)}
    assert lacking == {}


@pytest.mark.parametrize("family", _TABLES)
def test_rows_agree_with_the_ops_in_result_and_attributes(family):
    for row in rows(family):
        op = _TABLES[family][row.op]
        outs = {"bool": "TEST", "complex": "COMPLEX", "real": "REAL" if row.kind in {"PARTS", "COMPLEX"} else "SAME"}
        assert row.result == outs.get(op.out, "SAME"), row.op
        assert len(row.attributes) == len(op.attributes), row.op


def test_family_without_ops_has_no_rows():
    assert rows("cast") == ()


def test_malformed_row_is_refused():
    with pytest.raises(ValueError, match="is not a row"):
        _row("EP_UNARY(FLOATING, SAME, exp)", "elementwise_unary.def")
