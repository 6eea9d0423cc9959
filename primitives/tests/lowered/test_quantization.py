"""Quantize and Dequantize: their descriptors, messages, stages, and their definitions."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import Dequantize, Quantize
from ep_primitives.families.quantization.family import DequantizeFamily, QuantizeFamily

from ep import TensorSpec

X = TensorSpec("float32", (4, 6, 5))
ONE = TensorSpec("float32", ())
COLUMN = TensorSpec("float32", (6, 1))


def quantized(x, scale, zero=None, dtype=None, **words):
    inputs = {"x": np.array(x, np.float32), "scale": np.array(scale, np.float32)}
    inputs |= {} if zero is None else {"zero_point": np.array(zero, dtype)}
    made = Quantize.infer(**inputs, **words) if zero is not None else Quantize.infer(**inputs, dtype=dtype, **words)
    return QuantizeFamily().reference(made, inputs).value.tolist()


def test_ties_are_even_and_ends_saturate():
    assert quantized([0.5, 1.5, 2.5, -0.5, -1.5], 1.0, dtype="int8") == [0, 2, 2, 0, -2]
    assert quantized([0.5, 1.5], 1.0, 3, "uint8") == [3, 5]
    assert quantized([1000, -1000, math.inf, -math.inf], 2.0, dtype="int8") == [127, -128, 127, -128]
    assert quantized([1000, -3], 0.25, 7, "uint8") == [255, 0]
    assert quantized([math.nan, 0.0, 3.0], [1.0, 0.0, 0.0], [5, 5, 5], "int16") == [0, 0, 32767]


def test_dequantized_is_the_definition():
    x, scale, zero = (
        np.array([[-128, 127], [3, 5]], np.int8),
        np.array([[0.5], [2.0]]),
        np.array([[100], [-5]], np.int8),
    )
    inputs = {"x": x, "scale": scale, "zero_point": zero}
    found = DequantizeFamily().reference(Dequantize.infer(**inputs), inputs).value
    assert found.tolist() == [[-114, 13.5], [16, 20]]


def test_blocks_are_neighbours_and_the_last_may_be_short():
    scale = np.array([[1.0, 2.0, 4.0]])
    assert quantized([[8.0] * 5], scale, dtype="uint8", axis=1, block=2) == [[8, 8, 4, 4, 2]]
    made = Quantize.infer(TensorSpec("float32", (3, 5)), TensorSpec("float32", (3, 3)), axis=-1, block=2)
    whole, rest = made.pieces(made.scale, None)
    assert (whole.x.shape, whole.scale.shape) == ((3, 2, 2), (3, 2, 1))
    assert (rest.x.shape, rest.x.offset, rest.scale.offset) == ((3, 1, 1), 4, 2)


def test_operands_keep_their_places():
    made = Quantize.infer(X, COLUMN, TensorSpec("int8", (6, 1)))
    assert made.specs == (X, COLUMN, TensorSpec("int8", (6, 1)), TensorSpec("int8", X.shape))
    assert (made.attributes, made.axis, made.block) == ((0, 0), None, None)
    assert made.cell == "quantize/-/float32->int8/dense"
    assert Quantize.infer(X, ONE).out.dtype == "uint8"
    back = Dequantize.infer(made.out, COLUMN, axis=None)
    assert (back.out, back.cell) == (X, "dequantize/-/int8->float32/dense")
    blocks = Dequantize.infer(made.out, TensorSpec("float16", (4, 6, 2)), axis=-1, block=3)
    assert (blocks.axis, blocks.block, blocks.out.dtype) == (2, 3, "float16")
    for each in (made, back, blocks):
        assert pickle.loads(pickle.dumps(each)) == each
        assert eval(repr(each), {type(each).__name__: type(each), "TensorSpec": TensorSpec}) == each


def families(descriptor):
    return [stage.descriptor.family for stage in descriptor.lower()]


def test_stages_are_few():
    assert families(Quantize.infer(X, ONE)) == ["broadcast_binary", "elementwise_unary", "cast"]
    assert families(Dequantize.infer(TensorSpec("uint8", (3,)), ONE)) == ["cast", "broadcast_binary"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Quantize.infer(X, TensorSpec("float32", (4,))), ValueError, r"quantize: scale has shape \(4,\), which does not broadcast"),
        (lambda: Quantize.infer(X, TensorSpec("float64", ())), ValueError, "quantize: scale has dtype float64, needs float32"),
        (lambda: Quantize.infer(X, ONE, TensorSpec("int32", ())), ValueError, "quantize: out has dtype int32, needs one of int8"),
        (lambda: Quantize.infer(X, COLUMN, TensorSpec("int8", ())), ValueError, r"quantize: zero_point has shape \(\), needs scale's shape \(6, 1\)"),
        (lambda: Quantize.infer(X, ONE, TensorSpec("int8", ()), dtype="uint8"), ValueError, "quantize: zero_point has dtype int8, needs uint8"),
        (lambda: Quantize.infer(X, ONE, axis=1), ValueError, "quantize: axis is 1, needs a block beside it"),
        (lambda: Quantize.infer(X, ONE, block=0), ValueError, "quantize: block is 0, needs at least 1"),
        (lambda: Quantize.infer(X, COLUMN, axis=1, block=2), ValueError, r"quantize: scale has shape \(6, 1\), needs \(4, 3, 5\) for blocks of 2 .* repeat"),
        (lambda: Quantize.infer(ONE, ONE, axis=0, block=2), ValueError, "quantize: x has rank 0, needs from 1 to 15 with a block"),
        (lambda: Dequantize.infer(TensorSpec("int64", (3,)), ONE), ValueError, "dequantize: x has dtype int64, needs one of int8"),
        (lambda: Dequantize.infer(TensorSpec("int8", (3,)), ONE, TensorSpec("uint8", ())), ValueError, "dequantize: zero_point has dtype uint8, needs int8"),
        (lambda: Dequantize.infer(TensorSpec("int8", (3,)), ONE, out=ONE), ValueError, r"dequantize: out has shape \(\), needs x's shape \(3,\)"),
        (lambda: Dequantize.infer(TensorSpec("int8", (3,)), ONE, block="2"), TypeError, "dequantize: block is '2'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make, error, words):
    with pytest.raises(error, match=f"^{words}"):
        make()
