"""A search in NumPy is right for every case of ArgReduce, and with any planted defect it is wrong for some."""

import zlib

import numpy as np
import pytest
from ep_primitives.judging.reference import array_dtype, widened
from every_case import every_case

import ep

MOST_BYTES = 1 << 20
FAMILY = ep.families()["arg_reduce"]
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", "int8", "uint32", "int64", *FLOATS)


class Search:
    """The definition; a subclass gets one thing wrong. Better is larger: for min the order is turned round."""

    def __call__(self, descriptor, x):
        self.descriptor, self.is_max = descriptor, descriptor.op == "max"
        rows = self.rows(widened(descriptor.x.dtype, x) if descriptor.x.dtype in {"bool", *FLOATS} else x)
        return self.placed(rows).astype(descriptor.out.dtype).reshape(descriptor.out.shape)

    def rows(self, x):
        axes = self.descriptor.axes
        kept = x.ndim - len(axes)
        moved = np.moveaxis(x, axes, range(kept, x.ndim))
        return moved.reshape(*moved.shape[:kept], self.descriptor.terms)

    def placed(self, rows):
        return rows.argmax(-1) if self.is_max else rows.argmin(-1)

    def best(self, rows):
        """Say where the best elements of each row are."""
        with np.errstate(all="ignore"):
            end = rows.max(-1, keepdims=True) if self.is_max else rows.min(-1, keepdims=True)
        is_nan = rows != rows  # noqa: PLR0124 - NaN equals nothing
        return np.where(is_nan.any(-1, keepdims=True), is_nan, rows == end)


class LastWins(Search):
    def placed(self, rows):
        return rows.shape[-1] - 1 - self.best(rows)[..., ::-1].argmax(-1)


class LastNanWins(Search):
    def placed(self, rows):
        found = self.best(rows)
        last = rows.shape[-1] - 1 - found[..., ::-1].argmax(-1)
        has = (rows != rows).any(-1)  # noqa: PLR0124 - NaN equals nothing
        return np.where(has, last, found.argmax(-1))


class NanIgnored(Search):
    def placed(self, rows):
        worst = -np.inf if self.is_max else np.inf
        return super().placed(np.where(rows != rows, worst, rows))  # noqa: PLR0124 - NaN equals nothing


class NanStops(Search):
    """The place before a NaN, as a comparison gives that is false for NaN and goes on."""

    def placed(self, rows):
        result = np.zeros(rows.shape[:-1], np.int64)
        for at in np.ndindex(result.shape):
            best = 0
            for place, element in enumerate(rows[at][:200]):
                if (element > rows[at][best]) if self.is_max else (element < rows[at][best]):
                    best = place
            result[at] = best
        return result


class FirstLaneWins(Search):
    lanes = 16

    def placed(self, rows):
        found = self.best(rows)
        places = np.where(found, np.arange(rows.shape[-1]), rows.shape[-1])
        lanes = np.stack(
            [places[..., lane :: self.lanes].min(-1, initial=rows.shape[-1]) for lane in range(self.lanes)], -1
        )
        first = (lanes < rows.shape[-1]).argmax(-1)
        return np.take_along_axis(lanes, first[..., None], -1)[..., 0]


class LastChunkWins(Search):
    chunk = 1024

    def placed(self, rows):
        found = self.best(rows)
        starts = range(0, rows.shape[-1], self.chunk)
        result = found.argmax(-1)
        for start in starts:
            part = found[..., start : start + self.chunk]
            result = np.where(part.any(-1), start + part.argmax(-1), result)
        return result


class PlaceInChunk(LastChunkWins):
    def placed(self, rows):
        return super().placed(rows) % self.chunk


class PlaceOfByte(Search):
    def placed(self, rows):
        return super().placed(rows) % 256


class SignOfZeroCounts(Search):
    def placed(self, rows):
        nudge = np.where(rows == 0, np.copysign(1e-30, rows), rows)
        return super().placed(nudge)


class InMemoryOrder(Search):
    def rows(self, x):
        strides = self.descriptor.x.strides
        order = sorted(self.descriptor.axes, key=lambda axis: -abs(strides[axis]))
        kept = [axis for axis in range(x.ndim) if axis not in order]
        return np.transpose(x, (*kept, *order)).reshape(*(x.shape[axis] for axis in kept), self.descriptor.terms)


class LastSkipped(Search):
    def placed(self, rows):
        return super().placed(rows[..., : max(rows.shape[-1] - 1, 1)])


class FromZero(Search):
    """A search that begins with 0 as the best so far, at place 0."""

    def placed(self, rows):
        end = rows.max(-1) if self.is_max else rows.min(-1)
        return np.where(end <= 0 if self.is_max else end >= 0, 0, super().placed(rows))


class FromEnd(Search):
    """A search that begins with the losing end of the type as the best so far, and no place."""

    def placed(self, rows):
        info = np.finfo(rows.dtype) if rows.dtype.kind == "f" else np.iinfo(rows.dtype)
        loser = info.min if self.is_max else info.max
        if rows.dtype.kind == "f":
            loser = -np.inf if self.is_max else np.inf
        return np.where((rows == loser).all(-1), rows.shape[-1] - 1, super().placed(rows))


class ByteCompared(Search):
    def __call__(self, descriptor, x):
        self.descriptor, self.is_max = descriptor, descriptor.op == "max"
        return self.placed(self.rows(x.view(np.uint8))).astype(descriptor.out.dtype).reshape(descriptor.out.shape)


class SignedCompared(Search):
    def rows(self, x):
        return super().rows(x.view(x.dtype.name.removeprefix("u")))


class OtherOp(Search):
    def placed(self, rows):
        return rows.argmin(-1) if self.is_max else rows.argmax(-1)


class OneOff(Search):
    def placed(self, rows):
        return super().placed(rows) + 1


DEFECTS = [
    (LastWins, DTYPES),
    (LastNanWins, FLOATS),
    (NanIgnored, FLOATS),
    (NanStops, FLOATS),
    (FirstLaneWins, DTYPES),
    (LastChunkWins, ("bool", "int8", "float32")),
    (PlaceInChunk, ("bool", "int8", "float32")),
    (PlaceOfByte, DTYPES),
    (SignOfZeroCounts, FLOATS),
    (InMemoryOrder, ("float32",)),
    (LastSkipped, DTYPES),
    (FromZero, ("int8", "int64", *FLOATS)),
    (FromEnd, ("int8", "uint32", "int64", *FLOATS)),
    (ByteCompared, ("bool",)),
    (SignedCompared, ("uint32",)),
    (OtherOp, DTYPES),
    (OneOff, DTYPES),
]


def cases(op, dtype):
    for cell, case in every_case(FAMILY.name):
        if (
            cell.op == op
            and cell.dtypes.partition("->")[0] == dtype
            and case.profile != "large"
            and case.descriptor.out.size
            and case.descriptor.nbytes_moved <= MOST_BYTES
        ):
            yield cell, case


def is_right(kernel, cell, case):
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    assert inputs["x"].dtype == array_dtype(case.descriptor.x.dtype)
    return (kernel(case.descriptor, inputs["x"]) == FAMILY.reference(case.descriptor, inputs).value).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["max", "min"])
def test_a_search_without_defects_is_right_in_every_case(op, dtype):
    found = [*cases(op, dtype)]
    assert len(found) > 20
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Search(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    for op in ("max", "min"):
        if (defect, op, dtype) != (InMemoryOrder, "min", "float32"):  # only max tries every arrangement of float32
            assert not all(is_right(defect(), cell, case) for cell, case in cases(op, dtype)), op
