"""ConvolutionTransposed gathered weight by weight in NumPy is right for every case; with any planted defect it is wrong for some."""

import zlib

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_conformance.judge.compare import compare
from ep_primitives.judging.reference import array_dtype

import ep

FAMILY = ep.families()["convolution_transposed"]
DTYPES = ("float16", "bfloat16", "float32", "float64")
NARROW = DTYPES[:2]


class Steps:
    """What each element of y is given, in the compute type; a subclass gets one thing wrong."""

    def __call__(self, of, x, w, bias=None):
        self.of, self.stored = of, x.dtype
        self.wide = array_dtype(TYPES[of.x.dtype].compute)
        x, w = x.astype(self.wide), w.astype(self.wide)
        y = np.zeros(of.out.shape, self.wide)
        with np.errstate(all="ignore"):
            for k in np.ndindex(*of.sliding.window):
                seen = x
                for axis, (count, at) in enumerate(zip(of.out.shape[2:], k, strict=True)):
                    seen = self.taken(seen, 2 + axis, self.scaled(np.arange(count), at, axis))
                for m in range(y.shape[1]):
                    for c in self.channels(m):
                        weight = w[(c, m % of.w.shape[1], *k)]
                        y[:, m] = self.added(y[:, m], seen[:, c] * weight)
            return self.finished(y, bias)

    def scaled(self, o, k, axis):
        """Return stride times the place in x that gives to o with the weight k."""
        return o + self.of.pads[axis] - k * self.of.dilations[axis]

    def taken(self, x, axis, scaled):
        """Return the elements of x at scaled places along an axis, 0 where there is none."""
        places, rest = np.divmod(scaled, self.of.strides[axis - 2])
        inside = (rest == 0) & (places >= 0) & (places < x.shape[axis])
        shape = [-1 if each == axis else 1 for each in range(x.ndim)]
        return np.where(inside.reshape(shape), x.take(np.where(inside, places, 0), axis), x.dtype.type(0))

    def channels(self, m):
        each = self.of.x.shape[1] // self.of.groups
        first = m // self.of.w.shape[1] * each
        return range(first, first + each)

    def added(self, total, term):
        return total + term

    def finished(self, y, bias):
        spread = (1, -1, *(1,) * (y.ndim - 2))
        return (y if bias is None else y + bias.astype(self.wide).reshape(spread)).astype(self.stored)


class Flipped(Steps):
    def scaled(self, o, k, axis):
        return super().scaled(o, self.of.sliding.window[axis] - 1 - k, axis)


class PadsExchanged(Steps):
    def scaled(self, o, k, axis):
        pads = self.of.pads
        return super().scaled(o, k, axis) - pads[axis] + pads[len(pads) // 2 + axis]


class PadsForgotten(Steps):
    def scaled(self, o, k, axis):
        return super().scaled(o, k, axis) - self.of.pads[axis]


class DilationForgotten(Steps):
    def scaled(self, o, k, axis):
        return super().scaled(o, k, axis) + k * (self.of.dilations[axis] - 1)


class DilationsExchanged(Steps):
    def scaled(self, o, k, axis):
        return super().scaled(o, k, axis) + k * (self.of.dilations[axis] - self.of.dilations[-1 - axis])


class StrideForgotten(Steps):
    """Places of x side by side."""

    def taken(self, x, axis, scaled):
        return super().taken(x, axis, scaled * self.of.strides[axis - 2])


class Repeated(Steps):
    """Elements of x again and again where there is to be nothing between them."""

    def taken(self, x, axis, scaled):
        stride = self.of.strides[axis - 2]
        return super().taken(x, axis, scaled // stride * stride)


class ExtraInFront(Steps):
    """What x does not give to comes first."""

    def scaled(self, o, k, axis):
        sliding = self.of.sliding
        usual = sliding.reach(self.of.x.shape[2:])[axis] - sliding.before[axis] - sliding.after[axis]
        return super().scaled(o, k, axis) - (self.of.out.shape[2 + axis] - usual)


class FirstGroup(Steps):
    def channels(self, m):
        return range(self.of.x.shape[1] // self.of.groups)


class GroupsInTurn(Steps):
    def channels(self, m):
        each = self.of.x.shape[1] // self.of.groups
        group = m % self.of.groups
        return range(group * each, (group + 1) * each)


class BiasForgotten(Steps):
    def finished(self, y, bias):
        return super().finished(y, None)


class BiasWhereGiven(Steps):
    """The bias only where y is not 0 without it."""

    def finished(self, y, bias):
        return np.where(y == 0, 0, super().finished(y, bias)).astype(self.stored)


class NarrowSums(Steps):
    def added(self, total, term):
        return (total + term).astype(self.stored).astype(self.wide)


class NanForgotten(Steps):
    def added(self, total, term):
        return total + np.where(np.isnan(term), 0, term)


DEFECTS = [
    *((defect, DTYPES) for defect in (Flipped, PadsExchanged, PadsForgotten, DilationForgotten, DilationsExchanged)),
    *((defect, DTYPES) for defect in (StrideForgotten, Repeated, ExtraInFront, FirstGroup, GroupsInTurn)),
    *((defect, DTYPES) for defect in (BiasForgotten, BiasWhereGiven, NanForgotten)),
    (NarrowSums, NARROW),
]


def cases(dtype):
    for cell in FAMILY.cells():
        if cell.dtypes == dtype:
            for case in FAMILY.cases(cell):
                if case.profile != "large" and case.descriptor.out.size and case.descriptor.flops < 1 << 16:
                    yield cell, case


def is_right(kernel, cell, case):
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    accuracy = case.accuracy or FAMILY.accuracy(case.descriptor)
    found = kernel(case.descriptor, **inputs)
    with np.errstate(all="ignore"):
        return compare(found, FAMILY.reference(case.descriptor, inputs), accuracy, case.descriptor.out.dtype).passes


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_without_defects_are_right_in_every_case(dtype):
    found = [*cases(dtype)]
    assert len(found) > 40
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(defect(), cell, case) for cell, case in cases(dtype))
