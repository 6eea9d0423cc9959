"""A reduction in NumPy is right for every case of Reduce, and with any planted defect it is wrong for some."""

import zlib
from functools import partial

import numpy as np
import pytest
from ep_conformance.judge.bias import bias, variance
from ep_conformance.judge.compare import compare
from ep_primitives import REDUCE_OPS
from ep_primitives.judging.reference import array_dtype, widened
from every_case import every_case

import ep

MOST_BYTES = 1 << 20
FAMILY = ep.families()["reduce"]
NARROW = ("float16", "bfloat16")
SUMS = ("sum", "mean", "sum_of_squares", "norm_1", "norm_2")
NORMS = ("norm_1", "norm_2", "norm_inf")


class Reduction:
    """The definition in the compute type; a subclass gets one thing wrong."""

    def __call__(self, descriptor, x):
        self.descriptor, self.op, self.n = descriptor, descriptor.op, descriptor.terms
        self.kind = array_dtype(descriptor.compute)
        with np.errstate(all="ignore"):
            rows = self.rows(widened("bool", x) if descriptor.x.dtype == "bool" else x)
            value = self.nothing(descriptor) if not self.n else self.reduced(rows)
            return self.stored(np.asarray(value)).reshape(descriptor.out.shape)

    def rows(self, x):
        axes = self.descriptor.axes
        kept = x.ndim - len(axes)
        moved = np.moveaxis(x, axes, range(kept, x.ndim))
        return np.ascontiguousarray(moved.reshape(*moved.shape[:kept], self.n))

    def nothing(self, descriptor):
        return np.full(descriptor.out.shape, REDUCE_OPS[self.op].identity_of(descriptor.out.dtype))

    def stored(self, value):
        return value.astype(array_dtype(self.descriptor.out.dtype))

    def reduced(self, rows):
        if self.op in {"any", "all"}:
            return getattr(self.truth(rows), self.op)(-1)
        if self.op in {"max", "min"}:
            return self.extreme(rows)
        part = np.complex64 if self.kind == np.float32 else np.complex128
        return getattr(self, self.op)(rows.astype(part if rows.dtype.kind == "c" else self.kind))

    def truth(self, rows):
        return rows != 0

    def extreme(self, rows):
        if rows.dtype.kind in "biu":
            return getattr(rows, self.op)(-1)
        rows = rows.astype(self.kind)
        value = getattr(rows, self.op)(-1)
        wanted = ~np.signbit(rows) if self.op == "max" else np.signbit(rows)
        has = ((rows == 0) & wanted).any(-1)
        return np.where(value == 0, np.where(has == (self.op == "max"), 0.0, -0.0), value)

    def add(self, rows):
        return rows.sum(-1, dtype=rows.dtype)

    def sum(self, rows):
        return self.add(rows)

    def mean(self, rows):
        return self.add(rows) / self.kind.type(self.n)

    def prod(self, rows):
        return rows.prod(-1, dtype=rows.dtype)

    def square(self, rows):
        return rows.real**2 + rows.imag**2 if rows.dtype.kind == "c" else rows**2

    def sum_of_squares(self, rows):
        return self.add(self.square(rows))

    def size(self, rows):
        return np.abs(rows)

    def norm_1(self, rows):
        return self.add(self.size(rows))

    def norm_2(self, rows):
        sizes = np.abs(rows)
        exponent = np.frexp(sizes.max(-1))[1]
        return np.ldexp(np.sqrt(self.add(np.ldexp(sizes, -exponent[..., None]) ** 2)), exponent)

    def norm_inf(self, rows):
        return self.size(rows).max(-1)

    def shift(self, rows):
        top = rows.max(-1)
        return np.where(np.isfinite(top), top, 0)

    def log_sum_exp(self, rows):
        shift = self.shift(rows)
        return shift + np.log(self.add(np.exp(rows - shift[..., None])))


def one_by_one(rows):
    return np.add.accumulate(rows, -1)[..., -1]


def in_pairs(rows, into):
    rows = rows.astype(into)
    while rows.shape[-1] > 1:
        odd = rows[..., -1:] if rows.shape[-1] % 2 else rows[..., :0]
        even = rows[..., : rows.shape[-1] // 2 * 2]
        rows = np.concatenate([(even[..., ::2] + even[..., 1::2]).astype(into), odd], -1)
    return rows[..., 0]


class OneByOne(Reduction):
    def add(self, rows):
        return one_by_one(rows)


class LongChains(Reduction):
    """Sums of 1024 terms one by one."""

    def add(self, rows):
        return np.stack([one_by_one(rows[..., at : at + 1024]) for at in range(0, self.n, 1024)], -1).sum(-1)


class NarrowSums(Reduction):
    def add(self, rows):
        return in_pairs(rows, array_dtype(self.descriptor.x.dtype))


class NarrowBlocks(Reduction):
    def add(self, rows):
        narrow = array_dtype(self.descriptor.x.dtype)
        blocks = [rows[..., at : at + 64].sum(-1).astype(narrow).astype(rows.dtype) for at in range(0, self.n, 64)]
        return np.stack(blocks, -1).sum(-1)


class Compensated(Reduction):
    def add(self, rows):
        total, lost = rows[..., 0], np.zeros_like(rows[..., 0])
        for at in range(1, self.n):
            term = rows[..., at] - lost
            new = total + term
            total, lost = new, (new - total) - term
        return total


class Chopped(Reduction):
    """Sums in pairs, each of which is rounded towards zero."""

    def add(self, rows):
        while rows.shape[-1] > 1:
            even = rows[..., : rows.shape[-1] // 2 * 2].astype(np.float64)
            exact = even[..., ::2] + even[..., 1::2]
            near = exact.astype(np.float32)
            less = np.nextafter(near, np.float32(0))
            sums = np.where(np.abs(near.astype(np.float64)) > np.abs(exact), less, near)
            rows = np.concatenate([sums, rows[..., rows.shape[-1] // 2 * 2 :]], -1)
        return rows[..., 0]


def skipping(name, part):
    def rows(self, x):
        every = Reduction.rows(self, x)
        kept = every[..., part(self.n)]
        self.n = kept.shape[-1]
        return kept

    return type(name, (Reduction,), {"rows": rows})


class OtherAxes(Reduction):
    def rows(self, x):
        x = x.reshape(self.descriptor.x.shape)
        return np.ascontiguousarray(x).reshape(-1, self.n) if self.n else x


class FirstRowOnly(Reduction):
    def stored(self, value):
        return np.broadcast_to(super().stored(value.reshape(-1)[:1]), (value.size,)).copy()


class NanLost(Reduction):
    def extreme(self, rows):
        find = np.fmax if self.op == "max" else np.fmin
        return find.reduce(rows, -1) if rows.dtype.kind not in "biu" else super().extreme(rows)


class NanFirstOnly(Reduction):
    def extreme(self, rows):
        if rows.dtype.kind in "biu":
            return super().extreme(rows)
        rows = rows.astype(self.kind)
        rest = np.where(np.isnan(rows), -np.inf if self.op == "max" else np.inf, rows)
        return np.where(np.isnan(rows[..., 0]), np.nan, super().extreme(rest))


class ZerosUnordered(Reduction):
    def extreme(self, rows):
        if rows.dtype.kind in "biu":
            return super().extreme(rows)
        rows = rows.astype(self.kind)
        at = rows.argmax(-1) if self.op == "max" else rows.argmin(-1)
        return np.take_along_axis(rows, at[..., None], -1)[..., 0]


class FromZero(Reduction):
    def extreme(self, rows):
        return np.maximum(super().extreme(rows), 0) if self.op == "max" else np.minimum(super().extreme(rows), 0)


class NarrowCount(Reduction):
    def mean(self, rows):
        narrow = array_dtype(self.descriptor.x.dtype)
        return self.add(rows) / np.asarray(self.n, narrow).astype(self.kind)


class TailNotSquared(Reduction):
    def square(self, rows):
        done = self.n // 16 * 16
        tail = np.abs(rows[..., done:])
        return np.concatenate([super().square(rows[..., :done]), tail], -1)


class ShiftedByFirst(Reduction):
    def shift(self, rows):
        return np.where(np.isfinite(rows[..., 0]), rows[..., 0], 0)


class Infinities(Reduction):
    def nothing(self, descriptor):
        is_whole = self.kind.kind in "biu"
        return np.full(descriptor.out.shape, 3 if is_whole else -super().nothing(descriptor))


def planted(name, **methods):
    return type(name, (Reduction,), methods)


RealPartSquared = planted("RealPartSquared", square=lambda self, rows: rows.real**2)
PlainNorm = planted("PlainNorm", norm_2=lambda self, rows: np.sqrt(self.add(self.square(rows))))
NotRooted = planted("NotRooted", norm_2=lambda self, rows: self.add(self.square(rows)))
PartsAdded = planted("PartsAdded", size=lambda self, rows: np.abs(rows.real) + np.abs(rows.imag))
SignsKept = planted("SignsKept", size=lambda self, rows: rows)
NotShifted = planted("NotShifted", shift=lambda self, rows: np.zeros_like(rows[..., 0]))
ShiftedByInfinity = planted("ShiftedByInfinity", shift=lambda self, rows: rows.max(-1))
Zeros = planted("Zeros", nothing=lambda self, descriptor: np.zeros(descriptor.out.shape))
NanFalse = planted("NanFalse", truth=lambda self, rows: (rows != 0) & ~np.isnan(rows))
NegativeZeroTrue = planted("NegativeZeroTrue", truth=lambda self, rows: (rows != 0) | np.signbit(rows.real))
RealPartTrue = planted("RealPartTrue", truth=lambda self, rows: rows.real != 0)
LessOne = planted("LessOne", mean=lambda self, rows: self.add(rows) / self.kind.type(max(self.n - 1, 1)))


class Flushed(Reduction):
    def stored(self, value):
        stored = super().stored(value)
        least = 2.0**-126 if stored.dtype != np.float64 else 2.0**-1022
        return np.where(np.abs(stored) < least, stored * stored.dtype.type(0), stored)


class Saturated(Reduction):
    def add(self, rows):
        low, high = ep.dtype(rows.dtype.name).range
        return np.clip(rows.astype(object).sum(-1), low, high)


class NarrowIntegers(Reduction):
    def reduced(self, rows):
        whole = getattr(np, self.op)(rows, axis=-1, dtype=rows.dtype)
        return whole.astype(self.kind)


class ThirtyTwoBits(Reduction):
    def reduced(self, rows):
        return getattr(np, self.op)(rows.astype(np.int32), axis=-1, dtype=np.int32)


class ZeroSignLost(Reduction):
    def prod(self, rows):
        value = super().prod(rows)
        return np.where(value == 0, 0.0, value)


class Magnitudes(Reduction):
    def prod(self, rows):
        return np.exp2(np.log2(np.abs(rows.astype(np.float32))).sum(-1))


FLOATS = (*NARROW, "float32", "float64")
DEFECTS = [
    (OneByOne, (*SUMS, "log_sum_exp"), ("float32",)),
    (LongChains, SUMS, ("float32", "float64")),
    (NarrowSums, SUMS, NARROW),
    (NarrowBlocks, SUMS, NARROW),
    (Compensated, ("sum", "mean"), ("float32",)),
    (Chopped, ("sum", "mean", "sum_of_squares", "norm_1"), ("float32",)),
    (skipping("LastSkipped", lambda n: slice(0, max(n - 1, 0))), tuple(REDUCE_OPS), FLOATS),
    (skipping("FirstSkipped", lambda n: slice(min(n, 1), n)), tuple(REDUCE_OPS), FLOATS),
    (skipping("MiddleSkipped", lambda n: [i for i in range(n) if i != n // 2 or n < 3]), tuple(REDUCE_OPS), FLOATS),
    (skipping("TailSkipped", lambda n: slice(0, n // 16 * 16 or n)), tuple(REDUCE_OPS), FLOATS),
    (skipping("BeyondChunkSkipped", lambda n: slice(0, min(n, 1024))), ("sum", "max", "any"), ("float32",)),
    (OtherAxes, tuple(REDUCE_OPS), FLOATS),
    (FirstRowOnly, tuple(REDUCE_OPS), FLOATS),
    (NanLost, ("max", "min"), FLOATS),
    (NanFirstOnly, ("max", "min"), FLOATS),
    (ZerosUnordered, ("max", "min"), FLOATS),
    (FromZero, ("max", "min"), (*FLOATS, "int8", "int64")),
    (LessOne, ("mean",), (*FLOATS, "complex64")),
    (NarrowCount, ("mean",), NARROW),
    (TailNotSquared, ("sum_of_squares",), FLOATS),
    (RealPartSquared, ("sum_of_squares",), ("complex64", "complex128")),
    (PlainNorm, ("norm_2",), ("bfloat16", "float32", "float64", "complex64", "complex128")),
    (NotRooted, ("norm_2",), FLOATS),
    (PartsAdded, ("norm_1", "norm_inf"), ("complex64", "complex128")),
    (SignsKept, ("norm_1", "norm_inf"), FLOATS),
    (NotShifted, ("log_sum_exp",), FLOATS),
    (ShiftedByFirst, ("log_sum_exp",), FLOATS),
    (ShiftedByInfinity, ("log_sum_exp",), FLOATS),
    (Zeros, ("prod", "mean", "max", "min", "all", "log_sum_exp"), ("float32",)),
    (Zeros, ("max", "min"), ("int8", "int64")),
    (Infinities, ("max", "min", "log_sum_exp"), FLOATS),
    (Infinities, ("max", "min"), ("int32", "uint64")),
    (NanFalse, ("any", "all"), (*FLOATS, "complex64")),
    (NegativeZeroTrue, ("any", "all"), FLOATS),
    (RealPartTrue, ("any", "all"), ("complex64", "complex128")),
    (Flushed, ("max", "norm_inf"), ("bfloat16", "float32", "float64")),
    (Flushed, ("sum", "mean"), ("float32", "float64")),
    (Saturated, ("sum",), ("int8", "uint16", "int64")),
    (NarrowIntegers, ("sum", "prod"), ("int8->int64", "uint32->uint64")),
    (ThirtyTwoBits, ("sum", "prod"), ("int32->int64", "uint32->uint64")),
    (ZeroSignLost, ("prod",), FLOATS),
    (Magnitudes, ("prod",), ("float32",)),
]


def cases(op, dtypes):
    for cell, case in every_case(FAMILY.name):
        if (
            cell.op == op
            and cell.dtypes in dtypes
            and case.profile != "large"
            and case.descriptor.out.size
            and case.descriptor.nbytes_moved <= MOST_BYTES
        ):
            yield cell, case


CHOSEN = ("bool", "int8", "uint16", "int32->int64", *FLOATS, "float16->float32", "complex64", "complex128")


def is_right(kernel, cell, case):
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    descriptor = case.descriptor
    reference = FAMILY.reference(descriptor, inputs)
    result = kernel(descriptor, inputs["x"])
    measure = partial(compare, reference=reference, accuracy=case.accuracy or FAMILY.accuracy(descriptor))
    if not measure(result, dtype=descriptor.out.dtype).passes:
        return False
    given = (result, reference, descriptor.out.dtype, case.summands)
    return not case.summands or (bias(*given) <= 1 and variance(*given) <= 1)


def outs(dtype):
    """Return the dtypes of the cells that stand for an element type of x: any output but the wider of two."""
    part = "float32" if dtype == "complex64" else "float64"
    return {dtype, f"{dtype}->bool", "bool->int64" if dtype == "bool" else f"{dtype}->{part}"}


@pytest.mark.parametrize("op", REDUCE_OPS)
def test_a_reduction_without_defects_is_right_in_every_case(op):
    chosen = {name for dtype in CHOSEN for name in outs(dtype)}
    found = [*cases(op, chosen)]
    assert len(found) > 100
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Reduction(), cell, case)] == []


@pytest.mark.parametrize(
    ("defect", "op", "dtype"),
    [(defect, op, dtype) for defect, ops, dtypes in DEFECTS for op in ops for dtype in dtypes],
)
def test_every_defect_is_wrong_somewhere(defect, op, dtype):
    found = [*cases(op, outs(dtype))]
    assert found
    assert not all(is_right(defect(), cell, case) for cell, case in found)
