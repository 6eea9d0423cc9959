"""Planted defects of Cast: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


_BELOW_2_31: Final = np.float32(2147483520)


@killed_by("primitives/cast/-/float32->int32/dense/designed")
class CastsNanToTheLeast(Defect):
    """Convert NaN to MIN, as x86 does."""

    meets = "cast/-/float32->int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(np.isnan(given["x"]), out.shape)] = -(2**31)


@killed_by("primitives/cast/-/float32->uint32/dense/designed")
class WrapsNegativeNumbers(Defect):
    """Convert negative floats to unsigned integers by way of signed ones."""

    meets = "cast/-/float32->uint32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = given["x"]
        signed = np.clip(np.nan_to_num(x), -_BELOW_2_31, _BELOW_2_31).astype(np.int32)
        out[...] = np.where(x < 0, signed.view(np.uint32), out)


@killed_by("primitives/cast/-/float64->int64/dense/designed")
class RoundsToNearest(Defect):
    """Round where a conversion to an integer truncates."""

    meets = "cast/-/float64->int64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        is_small = np.abs(given["x"]) < 2.0**53
        out[is_small] = np.rint(given["x"][is_small]).astype(np.int64)


@killed_by("primitives/cast/-/uint64->float32/dense/designed")
class TakesUnsignedForSigned(Defect):
    """Convert uint64 by the instruction for int64."""

    meets = "cast/-/uint64->float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["x"].view(np.int64).astype(np.float32)


@killed_by("primitives/cast/-/int64->float32/dense/designed")
class ConvertsThroughFloat64(Defect):
    """Convert int64 to float32 by way of float64, rounding twice."""

    meets = "cast/-/int64->float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["x"].astype(np.float64).astype(np.float32)


@killed_by("primitives/cast/-/uint64->int64/dense/designed")
class KeepsFiftyThreeBits(Defect):
    """Convert between integers of 64 bits by way of float64."""

    meets = "cast/-/uint64->int64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = given["x"]
        is_inside = x < 2**62
        out[is_inside] = x[is_inside].astype(np.float64).astype(np.int64)


@killed_by("primitives/cast/-/int32->bool/dense/designed")
class LooksAtTheLowByte(Defect):
    """Let an integer be true if its low byte is not 0."""

    meets = "cast/-/int32->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = (given["x"] & 255) != 0


@killed_by("primitives/cast/-/float32->bool/dense/designed")
class TruncatesBeforeItLooks(Defect):
    """Let 0.5 be false, as an integer in between is."""

    meets = "cast/-/float32->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(np.abs(given["x"]) < 1, out.shape)] = False


@killed_by("primitives/cast/-/complex64->bool/dense/designed")
class LooksAtTheRealPart(Defect):
    """Let a complex number be true if its real part is."""

    meets = "cast/-/complex64->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["x"].real != 0


@killed_by("primitives/cast/-/float32->float8_e4m3fn/dense/designed")
class SaturatesFloat8(Defect):
    """Turn numbers too large for float8_e4m3fn into its largest number, not NaN."""

    meets = "cast/-/float32->float8_e4m3fn/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x = np.broadcast_to(given["x"], out.shape)
        is_large = np.abs(x) > np.float32(464)
        out[is_large] = np.copysign(np.float32(448), x[is_large]).astype(out.dtype)


@killed_by("primitives/cast/-/int64->int8/dense/designed")
class SaturatesIntegers(Defect):
    """Let an integer that is too large for a narrower one be its largest, where it wraps."""

    meets = "cast/-/int64->int8/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.clip(given["x"], -128, 127)


@killed_by("primitives/cast/-/float32->float16/dense/ties")
class FlushesHalfs(Defect):
    """Turn numbers that are subnormal in float16 into 0."""

    meets = "cast/-/float32->float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out[np.abs(out) < np.float16(2**-14)] *= np.float16(0)


@killed_by("primitives/cast/-/int32->float16/dense/designed")
class ClampsToTheLargestHalf(Defect):
    """Let an integer that is too large for float16 be its largest number, not infinite."""

    meets = "cast/-/int32->float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out[...] = np.clip(out, np.float16(-65504), np.float16(65504))


@killed_by("primitives/cast/-/bool->int32/dense/designed")
class CastsBytesOfBools(Defect):
    """Convert the byte of a bool, so that true is 1, 2 or 255."""

    meets = "cast/-/bool->int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["x"].view(np.uint8)


@killed_by("primitives/cast/-/float32->bfloat16/dense/designed")
class TurnsFaintNanInfinite(Defect):
    """Convert to bfloat16 by the high half of the bits: a NaN with its payload in the low half becomes infinite."""

    meets = "cast/-/float32->bfloat16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        is_nan = np.broadcast_to(np.isnan(given["x"]), out.shape)
        high = np.broadcast_to(given["x"].view(np.uint32) >> np.uint32(16), out.shape)
        out.view(np.uint16)[is_nan] = high[is_nan]
