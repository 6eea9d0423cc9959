"""A selection in NumPy is right for every case of TopK, and with any planted defect it is wrong for some."""

import zlib

import numpy as np
import pytest
from ep_primitives.judging.reference import array_dtype, widened
from every_case import every_case
from mutation import in_turn

import ep

MOST_BYTES = 1 << 20
FAMILY = ep.families()["top_k"]
FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = ("bool", "int8", "uint8", "int64", "uint64", *FLOATS)


class Selection:
    """The definition, one element after another by its order and place; a subclass gets one thing wrong."""

    def __call__(self, descriptor, x):
        of = self.descriptor = descriptor
        rows = np.moveaxis(x, of.axis, -1) if x.ndim else x.reshape(1)
        places = np.empty((*rows.shape[:-1], of.k), np.int64)
        for at in np.ndindex(places.shape[:-1]):
            places[at] = self.chosen(self.ranks(rows[at]))[: of.k]
        places = places if of.sorted else self.stood(places)
        values = np.take_along_axis(rows, places, -1)
        found = {"values": values, "indices": self.told(places)}
        return {name: np.moveaxis(each, -1, of.axis) if x.ndim else each.reshape(()) for name, each in found.items()}

    def ranks(self, row):
        """Return a number of each element's order, the best lowest: exact integers, of floats those of their values."""
        wide = widened(row.dtype.name, row)
        order = np.unique(wide, return_inverse=True, equal_nan=True)[1].reshape(row.shape)
        return -order if self.descriptor.op == "largest" else order

    def chosen(self, ranks):
        return np.lexsort((np.arange(ranks.size), ranks))

    def stood(self, places):
        return np.sort(places, -1)

    def told(self, places):
        return places


class LastOfTies(Selection):
    def chosen(self, ranks):
        return np.lexsort((-np.arange(ranks.size), ranks))


class AnyOfTies(Selection):
    """The right elements in order, those of equal rank as a heap leaves them."""

    def chosen(self, ranks):
        k, inside = self.descriptor.k, super().chosen(ranks)
        return np.concatenate([inside[:k][np.lexsort((inside[:k] % 7, ranks[inside[:k]]))], inside[k:]])


class NanLeast(Selection):
    """NaN counts as the smallest."""

    def ranks(self, row):
        is_nan = row != row  # noqa: PLR0124 - NaN equals nothing
        ranks = super().ranks(np.where(is_nan, row.dtype.type(0), row))
        return np.where(is_nan, ranks.max() + 1 if self.descriptor.op == "largest" else ranks.min() - 1, ranks)


class NanIgnored(Selection):
    """No comparison with NaN is true, so that it is never better."""

    def ranks(self, row):
        is_nan = row != row  # noqa: PLR0124 - NaN equals nothing
        ranks = super().ranks(np.where(is_nan, row.dtype.type(0), row))
        return np.where(is_nan, ranks.max() + 1, ranks)


class NanBySign(Selection):
    """A NaN with a sign is below -infinity, as in the order of bits."""

    def ranks(self, row):
        ranks = super().ranks(row)
        low = (row != row) & np.signbit(row)  # noqa: PLR0124 - NaN equals nothing
        return np.where(low, ranks.max() + 1 if self.descriptor.op == "largest" else ranks.min() - 1, ranks)


class SignOfZeroCounts(Selection):
    def ranks(self, row):
        wide = widened(row.dtype.name, row)
        order = 2 * super().ranks(row)
        sign = 1 if self.descriptor.op == "largest" else -1
        return order + np.where((wide == 0) & np.signbit(wide), sign, 0)


class ByteCompared(Selection):
    def ranks(self, row):
        return super().ranks(row.view(np.uint8))


class SignedCompared(Selection):
    def ranks(self, row):
        return super().ranks(row.view(row.dtype.name.removeprefix("u")))


class DoubleCompared(Selection):
    def ranks(self, row):
        return super().ranks(row.astype(np.float64))


class Unsorted(Selection):
    """Leaves the chosen in their places, whatever is asked for."""

    def __call__(self, descriptor, x):
        found = super().__call__(descriptor, x)
        if x.ndim:
            order = np.argsort(found["indices"], descriptor.axis)
            found = {name: np.take_along_axis(each, order, descriptor.axis) for name, each in found.items()}
        return found


class AlwaysSorted(Selection):
    def stood(self, places):
        return places


class OtherOp(Selection):
    def chosen(self, ranks):
        return super().chosen(-ranks)


class OneIndexOff(Selection):
    """The last index is that of the next candidate."""

    def told(self, places):
        told = places.copy()
        told[..., -1:] += 1
        return told


class IndexOfByte(Selection):
    def told(self, places):
        return places % 256


class FirstBlock(Selection):
    """Looks at the first 4096 elements."""

    def chosen(self, ranks):
        return super().chosen(ranks[:4096])


class LastSkipped(Selection):
    def chosen(self, ranks):
        return super().chosen(ranks[: max(ranks.size - 1, self.descriptor.k)])


class CleanTruth(Selection):
    """Writes 1 for a true byte."""

    def __call__(self, descriptor, x):
        found = super().__call__(descriptor, x)
        return found | {"values": (found["values"].view(np.uint8) != 0).astype(np.uint8).view(np.bool_)}


class QuietNan(Selection):
    """Writes one NaN for all."""

    def __call__(self, descriptor, x):
        found = super().__call__(descriptor, x)
        values = found["values"].copy()
        values[values != values] = np.nan  # noqa: PLR0124 - NaN equals nothing
        return found | {"values": values}


DEFECTS = [
    (LastOfTies, DTYPES),
    (AnyOfTies, DTYPES),
    (NanLeast, FLOATS),
    (NanIgnored, FLOATS),
    (NanBySign, FLOATS),
    (SignOfZeroCounts, FLOATS),
    (ByteCompared, ("bool",)),
    (SignedCompared, ("uint8", "uint64")),
    (DoubleCompared, ("int64", "uint64")),
    (Unsorted, DTYPES),
    (AlwaysSorted, DTYPES),
    (OtherOp, DTYPES),
    (OneIndexOff, DTYPES),
    (IndexOfByte, ("int8", "uint64", "float16", "float32")),
    (FirstBlock, ("int8", "uint64", "float16", "float32")),
    (LastSkipped, DTYPES),
    (CleanTruth, ("bool",)),
    (QuietNan, FLOATS),
]


def cases(dtype):
    for cell, case in every_case(FAMILY.name):
        if (
            cell.dtypes.partition("->")[0] == dtype
            and case.profile != "large"
            and case.descriptor.nbytes_moved <= MOST_BYTES
            and case.descriptor.out.size
            and case.name != "many-rows"
        ):
            yield cell, case


def is_right(kernel, cell, case):
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    assert inputs["x"].dtype == array_dtype(case.descriptor.x.dtype)
    with np.errstate(invalid="ignore"):
        found = kernel(case.descriptor, inputs["x"])
        wanted = FAMILY.moved(case.descriptor, inputs) | {
            "indices": FAMILY.reference(case.descriptor, inputs)["indices"].value
        }
    return all(np.ascontiguousarray(found[name]).tobytes() == each.tobytes() for name, each in wanted.items())


@pytest.mark.parametrize(
    "dtype",
    [pytest.param(name, marks=[pytest.mark.thorough] * (name not in {"bool", "uint64", "float16"})) for name in DTYPES],
)
def test_a_selection_without_defects_is_right_in_every_case(dtype):
    found = [*cases(dtype)]
    assert len(found) > 10
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Selection(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), in_turn(DEFECTS))
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(defect(), cell, case) for cell, case in cases(dtype))
