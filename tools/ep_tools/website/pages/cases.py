"""The cases of the runtime contract, a page an area: the claim of each, and when it counts."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from ep_conformance.runtime import RuntimeCase, runtime_cases

from ep_tools.markdown import escaped, parse
from ep_tools.website.directive import directive

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["areas", "page", "standing"]


def areas() -> dict[str, list[RuntimeCase]]:
    """Return the cases by area, in the order of the suite."""
    found: dict[str, list[RuntimeCase]] = {}
    for case in runtime_cases().values():
        found.setdefault(case.id.split("/")[1], []).append(case)
    return found


def standing(case: RuntimeCase) -> str:
    """Return when a case counts, in words."""
    words = ["optional: counts only if claimed" if case.optional else "mandatory"]
    if case.needs:
        words.append(f"for providers that have `{case.needs}`")
    elif case.kernels:
        words.append("for providers that have kernels")
    if case.asks:
        words.append(
            {"call": "where `call` holds a stream back", "fork": "where the system forks"}.get(case.asks, case.asks)
        )
    return f"{', '.join(words)}; since suite {case.since}; profile {case.profile}"


def page(area: str, cases: list[RuntimeCase]) -> str:
    """Return the page of an area."""
    module = inspect.getmodule(cases[0].body)
    lead = parse(inspect.getdoc(module) or "")
    lines = [f"# {area}", "", lead.lead, ""]
    for case in cases:
        lines += directive("case", case.id, _text(case))
    return "\n".join(lines)


def _text(case: RuntimeCase) -> Iterator[str]:
    for paragraph in inspect.cleandoc(case.claim).split("\n\n"):
        yield f"{escaped(' '.join(paragraph.split()))}\n"
    yield f"*{standing(case)}*"
