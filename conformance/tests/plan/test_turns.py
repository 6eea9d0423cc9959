"""Turns: every op keeps a type, every type keeps an op."""

from __future__ import annotations

import pytest
from ep_conformance.plan.catalogue import cells
from ep_conformance.plan.turns import in_turn

EVERY_CELL = list(cells())


def test_one_is_all():
    assert list(in_turn(EVERY_CELL, 1)) == EVERY_CELL


@pytest.mark.parametrize("every", [2, 4, 100])
def test_each_op_keeps_whole_types(every):
    left = list(in_turn(EVERY_CELL, every))
    assert {(family.name, cell.op) for family, cell in left} == {(family.name, cell.op) for family, cell in EVERY_CELL}
    chosen = {(family.name, cell.op, cell.dtypes) for family, cell in left}
    assert left == [pair for pair in EVERY_CELL if (pair[0].name, pair[1].op, pair[1].dtypes) in chosen]


@pytest.mark.parametrize("name", ["elementwise_unary", "broadcast_binary"])
def test_each_type_keeps_an_op(name):
    left = list(in_turn(EVERY_CELL, 4))
    types = {cell.dtypes for family, cell in EVERY_CELL if family.name == name}
    assert {cell.dtypes for family, cell in left if family.name == name} == types


def test_so_many_are_left():
    types = {(family.name, cell.op, cell.dtypes) for family, cell in EVERY_CELL}
    left = {(family.name, cell.op, cell.dtypes) for family, cell in in_turn(EVERY_CELL, 4)}
    assert len(types) / 4 <= len(left) <= len(types) / 3
