"""CrossEntropy: measures of each row of scores, the losses at their labels, and their sums; no logarithm is written but the labels'."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from ep_primitives import CrossEntropy

from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS
from ep_simt.families.cross_entropy.launches import Launches
from ep_simt.families.softmax.passes import FILES, OF_ROWS, PASSES, Passes
from ep_simt.mathematics import mathematics
from ep_simt.plan import Plan
from ep_simt.program import Entry, Program, access, number, taken, tensor
from ep_simt.rows.geometry import rows_parameter

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FORMULAS: Final = "families/log_softmax/log_softmax.inc"
_TEXTS: Final = (_FORMULAS, *PASSES, "families/cross_entropy/cross_entropy.inc")
_SUMS: Final = ("part_loss", "part_weight")
_COLUMNS: Final = 3


class _CrossEntropy(Body):
    """One launch for the measures of scores, one for losses, and one for their sum or mean where several groups have them."""

    descriptor = CrossEntropy

    def rounds(self, key: KernelKey) -> bool:
        return key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return tuple(f"{key.family}_{part}" for part in ("rows", "totals", "losses", "joined"))

    def program(self, key: KernelKey, target: Target) -> Program:
        element, label, compute = (ELEMENTS[name] for name in (*key.dtypes[:2], key.compute))
        return _program(Passes(key.family, 1, _COLUMNS, element, compute, key.wide, target), label)

    def plan(self, descriptor: CrossEntropy, target: Target) -> Plan:
        launches = Launches.of(descriptor, target)
        return Plan(launches.every, launches.scratch_nbytes)


BODY: Final[Body] = _CrossEntropy()


@functools.lru_cache(maxsize=64)
def _program(passes: Passes, label: str) -> Program:
    """Return the program of an element type and a type of labels."""
    words = passes.words(outputs=())
    for name in ("weights", "out"):
        words |= access(name, passes.element)
    for name in _SUMS:
        words |= access(name, passes.compute)
    source = "".join(map(text, _TEXTS))
    name = f"{passes.family}-{passes.element}-{label}-{'wide' if passes.wide else 'narrow'}-{passes.target.group}"
    files = (*mathematics(source, passes.compute), *FILES, *_TEXTS)
    entries = (*passes.entries(outputs=()), *_own_entries(passes, label))
    return Program(name, tuple(words.items()), files, entries)


def _own_entries(passes: Passes, label: str) -> tuple[Entry, ...]:
    """Return those of cross_entropy.inc."""
    x, weights, out = (tensor(name, passes.element) for name in (*passes.names, "weights", "out"))
    of_rows, sums = (taken(*(tensor(name, passes.compute) for name in names)) for names in (OF_ROWS, _SUMS))
    numbers = [number(name, "i64") for name in ("ignored", "weight_step", "run")]
    numbers += [number(name, "i32") for name in ("measured", "ignores", "weighs", "joins", "is_whole", "is_mean")]
    numbers += [rows_parameter(_COLUMNS, wide=passes.wide)]
    losses = taken(x, tensor("labels", label), weights, out, of_rows, sums, numbers)
    joined = taken(out, sums, (number("parts", "i64"), number("is_mean", "i32")))
    return (
        Entry(f"{passes.family}_losses", losses, "EP_LOSSES_TAKES", frozenset({"out", *_SUMS}), is_brief=True),
        Entry(f"{passes.family}_joined", joined, "EP_JOINED_TAKES", is_brief=True),
    )
