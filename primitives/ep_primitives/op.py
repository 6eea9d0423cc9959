"""An op is one row: validation, documentation, cases and accuracy of an op are derived from it, never typed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import ep
from ep_primitives.accuracy import EXACT, Accuracy, Ulps
from ep_primitives.domain import REAL, Domain

__all__ = ["ALL", "ALPHA", "BITS", "FLOATS", "NUMBERS", "Attribute", "Op", "Special"]

FLOATS: Final = ("float16", "float32", "float64")
NUMBERS: Final = (*FLOATS, "int32")
BITS: Final = ("int32", "bool")
ALL: Final = (*NUMBERS, "bool")

Special = tuple[tuple[float, ...], float]
"""Inputs and what they must give."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A number that belongs to the descriptor, with the values that cases try; the first is the usual one."""

    name: str
    samples: tuple[float, ...]


ALPHA: Final = Attribute("alpha", (0.75, 1.6732632423543772, 1.0, 3.0))


@dataclass(frozen=True, slots=True)
class Op:
    """One operation on elements.

    name       : snake_case of OneFlow's enumerator, as in ops.csv
    reference  : arrays as `widened` gives them, then the attributes, to the value or to (value, S)
    dtypes     : element types of the inputs
    accuracy   : promise for floating outputs, one for all types or one a type; everything else is exact
    domain     : of each input: where its random data lies and the accuracy holds
    special    : "nan,1->nan": inputs and expected output, bit for bit, for every floating input type; a word may be
                 nan, inf, a number, true, false, or an attribute's name
    attributes : in the order that kernels get them
    out        : "bool" for a test or comparison, else the type of the inputs
    error      : ulps that the reference itself may be off in float64
    """

    name: str
    reference: Callable[..., Any]
    dtypes: tuple[str, ...]
    accuracy: Accuracy | Mapping[str, Accuracy] = EXACT
    domain: tuple[Domain, ...] = (REAL,)
    special: str = ""
    attributes: tuple[Attribute, ...] = ()
    out: str = ""
    error: float = 0.0
    since: str = "1.0"

    def out_dtype(self, dtype: str) -> str:
        """Return the element type of the output for inputs of one type."""
        return self.out or dtype

    def accuracy_of(self, dtype: str) -> Accuracy:
        """Return the accuracy for inputs of one element type.

        Rows in ulps are within 1 ulp for the 16-bit types, which are computed in float32 and rounded once.
        """
        if self.out == "bool" or ep.dtype(dtype).kind != "f":
            return EXACT
        accuracy = self.accuracy[dtype] if isinstance(self.accuracy, Mapping) else self.accuracy
        is_narrow = ep.dtype(dtype).compute != dtype
        return Ulps(1) if is_narrow and isinstance(accuracy, Ulps) else accuracy

    def special_rows(self, attributes: tuple[float, ...]) -> list[Special]:
        """Return (inputs, expected) of every special value, with the attributes' values put in."""
        names = {attribute.name: value for attribute, value in zip(self.attributes, attributes, strict=True)}
        rows = []
        for row in self.special.split():
            inputs, expected = row.split("->")
            rows.append((tuple(_value(word, names) for word in inputs.split(",")), _value(expected, names)))
        return rows


def _value(word: str, names: Mapping[str, float]) -> float:
    if word.lstrip("-") in names:
        value = names[word.lstrip("-")]
        return -value if word.startswith("-") else value
    return {"true": 1.0, "false": 0.0}[word] if word in {"true", "false"} else float(word)
