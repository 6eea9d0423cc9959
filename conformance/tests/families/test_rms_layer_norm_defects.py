"""RmsLayerNorm step by step in NumPy is right for every case; with any planted defect it is wrong for some."""

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_primitives.judging.reference import array_dtype
from stepwise import cases, is_right

import ep

FAMILY = ep.families()["rms_layer_norm"]
DTYPES = ("float16", "bfloat16", "float32", "float64")
NARROW = DTYPES[:2]
CHAIN = 64


class Steps:
    """The definition in the compute type, sums as slow as the bound allows; a subclass gets one thing wrong."""

    def __call__(self, of, inputs):
        self.of, self.stored = of, array_dtype(of.x.dtype)
        self.wide = array_dtype(TYPES[of.x.dtype].compute)
        rows = inputs["x"].astype(self.wide).reshape(-1, of.terms)
        square = self.mean(np.square(rows))
        y = rows * self.factor(square, self.wide.type(of.epsilon))
        y = self.between(y)
        y = y * inputs["scale"].astype(self.wide).reshape(-1) if "scale" in inputs else y
        return y.astype(self.stored).reshape(of.x.shape)

    def mean(self, rows):
        return self.total(rows) / self.wide.type(rows.shape[-1])

    def total(self, rows):
        """Sum chains of 64 terms, then these in pairs."""
        whole = np.concatenate([rows, np.zeros((len(rows), -rows.shape[-1] % CHAIN), self.wide)], -1)
        sums = np.add.accumulate(whole.reshape(len(rows), -1, CHAIN), -1)[..., -1]
        while sums.shape[-1] > 1:
            odd = sums[..., sums.shape[-1] // 2 * 2 :]
            sums = np.concatenate([sums[..., :-1:2] + sums[..., 1::2], odd], -1)
        return sums

    def factor(self, square, epsilon):
        return 1 / np.sqrt(square + epsilon)

    def between(self, y):
        return y


class LongChains(Steps):
    def total(self, rows):
        return np.add.accumulate(rows, -1)[..., -1:]


class NarrowSums(Steps):
    def mean(self, rows):
        return super().mean(rows.astype(self.stored).astype(self.wide)).astype(self.stored).astype(self.wide)


class Norm(Steps):
    """The root of the sum, and not of the mean."""

    def mean(self, rows):
        return self.total(rows)


class EpsilonOutside(Steps):
    def factor(self, square, epsilon):
        return 1 / (np.sqrt(square) + epsilon)


class UsualEpsilon(Steps):
    def factor(self, square, epsilon):
        return super().factor(square, self.wide.type(1e-5))


class NoRoot(Steps):
    def factor(self, square, epsilon):
        return 1 / (square + epsilon)


class LargestFirst(Steps):
    """Divides by the largest element where a row has one that is infinite."""

    def factor(self, square, epsilon):
        return np.where(np.isinf(square), 1, super().factor(square, epsilon))


class NanForgotten(Steps):
    def mean(self, rows):
        return super().mean(np.where(np.isnan(rows), 0, rows))


class RoundedBetween(Steps):
    def between(self, y):
        return y.astype(self.stored).astype(self.wide)


DEFECTS = [
    *[(each, DTYPES) for each in (LongChains, Norm, EpsilonOutside, UsualEpsilon, NoRoot, LargestFirst, NanForgotten)],
    *[(each, NARROW) for each in (NarrowSums, RoundedBetween)],
]


def of_type(dtype):
    return cases(FAMILY, lambda descriptor: descriptor.x.dtype == dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_without_defects_are_right_in_every_case(dtype):
    found = [*of_type(dtype)]
    assert len(found) > 30
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(FAMILY, Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(FAMILY, defect(), cell, case) for cell, case in of_type(dtype))
