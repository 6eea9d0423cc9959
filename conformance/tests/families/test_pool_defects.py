"""Pool element by element in NumPy is right for every case; with any planted defect it is wrong for some."""

import itertools
import zlib

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_conformance.judge.compare import compare
from ep_primitives.judging.reference import array_dtype

import ep

FAMILY = ep.families()["pool"]
FLOATS = ("float16", "bfloat16", "float32", "float64")
MAX = (("max", "float32"), ("max", "int8"), ("max", "uint64"), ("max", "bfloat16"))
AVERAGE = tuple(("average", dtype) for dtype in FLOATS)
NORMS = (("norm_1", "float16"), ("norm_1", "float32"), ("norm_2", "float32"), ("norm_2", "float64"))
EVERY = MAX + AVERAGE + NORMS


class Steps:
    """The definition in the compute type, one place of all windows after the other; a subclass gets one thing wrong."""

    def __call__(self, of, x):
        self.of, self.stored = of, x.dtype
        self.wide = array_dtype(TYPES[of.x.dtype].compute)
        counts, shape = of.out.shape[2:], of.x.shape
        self.total = np.full(of.out.shape, self.first(), self.wide)
        self.number = np.zeros(of.out.shape, self.wide)
        with np.errstate(all="ignore"):
            for k in itertools.product(*map(range, of.window)):
                rows = [
                    self.index(np.arange(count), at, axis)
                    for axis, (count, at) in enumerate(zip(counts, k, strict=True))
                ]
                inside, padded = np.True_, np.True_
                for axis, row in enumerate(rows):
                    spread = [-1 if each == axis else 1 for each in range(len(rows))]
                    inside = inside & ((row >= 0) & (row < shape[2 + axis])).reshape(spread)
                    end = shape[2 + axis] + of.pads[len(rows) + axis]
                    padded = padded & ((row >= -of.pads[axis]) & (row < end)).reshape(spread)
                seen = np.zeros(of.out.shape, self.wide)
                if x.size:
                    safe = [np.clip(row, 0, extent - 1) for row, extent in zip(rows, shape[2:], strict=True)]
                    seen = x[(slice(None), slice(None), *np.ix_(*safe))].astype(self.wide)
                self.add(seen, np.broadcast_to(inside, of.out.shape), np.broadcast_to(padded, of.out.shape))
            return self.finished().astype(self.stored)

    def first(self):
        if self.of.op != "max":
            return 0
        return -np.inf if self.stored.kind not in "iu" else np.iinfo(self.stored).min

    def index(self, o, k, axis):
        """Return which element along an axis the windows o see at the place k."""
        return o * self.of.strides[axis] + k * self.of.dilations[axis] - self.of.pads[axis]

    def add(self, seen, inside, padded):
        """Take in what windows see at a place, where that is an element of x, or a pad."""
        one = {"max": seen, "average": seen, "norm_1": np.abs(seen), "norm_2": np.square(seen)}[self.of.op]
        if self.of.op == "max":
            self.total = np.where(inside, self.larger(self.total, seen), self.total)
        else:
            self.total = np.where(inside, self.total + one, self.total)
        self.number = self.number + self.counted(inside, padded)

    def larger(self, one, other):
        larger = np.maximum(one, other)
        return np.where((larger == 0) & ~(np.signbit(one) & np.signbit(other)), np.abs(larger), larger)

    def counted(self, inside, padded):
        return padded if self.of.counts_pads else inside

    def finished(self):
        if self.of.op == "average":
            return self.total / self.number
        return np.sqrt(self.total) if self.of.op == "norm_2" else self.total


class PadsExchanged(Steps):
    def index(self, o, k, axis):
        pads, dimensions = self.of.pads, len(self.of.window)
        return super().index(o, k, axis) + pads[axis] - pads[dimensions + axis]


class PadsForgotten(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + self.of.pads[axis]


class DilationForgotten(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + k * (1 - self.of.dilations[axis])


class StrideOfTheWindow(Steps):
    """Windows side by side, whatever the strides."""

    def index(self, o, k, axis):
        return super().index(o, k, axis) + o * (self.of.window[axis] - self.of.strides[axis])


class StridesExchanged(Steps):
    def index(self, o, k, axis):
        return super().index(o, k, axis) + o * (self.of.strides[-1 - axis] - self.of.strides[axis])


class BorderRepeated(Steps):
    def add(self, seen, inside, padded):
        super().add(seen, np.broadcast_to(np.bool_(self.of.x.size), inside.shape), padded)


class LastLeftOut(Steps):
    """What a window rounded up sees is left out."""

    def add(self, seen, inside, padded):
        sliding, counts = self.of.sliding, self.of.out.shape[2:]
        least = sliding.counts("", self.of.x.shape[2:])
        for axis, (count, usual) in enumerate(zip(counts, least, strict=True)):
            spread = [-1 if each == axis else 1 for each in range(len(counts))]
            inside = inside & (np.arange(count) < usual).reshape(spread)
        super().add(seen, inside, padded)


class ZerosBeside(Steps):
    """What lies beside x is 0 to a maximum, too."""

    def add(self, seen, inside, padded):
        super().add(np.where(inside, seen, 0).astype(seen.dtype), np.ones_like(inside), padded)

    def counted(self, inside, padded):
        return padded


class FiniteLowest(Steps):
    """A low number, and not the lowest, in front of all."""

    def first(self):
        return float(np.finfo(np.float32).min) if self.stored.kind not in "iu" else -100


class NanForgotten(Steps):
    def larger(self, one, other):
        return np.fmax(one, other)

    def add(self, seen, inside, padded):
        super().add(seen, inside & ~np.isnan(seen), padded)


class CountsAll(Steps):
    """Divides by the size of the window."""

    def counted(self, inside, padded):
        return np.ones_like(inside)


class CountsElements(Steps):
    """Divides by the elements of x, whatever is asked for."""

    def counted(self, inside, padded):
        return inside


class CountsPads(Steps):
    def counted(self, inside, padded):
        return padded


class NarrowSums(Steps):
    def add(self, seen, inside, padded):
        super().add(seen, inside, padded)
        self.total = self.total.astype(self.stored).astype(self.wide)


class NegativeZero(Steps):
    """Keeps the first of two zeros."""

    def larger(self, one, other):
        return np.where(np.isnan(one) | (one >= other), one, other)


class SquaresForgotten(Steps):
    def finished(self):
        return self.total


class SignsForgotten(Steps):
    def add(self, seen, inside, padded):
        self.total = np.where(inside, self.total + seen, self.total)


DEFECTS = [
    *((defect, EVERY) for defect in (PadsExchanged, PadsForgotten, DilationForgotten, StrideOfTheWindow)),
    *((defect, EVERY) for defect in (StridesExchanged, BorderRepeated, LastLeftOut)),
    (ZerosBeside, MAX[:2] + MAX[3:] + AVERAGE),
    (FiniteLowest, (("max", "float32"), ("max", "int8"))),
    (NanForgotten, (MAX[0], *AVERAGE, *NORMS)),
    *((defect, AVERAGE) for defect in (CountsAll, CountsElements, CountsPads)),
    (NarrowSums, (("average", "bfloat16"), ("norm_1", "float16"))),
    (NegativeZero, MAX[:1]),
    (SquaresForgotten, NORMS[2:]),
    (SignsForgotten, NORMS[:2]),
]


def cases(op, dtype):
    for cell in FAMILY.cells():
        if (cell.op, cell.dtypes) == (op, dtype):
            for case in FAMILY.cases(cell):
                if case.profile != "large" and case.descriptor.out.size and case.descriptor.nbytes_moved < 1 << 16:
                    yield cell, case


def is_right(kernel, cell, case):
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    accuracy = case.accuracy or FAMILY.accuracy(case.descriptor)
    found = kernel(case.descriptor, **inputs)
    with np.errstate(all="ignore"):
        return compare(found, FAMILY.reference(case.descriptor, inputs), accuracy, case.descriptor.out.dtype).passes


@pytest.mark.parametrize(("op", "dtype"), EVERY)
def test_steps_without_defects_are_right_in_every_case(op, dtype):
    found = [*cases(op, dtype)]
    assert len(found) > 8
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "op", "dtype"), [(defect, *kind) for defect, kinds in DEFECTS for kind in kinds])
def test_every_defect_is_wrong_somewhere(defect, op, dtype):
    assert not all(is_right(defect(), cell, case) for cell, case in cases(op, dtype))
