"""The situations that norms share: extents of what is normalised, operands that are absent, and how each operand lies."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ep_primitives.situations.forms import laid
from ep_primitives.situations.manner import MANNERS, WAY
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.rows import LARGE, few_starts, lying

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from ep_primitives.cases.arrangement import Form
    from ep_primitives.situations.model import Situation

__all__ = ["ABSENT", "BESIDE", "EPSILONS", "NORM_ROWS", "norm_forms", "norm_model"]

NORM_ROWS: Final = Dimension(
    "row", ("4k1", "4k", "4k2", "few", "block", "4k3", "long", "past"), late=("4k3", "long", "past")
)
"""The innermost extent of what is normalised together, or along which channels' numbers repeat."""
BESIDE: Final = Dimension("beside", ("4k1", "4k", "block", "many"), late=("block", "many"))
"""The extent beside it."""
ABSENT: Final[Mapping[str, tuple[str, ...]]] = {
    "none": (),
    "scale": ("scale",),
    "bias": ("bias",),
    "both": ("scale", "bias"),
}
"""By word, which parameters are absent."""
EPSILONS: Final[Mapping[str, float]] = {"usual": 1e-5, "large": 3.0}

_OFFSETS: Final = ("1", "0", "3")
_X: Final = ("dense", "padded", "negative", "permuted", "zero-last", "zero-first")
_Y: Final = ("dense", "padded", "negative", "permuted")
_COLUMN: Final = ("dense", "step", "negative", "zero-last")
_CAPTURED: Final = Dimension(WAY.name, WAY.values[:2])


def norm_model(
    layout: str,
    columns: Mapping[str, bool],
    shape: Sequence[Dimension],
    more: Sequence[Dimension],
    flat: Situation = MappingProxyType({}),
) -> Model:
    """Return the model of a layout.

    columns : the operands beside x and y, with whether they are written
    shape   : dimensions of x, "rank", NORM_ROWS and BESIDE among them
    more    : other dimensions of the family
    flat    : the values of `shape` by which x has rank 1 and nothing lies beside a row; none if it never has
    """
    operands = ("x", *columns, "y")
    lying_so = [Dimension(f"form-{name}", _COLUMN[: 3 if is_written else 4]) for name, is_written in columns.items()]
    match layout:
        case "dense":
            return Model((*shape, *more, *few_starts(*operands), *MANNERS), tuple(_sizes(flat)))
        case "strided":
            forms = (Dimension("form-x", _X), Dimension("form-y", _Y))
            rules = [*_sizes(flat), Never({"form-x": ("dense",), "form-y": ("dense",)}, "all dense is layout dense")]
            if flat:
                apart = {"form-x": ("padded", "permuted", *_X[4:]), "form-y": ("padded", "permuted")}
                rules += [
                    Never({**_one(flat), name: words}, "rank 1 has no second axis") for name, words in apart.items()
                ]
            return Model((*forms, *lying_so, *shape, *more, *few_starts(*operands), *MANNERS), tuple(rules))
        case "inplace":
            return Model((Dimension("form-y", _Y[:3]), *more, *few_starts("y"), _CAPTURED))
        case "offset":
            offsets = [Dimension(f"offset-{name}", _OFFSETS) for name in operands]
            none = Never(
                {f"offset-{name}": ("0",) for name in ("x", "y")}, "no offset at all is layout dense or strided"
            )
            return Model((*offsets, *more, _CAPTURED), (none,))
        case "empty":
            return Model((Dimension("empty", ("samples", "inner", "both")), _CAPTURED))
    return Model((*few_starts("x", "y"), *more, _CAPTURED))


def _one(flat: Situation) -> dict[str, tuple[str, ...]]:
    return {name: (word,) for name, word in flat.items()}


def _sizes(flat: Situation) -> list[Never]:
    """Return that a case has few elements where one extent is large."""
    usual = tuple(word for word in NORM_ROWS.values if word != "few")
    rules = [
        Never({"row": LARGE[:3], "beside": ("block", "many")}, "one extent is large at a time"),
        Never({"row": usual, "beside": ("many",)}, "70,000 rows have few elements each"),
        Never({"rank": ("16",), "row": LARGE[:3]}, "rank 16 has extents enough"),
        Never({"rank": ("16",), "beside": BESIDE.values[1:]}, "rank 16 has extents of its own"),
    ]
    if flat:
        rules += [
            Never({**_one(flat), "beside": BESIDE.values[1:]}, "nothing is beside one row"),
            Never({**_one(flat), "row": ("few",)}, "a handful of elements shows no fault"),
        ]
    return rules


def norm_forms(random: Random, situation: Situation, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Form]:
    """Return where the operands lie.

    shapes : of all operands that the norm may have, by name; x, if it shares its memory with y, lies where y does
    """
    found = {}
    for name, shape in shapes.items():
        word, offset = situation.get(f"form-{name}", "dense"), int(situation.get(f"offset-{name}", "0"))
        if name in {"x", "y"}:
            found[name] = lying(random, word, shape, offset, is_out=name == "y")
        else:
            found[name] = laid(random, word if shape else "dense", shape, offset=offset)
    return found
