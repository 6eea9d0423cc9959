"""Launches with arrays: right ones run, and each wrong operand is an error that names operation, operand and cure."""

import re

import numpy as np
import pytest
from ep_primitives import BroadcastBinary
from ep_primitives.cases.call import calls
from ep_primitives.judging.reference import array_dtype

import ep
from ep import Scalar, TensorSpec

CALLS = calls()

INFERRED = [call for calls in CALLS.values() for call in calls if not call.is_strict]


@pytest.fixture(scope="module")
def device():
    return ep.device("cpu:0")


@pytest.fixture
def stream(device):
    return device.stream()


def operands_of(descriptor):
    """Return an array of zeros for each tensor and a 1 for each number of a descriptor."""
    return {
        name: np.zeros(spec.shape, array_dtype(spec.dtype)) if isinstance(spec, TensorSpec) else 1
        for name, spec in descriptor.present.items()
    }


def wrong_arrays(array, *, is_written):
    yield "none", None
    yield "number", 3
    yield "text", "zeros"
    yield "list", array.tolist()
    yield "spec", TensorSpec("float32", (4, 3))
    yield "type", np.float32
    yield "shape", np.zeros((*array.shape, 2), array.dtype)
    yield "dtype", np.zeros(array.shape, "f8" if array.dtype == np.float32 else "f4")
    yield "objects", np.full(array.shape, None)
    yield "scalar", Scalar("float32")
    if array.ndim > 1 and min(array.shape) > 1:
        yield "fortran", np.asfortranarray(array)
    if array.size > 1:
        yield "backwards", array[::-1]
        yield "unaligned", np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    if array.itemsize > 1:
        yield "big-endian", array.astype(array.dtype.newbyteorder(">"))
    if is_written:
        fixed = array.copy()
        fixed.flags.writeable = False
        yield "read-only", fixed


NUMBERS = {
    "none": None,
    "text": "1",
    "list": [1],
    "object": object(),
    "array": np.zeros(3),
    "huge": 10**400,
    "dictionary": {},
    "spec": TensorSpec("float32", ()),
}


def told(launch, operation, what):
    """Return the part that a wrong launch's message lacks, "" if none."""
    try:
        launch()
    except (TypeError, ValueError) as error:
        message = str(error)
    else:
        return "taken"
    if not re.match(rf"{operation}: {what}\b", message):
        return f"no operation or operand: {message}"
    return "" if "; " in message and len(message) < 1000 else f"no cure, or endless: {message}"


@pytest.mark.parametrize("call", INFERRED, ids=lambda call: call.name)
def test_arrays_are_operands_and_wrong_ones_are_refused_in_words(device, stream, call):
    descriptor = call.make(**call.arguments)
    primitive = descriptor.on(device)
    right = operands_of(descriptor)
    primitive(stream, **right)
    before, faults = stream._sequence, {}
    for name, spec in descriptor.present.items():
        if isinstance(spec, Scalar):
            wrong = NUMBERS.items()
        else:
            wrong = wrong_arrays(right[name], is_written=name in descriptor.written)
        for kind, thing in wrong:
            if kind == "unaligned" and spec.itemsize == 1:
                continue
            spoilt = {**right, name: thing}
            faults[name, kind] = told(lambda spoilt=spoilt: primitive(stream, **spoilt), call.word, name)
            if not faults[name, kind]:
                faults[name, kind, "bind"] = told(lambda spoilt=spoilt: primitive.bind(**spoilt), call.word, name)
    assert not any(faults.values()), {place: fault for place, fault in faults.items() if fault}
    assert stream._sequence == before


@pytest.mark.parametrize("call", INFERRED, ids=lambda call: call.name)
def test_missing_and_unknown_operands_are_named(device, stream, call):
    descriptor = call.make(**call.arguments)
    primitive, right = descriptor.on(device), operands_of(descriptor)
    for name in set(descriptor.present) - set(descriptor.roles.defaults):
        with pytest.raises(TypeError, match=rf"operands are .*; missing {name}\Z"):
            primitive(stream, **{other: thing for other, thing in right.items() if other != name})
    with pytest.raises(TypeError, match=r"operands are .*; unknown zz\Z"):
        primitive(stream, **right, zz=1)


def test_array_of_another_device_names_the_upload(stream):
    x, bias, out = np.zeros((2, 3), np.float32), np.ones(3, np.float32), np.empty((2, 3), np.float32)
    add = BroadcastBinary.infer("add", x, bias)
    add.on(stream.device)(stream, a=x, b=bias, out=out)
    stream.synchronize()
    np.testing.assert_array_equal(out, x + bias)
    for name in ("opencl:0", "sim:0"):
        other = ep.device(name)
        message = f"^add: a is host memory, which {name} does not reach; copy it there with stream.upload"
        with pytest.raises(ValueError, match=message):
            add.on(other)(other.stream(), a=x, b=bias, out=out)


def test_arrays_in_any_layout_are_described_and_run_where_they_lie(device, stream):
    whole = np.arange(48, dtype=np.float32).reshape(6, 8)
    for x in (whole[::2, ::-1], whole.T, np.asfortranarray(whole), whole[1:, 2:5], np.broadcast_to(whole[0], (6, 8))):
        out = np.empty_like(whole.T if x.shape == (8, 6) else np.empty(x.shape, np.float32), order="C")
        negative = np.float32(-1)
        BroadcastBinary.infer("mul", x, negative).on(device)(stream, a=x, b=negative, out=out)
        stream.synchronize()
        np.testing.assert_array_equal(out, -x)
