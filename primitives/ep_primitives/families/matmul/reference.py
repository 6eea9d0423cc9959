"""The reference of Matmul, in a wider type than the result, and how far a right result may be from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.families.elementwise_unary.rows import UNARY_OPS
from ep_primitives.judging.accuracy import INTEGRAL, Accuracy, Conditioned, Ulps
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.matmul.descriptor import Matmul

__all__ = ["accuracy", "reference", "summed"]

_WIDER: Final[Mapping[str, Any]] = {
    "float16": np.float64,
    "bfloat16": np.float64,
    "float32": np.float64,
    "float64": np.longdouble,
    "complex64": np.complex128,
    "complex128": np.clongdouble,
    "int32": np.int64,
}
_WHY: Final = (
    "min(n / 2, 4 sqrt n) for n = k + 3 roundings, of complex numbers 2 k + 6 and sqrt 2 times that; S = |alpha| |a| @ |b| + "
    "|beta| |out| + |bias|: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1; Higham and Mary, A New "
    "Approach to Probabilistic Rounding Error Analysis, 2019"
)
_STEEPEST: Final = 1.13
"""No activation has a greater slope: gelu's is 1.129 near 1.41, silu's 1.1 near 2.4, the others' at most 1."""


def accuracy(descriptor: Matmul) -> Accuracy:
    """Return Conditioned(c) over S = |alpha| |a| @ |b| + |beta| |out| + |bias|, exact for integers.

    A path from a product to the result has at most n = k + 3 roundings: the product, k - 1 sums, alpha, beta's sum and
    bias' sum. In any order |error| <= gamma_n S, that is n / 2 eps to first order (Higham, Accuracy and Stability of
    Numerical Algorithms, 2002, section 3.1). For long sums the probabilistic bound lambda sqrt(n) / 2 eps is smaller
    (Higham and Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019): with lambda = 8 it fails for one
    element in 10^13 even if each rounding error is as large as it can be. A part of a complex product sums twice as many
    terms, alpha costs three roundings more, and the error's modulus is at most sqrt(2) times a part's.
    """
    kind = ep.dtype(descriptor.out.dtype).kind
    if kind == "i":
        return INTEGRAL
    is_complex = kind == "c"
    bound = summed(2 * descriptor.depth + 6 if is_complex else descriptor.depth + 3)
    return Conditioned(round(bound * (math.sqrt(2) if is_complex else 1), 2), why=_WHY)


def summed(roundings: int) -> float:
    """Return the error of a sum in eps S, with so many roundings between a term and the result, in any order."""
    return min(roundings / 2, 4 * math.sqrt(roundings))


def reference(descriptor: Matmul, inputs: Mapping[str, Any]) -> Reference:
    """Return activation(alpha op(a) @ op(b) + beta out + bias) of the operands as stored, and S.

    inputs : by operand; "out", the output's old contents, where beta is not 0
    """
    wider = _WIDER[descriptor.out.dtype]
    shape = descriptor.out.shape
    alpha, beta = (widened(descriptor.compute, inputs[name])[()] for name in ("alpha", "beta"))
    value, scale = np.zeros(shape, wider), np.zeros(shape)
    with np.errstate(all="ignore"):
        if alpha != 0:
            product, size = _product(descriptor, inputs, wider)
            value += alpha * product
            scale += np.abs(alpha) * size
        if beta != 0:
            out = widened(descriptor.out.dtype, inputs["out"]).astype(wider)
            value += beta * out
            scale += np.abs(beta) * np.abs(out).astype(np.float64)
        if descriptor.bias:
            bias = widened(descriptor.bias.dtype, inputs["bias"]).astype(wider)
            value += bias
            scale += np.abs(bias).astype(np.float64)
        return _finished(descriptor, value, scale)


def _product(descriptor: Matmul, inputs: Mapping[str, Any], wider: Any) -> tuple[Array, Array]:
    """Return op(a) @ op(b) and |a| @ |b|, summed and repeated to the output's shape."""
    factors = []
    for name, spec, flag in zip("ab", (descriptor.a, descriptor.b), descriptor.conjugates, strict=True):
        array = widened(spec.dtype, inputs[name]).astype(wider)
        factors.append(array.conj() if flag else array)
    a, b = factors
    sizes = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    return _onto(a @ b, descriptor.out.shape), _onto(sizes, descriptor.out.shape)


def _onto(array: Array, shape: tuple[int, ...]) -> Array:
    """Return the sum over the batches that `shape` lacks, repeated over those that it has more."""
    lead = max(array.ndim - len(shape), 0)
    array = array.sum(axis=tuple(range(lead)), dtype=array.dtype)
    aligned = shape[len(shape) - array.ndim :]
    sums = tuple(axis for axis, (have, want) in enumerate(zip(array.shape, aligned, strict=True)) if want == 1 != have)
    return np.broadcast_to(array.sum(axis=sums, keepdims=True, dtype=array.dtype), shape)


def _finished(descriptor: Matmul, value: Array, scale: Array) -> Reference:
    """Return the reference after the activation, whose own error and whose slope become part of S."""
    dtype = descriptor.out.dtype
    kind = ep.dtype(dtype).kind
    activation = None if descriptor.activation == "none" else UNARY_OPS[descriptor.activation]
    if kind == "i":
        wrapped = value.astype(np.int32)
        return Reference(activation.reference(wrapped) if activation else wrapped)
    is_long = value.dtype.type in {np.longdouble, np.clongdouble}
    rounded = value.astype(np.complex128 if kind == "c" else np.float64)
    if is_long:
        scale *= 1 + LONG_EPS
    if not activation:
        return Reference(rounded, scale, 0.5 if is_long else 0.0)
    result = activation.reference(rounded)
    promise = activation.accuracy_of(descriptor.compute)
    bound = accuracy(descriptor)
    if isinstance(bound, Conditioned) and isinstance(promise, Ulps):
        eps = 2.0 ** -ep.dtype(descriptor.compute).fraction
        own = (promise.n + activation.error_of("float64")) * np.abs(result) + promise.floor / eps
        scale = _STEEPEST * (scale + 0.5 * np.abs(rounded) / bound.k) + own / bound.k
    return Reference(result, scale)
