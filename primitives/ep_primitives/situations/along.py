"""The situations of families that work on rows along one axis of tensors of one shape: models by layout, and plans."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.along import DEEP, Plan
from ep_primitives.cases.arrangement import Form
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.forms import FLAT, READ
from ep_primitives.situations.manner import MANNERS, STREAM, WAY, starts
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.rows import LARGE, lying, row_extent

if TYPE_CHECKING:
    from random import Random

    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["ROWS", "along_model", "along_plan"]

ROWS: Final = Dimension("row", ("4k1", "4k", "4k2", "4k3", "few", "block", "long", "past"), late=("past",))
"""The extent of a row, as ROW, but not one: there is nothing to be shared among one."""

_TOLD: Final = Dimension("row", ("4k1", "4k", "4k2", "few", "block"))
"""Rows of tensors that are not dense: few meet each of many forms."""

_BESIDE: Final = Dimension("beside", ("4k1", "4k", "few", "block", "many"), late=("few", "many"))
_AXIS: Final = Dimension("axis", ("last", "first", "middle"))
_RANK: Final = Dimension("rank", ("2", "1", "3", "5", "16"), late=("5",))
_SHAPE: Final = (ROWS, _BESIDE, _AXIS, _RANK)
_CAPTURED: Final = Dimension(WAY.name, WAY.values[:2])
"""The ways of launches that have next to nothing to do."""
_OFFSETS: Final = ("1", "0", "3", "16")
_LESS: Final = ("dense", "padded", "negative", "permuted", "zero-last")
"""The forms of inputs after the first."""


@cache
def along_model(layout: str, names: tuple[str, ...], more: tuple[Dimension, ...] = ()) -> Model:
    """Return the model of a layout.

    names : of the inputs, each of which the output may share
    more  : dimensions of the family alone, which layouts without elements or axes leave out
    """
    operands = (*names, "out")
    match layout:
        case "dense":
            return Model((*_SHAPE, *more, *starts(*operands), *MANNERS), tuple(_sizes(ROWS)))
        case "strided":
            forms = _forms(names)
            shape = (_TOLD, _BESIDE, _AXIS, _RANK)
            return Model((*forms, *shape, *more, *starts(*operands), *MANNERS), (*_sizes(_TOLD), *_lying(forms)))
        case "inplace":
            shares, form = Dimension("shares", names), Dimension("form-out", _LESS[:-1])
            flat = Never({"form-out": ("padded", "permuted"), "rank": ("1",)}, "rank 1 has no second axis")
            rows = Dimension("row", ("4k1", "4k2", "block", "long"))
            rank = Dimension("rank", ("2", "1", "3"))
            rules = (flat, *_axes())
            return Model((shares, form, rows, _AXIS, rank, *more, *starts("out"), WAY, STREAM), rules)
        case "offset":
            offsets = [Dimension(f"offset-{name}", _OFFSETS) for name in operands]
            form = Dimension("form-out", ("dense", "padded", "negative"))
            none = Never({each.name: ("0",) for each in offsets}, "no offset at all is layout dense or strided")
            return Model((*offsets, form, Dimension("axis", ("last", "first")), *more, WAY), (none,))
        case "empty":
            return Model((Dimension("empty", ("only", "rows", "row", "beside")), _CAPTURED))
    return Model((*(Dimension(each.name, ("0", "1", "16B")) for each in starts(*operands)), _CAPTURED))


def _forms(names: tuple[str, ...]) -> list[Dimension]:
    first, *others = names
    inputs = [Dimension(f"form-{first}", READ), *(Dimension(f"form-{name}", _LESS) for name in others)]
    return [*inputs, Dimension("form-out", ("dense", "padded", "negative", "permuted"))]


def _sizes(rows: Dimension) -> list[Never]:
    """Return that a case has few elements where one extent is large, and enough to show a fault."""
    large = tuple(word for word in rows.values if word in LARGE)
    usual = tuple(word for word in rows.values if word != "few")
    past = [Never({"row": ("past",), "beside": ("4k1", "4k")}, "long rows are few")] if "past" in large else []
    return [
        Never({"row": large, "beside": ("block", "many")}, "one extent is large at a time"),
        Never({"row": usual, "beside": ("many",)}, "70,000 rows have few elements each"),
        *past,
        Never({"row": ("few",), "beside": ("few",)}, "a handful of elements shows no fault"),
        Never({"rank": ("1",), "row": ("few",)}, "a handful of elements shows no fault"),
        Never({"rank": ("1", "16"), "beside": _BESIDE.values[1:]}, "it has nothing beside, or extents of its own"),
        *_axes(),
        Never({"rank": ("5", "16"), "row": large}, "so many axes have elements enough"),
        Never({"rank": ("5",), "beside": ("block", "many")}, "so many axes have elements enough"),
    ]


def _axes() -> list[Never]:
    return [
        Never({"rank": ("1",), "axis": _AXIS.values[1:]}, "rank 1 has one axis"),
        Never({"rank": ("2",), "axis": ("middle",)}, "rank 2 has a first and a last axis"),
    ]


def _lying(forms: list[Dimension]) -> list[Never]:
    flat = [(form.name, tuple(word for word in form.values if word not in FLAT)) for form in forms]
    return [
        Never({form.name: ("dense",) for form in forms}, "all dense is layout dense"),
        *(Never({name: words, "rank": ("1",)}, "rank 1 has no second axis") for name, words in flat),
        *(
            Never(
                {form.name: ("zero-first", "zero-last", "windows"), "beside": ("few", "many")}, "too few are distinct"
            )
            for form in forms[:1]
        ),
    ]


def along_plan(layout: str, names: tuple[str, ...], row: Row, seed: int, contents: str = "random") -> Plan:
    """Return the plan of a situation, with the extents of a seed.

    names : of the inputs
    """
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "rank0":
        return Plan("", (Form(()),) * (len(names) + 1))
    shape, axis = _emptied(situation, random) if layout == "empty" else _shaped(situation, random)
    if layout == "inplace":
        form = lying(random, situation["form-out"], shape, is_out=True)
        place = names.index(situation["shares"])
        forms = [form if each in {place, len(names)} else Form(shape) for each in range(len(names) + 1)]
        return Plan("", tuple(forms), axis, contents, inplace=place)
    found = []
    for name in (*names, "out"):
        word = situation.get(f"form-{name}", "dense")
        offset = int(situation.get(f"offset-{name}", "0"))
        found.append(lying(random, word, shape, offset, is_out=name == "out"))
    return Plan("", tuple(found), axis, contents)


def _shaped(situation: Situation, random: Random) -> tuple[tuple[int, ...], int]:
    """Return the shape and the axis."""
    words = [situation.get(each.name, each.values[0]) for each in _SHAPE]
    row, beside, where, rank = words[0], words[1], words[2], int(words[3])
    axis = {"last": rank - 1, "first": 0, "middle": rank // 2}[where]
    is_large = row in LARGE or beside in LARGE
    shape = list(DEEP) if rank == len(DEEP) else [2 if is_large else random.choice((2, 3)) for _ in range(rank)]
    most = 2 if is_large else 8 if rank > 3 else 16  # noqa: PLR2004 - more axes have enough elements
    if 1 < rank < len(DEEP):
        shape[rank - 2 if axis == rank - 1 else rank - 1] = row_extent(random, beside, most=most)
    shape[axis] = row_extent(random, row, most=most)
    return tuple(shape), axis - rank if where == "last" else axis


def _emptied(situation: Situation, random: Random) -> tuple[tuple[int, ...], int]:
    a, b = random.randint(2, 5), random.randint(2, 5)
    return {"only": ((0,), 0), "rows": ((0, a), 1), "row": ((a, 0), 1), "beside": ((a, b, 0), 1)}[situation["empty"]]
