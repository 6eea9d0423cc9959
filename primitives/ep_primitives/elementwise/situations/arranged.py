"""From a situation of an elementwise family to an arrangement: shapes, strides and offsets, drawn where the situation leaves them open."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Arrangement, Form
from ep_primitives.elementwise.situations.models import BETWEEN
from ep_primitives.situations.extents import DEEP, drawer, extent, long, small
from ep_primitives.situations.forms import laid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["arranged"]

_OUTER: Final = {"1": (), "2": (3,), "4": (3, 1, 5), "8": (1, 3, 1, 1, 5, 1, 1), "16": (1, 3, *(1,) * 12, 3)}
"""Odd outer extents of dense operands, by rank: so that all rests modulo 16 are left to the last one."""
_MANY: Final = 70001
_TELLING: Final = (13, 19)  # elements of the one row that many repeat
"""More rows than the 65,535 groups that some devices have along one dimension."""


@lru_cache(maxsize=1024)
def _arranged(
    layout: str, names: tuple[str, ...], text: str, items: tuple[tuple[str, str], ...], seed: int
) -> Arrangement:
    return _MAKERS[layout](dict(items), names, drawer(f"{seed} {layout} {text}"))


def arranged(layout: str, names: tuple[str, ...], row: Row, seed: int) -> Arrangement:
    """Return the arrangement of a situation for inputs of these names that may be tensors."""
    return _arranged(layout, names, row.text, tuple(row.situation.items()), seed)


def _dense(situation: Situation, names: tuple[str, ...], random: Random) -> Arrangement:
    outer = _OUTER[situation["rank"]]
    step = 1
    for each in outer:
        step *= each
    shape = (*outer, long(random, situation["size"], situation["tail"], step))
    return Arrangement("", (Form(shape),) * (len(names) + 1))


def _strided(situation: Situation, names: tuple[str, ...], random: Random) -> Arrangement:
    shape = _shape(situation, random)
    if situation["rows"] == "many":
        is_one_row = all(situation[f"form-{name}"] == "zero-first" for name in names)
        shape = (_MANY, random.randint(*_TELLING) if is_one_row else shape[-1])
    forms = [laid(random, situation[f"form-{name}"], shape) for name in names]
    return Arrangement("", (*forms, laid(random, situation["form-out"], shape, is_out=True)))


def _broadcast(situation: Situation, names: tuple[str, ...], random: Random) -> Arrangement:
    shape = _shape(situation, random)
    forms = [laid(random, situation[f"form-{name}"], _repeated(shape, situation[f"repeats-{name}"])) for name in names]
    return Arrangement("", (*forms, laid(random, situation["form-out"], shape, is_out=True)))


def _scalar(situation: Situation, names: tuple[str, ...], random: Random, side: int) -> Arrangement:
    shape = _shape(situation, random)
    place = len(names) - 2
    numbers = {place + side} | ({place + 1 - side} if situation["numbers"] == "two" else set())
    forms: list[Form | None] = [
        None
        if number in numbers
        else laid(random, situation[f"form-{name}"], _repeated(shape, situation[f"repeats-{name}"]))
        for number, name in enumerate(names)
    ]
    return Arrangement("", (*forms, laid(random, situation["form-out"], shape, is_out=True)))


def _inplace(situation: Situation, names: tuple[str, ...], random: Random) -> Arrangement:
    shape = _shape(situation, random)
    out = laid(random, situation["form-out"], shape, is_out=True)
    other = Form(_repeated(shape, situation["others"]))
    forms = [out if name == situation["shares"] else other for name in names]
    return Arrangement("", (*forms, out), inplace=names.index(situation["shares"]))


def _offset(situation: Situation, names: tuple[str, ...], random: Random) -> Arrangement:
    shape = _shape(situation, random)
    operands = (*names, "out")
    offsets = {name: int(situation[f"offset-{name}"]) for name in operands}
    forms = {
        name: laid(random, situation[f"form-{name}"], shape, offset=offsets[name], is_out=name == "out")
        for name in operands
    }
    if not situation["out"].startswith(BETWEEN):
        return Arrangement("", tuple(forms.values()))
    shared = situation["out"].removeprefix(f"{BETWEEN}-")
    twice = laid(drawer("between"), "padded" if len(shape) > 1 else "step", shape)
    strides = tuple(2 * stride for stride in twice.strides or ())
    forms[shared] = Form(shape, strides, 2 * (offsets[shared] // 2))
    forms["out"] = Form(shape, strides, 2 * (offsets[shared] // 2) + 1)
    return Arrangement("", tuple(forms.values()), inplace=names.index(shared))


def _empty(situation: Situation, names: tuple[str, ...], random: Random) -> Arrangement:
    a, b = random.randint(2, 5), random.randint(2, 5)
    shapes = {"only": (0,), "first": (0, a), "last": (a, 0), "middle": (a, 0, b), "repeated": (a, 0)}
    shape = shapes[situation["empty"]]
    given = (1,) * len(shape) if situation["empty"] == "repeated" else shape
    return Arrangement("", (*(Form(given),) * len(names), Form(shape)))


def _rank0(_situation: Situation, names: tuple[str, ...], _random: Random) -> Arrangement:
    return Arrangement("", (Form(()),) * (len(names) + 1))


def _shape(situation: Situation, random: Random) -> tuple[int, ...]:
    """Return a shape of the situation's rank and innermost extent."""
    rank = int(situation["rank"])
    outer = DEEP if rank > len(DEEP) else small(random, rank - 1)
    return (*outer, extent(random, situation["inner"]))


def _repeated(shape: tuple[int, ...], word: str) -> tuple[int, ...]:
    """Return the shape of what is repeated along axes of a shape."""
    if word == "lower":
        return shape[1:]
    axes = range(len(shape))
    gone = {"whole": axes[:0], "last": axes[-1:], "first": axes[:1], "odd": axes[1::2], "even": axes[::2], "all": axes}[
        word
    ]
    return tuple(1 if axis in gone else extent for axis, extent in enumerate(shape))


_MAKERS: Final[Mapping[str, Callable[[Situation, tuple[str, ...], Random], Arrangement]]] = {
    "dense": _dense,
    "strided": _strided,
    "broadcast": _broadcast,
    "scalar-left": lambda situation, names, random: _scalar(situation, names, random, 0),
    "scalar-right": lambda situation, names, random: _scalar(situation, names, random, 1),
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that arranges a situation."""
