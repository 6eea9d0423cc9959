"""Attention step by step in NumPy, as it lowers, is right for every case; with any planted defect it is wrong for some."""

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_primitives.judging.reference import array_dtype
from mutation import in_turn
from stepwise import cases, is_right

import ep

FAMILY = ep.families()["attention"]
DTYPES = ("float16", "bfloat16", "float32", "float64")
NARROW = DTYPES[:2]


class Steps:
    """The definition in the compute type; a subclass gets one thing wrong."""

    def __call__(self, of, inputs):
        self.of = of
        self.stored = array_dtype(of.q.dtype)
        self.wide = array_dtype(TYPES[of.q.dtype].compute)
        q, k, v = (inputs[name].astype(self.wide) for name in ("q", "k", "v"))
        if of.groups > 1:
            k, v = self.repeated(k), self.repeated(v)
        scores = self.scores(q, k)
        scores = self.masked(self.capped(scores), inputs.get("mask"))
        if of.is_causal:
            rows, columns = np.indices(scores.shape[-2:])
            scores = np.where(self.seen(rows, columns), scores, self.wide.type(-np.inf))
        if not scores.size:
            return np.zeros(of.out.shape, self.stored)
        return self.finished(self.softmax(scores), v, scores.max(-1, keepdims=True)).astype(self.stored)

    def repeated(self, heads):
        return np.repeat(heads, self.of.groups, axis=-3)

    def scores(self, q, k):
        return self.wide.type(self.of.scale) * (q @ np.swapaxes(k, -1, -2))

    def capped(self, scores):
        cap = self.wide.type(self.of.softcap)
        return cap * np.tanh(scores / cap) if cap else scores

    def masked(self, scores, mask):
        if mask is None:
            return scores
        if mask.dtype == np.bool_:
            return np.where(mask.view(np.uint8) != 0, scores, self.wide.type(-np.inf))
        return scores + mask.astype(self.wide)

    def seen(self, rows, columns):
        return columns <= rows + self.of.offset

    def softmax(self, scores):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def finished(self, p, v, tops):
        return np.where(np.isneginf(tops), 0, p @ v)


class NoScale(Steps):
    def scores(self, q, k):
        return q @ np.swapaxes(k, -1, -2)


class UsualScale(Steps):
    def scores(self, q, k):
        return q @ np.swapaxes(k, -1, -2) / self.wide.type(np.sqrt(q.shape[-1] or 1))


class NoCap(Steps):
    def capped(self, scores):
        return scores


class CapsByClipping(Steps):
    def capped(self, scores):
        return np.clip(scores, -self.of.softcap, self.of.softcap) if self.of.softcap else scores


class MasksFirst(Steps):
    """The mask before the softcap."""

    def __call__(self, of, inputs):
        self.cap = super().capped
        return super().__call__(of, inputs)

    def capped(self, scores):
        return scores

    def masked(self, scores, mask):
        return self.cap(super().masked(scores, mask))


class NoMask(Steps):
    def masked(self, scores, mask):
        return scores


class FalseCounts(Steps):
    """Takes a mask of bools for numbers."""

    def masked(self, scores, mask):
        return scores if mask is None else scores + mask.astype(self.wide)


class OnlyOnesAreTrue(Steps):
    def masked(self, scores, mask):
        is_bool = mask is not None and mask.dtype == np.bool_
        return super().masked(scores, (mask.view(np.uint8) == 1) if is_bool else mask)


class NotItself(Steps):
    def seen(self, rows, columns):
        return columns < rows + self.of.offset


class NoOffset(Steps):
    def seen(self, rows, columns):
        return columns <= rows


class FromTheEnd(Steps):
    """Lets the last query meet the last key, whatever the offset."""

    def seen(self, rows, columns):
        queries, keys = rows.shape
        return columns <= rows + keys - queries


class TakesHeadsInTurn(Steps):
    def repeated(self, heads):
        return np.concatenate([heads] * self.of.groups, axis=-3)


class NoMaximum(Steps):
    def softmax(self, scores):
        e = np.exp(scores)
        return e / e.sum(-1, keepdims=True)


class ForgetsNan(Steps):
    def softmax(self, scores):
        e = np.exp(scores - np.nanmax(scores, -1, keepdims=True))
        return np.nan_to_num(e) / np.nansum(e, -1, keepdims=True)


class LeavesNan(Steps):
    """Rows without a key are what comes of it."""

    def finished(self, p, v, tops):
        return p @ v


class MeansWithoutKeys(Steps):
    """Rows without a key get the mean of all values, as from a mask of the lowest number."""

    def finished(self, p, v, tops):
        return np.where(np.isneginf(tops), v.mean(-2, keepdims=True), p @ v)


class RoundsScores(Steps):
    def scores(self, q, k):
        return super().scores(q, k).astype(self.stored).astype(self.wide)


class RoundsShares(Steps):
    def softmax(self, scores):
        return super().softmax(scores).astype(self.stored).astype(self.wide)


class SparesWhatIsZero(Steps):
    """Skips keys that a row gives no share, NaN or not."""

    def finished(self, p, v, tops):
        finite = np.where(np.isfinite(v), v, 0)
        return super().finished(p, finite if v.shape[-2] == 16 else v, tops)


DEFECTS = [
    *[(each, DTYPES) for each in (NoScale, UsualScale, NoCap, CapsByClipping, MasksFirst, NoMask, FalseCounts)],
    *[(each, DTYPES) for each in (OnlyOnesAreTrue, NotItself, NoOffset, FromTheEnd, TakesHeadsInTurn, NoMaximum)],
    *[(each, DTYPES) for each in (ForgetsNan, LeavesNan, MeansWithoutKeys, SparesWhatIsZero)],
    *[(each, NARROW) for each in (RoundsScores, RoundsShares)],
]


def of_type(dtype):
    return cases(FAMILY, lambda descriptor: descriptor.q.dtype == dtype)


@pytest.mark.parametrize(
    "dtype", [pytest.param(name, marks=[pytest.mark.thorough] * (at % 2)) for at, name in enumerate(DTYPES)]
)
def test_steps_without_defects_are_right_in_every_case(dtype):
    found = [*of_type(dtype)]
    assert len(found) > 60
    assert [f"{cell}/{case.name}" for cell, case in found if not is_right(FAMILY, Steps(), cell, case)] == []


@pytest.mark.parametrize(("defect", "dtype"), in_turn(DEFECTS))
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert not all(is_right(FAMILY, defect(), cell, case) for cell, case in of_type(dtype))
