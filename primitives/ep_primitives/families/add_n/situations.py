"""The situations of AddN: those of three inputs of an elementwise family, whose forms more terms have in turn."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.elementwise.situations.arranged import arranged
from ep_primitives.elementwise.situations.models import BETWEEN, elementwise_model
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives.cases.arrangement import Arrangement
    from ep_primitives.situations.family import Row

__all__ = ["TERMS", "add_n_model", "planned"]

TERMS: Final = ("x0", "x1", "x2")
_COUNT: Final = Dimension("terms", ("3", "1", "2", "5", "8", "9", "64"))
_TAILS: Final = Dimension("tail", ("1", "0", "3", "7", "8", "12", "15"))
"""The tails that vectors of 4, 8 and 16 lanes tell apart; elementwise families try all."""


@cache
def add_n_model(layout: str) -> Model:
    """Return the model of a layout: sums of one or two terms are of such forms that the layout stays."""
    usual = elementwise_model(layout, TERMS, TERMS)
    # Terms are such that partial sums are finite in any order.
    dimensions = [each for each in usual.dimensions if not each.name.startswith("values-")]
    if layout == "empty":
        dimensions = [each for each in dimensions if not each.name.startswith("start-")]
    dimensions = [_TAILS if each.name == "tail" else each for each in dimensions]
    count = replace(_COUNT, values=("3", "5", "8", "64")) if layout == "broadcast" else _COUNT
    rules = _rules(layout, (count, *dimensions))
    return Model((count, *dimensions), (*usual.rules, *rules))


def planned(layout: str, row: Row, seed: int) -> Arrangement:
    """Return the arrangement of a situation."""
    arrangement = arranged(layout, TERMS, row, seed)
    *forms, out = arrangement.forms
    count = int(row.situation["terms"])
    return replace(arrangement, forms=(*(forms[place % len(TERMS)] for place in range(count)), out))


def _rules(layout: str, dimensions: tuple[Dimension, ...]) -> Iterator[Never]:
    known = {each.name: each.values for each in dimensions}
    for count, missing in (("1", TERMS[1:]), ("2", TERMS[2:])):
        if count in known["terms"]:
            for name in missing:
                yield from _missing(known, count, name)
    few, many = {"terms": ("1", "2")}, {"terms": _COUNT.values[1:]}
    if layout == "strided":
        yield Never({**few, "form-out": ("dense",)}, "all dense may be layout dense")
        yield Never({**many, "rows": ("many",)}, "70,001 rows are tried with three terms")
    if layout == "offset":
        yield Never({**few, "offset-out": ("0",)}, "no offset may be layout dense or strided")
    if "inner" in known:
        yield Never({"terms": ("64",), "inner": ("long",)}, "64 terms have elements enough")
    if "size" in known:
        yield Never({"terms": ("64",), "size": ("large", "past")}, "64 terms have elements enough")
        more = {"terms": tuple(value for value in _COUNT.values if value != "2")}
        yield Never({**more, "size": ("past",)}, "2^21 elements are tried with two terms")


def _missing(known: Mapping[str, tuple[str, ...]], count: str, name: str) -> Iterator[Never]:
    """Yield that a term which a sum of so many does not have lies nowhere, and shares nothing."""
    words = {f"{word}-{name}": usual for word, usual in (("start", "0"), ("form", "dense"), ("offset", "0"))}
    for dimension in sorted(words.keys() & known.keys()):
        others = tuple(value for value in known[dimension] if value != words[dimension])
        yield Never({"terms": (count,), dimension: others}, "there is no such term")
    for dimension, word in (("shares", name), ("out", f"{BETWEEN}-{name}")):
        if dimension in known:
            yield Never({"terms": (count,), dimension: (word,)}, "there is no such term")
