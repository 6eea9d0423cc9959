import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_primitives import OneHot
from ep_primitives.cases.index_data import CONTENTS
from ep_primitives.families.one_hot.family import OneHotFamily
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

DTYPES = ("uint8", "bool", "float16", "float32", "int64", "complex128", "float8_e5m2")


@st.composite
def one_hots(draw):
    """Draw extents, classes and where they are counted from, and how indices and out lie."""
    shape = tuple(draw(st.lists(st.sampled_from((0, 1, 2, 3, 8, 33)), max_size=3)))
    classes, axis = draw(st.sampled_from((0, 1, 2, 5, 17, 300))), draw(st.integers(0, len(shape)))
    out = (*shape[:axis], classes, *shape[axis:])
    lying = draw(arrangements(len(shape), signs=(1, 1, -1, 0))), draw(arrangements(len(out)))
    types = draw(st.sampled_from(("int32", "int64"))), draw(st.sampled_from(DTYPES))
    first = draw(st.sampled_from((0, 0, 7, -3, 1 - 2**31)))
    return shape, out, axis, first, lying, types, draw(st.sampled_from(("mixed", "edges", "outside")))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(one_hots(), st.integers(0, 2**32))
def test_every_one_hot_is_the_references(device, drawn, seed):
    shape, out, axis, first, lying, (index, dtype), contents = drawn
    asked, source, indices = placed(shape, *lying[0], index)
    base, target, spec = placed(out, *lying[1], dtype)
    source = source.view(index)
    rng = np.random.default_rng(seed)
    source[...] = CONTENTS[contents](rng, ep.TensorSpec(index, shape), first, out[axis])  # of repeated places the last
    descriptor = OneHot(indices=indices, out=spec, axis=axis, first=first)
    numbers = {"on": False, "off": True} if dtype == "bool" else {"on": 3, "off": 2}
    wanted = (
        OneHotFamily().reference(descriptor, {"indices": source.copy(), **numbers}).value.astype(array_dtype(dtype))
    )
    operands = {"indices": wrapped(device, asked), "out": wrapped(device, base), **numbers}
    stream = device.stream()
    one_hot = descriptor.on(device)
    with stream.capture() as graph:
        one_hot(stream, **operands)
    launches = (
        lambda: one_hot(stream, **operands),
        lambda: one_hot.bind(**operands)(stream),
        lambda: graph.launch(stream),
    )
    for launch in launches:
        launch()
        assert target.tobytes() == wanted.tobytes()
        target[...] = np.zeros((), target.dtype)
        assert not any(base.tobytes()), "a byte outside of the output was written"
    graph.close()
    stream.close()


@pytest.mark.parametrize("shift", [0, 48])
@pytest.mark.parametrize(
    ("dtype", "size", "classes", "axis"),
    [
        ("uint8", 400_001, 101, 1),
        ("float32", 100_001, 101, 0),
        ("int16", 3, 6_000_003, 1),
        ("float64", 5, 900_007, 0),
        ("float32", 1_300_003, 7, 1),
        ("complex128", 999, 2103, 1),
    ],
)
def test_large_outputs_are_whole(device, stream, dtype, size, classes, axis, shift):
    """Threads that share rows or classes, and stores past the caches, from places inside a line on, leave nothing out."""
    kind = array_dtype(dtype)
    indices = np.random.default_rng(1).integers(-2, classes + 2, size)
    indices[::7] = np.resize([-(2**63), 2**63 - 1, 2**32, classes, classes - 1, 0], indices[::7].size)
    descriptor = OneHot.infer(indices, dtype, classes, axis=axis)
    raw = np.full(descriptor.out.nbytes + 256, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + shift
    target = raw[begin : begin + descriptor.out.nbytes]
    descriptor.on(device)(stream, indices=indices, on=9, off=2, out=wrapped(device, target))
    out = np.moveaxis(target.view(kind).reshape(descriptor.out.shape), axis, 1)
    is_there = (indices >= 0) & (indices < classes)
    assert (out[is_there, indices[is_there]] == 9).all()
    assert int((out == 2).sum()) == out.size - int(is_there.sum())
    assert (raw[:begin] == 0xA5).all()
    assert (raw[begin + target.size :] == 0xA5).all()


def test_numbers_are_kept_and_left_out_ones_are_one_and_zero(device, stream):
    indices, memory = np.array([1, 5]), device.allocate(48)
    one_hot = OneHot.infer(indices, "uint64", 3).on(device)
    one_hot(stream, indices=indices, out=memory)
    assert np.frombuffer(memory.host(), np.uint64).tolist() == [0, 1, 0, 0, 0, 0]
    source, on = wrapped(device, indices), 2**63 + 2**10 + 1
    one_hot.bind(indices=source, on=on, off=2**64 - 1, out=memory)(stream)
    assert np.frombuffer(memory.host(), np.uint64).tolist() == [2**64 - 1, on, *[2**64 - 1] * 4]
    with stream.capture() as graph:
        one_hot(stream, indices=source, on=on - 2, off=3, out=memory)
    graph.slot("indices", source)
    graph.launch(stream, indices=wrapped(device, np.array([0, 2])))
    assert np.frombuffer(memory.host(), np.uint64).tolist() == [on - 2, 3, 3, 3, 3, on - 2]
    graph.close()


def test_out_that_shares_bytes_and_numbers_that_do_not_fit_are_refused(device, stream):
    memory = device.allocate(64)
    one_hot = OneHot.infer(ep.TensorSpec("int32", (4,)), "int8", 4).on(device)
    with pytest.raises(ValueError, match=r"one_hot: indices and out share bytes .* in place is not allowed"):
        one_hot(stream, indices=memory[:16], out=memory[:16])
    with pytest.raises(ValueError, match="one_hot: on: scalar 200 is no value of int8"):
        one_hot(stream, indices=memory[:16], on=200, out=memory[16:32])
