"""A number beside tensors of 16 bits is rounded as they are, and then compared, as NumPy and PyTorch do it."""

import numpy as np
import pytest
from ep_primitives import BINARY_OPS, BroadcastBinary
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinaryFamily
from ep_primitives.judging.reference import array_dtype

import ep
from ep import Cell, Scalar, TensorSpec

COMPARED = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_equal": np.greater_equal,
}
NARROW = ["float16", "bfloat16"]


@pytest.mark.parametrize("device", ["cpu:0", "sim:0"])
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("op", COMPARED)
def test_a_tenth_is_the_element_that_is_a_tenth(op, dtype, device):
    device = ep.device(device)
    tenth = np.array(0.1).astype(array_dtype(dtype))
    x = np.array([tenth, np.nextafter(tenth, tenth.dtype.type(1)), -tenth])
    tensor, out = device.tensor(x), device.empty("bool", (3,))
    beside = BroadcastBinary.infer(op, tensor, Scalar(dtype)).on(device)
    before = BroadcastBinary.infer(op, Scalar(dtype), tensor).on(device)
    stream = device.stream()
    beside(stream, a=tensor, b=0.1, out=out)
    np.testing.assert_array_equal(out.numpy(stream), COMPARED[op](x, tenth))
    before.bind(a=0.1, b=tensor, out=out)(stream)
    np.testing.assert_array_equal(out.numpy(stream), COMPARED[op](tenth, x))


@pytest.mark.parametrize("device", ["cpu:0", "sim:0"])
@pytest.mark.parametrize("dtype", NARROW)
def test_a_number_has_the_neighbours_of_the_element_that_it_is(dtype, device):
    device, into = ep.device(device), array_dtype(dtype)
    tenth, x = np.array(0.1).astype(into), np.array([1.0, 0.1, -1.0]).astype(into)
    tensor, out = device.tensor(x), device.empty(dtype, (3,))
    stream = device.stream()
    BroadcastBinary.infer("nextafter", Scalar(dtype), tensor).on(device)(stream, a=0.1, b=tensor, out=out)
    np.testing.assert_array_equal(out.numpy(stream), np.nextafter(np.full(3, tenth), x))


@pytest.mark.parametrize("op", COMPARED)
def test_numpy_does_so_too(op):
    x = np.array([0.1, 0.2, -0.1], np.float16)
    np.testing.assert_array_equal(COMPARED[op](x, 0.1), COMPARED[op](x, np.float16(0.1)))


def test_other_types_and_operations_are_as_they_were():
    wide = BroadcastBinary.infer("equal", TensorSpec("float32", (1,)), Scalar("float32")).on(ep.device("cpu:0"))
    narrow = BroadcastBinary.infer("add", TensorSpec("float16", (1,)), Scalar("float16")).on(ep.device("cpu:0"))
    compared = BroadcastBinary.infer("equal", TensorSpec("float16", (1,)), Scalar("float16")).on(ep.device("cpu:0"))
    held = [each._convert({"b": 0.1})[0] for each in (wide, narrow, compared)]
    assert held == [np.float32(0.1), np.float32(0.1), np.float16(0.1)]


@pytest.mark.parametrize(
    ("number", "words"),
    [(2049, "an integer that no float16 holds exactly; give a float"), (65520.0, "out of the range of float16")],
)
def test_number_that_the_type_does_not_hold_is_refused(number, words):
    device = ep.device("cpu:0")
    x, out = device.empty("float16", (4,)), device.empty("bool", (4,))
    less = BroadcastBinary.infer("less_than", x, Scalar("float16")).on(device)
    with pytest.raises(ValueError, match=f"^less_than: b: scalar {number} is {words}"):
        less(device.stream(), a=x, b=number, out=out)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("op", [*COMPARED, "is_close", "is_close_equal_nan"])
@pytest.mark.parametrize("layout", ["scalar-left", "scalar-right"])
def test_cases_tell_whether_the_number_was_rounded(op, dtype, layout):
    family, side = BroadcastBinaryFamily(), "ab"[layout == "scalar-right"]
    rng, row = np.random.default_rng(0), BINARY_OPS[op]
    telling = []
    for case in family.cases(Cell("broadcast_binary", op, f"{dtype}->bool", layout)):
        inputs = case.data(rng)
        number = inputs[side]
        if np.ndim(number) or float(array_dtype(dtype).type(number)) == number or np.isnan(number):
            continue
        wide = [np.asarray(inputs[name], np.float64) for name in "ab"]
        unrounded = row.reference(*wide, *case.descriptor.attributes)
        telling.append((family.reference(case.descriptor, inputs).value != unrounded).any())
    assert any(telling)
