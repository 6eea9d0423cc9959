"""`infer` with `out=`: strides and a place of the caller's, in every family, checked as the constructor does."""

import numpy as np
import pytest
from ep_primitives import ArgReduce, BroadcastBinary, Cast, ElementwiseUnary, Gather, Matmul, OneHot, Reduce, TensorFill
from ep_primitives.cases.call import calls

import ep
from ep import TensorSpec

CALLS = calls()

PLACED = [call for calls in CALLS.values() for call in calls if not call.is_strict and call.output in call.arguments]
X = TensorSpec("float32", (4, 3))


def spread(spec):
    """Return the same spec with its dimensions laid out in reverse order, with gaps, from the seventh element on."""
    strides, step = [], 2
    for extent in spec.shape:
        strides.append(step)
        step *= max(extent, 1)
    return TensorSpec(spec.dtype, spec.shape, tuple(strides), 7)


def test_every_family_has_a_call_with_an_output():
    assert {call.kind.family for call in PLACED} == set(ep.families())


@pytest.mark.parametrize("call", PLACED, ids=lambda call: call.name)
def test_output_is_the_one_described(call):
    dense = call.make(**call.arguments)
    out = spread(dense.out)
    placed = call.make(**{**call.arguments, call.output: out})
    assert placed.out == out
    assert (placed.op, placed.attributes) == (dense.op, dense.attributes)
    assert {**placed.present, call.output: None} == {**dense.present, call.output: None}
    tensor = ep.device("cpu:0").empty(out)
    assert call.make(**{**call.arguments, call.output: tensor}) == placed


@pytest.mark.parametrize("call", PLACED, ids=lambda call: call.name)
def test_output_that_overlaps_itself_is_refused_as_by_the_constructor(call):
    out = call.arguments[call.output]
    with pytest.raises(ValueError, match=f"^{call.word}: {call.output} .* overlaps itself"):
        call.make(**{**call.arguments, call.output: TensorSpec(out.dtype, out.shape, (0,) * out.ndim)})


def test_arrays_are_outputs():
    out = np.zeros((3, 4), np.float32).T
    descriptor = ElementwiseUnary.infer("exp", np.zeros((4, 3), np.float32), out=out)
    assert descriptor.out == TensorSpec("float32", (4, 3), (1, 4))


def test_output_says_what_may_then_be_left_out():
    assert Cast.infer(X, out=TensorSpec("int8", (4, 3))).out.dtype == "int8"
    assert TensorFill.infer(TensorSpec("int8", ()), out=TensorSpec("int8", (4, 3))).out.shape == (4, 3)
    indices = TensorSpec("int64", (5,))
    assert OneHot.infer(indices, out=TensorSpec("float16", (7, 5)), axis=0).classes == 7
    for shape in ((3,), (1, 3)):
        assert Reduce.infer("sum", X, 0, out=TensorSpec("float64", shape)).out == TensorSpec("float64", shape)
        assert ArgReduce.infer("max", X, 0, out=TensorSpec("int32", shape)).out == TensorSpec("int32", shape)
    assert Reduce.infer("sum", X, 0, keepdims=True, out=TensorSpec("float32", (1, 3))).out.ndim == 2


def test_output_may_be_what_is_broadcast_to():
    wide = TensorSpec("float32", (2, 4, 3))
    assert ElementwiseUnary.infer("exp", X, out=wide).out == wide
    assert BroadcastBinary.infer("add", X, ep.Scalar("float32"), out=wide).out == wide
    summed = Matmul.infer(
        TensorSpec("float32", (5, 4, 3)), TensorSpec("float32", (3, 2)), out=TensorSpec("float32", (4, 2))
    )
    assert summed.depth == 15


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda out: Cast.infer(X, "int16", out=out), ValueError, "cast: dtype is 'int16', and out has float32; leave dtype out"),
        (lambda out: Cast.infer(X), TypeError, "cast: dtype is None, needs an element type"),
        (lambda out: TensorFill.infer(X, (1,), out=out), ValueError, r"tensor_fill: shape is \(1,\), and out has \(3,\)"),
        (lambda out: TensorFill.infer(TensorSpec("float32", ())), TypeError, "tensor_fill: out: TensorSpec: shape None"),
        (lambda out: OneHot.infer(TensorSpec("int64", ()), "int8", out=out), ValueError, "one_hot: dtype is 'int8'"),
        (lambda out: OneHot.infer(TensorSpec("int64", ()), None, 4, out=out), ValueError, "one_hot: classes is 4, and out has 3"),
        (lambda out: OneHot.infer(TensorSpec("int64", ())), TypeError, "one_hot: classes is None"),
        (lambda out: Reduce.infer("sum", X, 0, keepdims=True, out=out), ValueError, r"sum: keepdims is True and makes \(1, 3\), and out has \(3,\); leave keepdims out"),
        (lambda out: Reduce.infer("sum", X, 0, dtype="float64", out=out), ValueError, "sum: dtype is 'float64', and out has float32"),
        (lambda out: ArgReduce.infer("max", X, 0, out=out), ValueError, "arg_reduce/max: out has dtype float32, needs one of int64, int32"),
        (lambda out: Gather.infer(X, TensorSpec("int64", (2,)), out=out), ValueError, r"gather: out has shape \(3,\), needs \(2, 3\)"),
    ],
)  # fmt: skip
def test_output_that_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=f"^{words}"):
        call(TensorSpec("float32", (3,)))
