import numpy as np
import pytest
from ep_primitives.judging import layout
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

from ep import TensorSpec

DTYPES = ("bool", "int8", "int32", "float16", "bfloat16", "float32", "float64", "complex128", "float8_e5m2")


@st.composite
def disjoint_specs(draw):
    """Specs with distinct elements: permuted, padded, mirrored dimensions and an offset."""
    shape = draw(st.lists(st.integers(0, 5), max_size=5))
    order = draw(st.permutations(range(len(shape))))
    strides, step = [0] * len(shape), draw(st.integers(1, 3))
    for axis in order:
        strides[axis] = step * draw(st.sampled_from((1, -1)))
        step *= max(shape[axis], 1) + draw(st.integers(0, 2))
    below = sum(-stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0 < extent)
    return TensorSpec(
        draw(st.sampled_from(DTYPES)), tuple(shape), tuple(strides), max(below, 0) + draw(st.integers(0, 3))
    )


def content(spec):
    raw = np.random.default_rng(spec.size).integers(0, 256, spec.size * spec.itemsize, dtype=np.uint8)
    return raw.view(array_dtype(spec.dtype)).reshape(spec.shape)


def indices(spec):
    for index in np.ndindex(spec.shape):
        yield index, spec.offset + sum(i * stride for i, stride in zip(index, spec.strides, strict=True))


@settings(deadline=None)
@given(disjoint_specs(), st.integers(0, 3))
def test_scatter_puts_each_element_where_the_spec_says_and_nothing_else(spec, shift):
    array = content(spec)
    shift *= spec.itemsize
    buffer = bytearray(b"\xa5" * (shift + spec.nbytes + 7))
    expected = bytearray(buffer)
    raw = array.view(f"V{spec.itemsize}")  # NumPy makes a true bool a 1 when it takes it out alone
    for index, place in indices(spec):
        start = shift + place * spec.itemsize
        expected[start : start + spec.itemsize] = raw[index].tobytes()
    layout.scatter(spec, array, buffer, shift)
    assert buffer == expected


@settings(deadline=None)
@given(disjoint_specs(), st.integers(0, 3))
def test_gather_returns_what_was_scattered(spec, shift):
    array = content(spec)
    buffer = bytearray(shift + spec.nbytes)
    layout.scatter(spec, array, buffer, shift)
    again = layout.gather(spec, buffer, shift)
    assert again.flags.c_contiguous
    assert again.dtype == array.dtype
    assert again.tobytes() == array.tobytes()


def test_every_byte_of_a_bool_is_kept():
    spec = TensorSpec("bool", (5,), (2,))
    array = np.array([0, 1, 2, 128, 255], np.uint8).view(np.bool_)
    buffer = bytearray(9)
    layout.scatter(spec, array, buffer)
    assert list(buffer[::2]) == [0, 1, 2, 128, 255]
    assert layout.gather(spec, buffer).view(np.uint8).tolist() == [0, 1, 2, 128, 255]


def test_overlapping_input_settles_on_what_memory_can_hold():
    spec = TensorSpec("int32", (3, 4), (1, 1))
    settled = layout.settled(spec, np.arange(12, dtype=np.int32).reshape(3, 4))
    assert (settled[1:, :-1] == settled[:-1, 1:]).all()
    dense = np.arange(3, dtype=np.int32)
    assert layout.settled(TensorSpec("int32", (3,)), dense) is dense


def test_too_short_a_buffer_and_a_wrong_array_are_refused():
    spec = TensorSpec("float32", (4,), (2,))
    with pytest.raises(ValueError, match=r"has 27 bytes, .* needs 28"):
        layout.gather(spec, bytes(27))
    with pytest.raises(ValueError, match="array is float64"):
        layout.scatter(spec, np.zeros(4), bytearray(28))
