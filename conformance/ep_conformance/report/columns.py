"""Verdicts as columns of small numbers, which the HTML page carries: 100,000 of them take about 3 MB.

A text stands once in a dictionary, and cases name it by its index. `runs` are pairs of value and count, `sparse` columns pairs
of a list of cases and a list of values; all others have one value a case.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final

from ep.dtypes import DTYPES
from ep.layout.cells import LAYOUTS

from ep_conformance.judge.outcome import ATTESTATIONS, FAILING, Status
from ep_conformance.plan.place import Place
from ep_conformance.run.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ep_conformance.run.verdict import Verdict

__all__ = ["SHOWN", "columns", "counts", "shown"]

SHOWN: Final = (
    *(str(status) for status in Status if status in FAILING and status is not Status.MISSING),
    "missing",
    "waived",
    "notice",
    "new",
    "unsupported",
    "pass",
)
"""What a reader is shown of a case, worst first: its status, of failures that are waived `waived`, of notices `notice`."""

_DIGITS: Final = 4
_ALMOST: Final = 0.9999
_MOST_TEXT: Final = 4_000_000
_LEFT_OUT: Final = "(left out here: the JSON report has it)"
_MICRO: Final = 1e6


def shown(verdict: Verdict) -> str:
    """Return which of SHOWN a verdict is."""
    if verdict.waiver is not None:
        return "waived"
    return "notice" if verdict.notice else str(verdict.status)


def counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Return the number of verdicts for each of SHOWN: passes first, then the worst."""
    found = dict.fromkeys(("pass", *SHOWN), 0)
    for verdict in verdicts:
        found[shown(verdict)] += 1
    return found


class _Words:
    """Texts in the order of their first use, after those that come first anyway."""

    def __init__(self, *first: str) -> None:
        self.index: dict[Any, int] = {word: at for at, word in enumerate(first)}

    def __call__(self, word: Any) -> int:
        return self.index.setdefault(word, len(self.index))

    @property
    def texts(self) -> list[Any]:
        return [*self.index]


class _Texts(_Words):
    """Texts of cases, of which the first few millions of characters are kept: 100,000 failures have 200 MB of reasons."""

    def __init__(self) -> None:
        super().__init__("")
        self._left = _MOST_TEXT

    def __call__(self, word: str) -> int:
        if word not in self.index:
            self._left -= len(word)
            word = word if self._left >= 0 else _LEFT_OUT
        return super().__call__(word)


def columns(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the verdicts as columns; templates/report/data.js reads them."""
    names, dtypes = _Words(), _Words()
    families, ops, elements, layouts = _Words(), _Words(), _Words("", *DTYPES), _Words("", *LAYOUTS)
    areas, texts = _Words(), _Texts()
    places = [Place.of(verdict.id) for verdict in verdicts]
    records = [record(verdict) for verdict in verdicts]
    name = [names(place.name) for place in places]
    area = [areas((families(p.family), ops(p.op), dtypes(p.dtypes), layouts(p.layout))) for p in places]
    return {
        "count": len(verdicts),
        "shown": SHOWN,
        "names": names.texts,
        "families": families.texts,
        "ops": ops.texts,
        "dtypes": dtypes.texts,
        "element": [elements(Place("", "", each, "", "").element) for each in dtypes.texts],
        "elements": elements.texts,
        "layouts": layouts.texts,
        "areas": [part for each in areas.texts for part in each],
        "area": _runs(area),
        "name": name,
        "status": _runs(SHOWN.index(shown(verdict)) for verdict in verdicts),
        "attested": _runs(ATTESTATIONS.index(each["attested"]) for each in records),
        "micros": [round(float(f"{verdict.outcome.seconds * _MICRO:.3g}")) for verdict in verdicts],
        "margin": _sparse([_short(each["margin"]) for each in records], None),
        "error": _sparse([_short(each["error"]) or None for each in records], None),
        "bias": _sparse([_short(each["bias"]) for each in records], None),
        "variance": _sparse([_short(each["variance"]) for each in records], None),
        "at": _sparse([texts(each["at"]) for each in records], 0),
        "reason": _sparse([texts(each["reason"]) for each in records], 0),
        "degraded": _sparse([texts(", ".join(each["degraded"])) for each in records], 0),
        "more": _sparse([_more(each) for each in records], None),
        "texts": texts.texts,
    }


def _more(case: dict[str, Any]) -> dict[str, Any] | None:
    """Return the columns that only a few cases have."""
    found = {name: case[name] for name in ("first", "waiver", "replay") if case[name] is not None}
    return found or None


def _short(number: float | None) -> float | None:
    """Return a number in a few digits; what is less than 1, and so within its bound, stays so."""
    if number is None or not math.isfinite(number):
        return number
    short = float(f"{number:.{_DIGITS}g}")
    return _ALMOST if number < 1 <= short else short


def _runs(values: Iterable[int]) -> list[int]:
    """Return value, count, value, count and so on."""
    return [part for value, group in itertools.groupby(values) for part in (value, sum(1 for _ in group))]


def _sparse(values: Sequence[Any], usual: Any) -> list[list[Any]]:
    """Return the places of the unusual values, and those."""
    found = [(at, value) for at, value in enumerate(values) if value != usual]
    return [[at for at, _ in found], [value for _, value in found]]
