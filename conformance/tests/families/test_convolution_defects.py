"""Convolution weight by weight in NumPy is right for every case; with any planted defect it is wrong for some."""

import zlib

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_conformance.judge.compare import compare
from ep_primitives.judging.reference import array_dtype

import ep

FAMILY = ep.families()["convolution"]
FLOATS = ("float16", "bfloat16", "float32", "float64")
NARROW = ("float16", "bfloat16")
WHOLE = ("int8", "uint8")
EVERY = FLOATS + WHOLE


class Steps:
    """The definition in the compute type, one weight after the other; a subclass gets one thing wrong."""

    def __call__(self, of, x, w, bias=None):
        self.of, self.stored = of, array_dtype(of.out.dtype)
        self.wide = array_dtype(TYPES[of.out.dtype].compute)
        sliding, counts = of.sliding, of.out.shape[2:]
        x, w = self.widened(x), self.widened(w)
        y = np.zeros(of.out.shape, self.wide)
        with np.errstate(all="ignore"):
            for k in np.ndindex(*sliding.window):
                rows = [
                    self.index(np.arange(count), *each) for count, *each in zip(counts, k, range(len(k)), strict=True)
                ]
                seen = self.seen(x, rows)
                for m in range(of.out.shape[1]):
                    for place, c in enumerate(self.channels(m)):
                        y[:, m] = self.added(y[:, m], seen[:, c] * w[(m, place, *k)])
            return self.finished(y, bias)

    def widened(self, array):
        return array.astype(self.wide)

    def index(self, o, k, axis):
        """Return which element along an axis the windows o meet with the weight k."""
        sliding = self.of.sliding
        return o * sliding.strides[axis] + k * sliding.dilations[axis] - sliding.before[axis]

    def seen(self, x, rows):
        """Return the elements of x at indices along each spatial dimension, 0 where it has none."""
        inside = [(row >= 0) & (row < extent) for row, extent in zip(rows, x.shape[2:], strict=True)]
        if not x.size:
            return np.zeros((*x.shape[:2], *map(len, rows)), x.dtype)
        for axis, (row, is_in) in enumerate(zip(rows, inside, strict=True), 2):
            shape = [-1 if each == axis else 1 for each in range(x.ndim)]
            x = np.where(is_in.reshape(shape), x.take(np.where(is_in, row, 0), axis), x.dtype.type(0))
        return x

    def channels(self, m):
        each = self.of.w.shape[1]
        first = m // (self.of.w.shape[0] // self.of.groups) * each
        return range(first, first + each)

    def added(self, total, term):
        return total + term

    def finished(self, y, bias):
        spread = (1, -1, *(1,) * (y.ndim - 2))
        return (y if bias is None else y + bias.astype(self.wide).reshape(spread)).astype(self.stored)


class Flipped(Steps):
    """The convolution of mathematics."""

    def index(self, o, k, axis):
        return super().index(o, self.of.sliding.window[axis] - 1 - k, axis)


class PadsExchanged(Steps):
    def index(self, o, k, axis):
        sliding = self.of.sliding
        return super().index(o, k, axis) + sliding.before[axis] - sliding.after[axis]


class PadsForgotten(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + self.of.sliding.before[axis]


class PadsInTurn(Steps):
    """Pads read as before and after of one dimension after the other."""

    def index(self, o, k, axis):
        return super().index(o, k, axis) + self.of.sliding.before[axis] - self.of.pads[2 * axis]


class DilationForgotten(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + k * (1 - self.of.dilations[axis])


class StrideForgotten(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + o * (1 - self.of.strides[axis])


class StridesExchanged(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + o * (self.of.strides[-1 - axis] - self.of.strides[axis])


class DilationsExchanged(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + k * (self.of.dilations[-1 - axis] - self.of.dilations[axis])


class BorderRepeated(Steps):
    def index(self, o, k, axis):
        return np.clip(super().index(o, k, axis), 0, self.of.x.shape[2 + axis] - 1)


class WrappedRound(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) % max(self.of.x.shape[2 + axis], 1)


class FirstGroup(Steps):
    def channels(self, m):
        return range(self.of.w.shape[1])


class GroupsInterleaved(Steps):
    """Group g takes each channel whose number leaves g."""

    def channels(self, m):
        group = super().channels(m).start // max(self.of.w.shape[1], 1)
        return range(group, self.of.x.shape[1], self.of.groups)


class GroupsInTurn(Steps):
    """The m of a group lie apart by the number of groups."""

    def channels(self, m):
        each = self.of.w.shape[1]
        return range(m % self.of.groups * each, (m % self.of.groups + 1) * each)


class BiasForgotten(Steps):
    def finished(self, y, bias):
        return super().finished(y, None)


class FirstBias(Steps):
    def finished(self, y, bias):
        return super().finished(y, bias if bias is None else np.repeat(bias[:1], len(bias)))


class NarrowSums(Steps):
    def added(self, total, term):
        return (total + term).astype(self.stored).astype(self.wide)


class BiasAfterRounding(Steps):
    def finished(self, y, bias):
        return super().finished(y.astype(self.stored).astype(self.wide), bias)


class NanForgotten(Steps):
    def added(self, total, term):
        return total + np.where(np.isnan(term), 0, term)


class InfinityClamped(Steps):
    def widened(self, array):
        return np.nan_to_num(super().widened(array), nan=np.nan, posinf=1e30, neginf=-1e30)


class Short(Steps):
    """Sums of 16 bits."""

    def added(self, total, term):
        return (total + term).astype(np.int16).astype(np.int32)


class OtherSign(Steps):
    """Bytes with a sign read as such without, and the other way round."""

    def widened(self, array):
        return array.view({"int8": np.uint8, "uint8": np.int8}[array.dtype.name]).astype(self.wide)


DEFECTS = [
    *((defect, EVERY) for defect in (Flipped, PadsExchanged, PadsForgotten, PadsInTurn, DilationForgotten)),
    *((defect, EVERY) for defect in (StrideForgotten, StridesExchanged, DilationsExchanged, BorderRepeated)),
    *((defect, EVERY) for defect in (WrappedRound, FirstGroup, GroupsInterleaved, GroupsInTurn)),
    *((defect, EVERY) for defect in (BiasForgotten, FirstBias)),
    *((defect, NARROW) for defect in (NarrowSums, BiasAfterRounding)),
    *((defect, FLOATS) for defect in (NanForgotten, InfinityClamped)),
    *((defect, WHOLE) for defect in (Short, OtherSign)),
]


def cases(dtype):
    for cell in FAMILY.cells():
        if cell.dtypes.partition("->")[0] == dtype:
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


@pytest.mark.parametrize("dtype", EVERY)
def test_steps_without_defects_are_right_in_every_case(dtype):
    found = [*cases(dtype)]
    assert len(found) > 50
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(defect(), cell, case) for cell, case in cases(dtype))
