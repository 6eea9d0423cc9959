"""Quantize and Dequantize step by step in NumPy are right for every case; with any planted defect they are wrong for some."""

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_primitives.judging.reference import array_dtype
from stepwise import cases, is_right

import ep

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16")


class Steps:
    """What both have; a subclass gets one thing wrong."""

    def __call__(self, of, inputs):
        self.of = of
        self.wide = array_dtype(TYPES[of.scale.dtype].compute)
        self.stored, self.out = array_dtype(of.scale.dtype), np.dtype(array_dtype(of.out.dtype))
        scale = self.met(inputs["scale"].astype(self.wide))
        zero = self.met(inputs["zero_point"].astype(self.wide)) if "zero_point" in inputs else self.wide.type(0)
        return self.found(inputs["x"].astype(self.wide), scale, zero)

    def met(self, array):
        of = self.of
        if of.block is None:
            return array
        return np.repeat(array, self.block(), of.axis)[(slice(None),) * of.axis + (slice(of.x.shape[of.axis]),)]

    def block(self):
        return self.of.block


class Quantize(Steps):
    family = "quantize"

    def found(self, x, scale, zero):
        steps = self.added(self.rounded(self.quotient(x, scale)), zero)
        return self.saturated(steps)

    def quotient(self, x, scale):
        return x / scale

    def rounded(self, steps):
        return np.rint(steps)

    def added(self, steps, zero):
        return steps + zero

    def saturated(self, steps):
        info = np.iinfo(self.out)
        return np.where(np.isnan(steps), 0, np.clip(steps, info.min, info.max)).astype(self.out)


class HalvesUp(Quantize):
    def rounded(self, steps):
        return np.floor(steps + self.wide.type(0.5))


class HalvesAway(Quantize):
    def rounded(self, steps):
        return np.trunc(steps + np.copysign(self.wide.type(0.5), steps))


class Truncates(Quantize):
    def rounded(self, steps):
        return np.trunc(steps)


class RoundsLast(Quantize):
    """Adds the zero point first: ties then go by its parity."""

    def rounded(self, steps):
        return steps

    def added(self, steps, zero):
        return np.rint(steps + zero)


class Multiplies(Quantize):
    """By the rounded reciprocal of the scale."""

    def quotient(self, x, scale):
        return x * (1 / scale)


class RoundsQuotients(Quantize):
    def quotient(self, x, scale):
        return (x / scale).astype(self.stored).astype(self.wide)


class Subtracts(Quantize):
    def added(self, steps, zero):
        return steps - zero


class SaturatesFirst(Quantize):
    def added(self, steps, zero):
        info = np.iinfo(self.out)
        return np.clip(steps, info.min, info.max) + zero


class Wraps(Quantize):
    def saturated(self, steps):
        return np.where(np.isfinite(steps), steps, 0).astype(np.int64).astype(self.out)


class SaturatesInSteps(Quantize):
    """Leaves the lowest number out, as symmetric schemes do."""

    def saturated(self, steps):
        return super().saturated(np.maximum(steps, np.iinfo(self.out).min + 1))


class NanIsTheZeroPoint(Quantize):
    def added(self, steps, zero):
        return np.where(np.isnan(steps), 0, steps) + zero


class NoZeroPoint(Quantize):
    def added(self, steps, zero):
        return steps


class BlocksLikeTheFirst(Quantize):
    """One scale for all blocks."""

    def met(self, array):
        array = super().met(array)
        return array if self.of.block is None else array.take([0], self.of.axis)


class Dequantize(Steps):
    family = "dequantize"

    def found(self, x, scale, zero):
        return self.product(self.difference(x, zero), scale).astype(self.out)

    def difference(self, x, zero):
        return x - zero

    def product(self, steps, scale):
        return steps * scale


class Adds(Dequantize):
    def difference(self, x, zero):
        return x + zero


class WrapsDifferences(Dequantize):
    def difference(self, x, zero):
        integers = array_dtype(self.of.x.dtype)
        return (x - zero).astype(np.int64).astype(integers).astype(self.wide)


class Divides(Dequantize):
    def product(self, steps, scale):
        return steps / scale


class MultipliesTwice(Dequantize):
    """Scales x and the zero point apart."""

    def difference(self, x, zero):
        self.zero = zero
        return x

    def product(self, steps, scale):
        return steps * scale - self.zero * scale


class RoundsSteps(Dequantize):
    def difference(self, x, zero):
        return (x - zero).astype(self.stored).astype(self.wide)


class NoBlocks(Dequantize):
    def met(self, array):
        array = super().met(array)
        return array if self.of.block is None else array.take([0], self.of.axis)


QUANTIZES = [HalvesUp, HalvesAway, Truncates, Multiplies, Subtracts, SaturatesFirst, Wraps, SaturatesInSteps]
QUANTIZES += [NanIsTheZeroPoint, NoZeroPoint, BlocksLikeTheFirst, RoundsLast]
DEQUANTIZES = [Adds, WrapsDifferences, Divides, MultipliesTwice, NoBlocks]
PAIRS = [("float32", "int8"), ("float16", "uint8"), ("bfloat16", "int16"), ("float64", "uint16")]
NARROW = [("float16", "int16"), ("bfloat16", "uint16")]
DEFECTS = [(each, pair) for each in (*QUANTIZES, *DEQUANTIZES) for pair in PAIRS]
DEFECTS += [(each, pair) for each in (RoundsQuotients, RoundsSteps) for pair in NARROW]


def tried(kernel, pair):
    family = ep.families()[kernel.family]
    dtypes = pair if kernel.family == "quantize" else pair[::-1]
    for cell, case in cases(family, lambda of: (of.x.dtype, of.out.dtype) == dtypes):
        yield f"{cell}/{case.name}", is_right(family, kernel(), cell, case)


@pytest.mark.parametrize("integers", INTEGERS)
@pytest.mark.parametrize("floats", FLOATS)
@pytest.mark.parametrize("kernel", [Quantize, Dequantize])
def test_steps_without_defects_are_right_in_every_case(kernel, floats, integers):
    found = dict(tried(kernel, (floats, integers)))
    assert len(found) > 25
    assert [case for case, is_so in found.items() if not is_so] == []


@pytest.mark.parametrize(("defect", "pair"), DEFECTS)
def test_every_defect_is_wrong_somewhere(defect, pair):
    assert not all(is_so for _, is_so in tried(defect, pair))
