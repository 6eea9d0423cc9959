"""Plans of the families that move elements: when tiles are taken, how more terms than a launch takes are summed, and steps of any size."""

from __future__ import annotations

import struct

import pytest
from ep_primitives import AddN, Copy, Gather, LayerNorm, Pad, Permute
from ep_simt import CPU, GPU, Operand, bodies
from ep_simt.elementwise.visit import long_rows

import ep


def plan(descriptor, target=CPU):
    """Return the plan of a descriptor."""
    return bodies()[descriptor.family].plan(descriptor, target)


def spec(*shape, dtype="float32", strides=None):
    """Return a spec."""
    return ep.TensorSpec(dtype, shape, strides)


@pytest.mark.parametrize(
    ("shape", "permutation", "entry"),
    [
        ((70, 90), (1, 0), "relocation_tiles"),
        ((5, 70, 90), (0, 2, 1), "relocation_tiles"),
        ((8, 64, 4, 16), (0, 2, 1, 3), "relocation_strided"),  # neighbours stay neighbours
        ((5, 3, 4096), (0, 2, 1), "relocation_strided"),  # rows of three
        ((70, 90), (0, 1), "relocation_dense"),
    ],
)
def test_tiles_are_for_dimensions_that_change_places(shape, permutation, entry):
    (launch,) = plan(Permute.infer(spec(*shape), permutation)).launches
    assert launch.entry == entry


def test_copy_of_a_transposed_tensor_is_as_its_permute():
    copied = plan(Copy.infer(spec(90, 70, strides=(1, 90))))
    permuted = plan(Permute.infer(spec(70, 90), (1, 0)))
    assert copied.launches == permuted.launches
    assert bodies()["copy"].program(Copy.infer(spec(3)).key, CPU) == bodies()["permute"].program(
        Permute.infer(spec(3), (0,)).key, CPU
    )


def test_tiles_of_a_launch_are_whole_groups():
    (launch,) = plan(Permute.infer(spec(5, 70, 130), (0, 2, 1)), GPU).launches
    assert (launch.items, launch.group) == (5 * 2 * 3 * GPU.group, GPU.group)


def test_longest_dimension_is_innermost_where_rows_are_short_and_work_items_are_loops():
    space = Copy.infer(spec(5, 4096, 3, strides=(20000, 4, 1))).geometry
    assert long_rows(space, CPU).shape == (5, 3, 4096)
    assert long_rows(space, CPU).strides[0] == (20000, 1, 4)
    assert long_rows(space, GPU) == space


@pytest.mark.parametrize(("terms", "launches"), [(1, 1), (4, 1), (5, 2), (7, 2), (8, 3), (64, 21)])
def test_terms_are_summed_four_at_once_and_out_is_written_last(terms, launches):
    found = plan(AddN.infer(*[spec(9)] * terms))
    assert len(found.launches) == launches
    assert found.scratch_nbytes == (36 if launches > 1 else 0)
    out = Operand(terms, 4)
    assert [out in launch.arguments for launch in found.launches] == [False] * (launches - 1) + [True]
    read = [a.place for each in found.launches for a in dict.fromkeys(each.arguments) if isinstance(a, Operand)]
    assert [place for place in read if place < terms] == list(range(terms))


def test_partial_sums_are_of_the_compute_type():
    assert plan(AddN.infer(*[spec(9, dtype="bfloat16")] * 5)).scratch_nbytes == 36


def steps(launch):
    """Return the columns of the launch's geometry in its last dimension."""
    numbers = struct.unpack("<102i", launch.arguments[-1])
    return [numbers[22 + 16 * column + numbers[0] - 1] for column in range(5)]


def test_step_of_an_extent_of_one_may_be_of_any_size():
    x = spec(1, 5, strides=(2**40, 1))
    (padded,) = plan(Pad("constant", x=x, out=spec(3, 7), before=(1, 1), after=(1, 1))).launches
    assert steps(padded) == [0, 7, 1, 1, 0]
    (cropped,) = plan(
        Pad("constant", x=spec(2, 5), out=spec(1, 7, strides=(2**40, 1)), before=(-1, 1), after=(0, 1))
    ).launches
    assert cropped.arguments[0] == Operand(0, 4, 5)
    (gathered,) = plan(Gather.infer(x, spec(4, dtype="int64"), 0)).launches
    assert gathered.arguments[3:5] == (1, 0)


@pytest.mark.parametrize(("width", "strides", "few"), [(4, None, 4), (7, (9, 1), 7), (8, None, 1), (4, (1, 99), 1)])
def test_rows_of_few_are_moved_whole_where_work_items_are_loops(width, strides, few):
    descriptor = Gather.infer(spec(99, width, strides=strides), spec(300, dtype="int64"))
    (launch,) = plan(descriptor).launches
    assert launch.entry == ("gather_few_i64" if few > 1 else "gather_i64")
    assert few == 1 or launch.arguments[-2] == few
    (launch,) = plan(descriptor, GPU).launches
    assert launch.entry == "gather_i64"


@pytest.mark.parametrize(
    ("out", "target", "entry", "items"),
    [
        (spec(3, 34, 35), GPU, "pad_dense", -(-3 * 34 * 35 // 4)),
        (spec(3, 34, 35, dtype="int8"), GPU, "pad_dense", -(-3 * 34 * 35 // 16)),
        (spec(3, 34, 35, strides=(34 * 36, 36, 1)), GPU, "pad", 3 * 34 * 35),
        (spec(3, 34, 35), CPU, "pad", 1),
    ],
)
def test_words_of_a_dense_pad_cross_its_rows(out, target, entry, items):
    x = spec(3, 32, 32, dtype=out.dtype)
    (launch,) = plan(Pad("constant", x=x, out=out, before=(0, 1, 1), after=(0, 1, 2)), target).launches
    assert (launch.entry, launch.items) == (entry, items)


@pytest.mark.parametrize(
    ("extent", "dtype", "span"),
    [
        (1, "float32", 1),
        (32, "float32", 1),
        (768, "float32", 32),
        (1024, "bfloat16", 32),
        (1024, "float64", 64),
        (9000, "float32", 256),
    ],
)
def test_as_many_work_items_have_a_row_of_a_norm_as_hold_it(extent, dtype, span):
    (launch,) = plan(LayerNorm.infer(spec(1000, extent, dtype=dtype)), GPU).launches
    assert launch.items == -(-1000 * span // GPU.group) * GPU.group
