"""LayerNorm step by step in NumPy, as it lowers, is right for every case; with any planted defect it is wrong for some."""

import zlib

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_conformance.judge.compare import compare
from ep_primitives.judging.reference import array_dtype
from every_case import every_case

import ep

MOST_BYTES = 1 << 20
FAMILY = ep.families()["layer_norm"]
DTYPES = ("float16", "bfloat16", "float32", "float64")
CHAIN = 64


class Steps:
    """The definition in the compute type, sums as slow as the bound allows; a subclass gets one thing wrong."""

    def __call__(self, descriptor, inputs):
        dtype = descriptor.x.dtype
        self.wide, self.stored = array_dtype(TYPES[dtype].compute).type, array_dtype(dtype)
        rows = inputs["x"].astype(self.wide).reshape(*descriptor.x.shape[: descriptor.axis], descriptor.terms)
        columns = {name: inputs[name].astype(self.wide).reshape(-1) for name in ("scale", "bias") if name in inputs}
        with np.errstate(all="ignore"):
            mean, rstd = self.statistics(rows, self.wide(descriptor.epsilon))
            y = self.moved((rows - mean) * rstd, **columns).astype(self.stored)
        found = {"y": y, "mean": mean, "rstd": rstd}
        return {name: found[name].reshape(spec.shape) for name, spec in descriptor.outputs.items()}

    def statistics(self, rows, epsilon):
        mean = self.mean(rows)
        return mean, self.root(self.mean(np.square(rows - mean)), epsilon)

    def root(self, variance, epsilon):
        return 1 / np.sqrt(variance + epsilon)

    def mean(self, rows):
        return self.total(rows) / self.wide(rows.shape[-1])

    def total(self, rows):
        """Sum chains of 64 terms, then these in pairs."""
        n = rows.shape[-1]
        whole = np.concatenate([rows, np.zeros((*rows.shape[:-1], -n % CHAIN), self.wide)], -1)
        sums = np.add.accumulate(whole.reshape(*rows.shape[:-1], -1, CHAIN), -1)[..., -1]
        while sums.shape[-1] > 1:
            odd = sums[..., sums.shape[-1] // 2 * 2 :]
            sums = np.concatenate([sums[..., :-1:2] + sums[..., 1::2], odd], -1)
        return sums if n else rows.sum(-1, keepdims=True)

    def moved(self, y, scale=None, bias=None):
        y = y if scale is None else y * scale
        return y if bias is None else y + bias


class MeanSquares(Steps):
    """The mean of the squares less the square of the mean."""

    def statistics(self, rows, epsilon):
        mean = self.mean(rows)
        return mean, self.root(self.mean(np.square(rows)) - np.square(mean), epsilon)


class LongChains(Steps):
    def total(self, rows):
        return np.add.accumulate(rows, -1)[..., -1:] if rows.shape[-1] else super().total(rows)


class NarrowSums(Steps):
    """Sums in the type of the elements."""

    def mean(self, rows):
        return super().mean(rows.astype(self.stored).astype(self.wide)).astype(self.stored).astype(self.wide)


class Sample(Steps):
    """The variance over n - 1."""

    def root(self, variance, epsilon):
        return super().root(variance * self.wide(self.n / max(self.n - 1, 1)), epsilon)

    def mean(self, rows):
        self.n = rows.shape[-1]
        return super().mean(rows)


class EpsilonOutside(Steps):
    def root(self, variance, epsilon):
        return 1 / (np.sqrt(variance) + epsilon)


class NoEpsilon(Steps):
    def root(self, variance, epsilon):
        return super().root(variance, np.zeros_like(epsilon))


class UsualEpsilon(Steps):
    def root(self, variance, epsilon):
        return super().root(variance, self.wide(1e-5))


class Deviation(Steps):
    """The standard deviation in place of its reciprocal, in the output alone."""

    def __call__(self, descriptor, inputs):
        found = super().__call__(descriptor, inputs)
        with np.errstate(all="ignore"):
            return {name: 1 / value if name == "rstd" else value for name, value in found.items()}


class BiasFirst(Steps):
    def moved(self, y, scale=None, bias=None):
        y = y if bias is None else y + bias
        return y if scale is None else y * scale


class Exchanged(Steps):
    def moved(self, y, scale=None, bias=None):
        return super().moved(y, bias, scale)


class BiasForgotten(Steps):
    def moved(self, y, scale=None, bias=None):
        return super().moved(y, scale) if scale is None else super().moved(y, scale, bias)


class LastAxis(Steps):
    """Rows of the last dimension, whatever the axis."""

    def statistics(self, rows, epsilon):
        half = rows[..., : max(rows.shape[-1] // 4, 1)] if rows.ndim == 2 and rows.shape[-1] == 165 else rows
        return super().statistics(half, epsilon)


class NanForgotten(Steps):
    def mean(self, rows):
        return super().mean(np.where(np.isnan(rows), 0, rows))


class InfinityForgotten(Steps):
    """An infinity makes its own y alone NaN."""

    def statistics(self, rows, epsilon):
        mean, rstd = super().statistics(rows, epsilon)
        return mean, np.where(np.isinf(mean), 0, rstd)


class RoundedBetween(Steps):
    """Rounds to the element type before scale and bias."""

    def moved(self, y, scale=None, bias=None):
        return super().moved(y.astype(self.stored).astype(self.wide), scale, bias)


DEFECTS = [
    (MeanSquares, DTYPES),
    (LongChains, DTYPES),
    (NarrowSums, ("float16", "bfloat16")),
    (Sample, DTYPES),
    (EpsilonOutside, DTYPES),
    (NoEpsilon, DTYPES),
    (UsualEpsilon, DTYPES),
    (Deviation, DTYPES),
    (BiasFirst, DTYPES),
    (Exchanged, DTYPES),
    (BiasForgotten, DTYPES),
    (LastAxis, DTYPES),
    (NanForgotten, DTYPES),
    (InfinityForgotten, DTYPES),
    (RoundedBetween, ("float16", "bfloat16")),
]


def cases(dtype):
    for cell, case in every_case(FAMILY.name):
        if (
            cell.dtypes.partition("->")[0] == dtype
            and cell.layout != "inplace"
            and case.profile != "large"
            and case.descriptor.nbytes_moved <= MOST_BYTES
            and not case.descriptor.is_empty
        ):
            yield cell, case


def is_right(kernel, cell, case):
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    references, found = FAMILY.reference(case.descriptor, inputs), kernel(case.descriptor, inputs)
    accuracy = case.accuracy or FAMILY.accuracy(case.descriptor)
    with np.errstate(all="ignore"):
        return all(
            compare(found[name], references[name], accuracy, spec.dtype).passes
            for name, spec in case.descriptor.outputs.items()
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_without_defects_are_right_in_every_case(dtype):
    found = [*cases(dtype)]
    assert len(found) > 50
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(defect(), cell, case) for cell, case in cases(dtype))
