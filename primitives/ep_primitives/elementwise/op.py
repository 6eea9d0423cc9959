"""An op is one row: validation, documentation, cases and accuracy of an op are derived from it, never typed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.descriptors.attribute import Attribute
from ep_primitives.elementwise.domain import REAL, Domain
from ep_primitives.judging.accuracy import INTEGRAL, NARROW, Accuracy, Exact, Ulps
from ep_primitives.judging.reference import array_dtype, widened

if TYPE_CHECKING:
    from ep_primitives.judging.disagreement import Disagreement
    from ep_primitives.judging.reference import Array

__all__ = [
    "ALL",
    "BITS",
    "COMPLEXES",
    "EVERY",
    "FLOAT8",
    "FLOATS",
    "INTEGERS",
    "NUMBERS",
    "REALS",
    "SIGNED",
    "Attribute",
    "Op",
    "Special",
]

FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
COMPLEXES: Final = ("complex64", "complex128")
SIGNED: Final = ("int8", "int16", "int32", "int64")
INTEGERS: Final = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
REALS: Final = (*INTEGERS, *FLOATS)
NUMBERS: Final = (*REALS, *COMPLEXES)
BITS: Final = ("bool", *INTEGERS)
ALL: Final = ("bool", *NUMBERS)
FLOAT8: Final = ("float8_e4m3fn", "float8_e5m2")
EVERY: Final = (*ALL, *FLOAT8)
"""Every element type; those of 8 bits are stored, copied, filled and cast, never computed with."""

_REAL_PARTS: Final = {"complex64": "float32", "complex128": "float64"}
_COMPLEX: Final = {"float32": "complex64", "float64": "complex128"}

Special = tuple[tuple[complex, ...], complex]
"""Inputs and the needed results."""


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One operation on elements.

    name       : snake_case of OneFlow's enumerator, or NumPy's name where OneFlow has none; as in ops.csv
    reference  : arrays as `taken` gives them, then the attributes, to the value or to (value, S)
    dtypes     : element types of the inputs
    accuracy   : promise for floating outputs: one for all types, or one a type, where "complex" stands for both
                 complex types and "" for the types not named, each with its reason; everything else is exact
    domain     : of each input: where its random data lies and the accuracy holds
    special    : "nan,1->nan": inputs and expected output, bit for bit, for every floating input type (of a row that has
                 none, for the complex ones); a word may be nan, inf, a number, true, false, or an attribute's name
    attributes : in the order that kernels get them
    ascending  : True if no attribute may be less than the one before it
    out        : "bool" for a test or comparison, "real" or "complex" for that counterpart, else the type of the inputs
    error      : ulps that the reference itself may be off in float64 and complex128, keyed as the accuracy
    constant   : input types for which the output is one value, so that no data can show that it is computed
    unused     : places of the inputs that the output does not depend on
    definition : the formula
    source     : where the definition comes from
    typed      : True if the result depends on which numbers the element type has: the reference takes arrays of that type,
                 not widened ones, and a number beside them is rounded to it
    note       : differences from OneFlow and their reasons; "" without any. `disagreements` has those from PyTorch
    """

    name: str
    reference: Callable[..., Any]
    dtypes: tuple[str, ...]
    accuracy: Accuracy | Mapping[str, Accuracy]
    domain: tuple[Domain, ...] = (REAL,)
    special: str = ""
    attributes: tuple[Attribute, ...] = ()
    ascending: bool = False
    out: str = ""
    error: float | Mapping[str, float] = 0.0
    definition: str = ""
    source: str = ""
    note: str = ""
    constant: tuple[str, ...] = ()
    unused: tuple[int, ...] = ()
    typed: bool = False
    since: str = "1.0"

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Where PyTorch gives something else, and why."""
        from ep_primitives.judging.disagreements import DISAGREEMENTS  # noqa: PLC0415 - no program needs them

        return tuple(line for line in DISAGREEMENTS if self.name in line.ops)

    def out_dtype(self, dtype: str) -> str:
        """Return the element type of the output for inputs of one type."""
        if self.out == "real":
            return _REAL_PARTS.get(dtype, dtype)
        return _COMPLEX[dtype] if self.out == "complex" else self.out or dtype

    def accuracy_of(self, dtype: str) -> Accuracy:
        """Return the accuracy for inputs of one element type.

        Rows in ulps are within 1 ulp for the 16-bit types, which are computed in float32 and rounded once.
        """
        kind = ep.dtype(dtype).kind
        if self.out == "bool" or kind not in "fc":
            return INTEGRAL
        accuracy: Accuracy = _chosen(self.accuracy, dtype)
        is_narrow = ep.dtype(dtype).compute != dtype
        return NARROW if is_narrow and isinstance(accuracy, Ulps) else accuracy

    def taken(self, dtype: str, value: Any) -> Array:
        """Return an operand of an element type, an array or a number, as the reference takes it."""
        return np.asarray(value, array_dtype(dtype)) if self.typed else widened(dtype, value)

    def error_of(self, dtype: str) -> float:
        """Return the reference's own error in ulps for inputs of one element type: 0 where float64 is wider."""
        return float(_chosen(self.error, dtype)) if dtype in {"float64", "complex128"} else 0.0

    def domain_of(self, dtype: str) -> tuple[Domain, ...]:
        """Return the domain of each input for an element type.

        The results of infinities and NaN are not specified for complex inputs, unless the row is exact or a test.
        """
        if ep.dtype(dtype).kind != "c" or isinstance(self.accuracy_of(dtype), Exact):
            return self.domain
        return tuple(domain.closed() for domain in self.domain)

    def held(self, dtype: str, attributes: tuple[float, ...]) -> list[Any]:
        """Return the attributes as references and kernels for an element type get them."""
        return [attribute.held(dtype, value) for attribute, value in zip(self.attributes, attributes, strict=True)]

    @property
    def special_kind(self) -> str:
        """The kind of element types that the special values are of: f, or c for a row of complex types alone."""
        return "f" if any(ep.dtype(dtype).kind == "f" for dtype in self.dtypes) else "c"

    def special_rows(self, attributes: tuple[float, ...]) -> list[Special]:
        """Return (inputs, expected) of every special value, with the attributes' values put in."""
        names = {attribute.name: value for attribute, value in zip(self.attributes, attributes, strict=True)}
        rows = []
        for row in self.special.split():
            inputs, expected = row.split("->")
            rows.append((tuple(_value(word, names) for word in inputs.split(",")), _value(expected, names)))
        return rows


def _chosen(entry: Any, dtype: str) -> Any:
    """Return the part of a row's entry for an element type if the entry is a mapping, else the entry itself."""
    if not isinstance(entry, Mapping):
        return entry
    names = (dtype, "complex" if ep.dtype(dtype).kind == "c" else "", "")
    return next(entry[name] for name in names if name in entry)


def _value(word: str, names: Mapping[str, float]) -> complex:
    if word.lstrip("-") in names:
        value = names[word.lstrip("-")]
        return -value if word.startswith("-") else value
    if word in {"true", "false"}:
        return float(word == "true")
    return complex(word) if word.endswith("j") else float(word)
