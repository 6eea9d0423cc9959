"""Every family's constructor and `infer` with one wrong argument: a TypeError or ValueError that a framework can pass on."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from ep.dtypes import DTYPES
from ep_primitives.cases.call import calls

import ep
from ep import Scalar, TensorSpec

CALLS = calls()

ALL = [call for calls in CALLS.values() for call in calls]
TENSORS = {
    "none": None,
    "number": 3,
    "float": 2.5,
    "text": "float32",
    "list": [1.0, 2.0],
    "tuple": (),
    "dictionary": {},
    "object": object(),
    "type": np.float32,
    "dtype": np.dtype("float32"),
    "objects": np.array([None]),
    "structure": np.zeros(2, [("a", "f4")]),
    "big-endian": np.zeros((4, 3), ">f4"),
    "long-double": np.zeros((4, 3), np.longdouble),
    "deep": np.zeros((1,) * 20, np.float32),
    "between-elements": np.zeros(24, np.uint8)[1:].view("V23"),
    "released": (view := memoryview(b"12")).release() or view,
    "half-a-protocol": type("Half", (), {"__dlpack__": lambda self: None})(),
}
VALUES = {
    "none": None,
    "object": object(),
    "text": "three",
    "bytes": b"three",
    "fraction": 1.5,
    "nan": float("nan"),
    "infinity": float("inf"),
    "huge": 2**70,
    "very-huge": 10**400,
    "low": -99,
    "high": 99,
    "bool": True,
    "complex": 1j,
    "nothing": (),
    "twice": (0, 0),
    "mixed": (0, "one"),
    "far": (99, 99),
    "huge-ones": (2**70, -(2**70)),
    "fractions": (0.5, 1.5),
    "bools": (True, False),
    "nested": ((0,), (1,)),
    "long": range(40),
    "dictionary": {"a": 1},
    "array": np.arange(2),
    "matrix": np.zeros((2, 2)),
    "floats": np.array([0.5]),
}

SHAPES = [(), (1,), (2,), (5, 4, 3), (4, 2), (3, 4), (0,), (4, 0), (1,) * 16, (2**31, 3), (4, 1)]
TAKES_ANY = {"copy", "fill", "cast", "saturating_cast"}
"""The operations whose `infer` takes a tensor of any kind."""


def may_be_none(call, argument):
    """Say whether None leaves an argument out."""
    parameter = inspect.signature(call.make).parameters.get(argument)
    return parameter is not None and parameter.default is None


def refusal(call, **spoilt):
    """Return the message of a call's error, None if there is none; anything but the two errors passes through."""
    try:
        call.make(**{**call.arguments, **spoilt})
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def lacks(call, arguments, message):
    """Return the part that a message lacks: operation, one of the arguments, a cure; "" if none."""
    if not re.match(rf"{call.kind.family if arguments == ['op'] else call.word}[: ]", message):
        return f"no operation: {message}"
    if not re.search(rf"\b({'|'.join(arguments)})\b", message):
        return f"no argument: {message}"
    return f"no cure: {message}" if "; " not in message else f"endless: {message}" if len(message) > 3000 else ""


def arguments(*kinds):
    """Return every call with each of its arguments of some types."""
    return [
        pytest.param(call, argument, id=f"{call.name}-{argument}")
        for call in ALL
        for argument, value in call.arguments.items()
        if isinstance(value, kinds)
    ]


def test_every_installed_family_is_tried():
    assert set(CALLS) == set(ep.families())


@pytest.mark.parametrize("call", ALL, ids=lambda call: call.name)
def test_right_call_is_right(call):
    assert refusal(call) is None


@pytest.mark.parametrize(("call", "argument"), arguments(TensorSpec, Scalar))
def test_what_is_no_tensor_is_refused_in_words(call, argument):
    faults = {}
    for kind, thing in TENSORS.items():
        if kind == "none" and may_be_none(call, argument):
            continue
        message = refusal(call, **{argument: thing})
        faults[kind] = "taken" if message is None else lacks(call, [argument], message)
    assert not any(faults.values()), faults


@pytest.mark.parametrize(("call", "argument"), arguments(TensorSpec))
def test_tensor_of_another_shape_or_type_is_taken_or_refused_in_words(call, argument):
    spec = call.arguments[argument]
    others = [TensorSpec(spec.dtype, shape) for shape in SHAPES] + [TensorSpec(dtype, spec.shape) for dtype in DTYPES]
    messages = {other: refusal(call, **{argument: other}) for other in others}
    # Of two arguments that do not fit each other, the message may name either.
    told = {other: lacks(call, call.arguments, message) for other, message in messages.items() if message}
    assert not any(told.values()), told
    assert told or call.word in TAKES_ANY


@pytest.mark.parametrize(("call", "argument"), arguments(str, int, float, tuple, bool))
def test_other_argument_is_taken_or_refused_in_words(call, argument):
    faults = {}
    for kind, value in VALUES.items():
        message = refusal(call, **{argument: value})
        is_named = argument == "op" or kind in {"object", "text"}
        names = [argument] if is_named else [*call.arguments, call.output]
        faults[kind] = lacks(call, names, message) if message else "taken" if is_named else ""
    assert not any(faults.values()), faults
