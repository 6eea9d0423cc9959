"""Descriptors of every family get absurd arguments: the answer is one sentence, soon."""

import itertools
import traceback

import numpy as np
import pytest
from ep_primitives import (
    AddN,
    ArgReduce,
    BroadcastBinary,
    Cast,
    Convolution,
    ConvolutionTransposed,
    ElementwiseUnary,
    Fill,
    Gather,
    Generator,
    LayerNorm,
    Matmul,
    OneHot,
    Pad,
    Permute,
    Pool,
    RandomFill,
    Reduce,
    Softmax,
    TensorFill,
    TopK,
    Where,
)

from ep import Scalar, TensorSpec, device

SPEC = TensorSpec("float32", (2, 3))
INDICES = TensorSpec("int64", (2, 3))
IMAGES = TensorSpec("float32", (2, 2, 3))


class Liar:
    """Each of its special methods raises."""

    def __index__(self):
        raise ZeroDivisionError

    __iter__ = __len__ = __hash__ = __eq__ = __repr__ = __float__ = __bool__ = __str__ = __index__


VALUES = {
    "endless": itertools.count(),
    "range": range(2**62),
    "long": 1 << 3_400_000,
    "longs": (1 << 3_400_000, 2),
    "liar": Liar(),
    "liars": (Liar(), Liar()),
    "text": "x" * 10**6,
    "array": np.zeros(3),
    "swapped": np.zeros(3, ">f4"),
    "none": (None, None),
}

CALLS = {
    "op": lambda value: ElementwiseUnary.infer(value, SPEC),
    "attribute": lambda value: ElementwiseUnary.infer("elu", SPEC, alpha=value),
    "x": lambda value: ElementwiseUnary("negative", x=value, out=SPEC),
    "out": lambda value: Where(condition=SPEC, a=SPEC, b=SPEC, out=value),
    "scalar": lambda value: BroadcastBinary("add", a=SPEC, b=value, out=SPEC),
    "terms": lambda value: AddN(SPEC, value, out=SPEC),
    "dtype": lambda value: Cast.infer(SPEC, value),
    "value": lambda value: Fill(out=SPEC, value=value),
    "shape": lambda value: TensorFill.infer(TensorSpec("float32", ()), value),
    "permutation": lambda value: Permute.infer(SPEC, value),
    "before": lambda value: Pad.infer("constant", SPEC, value, (0, 0)),
    "after": lambda value: Pad.infer("constant", SPEC, (0, 0), value),
    "classes": lambda value: OneHot.infer(INDICES, "float32", value),
    "first": lambda value: OneHot.infer(INDICES, "float32", 3, first=value),
    "axis": lambda value: Gather.infer(SPEC, INDICES, axis=value),
    "batch_dims": lambda value: Gather.infer(SPEC, INDICES, axis=1, batch_dims=value),
    "bias": lambda value: Matmul.infer(SPEC, TensorSpec("float32", (3, 2)), bias=value),
    "activation": lambda value: Matmul.infer(SPEC, TensorSpec("float32", (3, 2)), activation=value),
    "conjugate_a": lambda value: Matmul.infer(SPEC, TensorSpec("float32", (3, 2)), conjugate_a=value),
    "state": lambda value: RandomFill("normal", out=SPEC, state=value),
    "number": lambda value: RandomFill("bernoulli", out=SPEC, p=value),
    "axes": lambda value: Reduce.infer("sum", SPEC, axis=value),
    "keepdims": lambda value: ArgReduce.infer("argmax", SPEC, axis=0, keepdims=value),
    "softmax axis": lambda value: Softmax.infer(SPEC, axis=value),
    "epsilon": lambda value: LayerNorm.infer(SPEC, epsilon=value),
    "convolution strides": lambda value: Convolution.infer(IMAGES, IMAGES, strides=value),
    "convolution pads": lambda value: Convolution.infer(IMAGES, IMAGES, pads=value),
    "convolution groups": lambda value: Convolution.infer(IMAGES, IMAGES, groups=value),
    "pool window": lambda value: Pool.infer("max", IMAGES, value),
    "pool ceil": lambda value: Pool.infer("max", IMAGES, 1, ceil=value),
    "convolution_transposed extra": lambda value: ConvolutionTransposed.infer(IMAGES, IMAGES, extra=value),
    "layer_norm scale": lambda value: LayerNorm.infer(SPEC, value),
    "k": lambda value: TopK.infer("largest", SPEC, value),
    "sorted": lambda value: TopK.infer("largest", SPEC, 2, sorted=value),
    "seed": lambda value: Generator(device("cpu:0"), value),
    "device": lambda value: ElementwiseUnary.infer("negative", SPEC).on(value),
}


@pytest.mark.parametrize("argument", CALLS)
@pytest.mark.parametrize("value", VALUES)
def test_whatever_a_descriptor_is_given_it_says_so_in_a_sentence(argument, value):
    with pytest.raises((TypeError, ValueError), match=r"(?s)^.{10,2000}$") as refusal:
        CALLS[argument](VALUES[value])
    assert traceback.extract_tb(refusal.tb)[-1].line.startswith("raise "), "an error of Python's own"


def test_descriptors_lose_no_attribute():
    descriptor = BroadcastBinary("add", a=SPEC, b=Scalar("float32"), out=SPEC)
    with pytest.raises(AttributeError, match="BroadcastBinary is frozen"):
        del descriptor.op
    assert descriptor.op == "add"
