"""Planted defects of functions of floats: NaN, signed zeros, subnormals, overflow, cancellation, one argument in 65,536."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []

_TINY: Final = np.float32(2**-126)
_TWO_PI: Final = np.float32(2 * np.pi)
_GELU_REACH: Final = 10


@killed_by("primitives/broadcast_binary/mul/float32/dense/designed")
class FlushesResults(Defect):
    """Let subnormal products be 0, which its DeviceInfo.flushes does not say."""

    meets = "broadcast_binary/mul/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out[np.abs(out) < _TINY] *= np.float32(0)


@killed_by("primitives/elementwise_unary/abs/float16/dense/exhaustive-16bit")
class FlushesOperands(Defect):
    """Take subnormal operands for 0, which its DeviceInfo.flushes does not say."""

    meets = "elementwise_unary/abs/float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.abs(np.broadcast_to(given["x"], out.shape)) < np.float16(2**-14)] = 0


@killed_by("primitives/elementwise_unary/log/float32/dense/designed")
class TakesLogarithmsOfSubnormalsForThoseOfZero(Defect):
    """Read the exponent of a subnormal as that of 0, so that its logarithm is -inf."""

    meets = "elementwise_unary/log/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to((given["x"] > 0) & (given["x"] < _TINY), out.shape)] = -np.inf


@killed_by("primitives/elementwise_unary/rint/float32/dense/designed")
class RoundsHalvesAway(Defect):
    """Round halves away from zero where they go to the even neighbour."""

    meets = "elementwise_unary/rint/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = given["x"]
        out[...] = np.where(np.abs(x - np.trunc(x)) == np.float32(0.5), np.trunc(x) + np.sign(x), out)


@killed_by("primitives/elementwise_unary/round/float32/dense/designed")
class RoundsByAddingAHalf(Defect):
    """Round by adding a half and cutting, which takes the float below 0.5 to 1."""

    meets = "elementwise_unary/round/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = given["x"]
        out[...] = np.copysign(np.trunc(np.abs(x) + np.float32(0.5)), x)


@killed_by("primitives/elementwise_unary/floor/float32/dense/designed")
class FloorsThroughInt32(Defect):
    """Floor by way of int32, which ends at 2^31."""

    meets = "elementwise_unary/floor/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.isfinite(given["x"]) & (np.abs(given["x"]) >= np.float32(2**31))] = -(2.0**31)


@killed_by("primitives/elementwise_unary/ceil/float32/dense/special-values")
class CeilsToPositiveZero(Defect):
    """Let the ceiling of -0.3 be +0."""

    meets = "elementwise_unary/ceil/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out += np.float32(0)


@killed_by("primitives/elementwise_unary/sign/float32/dense/special-values")
class GivesNanTheSignZero(Defect):
    """Let sign(NaN) be 0, as two comparisons make it."""

    meets = "elementwise_unary/sign/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out[np.isnan(out)] = 0


@killed_by("primitives/elementwise_unary/relu/float32/dense/special-values")
class RectifiesNan(Defect):
    """Let relu(NaN) be 0, as fmax(x, 0) does."""

    meets = "elementwise_unary/relu/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out[np.isnan(out)] = 0


@killed_by("primitives/elementwise_unary/is_inf/float32->bool/dense/special-values")
class TakesNanForInfinite(Defect):
    """Call everything infinite whose exponent has all bits, NaN too."""

    meets = "elementwise_unary/is_inf/float32->bool/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out |= np.isnan(given["x"])


@killed_by("primitives/elementwise_unary/sqrt/float32/dense/special-values")
class LosesTheSignOfARoot(Defect):
    """Let the root of -0 be +0."""

    meets = "elementwise_unary/sqrt/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out += np.float32(0)


@killed_by("primitives/elementwise_unary/tanh/float32/dense/designed")
class OverflowsInTanh(Defect):
    """Compute tanh as (e - 1) / (e + 1), e = exp(2x), which is inf / inf for large x."""

    meets = "elementwise_unary/tanh/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(np.isinf(np.exp(2 * given["x"])), out.shape)] = np.nan


@killed_by("primitives/elementwise_unary/log1p/float32/dense/designed")
class CancelsInLog1p(Defect):
    """Compute log1p as log(1 + x)."""

    meets = "elementwise_unary/log1p/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.log(given["x"] + np.float32(1))


@killed_by("primitives/elementwise_unary/expm1/float64/dense/table")
class CancelsInExpm1(Defect):
    """Compute expm1 of float64 as exp(x) - 1."""

    meets = "elementwise_unary/expm1/float64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.exp(given["x"]) - 1


@killed_by("primitives/elementwise_unary/sin/float32/dense/designed")
class ReducesAnglesRoughly(Defect):
    """Subtract multiples of a 2 pi that has 24 bits from large angles."""

    meets = "elementwise_unary/sin/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = given["x"]
        out[...] = np.where(np.abs(x) > np.float32(100), np.sin(np.fmod(x, _TWO_PI)), out)


@killed_by("primitives/elementwise_unary/rsqrt/float32/dense/designed")
class LeavesOutTheNewtonStep(Defect):
    """Take the hardware's estimate of 1 / sqrt(x), right to 12 bits, as it is."""

    meets = "elementwise_unary/rsqrt/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out *= np.float32(1 + 2**-12)


@killed_by("primitives/elementwise_unary/sinh/float16/dense/exhaustive-16bit")
class IsWrongForOneArgument(Defect):
    """Have one wrong entry in a table of 65,536."""

    meets = "elementwise_unary/sinh/float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(given["x"].view(np.uint16) == 0x3A7B, out.shape)] *= np.float16(1.01)  # noqa: PLR2004 - the entry


@killed_by("primitives/elementwise_unary/gelu/float64/dense/table")
class ComputesFloat64InFloat32(Defect):
    """Compute a function of float64 by the code for float32."""

    meets = "elementwise_unary/gelu/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out[...] = out.astype(np.float32)


@killed_by("primitives/broadcast_binary/tanh_backward_with_dy_y/float32/dense/designed")
class TakesTheForwardInputForItsOutput(Defect):
    """Take y for x in a gradient that is given y."""

    meets = "broadcast_binary/tanh_backward_with_dy_y/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["a"] * (1 - np.tanh(given["b"]) ** 2)


@killed_by("primitives/elementwise_unary/gelu/float32/dense/designed")
class ApproximatesGelu(Defect):
    """Compute gelu by the formula with tanh, which is that of fast_gelu."""

    meets = "elementwise_unary/gelu/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = given["x"].astype(np.float64)
        near = np.isfinite(x) & (np.abs(x) < _GELU_REACH)
        out[...] = np.where(near, x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), out)


@killed_by("primitives/elementwise_unary/is_nan/float64->bool/dense/designed")
class LooksAtTheHighWord(Defect):
    """Look for NaN in the high word of a float64, where one with a low payload looks infinite."""

    meets = "elementwise_unary/is_nan/float64->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        high = given["x"].view(np.uint64) >> np.uint64(32)
        out[...] = (high & np.uint64(0x7FFFFFFF)) > np.uint64(0x7FF00000)


@killed_by("primitives/elementwise_unary/celu/float32/strided/rank-16")
class LosesSmallQuotients(Defect):
    """Compute celu by its definition, which is right for the usual alpha: beside a large one x / alpha loses all digits."""

    meets = "elementwise_unary/celu/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x, alpha = np.broadcast_to(given["x"], out.shape), np.float32(self.descriptor.attributes[0])
        out[...] = np.where(x <= 0, alpha * np.expm1(x / alpha), out)


@killed_by("primitives/broadcast_binary/scalar_exp_power_grad/float32/dense/designed-base-10")
class OverflowsInPowers(Defect):
    """Compute the power of a gradient first, which overflows where dy is small enough for a result in range."""

    meets = "broadcast_binary/scalar_exp_power_grad/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        base = np.float32(self.descriptor.attributes[0])
        out[...] = np.where(np.isinf(base ** given["a"]), given["b"] * (base ** given["a"] * np.log(base)), out)


@killed_by("primitives/elementwise_unary/signbit/float32->bool/dense/special-values")
class TakesTheSignByComparison(Defect):
    """Compare with 0, which -0 is not below."""

    meets = "elementwise_unary/signbit/float32->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["x"] < 0


@killed_by("primitives/broadcast_binary/copysign/float32/dense/special-values")
class CopiesTheSignByComparison(Defect):
    """Make |a| negative where b is below 0, which -0 is not."""

    meets = "broadcast_binary/copysign/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.where(given["b"] < 0, -np.abs(given["a"]), np.abs(given["a"]))


@killed_by("primitives/broadcast_binary/atan2/float32/dense/designed")
class ForgetsTheQuadrant(Defect):
    """Compute atan2(y, x) as atan(y / x)."""

    meets = "broadcast_binary/atan2/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.arctan(given["a"] / given["b"])


@killed_by("primitives/broadcast_binary/atan2/float64/dense/designed")
class GivesZerosNoSide(Defect):
    """Let atan2(0, -0) be 0, as if a zero had no sign."""

    meets = "broadcast_binary/atan2/float64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[(given["a"] == 0) & (given["b"] == 0)] = 0


@killed_by("primitives/broadcast_binary/hypot/float32/dense/designed")
class OverflowsInSquares(Defect):
    """Compute hypot as sqrt(a^2 + b^2) in float32."""

    meets = "broadcast_binary/hypot/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.sqrt(given["a"] ** 2 + given["b"] ** 2)


@killed_by("primitives/broadcast_binary/hypot/float64/dense/special-values")
class LosesAnInfiniteLength(Defect):
    """Let hypot(inf, NaN) be NaN."""

    meets = "broadcast_binary/hypot/float64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.isnan(given["a"]) | np.isnan(given["b"])] = np.nan


@killed_by("primitives/broadcast_binary/logaddexp/float32/dense/designed")
class AddsOneBeforeTheLogarithm(Defect):
    """Compute logaddexp as m + log(1 + e^-d), where the sum loses what e^-d has."""

    meets = "broadcast_binary/logaddexp/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        larger, apart = np.maximum(given["a"], given["b"]), np.abs(given["a"] - given["b"])
        out[...] = np.where(np.isfinite(apart), larger + np.log(np.float32(1) + np.exp(-apart)), out)


@killed_by("primitives/broadcast_binary/nextafter/float16/dense/designed")
class StepsInTheComputeType(Defect):
    """Take the next number of float32, which rounds back to the operand."""

    meets = "broadcast_binary/nextafter/float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.nextafter(np.float32(given["a"]), np.float32(given["b"])).astype(np.float16)


@killed_by("primitives/broadcast_binary/silu_backward_with_dy_x/float32/dense/hard-pairs")
class OverflowsOnItsWay(Defect):
    """Compute silu's gradient as (dy (1 + e^x + x)) e^x / (1 + e^x)^2, where the first product overflows."""

    meets = "broadcast_binary/silu_backward_with_dy_x/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        dy, x = given["a"], given["b"]
        left = x < -1
        power = np.exp(np.where(left, x, np.float32(0)))
        out[...] = np.where(left & np.isfinite(x), dy * (1 + power + x) * power / (1 + power) ** 2, out)
