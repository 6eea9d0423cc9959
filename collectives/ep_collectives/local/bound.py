"""Bound is a rank's step, as the folds know it that it takes part in."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Bound"]


class Bound:
    """Keeps what its rank does in a fold of steps, for as long as the steps of all ranks live.

    A fold refers to the memories of all of them, and a step that is closed gives its memories back.
    """

    __slots__ = ("__weakref__", "_fold", "_steps")

    def __init__(self) -> None:
        self._fold: Any = None
        self._steps: tuple[weakref.ref[Bound], ...] = ()

    def fold_of(self, steps: Sequence[Bound]) -> Any:
        """Return what was kept for these steps, in the order of the ranks, None if nothing was."""
        fold, known = self._fold, self._steps
        return fold if [step() for step in known] == [*steps] else None

    def keep(self, steps: Sequence[Bound], fold: Any) -> None:
        """Keep what is done for these steps, in place of what was kept."""
        forget = partial(_forget, weakref.ref(self))
        self._fold, self._steps = fold, tuple([weakref.ref(step, forget) for step in steps])


def _forget(owner: weakref.ref[Bound], _: object) -> None:
    """Give up a fold one of whose steps has gone."""
    bound = owner()
    if bound is not None:
        bound._fold, bound._steps = None, ()
