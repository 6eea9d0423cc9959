"""A product in NumPy is right for every case of Matmul, and with any planted defect it is wrong for some."""

import numpy as np
import pytest
from ep_primitives.families.elementwise_unary.rows import UNARY_OPS
from ep_primitives.families.matmul.family import MatmulFamily
from ep_primitives.judging.accuracy import EXACT
from ep_primitives.judging.reference import array_dtype, limits

import ep

FAMILY = MatmulFamily()
CASES = [
    (case, inputs, FAMILY.reference(case.descriptor, inputs))
    for cell in FAMILY.cells()
    for case in FAMILY.cases(cell)
    if case.profile == "quick" and case.descriptor.out.size
    for inputs in [case.data(np.random.default_rng(1))]
]
NARROW = ("float16", "bfloat16")


class Product:
    """The definition in the accumulation type; a subclass gets one thing wrong."""

    def __call__(self, case, inputs):
        descriptor = case.descriptor
        self.kind = array_dtype(descriptor.compute)
        a, b = (np.asarray(inputs[name]) for name in "ab")
        a, b = (self.conjugated(x, flag) for x, flag in zip((a, b), descriptor.conjugates, strict=True))
        alpha, beta = (self.kind.type(inputs[name]) for name in ("alpha", "beta"))
        shape = descriptor.out.shape
        value = np.zeros(shape, self.kind)
        with np.errstate(all="ignore"):
            if self.reads_factors(alpha):
                value = self.alpha(alpha) * self.onto(self.product(a, b), shape)
            if self.reads_out(beta):
                held = inputs.get("out", np.full(shape, 7))
                value = value + self.beta(beta, descriptor) * np.asarray(held).astype(self.kind)
            bias = np.asarray(inputs["bias"]).astype(self.kind) if descriptor.bias else self.kind.type(0)
            value = np.asarray(self.finished(value, bias, alpha, self.activation(descriptor.activation)))
            return self.stored(np.broadcast_to(value, shape).copy(), descriptor.out.dtype)

    def conjugated(self, x, flag):
        return x.conj() if flag else x

    def reads_factors(self, alpha):
        return alpha != 0

    def reads_out(self, beta):
        return beta != 0

    def alpha(self, alpha):
        return alpha

    def beta(self, beta, descriptor):
        del descriptor
        return beta

    def product(self, a, b):
        return a.astype(self.kind) @ b.astype(self.kind)

    def onto(self, value, shape):
        value = value.sum(axis=tuple(range(max(value.ndim - len(shape), 0))), dtype=self.kind)
        aligned = zip(value.shape, shape[len(shape) - value.ndim :], strict=True)
        sums = tuple(axis for axis, (have, want) in enumerate(aligned) if want == 1 != have)
        return np.broadcast_to(value.sum(axis=sums, keepdims=True, dtype=self.kind), shape)

    def activation(self, name):
        if name == "none":
            return lambda x: x
        wide = np.float64 if self.kind.kind == "f" else self.kind
        return lambda x: UNARY_OPS[name].reference(np.asarray(x, wide)).astype(self.kind)

    def finished(self, value, bias, alpha, activation):
        del alpha
        return activation(value + bias)

    def stored(self, value, dtype):
        return value.astype(array_dtype(dtype))


def passes(result, case, reference):
    """Judge as the suite does, with half an ulp of the output taken relative to its largest value."""
    value = reference.value
    accuracy = case.accuracy or FAMILY.accuracy(case.descriptor)
    if accuracy == EXACT:
        return (result == value.astype(result.dtype)).all()
    info = limits(case.descriptor.out.dtype)
    eps = 2.0 ** -ep.dtype(case.descriptor.compute).fraction
    half = np.abs(value) * float(info.eps) / 2 + float(info.smallest_subnormal)
    finite = np.isfinite(value)
    with np.errstate(all="ignore"):
        error = np.abs(result.astype(value.dtype) - value)
        near = error <= accuracy.k * eps * reference.scale + half + reference.error * eps * np.abs(value)
        same = (result.astype(value.dtype) == value) | (np.isnan(value) & np.isnan(result.astype(value.dtype)))
    return np.where(finite, near, same).all()


class IgnoresAlpha(Product):
    def alpha(self, alpha):
        return alpha / alpha


class SquaresAlpha(Product):
    def alpha(self, alpha):
        return alpha * alpha


class ReadsFactorsForAlphaZero(Product):
    def reads_factors(self, alpha):
        return True


class IgnoresBeta(Product):
    def reads_out(self, beta):
        return False


class ReadsOutputForBetaZero(Product):
    def reads_out(self, beta):
        return True


class AppliesBetaToEachBatch(Product):
    def beta(self, beta, descriptor):
        return beta * self.kind.type(descriptor.depth / max(descriptor.a.shape[-1], 1))


class TakesTheRealPartOfAlpha(Product):
    def alpha(self, alpha):
        return alpha.real


class DoesNotConjugate(Product):
    def conjugated(self, x, flag):
        return x


class DropsTheLastTerm(Product):
    def product(self, a, b):
        return super().product(a[..., :-1], b[..., :-1, :])


class DropsTermsBeyondBlocksOf16(Product):
    def product(self, a, b):
        whole = max(a.shape[-1] // 16 * 16, 1)
        return super().product(a[..., :whole], b[..., :whole, :])


class SkipsZeros(Product):
    def product(self, a, b):
        return super().product(np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0))


class MultipliesInBFloat16(Product):
    def product(self, a, b):
        if self.kind == np.float32:
            a, b = (x.astype(array_dtype("bfloat16")) for x in (a, b))
        return super().product(a, b)


class AccumulatesInTheElementType(Product):
    def product(self, a, b):
        if a.dtype.name not in NARROW:
            return super().product(a, b)
        total = np.zeros((), a.dtype)
        for k in range(a.shape[-1]):
            total = total + a[..., :, k, None] * b[..., k, None, :]
        return np.broadcast_to(total, (a[..., :1] @ b[..., :1, :]).shape).astype(self.kind)


class AccumulatesFloat64InFloat32(Product):
    def product(self, a, b):
        return (
            (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype)
            if a.dtype == np.float64
            else super().product(a, b)
        )


class Saturates(Product):
    def product(self, a, b):
        wrapped = super().product(a, b)
        return np.clip(wrapped, -32768, 32767) if self.kind == np.int32 else wrapped


class ReadsBytesAsSigned(Product):
    def product(self, a, b):
        return super().product(a.view(np.int8) if a.dtype == np.uint8 else a, b)


class TakesTheFirstOfASum(Product):
    def onto(self, value, shape):
        first = value
        for axis in range(value.ndim - 2):
            if axis - value.ndim + len(shape) < 0 or shape[axis - value.ndim + len(shape)] == 1:
                first = np.where(
                    np.arange(value.shape[axis]).reshape(-1, *(1,) * (value.ndim - axis - 1)) == 0, first, 0
                )
        return super().onto(first, shape)


class ForgetsTheBias(Product):
    def finished(self, value, bias, alpha, activation):
        return activation(value)


class ScalesTheBias(Product):
    def finished(self, value, bias, alpha, activation):
        return activation(value + alpha * bias)


class AddsTheBiasLast(Product):
    def finished(self, value, bias, alpha, activation):
        return activation(value) + bias


class ForgetsTheActivation(Product):
    def activation(self, name):
        return lambda x: x


class LeavesTheLastColumn(Product):
    def stored(self, value, dtype):
        value[..., -1] = 91
        return super().stored(value, dtype)


class LeavesTheLastRow(Product):
    def stored(self, value, dtype):
        value[..., -1, :] = 91
        return super().stored(value, dtype)


class TruncatesBFloat16(Product):
    def stored(self, value, dtype):
        if dtype == "bfloat16":
            return (value.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(array_dtype(dtype))
        return super().stored(value, dtype)


def test_definition_passes_every_case():
    wrong = [
        f"{case.descriptor.cell}/{case.name}"
        for case, inputs, reference in CASES
        if not passes(Product()(case, inputs), case, reference)
    ]
    assert not wrong


@pytest.mark.parametrize("defect", Product.__subclasses__(), ids=lambda defect: defect.__name__)
def test_planted_defect_is_seen(defect):
    assert any(not passes(defect()(case, inputs), case, reference) for case, inputs, reference in CASES)
