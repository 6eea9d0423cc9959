"""The situations of TensorFill: those of an output alone, and of what rank x is and where it lies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.elementwise.situations.arranged import arranged
from ep_primitives.elementwise.situations.models import elementwise_model
from ep_primitives.situations.manner import starts
from ep_primitives.situations.model import Dimension, Model

if TYPE_CHECKING:
    from ep_primitives.situations.family import Row

__all__ = ["planned", "tensor_fill_model"]

_X: Final = Dimension("x", ("0", "1", "3", "16"))
_OFFSET: Final = Dimension("offset-x", ("0", "1", "7"))
_TAILS: Final = Dimension("tail", ("1", "0", "7", "8", "15"))
"""Copy tries all of them."""


@cache
def tensor_fill_model(layout: str) -> Model:
    """Return the model of a layout."""
    of_out = elementwise_model(layout, (), ())
    dimensions = [_TAILS if each.name == "tail" else each for each in of_out.dimensions]
    if layout != "empty":
        dimensions += [_X, *starts("x"), *([_OFFSET] if layout == "offset" else [])]
    return Model(tuple(dimensions), of_out.rules)


def planned(layout: str, row: Row, seed: int) -> tuple[Form, Form]:
    """Return where x and out lie in a situation."""
    (out,) = arranged(layout, (), row, seed).forms
    assert out is not None
    return Form((1,) * int(row.situation.get("x", "0")), None, int(row.situation.get("offset-x", "0"))), out
