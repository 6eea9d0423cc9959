"""Attributes: numbers that belong to a descriptor, which of them are legal, and which of them cases try."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.judging.reference import array_dtype, compute_number, limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.elementwise.op import Op

__all__ = ["ALPHA", "TORCH", "TORCH_AND_ONNX", "Attribute", "Legal", "candidates"]

# Shares of drawn numbers: of everyday size, of any magnitude, and the ends of the legal range.
_EVERYDAY: Final = 0.4
_NOT_AN_END: Final = 0.7
_EVERYDAY_BITS: Final = 5.0


class Legal(Enum):
    """The legal numbers of an attribute, in the words of messages; NaN is never legal."""

    FINITE = "a finite number within {}"
    NOT_ZERO = "a finite number other than 0 within {}"
    NOT_NEGATIVE = "a finite number of at least 0 within {}"
    POSITIVE = "a finite number above 0 within {}"
    EXTENDED = "a finite number within {}, or an infinity"

    def holds(self, number: float) -> bool:
        """Say whether a number is one of them."""
        match self:
            case Legal.NOT_ZERO:
                return math.isfinite(number) and number != 0
            case Legal.NOT_NEGATIVE:
                return 0 <= number < math.inf
            case Legal.POSITIVE:
                return 0 < number < math.inf
            case Legal.EXTENDED:
                return not math.isnan(number)
        return math.isfinite(number)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A number that belongs to the descriptor, with the values that cases name, the first most often.

    default : its value if a caller leaves it out; None: it may not be left out
    source  : the library or standard with the same default; "" without one
    stored  : True if it is rounded to the element type first, so that it can equal an element
    wide    : True if it is a float64 whatever the element type; else it is held in the compute type
    legal   : its legal values, after that rounding; descriptors refuse others, and rows keep their promises for these
    """

    name: str
    samples: tuple[float, ...]
    default: float | None = None
    source: str = ""
    stored: bool = False
    wide: bool = False
    legal: Legal = Legal.FINITE

    def held(self, dtype: str, value: float) -> Any:
        """Return the attribute as references and kernels for an element type get it: a NumPy number."""
        if self.wide:
            return array_dtype("float64").type(value)
        if self.stored:
            with np.errstate(over="ignore"):  # the caller refuses an overflow
                value = float(array_dtype(dtype).type(value))
        return compute_number(dtype, value)

    def ends(self, dtype: str) -> Iterator[float]:
        """Yield the extremes of the legal values: next to 0, 0 itself, the largest, infinities, also negative ones."""
        info = limits(self._holder(dtype))
        sizes = (
            float(info.smallest_subnormal),
            float(info.max),
            float(info.smallest_normal),
            3 * float(info.smallest_subnormal),
            0.0,
            math.inf,
        )
        for size in sizes:
            yield from (number for number in dict.fromkeys((size, -size)) if self.legal.holds(number))

    def drawn(self, rng: np.random.Generator, dtype: str) -> float:
        """Return a random legal number that an attribute for the element type can be."""
        kind, sign = rng.random(), 1.0 if rng.random() < 0.5 else -1.0  # noqa: PLR2004 - half of them
        info = limits(self._holder(dtype))
        if kind > _NOT_AN_END:
            return float(rng.choice(list(self.ends(dtype))))
        reach = (
            (-_EVERYDAY_BITS, _EVERYDAY_BITS)
            if kind < _EVERYDAY
            else (math.log2(float(info.smallest_subnormal)), math.log2(float(info.max)))
        )
        size = float(array_dtype(self._holder(dtype)).type(2.0 ** rng.uniform(*reach)))
        return sign * size if self.legal.holds(sign * size) else size

    def _holder(self, dtype: str) -> str:
        """Return the element type that it is a number of."""
        if self.wide or ep.dtype(dtype).kind != "f":
            return "float64"
        return dtype if self.stored else ep.dtype(dtype).compute


TORCH: Final = "PyTorch"
TORCH_AND_ONNX: Final = "PyTorch and ONNX"

ALPHA: Final = Attribute("alpha", (0.75, 1.6732632423543772, 1.0, 3.0), 1.0, TORCH_AND_ONNX)


def candidates(row: Op, rng: np.random.Generator, dtype: str) -> Iterator[tuple[float, ...]]:
    """Yield attributes of a row: in turn one with extremes and one of random numbers, in ascending order where it needs that."""
    ends = [list(attribute.ends(dtype)) for attribute in row.attributes]
    for number in range(max(map(len, ends))):
        for values in (
            [some[(number + place) % len(some)] for place, some in enumerate(ends)],
            [attribute.drawn(rng, dtype) for attribute in row.attributes],
            [attribute.drawn(rng, dtype) for attribute in row.attributes],
        ):
            yield tuple(sorted(values) if row.ascending else values)
