"""What the models of layouts have in common: forms, offsets, and models of outputs with no element or with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives.situations.forms import FLAT, laid
from ep_primitives.situations.manner import MANNERS, STREAM, WAY, starts
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from ep_primitives.situations.model import Situation

__all__ = [
    "empty_model",
    "flat",
    "formed",
    "forms_of",
    "not_all_dense",
    "offsets",
    "only",
    "rank0_model",
    "some_offset",
]

_WRITTEN: Final = ("out", "y", "h_next", "c_next")
_OFFSETS: Final = ("1", "0", "2", "4099")


def offsets(*operands: str) -> tuple[Dimension, ...]:
    """Return a dimension for each operand: how many elements lie before its lowest."""
    return tuple(Dimension(f"offset-{name}", _OFFSETS) for name in operands)


def some_offset(*operands: str) -> Never:
    """Return that an operand has an offset."""
    return Never({f"offset-{name}": ("0",) for name in operands}, "no offset at all is layout dense or strided")


def formed(forms: Mapping[str, Sequence[str]]) -> tuple[Dimension, ...]:
    """Return a dimension for each operand: its form, one of these words."""
    return tuple(Dimension(f"form-{name}", tuple(words)) for name, words in forms.items())


def forms_of(random: Random, situation: Situation, shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Return the Forms of operands of these shapes, by name: dense and without offset where the situation says nothing."""
    return {
        name: laid(
            random,
            situation.get(f"form-{name}", "dense"),
            shape,
            offset=int(situation.get(f"offset-{name}", "0")),
            is_out=name in _WRITTEN,
        )
        for name, shape in shapes.items()
    }


def not_all_dense(forms: Sequence[Dimension]) -> Never:
    """Return that an operand is not dense."""
    return Never({form.name: ("dense",) for form in forms}, "all dense is layout dense")


def flat(form: Dimension, when: Mapping[str, tuple[str, ...]]) -> Never:
    """Return that an operand, of rank 1 where dimensions have these values, has few forms."""
    words = tuple(word for word in form.values if word not in FLAT)
    return Never({form.name: words, **when}, "rank 1 has no second axis")


def only(dimension: Dimension, words: Sequence[str], when: Mapping[str, tuple[str, ...]], why: str) -> Never:
    """Return that a dimension has only these values where others have those."""
    return Never({dimension.name: tuple(word for word in dimension.values if word not in words), **when}, why)


def empty_model(*words: str) -> Model:
    """Return the model of outputs without elements: why there are none, and how nothing is launched."""
    return Model((Dimension("empty", words), WAY, STREAM))


def rank0_model(*operands: str, dimensions: Sequence[Dimension] = ()) -> Model:
    """Return the model of outputs of rank 0."""
    return Model((*dimensions, *starts(*operands), *MANNERS))
