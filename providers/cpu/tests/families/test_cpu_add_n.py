"""AddN on the CPU: sums of terms of any layout in the stated order, in place, past the caches, in steps and graphs."""

from functools import reduce

import numpy as np
import pytest
from broadcasts import boxes, shapes
from ep_cpu.graph import CommandList
from ep_primitives import AddN
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

DTYPES = ("bool", "int8", "uint16", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@st.composite
def sums(draw):
    """Draw the terms of a sum, and its output: an array of its own, or one of the terms."""
    shape, dtype = draw(shapes()), draw(st.sampled_from(DTYPES))
    count = draw(st.sampled_from((1, 2, 3, 3, 4, 5, 9)))
    shared = draw(st.one_of(st.none(), st.integers(0, count - 1)))
    terms = [draw(boxes(shape, dtype, is_output=place == shared)) for place in range(count)]
    return dtype, terms, draw(boxes(shape, dtype, is_output=True)) if shared is None else terms[shared]


def total(dtype, terms):
    """Return the sum as it is defined: from the left, narrow floats in float32 and rounded once."""
    if dtype == "bool":
        return reduce(np.logical_or, [term.view(np.uint8) != 0 for term in terms])
    wide = np.float32 if ep.dtype(dtype).compute == "float32" else terms[0].dtype
    with np.errstate(all="ignore"):
        return np.asarray(reduce(np.add, [term.astype(wide) for term in terms])).astype(terms[0].dtype)


def elements(box, dtype):
    return np.array(box.view, order="C").view(array_dtype(dtype))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(sums())
def test_every_sum_is_numpys_from_the_left_and_no_other_byte_is_written(device, drawn):
    """Bits are equal but for the NaNs'."""
    dtype, terms, out = drawn
    wanted = np.broadcast_to(total(dtype, [elements(term, dtype) for term in terms]), out.spec.shape)
    zero = np.zeros((), out.memory.dtype)
    rest = out.holding(zero)
    operands = {f"x{place}": term.on(device) for place, term in enumerate(terms)}
    target = next((operands[f"x{place}"] for place, term in enumerate(terms) if term is out), None) or out.on(device)
    stream = device.stream()
    AddN(*[term.spec for term in terms], out=out.spec).on(device)(stream, **operands, out=target)
    stream.close()
    assert out.holding(zero).tobytes() == rest.tobytes()
    part = {"complex64": np.float32, "complex128": np.float64}.get(dtype, wanted.dtype)
    found, wanted = elements(out, dtype).reshape(-1).view(part), wanted.reshape(-1).view(part)
    word = f"u{found.itemsize}"
    same = found.view(word) == wanted.view(word)
    assert (same | (np.isnan(found) & np.isnan(wanted))).all()


@pytest.mark.parametrize(
    ("dtype", "count", "shift"),
    [("int8", 3, 16), ("bfloat16", 2, 48), ("float32", 5, 16), ("complex128", 4, 48), ("int64", 1, 0)],
)
def test_outputs_past_the_caches_are_whole(device, stream, dtype, count, shift):
    """Streaming stores and several threads, from places inside a line on."""
    kind = array_dtype(dtype)
    size = (40 << 20) // ((count + 1) * kind.itemsize) + 5
    random = np.random.default_rng(1)
    terms = [random.integers(0, 100, size, np.int8).astype(kind) for _ in range(count)]
    raw = np.full(terms[0].nbytes + 256, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + shift
    memory = device.wrap_host(raw.ctypes.data + begin, terms[0].nbytes, raw)
    operands = {f"x{place}": term for place, term in enumerate(terms)}
    AddN.infer(*terms).on(device).bind(**operands, out=memory)(stream)
    found = raw[begin : begin + terms[0].nbytes].view(kind)
    assert (found == total(dtype, terms)).all()
    assert (raw[:begin] == 0xA5).all()
    assert (raw[begin + found.nbytes :] == 0xA5).all()


def test_graph_adds_terms_that_are_given_later(device):
    """Slots for one of the terms, for one in place, and for the output."""
    stream = device.stream()
    memories = [device.allocate(12) for _ in range(10)]
    for place, memory in enumerate(memories):
        stream.upload(memory, np.array([place, 10 * place, 0.5], np.float32))
    *terms, out = memories
    operands = {f"x{place}": term for place, term in enumerate(terms)}
    spec = ep.TensorSpec("float32", (3,))
    with stream.capture() as graph:
        AddN(*[spec] * 9, out=spec).on(device)(stream, **operands, out=out)
        AddN(spec, spec, out=spec).on(device)(stream, x0=terms[8], x1=out, out=out)
    graph.slot("x8", terms[8])
    graph.slot("out", out)
    graph.launch(stream)
    assert np.frombuffer(out.host(), np.float32).tolist() == [44, 440, 5]
    other, found = device.allocate(12), device.allocate(12)
    stream.upload(other, np.array([100, 0, -1], np.float32))
    graph.launch(stream, x8=other, out=found)
    assert np.frombuffer(found.host(), np.float32).tolist() == [228, 280, 2]
    assert np.frombuffer(out.host(), np.float32).tolist() == [44, 440, 5]
    assert isinstance(graph._executable, CommandList)
    graph.close()
    stream.close()


def test_terms_may_be_one_tensor_and_lie_on_one_another(device, stream):
    """Only the output must not be shared in part."""
    memory, out = device.allocate(20), device.allocate(16)
    stream.upload(memory, np.arange(5, dtype=np.float32))
    spec = ep.TensorSpec("float32", (4,))
    add = AddN(spec, spec, spec, out=spec).on(device)
    add(stream, x0=memory, x1=memory, x2=memory[4:], out=out)
    assert np.frombuffer(out.host(), np.float32).tolist() == [1, 4, 7, 10]
    add(stream, x0=out, x1=out, x2=out, out=out)
    assert np.frombuffer(out.host(), np.float32).tolist() == [3, 12, 21, 30]
    with pytest.raises(ValueError, match=r"add_n: x2 and out share bytes"):
        add(stream, x0=memory, x1=memory, x2=memory[4:], out=memory)
