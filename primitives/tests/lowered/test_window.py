import math

import numpy as np
import pytest
from ep_primitives import ep_families
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.judging.layout import view

import ep


def cut(array, window):
    lead = len(window) - array.ndim
    places = zip(array.shape, window[lead:], strict=True)
    return array[tuple(slice(None) if extent == 1 else slice(begin, begin + n) for extent, (begin, n) in places)]


@pytest.mark.parametrize(
    "spec",
    [
        ep.TensorSpec("int32", (3, 4, 5)),
        ep.TensorSpec("int32", (3, 4, 5), (1, -15, 3), 45),
        ep.TensorSpec("int32", (4, 1), (7, 1), 2),
        ep.TensorSpec("int32", ()),
    ],
)  # fmt: skip - one spec a line
def test_window_of_a_spec_is_that_of_its_array(spec):
    memory = np.arange(100, dtype=np.int32)
    for window in (((0, 1), (0, 4), (0, 5)), ((1, 2), (3, 1), (0, 5)), ((2, 1), (1, 3), (2, 3))):
        mine = view(windowed(spec, window), memory.view(np.uint8))
        assert np.array_equal(mine, cut(view(spec, memory.view(np.uint8)), window))


def test_rows_are_the_first_the_last_and_all_but_the_first():
    assert list(rows((3, 5, 4), {0, 2})) == [
        ((0, 1), (0, 5), (0, 1)),
        ((2, 1), (0, 5), (3, 1)),
        ((0, 3), (0, 5), (1, 3)),
    ]


@pytest.mark.parametrize(("shape", "among"), [((3, 5), set()), ((1, 5), {0}), ((3, 0), {0}), ((0, 3), {0})])
def test_one_row_alone_and_no_elements_have_no_parts(shape, among):
    assert list(rows(shape, among)) == []


def test_parts_are_windows_of_their_descriptor():
    """Of the same family, op and dtypes, with the strides of the whole, inside the memory of the whole."""
    found = set()
    for family in ep_families():
        for cell in family.cells():
            whole = family.sample(cell)
            for part in family.parts(whole):
                found.add(family.name)
                assert (part.family, part.op, part.attributes) == (whole.family, whole.op, whole.attributes)
                assert part.out.size < whole.out.size
                for mine, other in zip(part.specs, whole.specs, strict=True):
                    if other is None or isinstance(other, ep.Scalar):
                        assert mine == other
                        continue
                    assert mine.dtype == other.dtype
                    assert other.lo <= mine.lo <= mine.hi <= other.hi
                    kept = zip(mine.shape, mine.strides, other.strides, strict=False)
                    assert mine.ndim != other.ndim or all(a == b for n, a, b in kept if n > 1)
                    assert math.prod(mine.shape) <= math.prod(other.shape)
    assert found >= {"elementwise_unary", "broadcast_binary"}
