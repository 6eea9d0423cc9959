"""CrossEntropy step by step in NumPy is right for every case; with any planted defect it is wrong for some."""

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_primitives.judging.reference import array_dtype
from stepwise import cases, is_right

import ep

FAMILY = ep.families()["cross_entropy"]
DTYPES = ("float16", "bfloat16", "float32", "float64")
NARROW = DTYPES[:2]
CHAIN = 64


class Steps:
    """The definition in the compute type, sums as slow as the bound allows; a subclass gets one thing wrong."""

    def __call__(self, of, inputs):
        self.of, self.stored = of, array_dtype(of.x.dtype)
        self.wide = array_dtype(TYPES[of.x.dtype].compute)
        labels, classes = inputs["labels"], of.x.shape[1]
        counts = self.counts(labels, classes)
        if not labels.size or not classes:
            loss = weight = np.zeros(labels.shape, self.wide)
        else:
            places = self.places(np.where(counts, labels, 0))
            rows = np.moveaxis(inputs["x"].astype(self.wide), 1, -1)
            rows = rows if of.is_log else self.log_softmax(rows)
            picked = np.take_along_axis(rows, places[..., None], -1)[..., 0]
            weights = inputs["weights"].astype(self.wide) if "weights" in inputs else np.ones(classes, self.wide)
            weight = self.kept(counts, weights[places])
            loss = self.kept(counts, -picked * weight)
        return np.asarray(self.reduced(loss, weight, counts)).astype(self.stored)

    def counts(self, labels, classes):
        return (labels >= 0) & (labels < classes) & (labels != self.of.ignore_index)

    def places(self, labels):
        return labels

    def kept(self, counts, values):
        return np.where(counts, values, self.wide.type(0))

    def log_softmax(self, rows):
        d = rows - rows.max(-1, keepdims=True)
        return d - np.log(np.exp(d).sum(-1, keepdims=True))

    def reduced(self, loss, weight, counts):
        if self.of.reduction == "none":
            return loss
        total = self.total(loss)
        return total if self.of.reduction == "sum" else total / self.total(self.counted(weight, counts))

    def counted(self, weight, counts):
        return weight

    def total(self, values):
        """Sum chains of 64 terms, then these in pairs."""
        whole = np.concatenate([values.ravel(), np.zeros(-values.size % CHAIN, self.wide)])
        sums = np.add.accumulate(whole.reshape(-1, CHAIN), -1)[..., -1]
        while sums.size > 1:
            sums = np.concatenate([sums[:-1:2] + sums[1::2], sums[sums.size // 2 * 2 :]])
        return sums.sum()


class LongChains(Steps):
    def total(self, values):
        return np.add.accumulate(values.ravel())[-1] if values.size else values.sum()


class CountsIgnored(Steps):
    def counts(self, labels, classes):
        return (labels >= 0) & (labels < classes)


class IgnoresTheUsual(Steps):
    """Ignores -100, whatever is asked for."""

    def counts(self, labels, classes):
        return (
            super().counts(labels, classes)
            if self.of.ignore_index is None
            else (labels >= 0) & (labels < classes) & (labels != -100)
        )


class CountsFromTheEnd(Steps):
    """Takes a label below 0 for one from the end."""

    def counts(self, labels, classes):
        return (labels >= -classes) & (labels < classes) & (labels != self.of.ignore_index)


class TakesTheLastClass(Steps):
    """Clips labels that are no class."""

    def __call__(self, of, inputs):
        labels = inputs["labels"]
        last = max(of.x.shape[1] - 1, 0)
        return super().__call__(
            of, inputs | {"labels": np.where(labels == of.ignore_index, labels, np.clip(labels, 0, last))}
        )


class TimesZero(Steps):
    """Multiplies what does not count by 0."""

    def kept(self, counts, values):
        return values * counts


class NextClass(Steps):
    def places(self, labels):
        return np.minimum(labels + 1, self.of.x.shape[1] - 1)


class NoMaximum(Steps):
    def log_softmax(self, rows):
        return rows - np.log(np.exp(rows).sum(-1, keepdims=True))


class AlwaysSoftmax(Steps):
    def __call__(self, of, inputs):
        x = np.moveaxis(inputs["x"].astype(np.float64), 1, -1)
        if of.is_log and x.size:
            x = np.moveaxis(super().log_softmax(x), -1, 1)
            inputs = inputs | {"x": x.astype(inputs["x"].dtype)}
        return super().__call__(of, inputs)


class LogOfSoftmax(Steps):
    """Takes the logarithm of a rounded share."""

    def log_softmax(self, rows):
        e = np.exp(rows - rows.max(-1, keepdims=True))
        return np.log(e / e.sum(-1, keepdims=True))


class MeanOfAll(Steps):
    """Divides by the number of labels."""

    def counted(self, weight, counts):
        return np.ones_like(weight)


class MeanOfThoseThatCount(Steps):
    def counted(self, weight, counts):
        return counts.astype(self.wide)


class NoWeights(Steps):
    def __call__(self, of, inputs):
        return super().__call__(of, {name: value for name, value in inputs.items() if name != "weights"})


class SumForMean(Steps):
    def reduced(self, loss, weight, counts):
        return loss if self.of.reduction == "none" else self.total(loss)


class Positive(Steps):
    def kept(self, counts, values):
        return np.abs(super().kept(counts, values)) * np.where(self.of.is_log, 1, -1)


class RoundsLogarithms(Steps):
    def log_softmax(self, rows):
        return super().log_softmax(rows).astype(self.stored).astype(self.wide)


class RoundsLosses(Steps):
    """Sums losses that were rounded to the narrow type."""

    def total(self, values):
        return super().total(values.astype(self.stored).astype(self.wide))


DEFECTS = [
    *[(each, DTYPES) for each in (CountsIgnored, IgnoresTheUsual, CountsFromTheEnd, TakesTheLastClass)],
    *[(each, DTYPES) for each in (TimesZero, NextClass, NoMaximum, AlwaysSoftmax, LogOfSoftmax, MeanOfAll)],
    *[(each, DTYPES) for each in (MeanOfThoseThatCount, NoWeights, SumForMean, Positive)],
    (LongChains, DTYPES[2:]),  # 16 bits of one sum are too few to tell
    *[(each, NARROW) for each in (RoundsLogarithms, RoundsLosses)],
]


def of_type(dtype):
    return cases(FAMILY, lambda of: (of.x.dtype, of.labels.dtype) == (dtype, "int64"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_without_defects_are_right_in_every_case(dtype):
    found = [*of_type(dtype)]
    assert len(found) > 45
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(FAMILY, Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(FAMILY, defect(), cell, case) for cell, case in of_type(dtype))
