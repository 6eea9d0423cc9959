"""A directive in the Markdown of MyST: what the generated pages are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["directive", "fields"]


def directive(name: str, argument: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a directive with its content, and an empty line behind it."""
    yield f"::::{{{name}}} {argument}"
    yield from lines
    yield "::::\n"


def fields(facts: Mapping[str, str]) -> Iterator[str]:
    """Yield facts as a list of fields, without those that are empty."""
    yield ""
    for name, text in facts.items():
        if text:
            yield f":{name}: {text}"
