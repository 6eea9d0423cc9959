"""Iota's kernel against NumPy in every arrangement, axis and instruction set, in graphs and over threads."""

from contextlib import closing

import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_primitives import Iota
from ep_primitives.families.iota.descriptor import IOTA_DTYPES
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep
from ep import TensorSpec


def wanted(dtype, shape, axis, start, step):
    """Return the progression along an axis, of whole numbers: of integers wrapped, of floats exact."""
    into, extent = array_dtype(dtype), shape[axis] if shape else 1
    row = (start + np.arange(extent) * step).astype(into)
    return np.broadcast_to(row.reshape([-1 if place == axis else 1 for place in range(len(shape))]), shape)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data(), dtype=st.sampled_from(IOTA_DTYPES), start=st.integers(0, 9), step=st.integers(0, 5))
def test_every_arrangement_is_numpys(device, data, dtype, start, step):
    shape = tuple(data.draw(st.lists(st.sampled_from((0, 1, 2, 3, 7, 40)), max_size=4)))
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    base, view, spec = placed(shape, *data.draw(arrangements(len(shape))), dtype)
    with closing(device.stream()) as stream:
        Iota.infer(spec, axis=axis).on(device)(stream, start=start, step=step, out=wrapped(device, base))
    assert (
        np.ascontiguousarray(view).tobytes() == np.ascontiguousarray(wanted(dtype, shape, axis, start, step)).tobytes()
    )
    view[...] = np.zeros((), view.dtype)
    assert not any(base.tobytes()), "a byte outside of out was written"


PROGRAM = f"""
import ep
from ep_primitives import Iota
device = ep.device("cpu:0")
stream = device.stream()
for dtype in {IOTA_DTYPES}:
    out = device.empty(dtype, (3, 1037))
    Iota.infer(out, axis=1).on(device)(stream, start=1, step=3, out=out)
    print(out.numpy(stream).tobytes().hex())
"""


def test_every_instruction_set_gives_the_same_bits(isas, fresh_python):
    first, *others = (fresh_python(PROGRAM, EP_CPU_ISA=isa) for isa in isas)
    assert all(other == first for other in others)


@pytest.mark.parametrize("axis", [0, 1])
def test_threads_and_streaming_stores_change_nothing(device, axis):
    out = device.empty("float32", (1500, 4003))
    with closing(device.stream()) as stream:
        Iota.infer(out, axis=axis).on(device)(stream, start=-7.0, step=1.0, out=out)
        assert np.array_equal(out.numpy(stream), wanted("float32", (1500, 4003), axis, -7.0, 1.0))


def test_bound_and_captured_launches_keep_their_numbers(device):
    out = device.empty("int16", (40,))
    primitive = Iota.infer(out).on(device)
    with closing(device.stream()) as stream:
        step = primitive.bind(start=3, step=-2, out=out)
        step(stream)
        assert out.numpy(stream).tolist() == [3 - 2 * i for i in range(40)]
        primitive(stream, start=0, step=5, out=out)
        assert out.numpy(stream).tolist() == [5 * i for i in range(40)]
        before = device.degraded["graph"]
        with stream.capture() as graph:
            primitive(stream, start=100, step=7, out=out)
        graph.launch(stream)
        assert device.degraded["graph"] == before
        assert out.numpy(stream).tolist() == [100 + 7 * i for i in range(40)]


def test_numbers_that_the_type_lacks_are_refused(device):
    primitive = Iota.infer(TensorSpec("int8", (4,))).on(device)
    with closing(device.stream()) as stream, pytest.raises(ValueError, match="128"):
        primitive(stream, start=0, step=128, out=device.allocate(4))


def test_every_row_is_there():
    device = ep.device("cpu:0")
    assert all(Iota.infer(TensorSpec(dtype, (2,))).on(device) for dtype in IOTA_DTYPES)
