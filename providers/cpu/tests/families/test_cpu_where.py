"""Where on the CPU: choices of any layout against NumPy, in place, past the caches, in steps and graphs."""

import numpy as np
import pytest
from broadcasts import Box, boxes, shapes
from ep_cpu.graph import CommandList
from ep_primitives import Where
from ep_primitives.judging.reference import array_dtype, compute_number
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

CONDITIONS = ("bool", "int32", "int64")
DTYPES = ("bool", "uint16", "bfloat16", "float32", "int64", "complex64", "complex128", "float8_e5m2")
NUMBERS = (0, 1, 2, 1.5, -3)


@st.composite
def choices(draw):
    """Draw the operands of a choice, of which a and b may be numbers, and which of them the output lies on."""
    shape, dtype = draw(shapes()), draw(st.sampled_from(DTYPES))
    number = st.sampled_from(NUMBERS).filter(lambda value: fits(value, dtype))
    condition = draw(boxes(shape, draw(st.sampled_from(CONDITIONS))))
    condition.memory.reshape(-1)[::3] = np.zeros((), condition.memory.dtype)  # a third is false
    shared = draw(st.sampled_from((None, None, "a", "b")))
    sides = {}
    for name in ("a", "b"):
        is_number = shared != name and draw(st.integers(0, 3)) == 0
        sides[name] = draw(number if is_number else boxes(shape, dtype, is_output=shared == name))
    return dtype, condition, sides, sides[shared] if shared else draw(boxes(shape, dtype, is_output=True))


def fits(value, dtype):
    """Say whether a number is one of a dtype, exactly."""
    kind = ep.dtype(dtype).kind
    return kind in "fc" or (value in {0, 1} if kind == "b" else value == int(value) and (kind == "i" or value >= 0))


def words(value, dtype, shape):
    """Return the elements of a side, as the bits that they are."""
    if isinstance(value, Box):
        return np.broadcast_to(value.view, shape)
    kind = array_dtype(dtype)
    return np.broadcast_to(np.asarray(compute_number(dtype, value)).astype(kind).view(f"V{kind.itemsize}"), shape)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(choices())
def test_every_choice_is_numpys_and_no_other_byte_is_written(device, drawn):
    dtype, condition, sides, out = drawn
    shape = out.spec.shape
    truth = np.ascontiguousarray(condition.view).view(f"u{condition.spec.itemsize}").reshape(condition.spec.shape) != 0
    wanted = words(sides["b"], dtype, shape).copy()
    np.copyto(wanted, words(sides["a"], dtype, shape), where=truth)
    wanted = out.holding(wanted)
    specs = {name: side.spec if isinstance(side, Box) else ep.Scalar(dtype) for name, side in sides.items()}
    operands = {name: side.on(device) if isinstance(side, Box) else side for name, side in sides.items()}
    target = next((operands[name] for name, side in sides.items() if side is out), None) or out.on(device)
    stream = device.stream()
    choose = Where(condition=condition.spec, **specs, out=out.spec).on(device)
    choose(stream, condition=condition.on(device), **operands, out=target)
    stream.close()
    assert out.memory.tobytes() == wanted.tobytes()


def test_condition_that_is_the_output_is_read_before_it_is_written(device, stream):
    """Bytes that are true stay as they are where a is chosen; three blocks and a rest."""
    truth = np.resize(np.array([0, 1, 2, 0, 128, 255, 0], np.uint8), 3 * 512 + 5)
    a, b = np.roll(truth, 1), np.roll(truth, 3)
    choose = Where.infer(*[ep.TensorSpec("bool", truth.shape)] * 3).on(device)
    condition = device.allocate(truth.nbytes)
    stream.upload(condition, truth)
    choose(stream, condition=condition, a=a.view(bool), b=b.view(bool), out=condition)
    assert np.frombuffer(condition.host(), np.uint8).tolist() == np.where(truth, a, b).tolist()


@pytest.mark.parametrize(
    ("condition", "dtype", "shift"), [("bool", "uint8", 16), ("int32", "float32", 0), ("int64", "complex128", 48)]
)
def test_outputs_past_the_caches_are_whole(device, stream, condition, dtype, shift):
    """Streaming stores and several threads, from places inside a line on, between tensors and with a number."""
    kind = array_dtype(dtype)
    size = (40 << 20) // (3 * kind.itemsize) + 5
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, size).astype(condition)
    a, b = (random.integers(0, 256, size * kind.itemsize, np.uint8).view(kind) for _ in range(2))
    raw = np.full(a.nbytes + 256, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + shift
    memory = device.wrap_host(raw.ctypes.data + begin, a.nbytes, raw)
    spec = ep.TensorSpec(dtype, (size,))
    for left, value in ((spec, a), (ep.Scalar(dtype), 3)):
        choose = Where.infer(ep.TensorSpec(condition, (size,)), left, spec).on(device)
        choose(stream, condition=truth, a=value, b=b, out=memory)
        found = raw[begin : begin + a.nbytes].view(f"V{kind.itemsize}")
        words = np.where(truth != 0, np.asarray(value, kind).view(f"V{kind.itemsize}"), b.view(f"V{kind.itemsize}"))
        assert (found == words).all()
        assert (raw[:begin] == 0xA5).all()
        assert (raw[begin + a.nbytes :] == 0xA5).all()


def test_numbers_keep_all_their_bits_in_a_bound_step_and_a_graph(device):
    stream = device.stream()
    large = 2**63 + 2**10 + 1
    truth, b, out = device.allocate(3), device.allocate(24), device.allocate(24)
    stream.upload(truth, np.array([1, 0, 1], np.uint8))
    stream.upload(b, np.array([5, 6, 7], np.uint64))
    spec, number = ep.TensorSpec("uint64", (3,)), ep.Scalar("uint64")
    left = Where.infer(ep.TensorSpec("bool", (3,)), number, spec).on(device)
    left.bind(condition=truth, a=large, b=b, out=out)(stream)
    assert np.frombuffer(out.host(), np.uint64).tolist() == [large, 6, large]
    right = Where.infer(ep.TensorSpec("bool", (3,)), spec, number).on(device)
    with stream.capture() as graph:
        left(stream, condition=truth, a=large - 1, b=b, out=out)
        right(stream, condition=truth, a=out, b=large - 2, out=out)
    graph.slot("truth", truth)
    graph.slot("out", out)
    other, found = device.allocate(3), device.allocate(24)
    stream.upload(other, np.array([0, 0, 9], np.uint8))
    graph.launch(stream, truth=other, out=found)
    assert np.frombuffer(found.host(), np.uint64).tolist() == [large - 2, large - 2, large - 1]
    graph.launch(stream)
    assert np.frombuffer(out.host(), np.uint64).tolist() == [large - 1, large - 2, large - 1]
    assert isinstance(graph._executable, CommandList)
    graph.close()
    stream.close()


def test_numbers_that_do_not_fit_and_shared_conditions_are_refused(device, stream):
    memory = device.allocate(64)
    byte = ep.TensorSpec("int8", (8,))
    choose = Where.infer(ep.TensorSpec("bool", (8,)), byte, ep.Scalar("int8")).on(device)
    with pytest.raises(ValueError, match="where: b: scalar 200 is no value of int8"):
        choose(stream, condition=memory[:8], a=memory[8:], b=200, out=memory[16:])
    with pytest.raises(ValueError, match=r"where: condition and out share bytes"):
        choose(stream, condition=memory, a=memory[8:], b=1, out=memory)
