"""Planted defects of Attention: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


class _Attention(Defect):
    """Computes float32 attention again, with one thing wrong."""

    owns: ClassVar[tuple[str, ...]] = ("attention",)
    meets = "attention/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        k, v = (self.repeated(given[name]) if of.groups > 1 else given[name] for name in ("k", "v"))
        scores = np.float32(of.scale) * (given["q"] @ np.swapaxes(k, -1, -2))
        if of.softcap:
            scores = np.float32(of.softcap) * np.tanh(scores / np.float32(of.softcap))
        if of.mask is not None:
            scores = scores + given["mask"]
        if of.is_causal:
            rows, columns = np.indices(scores.shape[-2:])
            scores = np.where(self.seen(rows, columns), scores, np.float32(-np.inf))
        e = np.exp(scores - self.highest(scores))
        out[...] = self.finished((e / e.sum(-1, keepdims=True)) @ v, scores)

    def repeated(self, heads: Array) -> Array:
        """Return the keys or the values of every head of q."""
        of: Any = self.descriptor
        return np.repeat(heads, of.groups, axis=-3)

    def seen(self, rows: Array, columns: Array) -> Array:
        """Say which keys causality leaves."""
        of: Any = self.descriptor
        return np.asarray(columns <= rows + of.offset)

    def highest(self, scores: Array) -> Array:
        """Return the number subtracted from the scores."""
        return np.asarray(scores.max(-1, keepdims=True))

    def finished(self, out: Array, scores: Array) -> Array:
        """Return out, with rows without a key."""
        return np.where(np.isneginf(scores).all(-1, keepdims=True), 0, out)


@killed_by("primitives/attention/-/float32/dense/grouped")
class TakesHeadsInTurn(_Attention):
    """Let head h of q meet head h modulo the number of k's heads."""

    def repeated(self, heads: Array) -> Array:
        of: Any = self.descriptor
        return np.concatenate([heads] * of.groups, axis=-3)


@killed_by("primitives/attention/-/float32/dense/causal+32")
class StartsAtTheFirstKey(_Attention):
    """Let the first query meet the first key alone, without the offset."""

    def seen(self, rows: Array, columns: Array) -> Array:
        return np.asarray(columns <= rows)


@killed_by("primitives/attention/-/float32/dense/large")
class TakesNoHighestScoreOff(_Attention):
    """Take exponentials of the scores as they are, which overflow."""

    def highest(self, scores: Array) -> Array:
        return np.zeros_like(scores[..., :1])


@killed_by("primitives/attention/-/float32/dense/causal-4")
class LeavesRowsWithoutKeys(_Attention):
    """Write NaN to rows of which every key is left out."""

    def finished(self, out: Array, scores: Array) -> Array:
        del scores
        return out
