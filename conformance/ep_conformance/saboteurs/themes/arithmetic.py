"""Planted defects of arithmetic: division, powers and remainders of integers, comparisons, bools, complex numbers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []

_LOW_HALF: Final = np.uint64(2**32 - 1)
_LEAST: Final = -128


@killed_by("primitives/broadcast_binary/div/int32/dense/designed")
class DividesByZeroIntoOnes(Defect):
    """Leave what hardware gives for x / 0, all bits set, where the row says 0."""

    meets = "broadcast_binary/div/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(given["b"] == 0, out.shape)] = -1


@killed_by("primitives/broadcast_binary/div/int8/dense/exhaustive-8bit")
class SaturatesTheQuotient(Defect):
    """Let MIN / -1 be MAX."""

    meets = "broadcast_binary/div/int8/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to((given["a"] == _LEAST) & (given["b"] == -1), out.shape)] = 127


@killed_by("primitives/broadcast_binary/less_than/uint32->bool/dense/designed")
class ComparesUnsignedAsSigned(Defect):
    """Compare unsigned integers with the instruction for signed ones."""

    meets = "broadcast_binary/less_than/uint32->bool/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["a"].view(np.int32) < given["b"].view(np.int32)


@killed_by("primitives/broadcast_binary/equal/int64->bool/dense/size-257")
class ComparesThroughFloat64(Defect):
    """Compare integers of 64 bits as float64, which holds 53 of them."""

    meets = "broadcast_binary/equal/int64->bool/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["a"].astype(np.float64) == given["b"].astype(np.float64)


@killed_by("primitives/broadcast_binary/pow/int32/dense/designed")
class ZeroesNegativePowers(Defect):
    """Let every integer to a negative power be 0, those of 1 and -1 too."""

    meets = "broadcast_binary/pow/int32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[given["b"] < 0] = 0


@killed_by("primitives/broadcast_binary/fmod/float32/dense/special-values")
class GivesRemaindersTheSignOfTheDivisor(Defect):
    """Compute fmod as Python's %, whose result has the sign of the divisor."""

    meets = "broadcast_binary/fmod/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.mod(given["a"], given["b"])


@killed_by("primitives/broadcast_binary/floor_mod/int16/dense/designed")
class LeavesRemaindersAsTheHardwareDoes(Defect):
    """Compute floor_mod as C's %, whose result has the sign of the dividend."""

    meets = "broadcast_binary/floor_mod/int16/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.where(given["b"] == 0, given["a"], np.fmod(given["a"], given["b"]))


@killed_by("primitives/broadcast_binary/fmod/float64/dense/hard-pairs")
class SubtractsTheRoundedQuotient(Defect):
    """Compute fmod as a - b trunc(a / b), whose quotient is rounded."""

    meets = "broadcast_binary/fmod/float64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = given["a"], given["b"]
        out[...] = np.where(np.isfinite(a) & np.isfinite(b) & (b != 0), a - b * np.trunc(a / b), out)


@killed_by("primitives/broadcast_binary/mul/uint64/dense/designed")
class MultipliesLowHalves(Defect):
    """Multiply integers of 64 bits by their low halves alone."""

    meets = "broadcast_binary/mul/uint64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = (given["a"] & _LOW_HALF) * (given["b"] & _LOW_HALF)


@killed_by("primitives/broadcast_binary/sub/float32/dense/special-values")
class CancelsEqualOperands(Defect):
    """Let x - x be 0 without a look, also where x is infinite."""

    meets = "broadcast_binary/sub/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(given["a"] == given["b"], out.shape)] = 0


@killed_by("primitives/broadcast_binary/logical_and/bool/dense/designed")
class AndsBytesOfBools(Defect):
    """Combine bools byte by byte, so that the true bytes 1 and 2 have nothing in common."""

    meets = "broadcast_binary/logical_and/bool/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = (given["a"].view(np.uint8) & given["b"].view(np.uint8)) != 0


@killed_by("primitives/broadcast_binary/less_than/float32->bool/dense/size-17")
class WritesMasksForBools(Defect):
    """Store the comparison's mask, whose true bytes are 255."""

    meets = "broadcast_binary/less_than/float32->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out.view(np.uint8)[...] *= np.uint8(255)


@killed_by("primitives/broadcast_binary/sub/float32/scalar-left/dense")
class SwapsOperandsOfLeftScalars(Defect):
    """Subtract the number from the tensor where the number stands on the left."""

    meets = "broadcast_binary/sub/float32/scalar-left"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = given["b"] - np.float32(given["a"])


@killed_by("primitives/broadcast_binary/is_close/float32->bool/dense/hard-pairs-0.5-0.25")
class ComparesClosenessInFloat32(Defect):
    """Compute is_close in the element type, not in float64."""

    meets = "broadcast_binary/is_close/float32->bool/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = given["a"], given["b"]
        atol, rtol = map(np.float32, self.descriptor.attributes)
        near = np.abs(a - b)
        out[...] = (a == b) | (np.isfinite(near) & (near <= atol + rtol * np.abs(b)))


@killed_by("primitives/elementwise_unary/abs/int8/dense/exhaustive-8bit")
class SaturatesTheAbsoluteValue(Defect):
    """Let the absolute value of MIN be MAX."""

    meets = "elementwise_unary/abs/int8/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(given["x"] == _LEAST, out.shape)] = 127


@killed_by("primitives/broadcast_binary/add/int8/dense/exhaustive-8bit")
class SaturatesSums(Defect):
    """Add bytes with the instruction that saturates."""

    meets = "broadcast_binary/add/int8/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.clip(np.add(given["a"], given["b"], dtype=np.int16), -128, 127)


@killed_by("primitives/broadcast_binary/add/bool/dense/designed")
class AddsBytesOfBools(Defect):
    """Add bools as bytes, so that true and true is 2, or 0."""

    meets = "broadcast_binary/add/bool/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out.view(np.uint8)[...] = given["a"].view(np.uint8) + given["b"].view(np.uint8)


@killed_by("primitives/broadcast_binary/is_close/int64->bool/dense/designed-atol-2-rtol-0")
class TakesNeighboursForEqual(Defect):
    """Compare integers for closeness as float64, in which 2^53 + 1 is 2^53."""

    meets = "broadcast_binary/is_close/int64->bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = (np.asarray(given[name]).astype(np.float64) for name in "ab")
        atol, rtol = self.descriptor.attributes
        out[...] = np.abs(a - b) <= atol + rtol * np.abs(b)


@killed_by("primitives/broadcast_binary/shift_left/int32/dense/hard-pairs")
class MasksCountsOfBits(Defect):
    """Shift by the low five bits of the count, as x86 does, so that 32 shifts by none."""

    meets = "broadcast_binary/shift_left/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.left_shift(given["a"], given["b"] & 31)


@killed_by("primitives/broadcast_binary/shift_right/int8/dense/exhaustive-8bit")
class ShiftsZerosIn(Defect):
    """Shift a negative number to the right as if its bits were those of an unsigned one."""

    meets = "broadcast_binary/shift_right/int8/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        is_inside = np.broadcast_to((given["b"] >= 0) & (given["b"] < 8), out.shape)  # noqa: PLR2004 - bits of int8
        shifted = np.right_shift(np.asarray(given["a"], np.int8).view(np.uint8), np.abs(given["b"]) & 7)
        out[...] = np.where(is_inside, shifted.astype(np.uint8).view(np.int8), out)


@killed_by("primitives/broadcast_binary/shift_right/int64/dense/hard-pairs")
class ShiftsNegativeNumbersToZero(Defect):
    """Let a count of all bits or more leave 0 of negative numbers, too."""

    meets = "broadcast_binary/shift_right/int64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to((given["b"] < 0) | (given["b"] >= 64), out.shape)] = 0  # noqa: PLR2004 - bits of int64
