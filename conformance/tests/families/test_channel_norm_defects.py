"""GroupNorm and BatchNorm step by step in NumPy are right for every case; with any planted defect they are wrong for some."""

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_primitives.judging.reference import array_dtype
from stepwise import cases, is_right

import ep

DTYPES = ("float16", "bfloat16", "float32", "float64")
NARROW = DTYPES[:2]


class Steps:
    """What both have: operands in the compute type, y rounded at the end; a subclass gets one thing wrong."""

    def __call__(self, of, inputs):
        self.of, self.stored = of, array_dtype(of.x.dtype)
        self.wide = array_dtype(TYPES[of.x.dtype].compute)
        self.epsilon = self.wide.type(of.epsilon)
        given = {name: value.astype(self.wide) for name, value in inputs.items()}
        return self.found(given.pop("x"), **given).astype(self.stored)

    def narrow(self, values):
        return values.astype(self.stored).astype(self.wide)


class Group(Steps):
    family = "group_norm"

    def found(self, x, scale=None, bias=None):
        y = self.normalised(self.rows(x)).reshape(x.shape)
        column = (1, -1) + (1,) * (x.ndim - 2)
        return self.moved(y, *(each if each is None else each.reshape(column) for each in (scale, bias)))

    def rows(self, x):
        return x.reshape(x.shape[0] * self.of.groups, -1)

    def normalised(self, rows):
        d = rows - rows.mean(-1, keepdims=True, dtype=self.wide)
        return d / np.sqrt(self.variance(d) + self.epsilon)

    def variance(self, d):
        return np.square(d).mean(-1, keepdims=True, dtype=self.wide)

    def moved(self, y, scale, bias):
        y = y if scale is None else y * scale
        return y if bias is None else y + bias


class GroupsTheRest(Group):
    """Takes `groups` for how many channels are in one."""

    def rows(self, x):
        each = x.shape[1] // self.of.groups
        return x.reshape(-1, each, self.of.groups, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape[0] * self.of.groups, -1)


class EachChannel(Group):
    def rows(self, x):
        return x.reshape(x.shape[0] * x.shape[1], -1)


class OverSamples(Group):
    """Normalises groups over all samples, as in training."""

    def found(self, x, scale=None, bias=None):
        self.samples = x.shape[0]
        return super().found(x, scale, bias)

    def normalised(self, rows):
        whole = rows.reshape(self.samples, self.of.groups, -1).swapaxes(0, 1)
        made = super().normalised(whole.reshape(self.of.groups, -1))
        return made.reshape(self.of.groups, self.samples, -1).swapaxes(0, 1)


class Sample(Group):
    def variance(self, d):
        n = d.shape[-1]
        return super().variance(d) * self.wide.type(n / max(n - 1, 1))


class GroupMeanSquares(Group):
    def normalised(self, rows):
        mean = rows.mean(-1, keepdims=True, dtype=self.wide)
        variance = np.maximum(np.square(rows).mean(-1, keepdims=True, dtype=self.wide) - mean * mean, 0)
        return (rows - mean) / np.sqrt(variance + self.epsilon)


class GroupEpsilon(Group):
    def variance(self, d):
        return super().variance(d) + self.wide.type(1e-5) - self.epsilon


class GroupRoundsBetween(Group):
    def moved(self, y, scale, bias):
        return super().moved(self.narrow(y), scale, bias)


class GroupBiasFirst(Group):
    def moved(self, y, scale, bias):
        return super().moved(super().moved(y, None, bias), scale, None)


class GroupScaleOfAGroup(Group):
    """The first scale of each group for all of its channels."""

    def moved(self, y, scale, bias):
        if scale is not None:
            each = scale.size // self.of.groups
            scale = np.repeat(scale.reshape(-1)[::each], each).reshape(scale.shape)
        return super().moved(y, scale, bias)


class Batch(Steps):
    family = "batch_norm"

    def found(self, x, mean, variance, scale=None, bias=None):
        column = (-1,) + (1,) * (x.ndim - self.of.axis - 1)
        names = {"mean": mean, "variance": variance, "scale": scale, "bias": bias}
        return self.of_columns(
            x, **{name: each if each is None else each.reshape(column) for name, each in names.items()}
        )

    def of_columns(self, x, mean, variance, scale, bias):
        factor = self.factor(variance) if scale is None else self.factor(variance) * scale
        shift = mean * factor if bias is None else mean * factor - bias
        return x * factor - shift

    def factor(self, variance):
        return 1 / np.sqrt(variance + self.epsilon)


class BatchUnfolded(Batch):
    """Another order, which is as good."""

    def of_columns(self, x, mean, variance, scale, bias):
        y = (x - mean) * self.factor(variance)
        y = y if scale is None else y * scale
        return y if bias is None else y + bias


class Deviation(Batch):
    """Takes the variance for the standard deviation."""

    def factor(self, variance):
        return 1 / (variance + self.epsilon)


class EpsilonOutside(Batch):
    def factor(self, variance):
        return 1 / (np.sqrt(variance) + self.epsilon)


class BatchEpsilon(Batch):
    def factor(self, variance):
        return 1 / np.sqrt(variance + self.wide.type(1e-5))


class PositiveVariance(Batch):
    def factor(self, variance):
        return super().factor(np.maximum(variance, 0))


class RoundsFactors(Batch):
    def factor(self, variance):
        return self.narrow(super().factor(variance))


class BatchRoundsBetween(Batch):
    def of_columns(self, x, mean, variance, scale, bias):
        return super().of_columns(self.narrow(x - mean), mean * 0, variance, scale, bias)


class NoMean(Batch):
    def of_columns(self, x, mean, variance, scale, bias):
        return super().of_columns(x, mean * 0, variance, scale, bias)


class Exchanged(Batch):
    def of_columns(self, x, mean, variance, scale, bias):
        return super().of_columns(x, mean, variance, bias, scale)


class ScalesTheBias(Batch):
    def of_columns(self, x, mean, variance, scale, bias):
        bias = bias if scale is None or bias is None else bias * scale
        return super().of_columns(x, mean, variance, scale, bias)


DEFECTS = [
    *[(each, DTYPES) for each in (GroupsTheRest, EachChannel, OverSamples, Sample, GroupEpsilon)],
    *[(each, DTYPES) for each in (GroupBiasFirst, GroupScaleOfAGroup, Deviation, EpsilonOutside, BatchEpsilon)],
    *[(each, DTYPES) for each in (PositiveVariance, NoMean, Exchanged, ScalesTheBias)],
    (GroupMeanSquares, ("float16", "float32", "float64")),  # of bfloat16 y alone is too coarse to tell
    *[(each, NARROW) for each in (GroupRoundsBetween, RoundsFactors, BatchRoundsBetween)],
]


def tried(kernel, dtype):
    family = ep.families()[kernel.family]
    for cell, case in cases(family, lambda descriptor: descriptor.x.dtype == dtype):
        yield f"{cell}/{case.name}", is_right(family, kernel(), cell, case)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", [Group, Batch, BatchUnfolded])
def test_steps_without_defects_are_right_in_every_case(kernel, dtype):
    found = dict(tried(kernel, dtype))
    assert len(found) > 25
    assert [case for case, is_so in found.items() if not is_so] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_so for _, is_so in tried(defect, dtype))
