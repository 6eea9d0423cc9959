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
from ep_primitives.situations.rows import LARGE, few_starts, lying, row_extent

if TYPE_CHECKING:
    from random import Random

    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["ROWS", "along_form", "along_model", "along_plan", "along_shape"]

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
_OFFSETS: Final = ("1", "0", "16", "4099")
_LESS: Final = ("dense", "padded", "negative", "permuted", "zero-last")
"""The forms of inputs after the first."""


@cache
def along_model(
    layout: str,
    names: tuple[str, ...],
    more: tuple[Dimension, ...] = (),
    *,
    outs: tuple[str, ...] = ("out",),
    has_few: bool = True,
) -> Model:
    """Return the model of a layout.

    names   : of the inputs, each of which the output may share
    more    : dimensions of the family alone, which layouts without elements or axes leave out
    has_few : False if rows of 2 or 3 elements show no fault
    """
    operands = (*names, *outs)
    match layout:
        case "dense":
            shape = (_rows(ROWS, has_few=has_few), *_SHAPE[1:])
            return Model((*shape, *more, *starts(*operands), *MANNERS), tuple(_sizes(shape[0])))
        case "strided":
            forms = _forms(names, outs)
            shape = (_rows(_TOLD, has_few=has_few), *_SHAPE[1:])
            never = (*_sizes(shape[0]), *_lying(forms))
            return Model((*forms, *shape, *more, *starts(*operands), *MANNERS), never)
        case "inplace":
            shares, form = Dimension("shares", names), Dimension("form-out", _LESS[:-1])
            flat = Never({"form-out": ("padded", "permuted"), "rank": ("1",)}, "rank 1 has no second axis")
            rows = Dimension("row", ("4k1", "4k2", "block", "long"))
            rank = Dimension("rank", ("2", "1", "3"))
            rules = (flat, *_axes())
            return Model((shares, form, rows, _AXIS, rank, *more, *starts("out"), WAY, STREAM), rules)
        case "offset":
            offsets = [Dimension(f"offset-{name}", _OFFSETS) for name in operands]
            form = Dimension(f"form-{outs[0]}", ("dense", "padded", "negative"))
            none = Never({each.name: ("0",) for each in offsets}, "no offset at all is layout dense or strided")
            return Model((*offsets, form, Dimension("axis", ("last", "first")), *more, WAY), (none,))
        case "empty":
            return Model((Dimension("empty", ("only", "rows", "row", "beside")), _CAPTURED))
    return Model((*few_starts(*operands), _CAPTURED))


def _rows(rows: Dimension, *, has_few: bool) -> Dimension:
    return Dimension(rows.name, tuple(word for word in rows.values if has_few or word != "few"), rows.late)


def _forms(names: tuple[str, ...], outs: tuple[str, ...]) -> list[Dimension]:
    first, *others = names
    inputs = [Dimension(f"form-{first}", READ), *(Dimension(f"form-{name}", _LESS) for name in others)]
    return [*inputs, *(Dimension(f"form-{name}", _LESS[:-1]) for name in outs)]


def _sizes(rows: Dimension) -> list[Never]:
    """Return that a case has few elements where one extent is large, and enough to show a fault."""
    large = tuple(word for word in rows.values if word in LARGE)
    usual = tuple(word for word in rows.values if word != "few")
    handful = [{"beside": ("few",)}, {"rank": ("1",)}] if "few" in rows.values else []
    past = [Never({"row": ("past",), "beside": ("4k1", "4k")}, "long rows are few")] if "past" in large else []
    return [
        Never({"row": large, "beside": ("block", "many")}, "one extent is large at a time"),
        Never({"row": usual, "beside": ("many",)}, "70,000 rows have few elements each"),
        *past,
        *(Never({"row": ("few",), **word}, "a handful of elements shows no fault") for word in handful),
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
    shape, axis = along_shape(layout, situation, random)
    if layout == "inplace":
        form = along_form(random, situation, "out", shape)
        place = names.index(situation["shares"])
        forms = [form if each in {place, len(names)} else Form(shape) for each in range(len(names) + 1)]
        return Plan("", tuple(forms), axis, contents, inplace=place)
    return Plan("", tuple(along_form(random, situation, name, shape) for name in (*names, "out")), axis, contents)


def along_form(random: Random, situation: Situation, name: str, shape: tuple[int, ...]) -> Form:
    """Return where an operand of this shape lies; all but inputs have names of outputs."""
    offset, word = int(situation.get(f"offset-{name}", "0")), situation.get(f"form-{name}", "dense")
    return lying(random, word, shape, offset, is_out=name not in {"x", "dy"})


def along_shape(layout: str, situation: Situation, random: Random) -> tuple[tuple[int, ...], int]:
    """Return the shape of a situation, and the axis."""
    if layout == "rank0":
        return (), -1
    return _emptied(situation, random) if layout == "empty" else _shaped(situation, random)


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
