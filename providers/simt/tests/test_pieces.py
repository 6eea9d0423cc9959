"""Pieces of reductions: they hold each element of a row once, and their trees are no higher than the bound of a sum allows."""

from __future__ import annotations

import math

import ep_simt
import pytest
from ep_primitives import ArgReduce, Pool, Reduce
from ep_primitives.families.reduce.rows import summation
from ep_simt.packs import spread_of
from ep_simt.reductions.pieces import is_window, lanes, levels_of

import ep

TARGETS = pytest.mark.parametrize("target", [ep_simt.CPU, ep_simt.GPU], ids=["cpu", "gpu"])
LENGTHS = (1, 2, 63, 64, 65, 129, 4096, 4097, 70001, 1 << 20, (1 << 24) + 1, 1 << 31)
SHAPES = (
    *(((length,), None, (0,)) for length in LENGTHS),
    *(((length, 19), None, (0,)) for length in LENGTHS[:-1]),
    ((33, 7, 49), None, (0, 2)),
    ((257, 3, 70), None, (0, 2)),
    ((9, 5, 5000), None, (0, 2)),
    ((1000, 3, 5), None, (0, 2)),
    ((13, 65), (1, 0), (1,)),
)


def levels(shape, strides, axes, target):
    reduced = Reduce.infer("sum", ep.TensorSpec("float32", shape, strides), axes).reduced
    return levels_of(reduced, target, spread_of(("f32",), target))


def held(level, terms):
    """Return the elements of each piece, as runs of a first number and a length: the arithmetic of pieces.h."""
    run = terms // level.outer
    for piece in range(level.number):
        first, begin = piece // level.cuts * level.runs, piece % level.cuts * level.length
        length = min(level.length, run - begin)
        yield [(number * run + begin, length) for number in range(first, min(first + level.runs, level.outer))]


def joins(level, length, unit):
    """Return how many elements, or fours of them, a state takes in of a run, the most of all states."""
    if not level.is_along:
        return length // 8 * 2 + length % 8
    return length // (4 * unit) + length % (4 * unit) // unit + (length % unit > 0)


@TARGETS
@pytest.mark.parametrize(("shape", "strides", "axes"), SHAPES)
def test_pieces_hold_each_element_once(shape, strides, axes, target):
    terms = math.prod(shape[axis] for axis in axes)
    for level in levels(shape, strides, axes, target):
        if terms <= 1 << 20:  # more pieces are of the same arithmetic, and take seconds
            end = 0
            for piece in held(level, terms):
                for first, length in piece:
                    assert (first, length > 0) == (end, True)
                    end += length
            assert end == terms
        terms = level.number
    assert terms == 1


@TARGETS
@pytest.mark.parametrize(("shape", "strides", "axes"), SHAPES)
def test_no_element_meets_more_roundings_than_a_sum_may_have(shape, strides, axes, target):
    terms = count = math.prod(shape[axis] for axis in axes)
    height = 0
    for level in levels(shape, strides, axes, target):
        lane = lanes(target) if level.is_along else 1
        run, unit = count // level.outer, lane * level.span
        length = min(level.length, run)
        taken = min(level.runs, level.outer) * joins(level, length, unit)
        fours = 2 * (length >= (4 * unit if level.is_along else 8))
        meeting = math.log2(unit) if count > 1 else 0
        height += min(taken - 1 + fours + meeting, count - 1)
        count = level.number
    assert height <= 2 * summation(terms) + 1e-9


@TARGETS
def test_other_rows_change_no_pieces(target):
    few, many = (levels((rows, 70001), None, (1,), target) for rows in (1, 999))
    assert few == many


def launches(descriptor, target):
    """Return the launches of a descriptor, or of the only stage that it lowers to."""
    (stage,) = descriptor.lower() or (descriptor,)
    descriptor = getattr(stage, "descriptor", stage)
    return ep_simt.bodies()[descriptor.family].plan(descriptor, target).launches


@TARGETS
@pytest.mark.parametrize(
    ("shape", "strides", "axes", "is_one"),
    [
        ((99, 3), None, (1,), True),
        ((4, 9, 2), None, (0, 2), True),
        ((99, 8), None, (1,), False),  # as long as what is joined at once
        ((99, 3), (1, 99), (1,), False),  # a column
        ((99, 3), (3, -1), (1,), False),
        ((99, 3), (1, 0), (1,), False),
        ((64, 9, 2), None, (0, 2), False),  # more runs than a sum may have
    ],
)
def test_windows_are_short_runs_close_to_each_other(shape, strides, axes, is_one, target):
    reduced = Reduce.infer("sum", ep.TensorSpec("float32", shape, strides, 999), axes).reduced
    assert is_window(reduced, target) == is_one


@TARGETS
def test_no_element_of_a_window_meets_more_roundings_than_a_sum_may_have(target):
    for runs in range(1, 40):
        for run in range(2, 9):
            reduced = Reduce.infer("sum", ep.TensorSpec("float32", (runs, 2, run)), (0, 2)).reduced
            if is_window(reduced, target):
                assert min(runs + run - 2, runs * run - 1) <= 2 * summation(runs * run) + 1e-9


@pytest.mark.parametrize(
    ("shape", "strides", "window", "between", "beside"),
    [
        ((2, 40, 56, 57), None, 2, 2, 2),
        ((2, 40, 56, 57), None, 3, 2, 2),
        ((2, 40, 56, 57), None, 2, 3, 0),  # elements of no window lie between
        ((2, 3, 56, 57), (9576, 1, 171, 3), 3, 2, 6),  # channels last: those between are other channels'
        ((2, 3, 56, 57), (19152, 2, 342, 6), 3, 1, 0),  # others' elements lie between
    ],
)
def test_windows_beside_each_other_share_what_is_theirs(shape, strides, window, between, beside):
    pool = Pool.infer("max", ep.TensorSpec("float32", shape, strides), window, strides=between)
    (launch,) = launches(pool, ep_simt.CPU)
    assert (launch.entry, launch.arguments[-2]) == ("reduce_windows", beside)


def test_windows_whose_elements_are_numbered_share_nothing():
    (launch,) = launches(ArgReduce.infer("max", ep.TensorSpec("float32", (99, 3)), 1), ep_simt.CPU)
    assert launch.entry == "reduce_columns"


@pytest.mark.parametrize(
    ("run", "spread", "span"), [(16, 16, 1), (16, 4, 4), (128, 4, 4), (1024, 8, 16), (4096, 4, 64), (128, 1, 32)]
)
def test_as_many_work_items_share_a_run_as_it_pays(run, spread, span):
    reduced = Reduce.infer("sum", ep.TensorSpec("float32", (8, run)), (1,)).reduced
    assert levels_of(reduced, ep_simt.GPU, spread)[0].span == span
