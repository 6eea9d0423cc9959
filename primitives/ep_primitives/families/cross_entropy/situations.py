"""The situations of CrossEntropy."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.families.cross_entropy.descriptor import REDUCTIONS
from ep_primitives.families.cross_entropy.plans import Plan
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.forms import laid
from ep_primitives.situations.manner import MANNERS, WAY
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.rows import LARGE, few_starts, lying, row_extent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from ep_primitives.cases.arrangement import Form
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["cross_entropy_model", "cross_entropy_plan"]

_CLASSES: Final = Dimension("row", ("4k1", "4k", "4k2", "few", "block", "4k3", "long"), late=("4k3", "long"))
_PLACES: Final = Dimension("beside", ("4k1", "4k", "block", "many"), late=("block", "many"))
_RANK: Final = Dimension("rank", ("3", "2", "4", "16"))
_SHAPE: Final = (_CLASSES, _PLACES, _RANK)
_IGNORED: Final[Mapping[str, int | None]] = {"none": None, "no-class": -1, "class": 1, "far": 2**40}
_REDUCTION: Final = Dimension("reduction", REDUCTIONS)
_MORE: Final = (
    _REDUCTION,
    Dimension("weights", ("absent", "there")),
    Dimension("ignored", tuple(_IGNORED)),
    Dimension("logarithms", ("no", "yes")),
)
_OPERANDS: Final = ("x", "labels", "weights", "out")
_CAPTURED: Final = Dimension(WAY.name, WAY.values[:2])


@cache
def cross_entropy_model(layout: str) -> Model:
    """Return the model of a layout."""
    match layout:
        case "dense":
            return Model((*_SHAPE, *_MORE, *few_starts(*_OPERANDS), *MANNERS), tuple(_sizes()))
        case "strided":
            forms = (
                Dimension("form-x", ("dense", "padded", "negative", "permuted", "rotated", "zero-first")),
                Dimension("form-labels", ("dense", "padded", "negative", "permuted", "zero-last")),
                Dimension("form-weights", ("dense", "step", "negative")),
                Dimension("form-out", ("dense", "padded", "negative", "permuted")),
            )
            rules = (
                *_sizes(),
                Never({"form-x": ("dense",), "form-labels": ("dense",)}, "all dense is layout dense"),
                Never({"reduction": REDUCTIONS[1:], "form-out": forms[3].values[1:]}, "the output is one element"),
                Never(
                    {"rank": ("2",), "form-labels": ("zero-last",)}, "all labels would be one, perhaps the ignored one"
                ),
            )
            return Model((*forms, *_SHAPE, *_MORE, *few_starts(*_OPERANDS), *MANNERS), rules)
        case "offset":
            offsets = [Dimension(f"offset-{name}", ("1", "0", "3")) for name in _OPERANDS]
            none = Never({f"offset-{name}": ("0",) for name in ("x", "labels")}, "no offset is another layout")
            return Model((*offsets, *_MORE, _CAPTURED), (none,))
    return Model((Dimension("empty", ("samples", "places", "classes")), _REDUCTION, _CAPTURED), tuple(_emptied()))


def _sizes() -> list[Never]:
    """Return that a case has few elements where one extent is large."""
    usual = tuple(word for word in _CLASSES.values if word != "few")
    return [
        Never({"row": LARGE[:2], "beside": ("block", "many")}, "one extent is large at a time"),
        Never({"row": usual, "beside": ("many",)}, "70,000 places have few classes each"),
        Never({"rank": ("16",), "row": LARGE[:2]}, "rank 16 has extents enough"),
        Never({"rank": ("16",), "beside": _PLACES.values[1:]}, "rank 16 has extents of its own"),
    ]


def _emptied() -> list[Never]:
    return [Never({"empty": ("classes",), "reduction": ("mean",)}, "no label is a class")]


def cross_entropy_plan(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    empty = {"samples": (0, 5), "places": (3, 5, 0), "classes": (3, 0)}
    shape = empty[situation["empty"]] if layout == "empty" else _shaped(situation, random)
    places = (shape[0], *shape[2:])
    reduction = situation["reduction"]
    ignored = _IGNORED[situation.get("ignored", "none")]
    no_class = "mixed" if situation.get("empty") == "classes" else "random"
    return Plan(
        "",
        _form(random, situation, "x", shape),
        reduction,
        situation.get("weights") == "there",
        ignored,
        situation.get("logarithms") == "yes",
        {
            "labels": _form(random, situation, "labels", places),
            "weights": _form(random, situation, "weights", shape[1:2]),
            "out": _form(random, situation, "out", places if reduction == "none" else ()),
        },
        ("random", "ignored" if situation.get("ignored") in {"no-class", "class"} else no_class),
    )


def _form(random: Random, situation: Situation, name: str, shape: tuple[int, ...]) -> Form:
    word, offset = situation.get(f"form-{name}", "dense"), int(situation.get(f"offset-{name}", "0"))
    if name == "weights":
        return laid(random, word, shape, offset=offset)
    return lying(random, word, shape, offset, is_out=name == "out")


def _shaped(situation: Situation, random: Random) -> tuple[int, ...]:
    row, beside, rank = (situation.get(each.name, each.values[0]) for each in _SHAPE)
    most = 2 if row in LARGE or beside in LARGE else 8
    classes, places = row_extent(random, row, most=most), row_extent(random, beside, most=most)
    if rank == "16":
        return (3, classes, 1, 2, 1, 1, 3, 1, 1, 1, 1, 1, 1, 2, 1, 3)
    return {"2": (places, classes), "3": (2, classes, places), "4": (2, classes, 3, places)}[rank]
