"""The cases of each family, made once for all tests that go through them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ep_primitives import ep_families

if TYPE_CHECKING:
    from ep_primitives import Case

    from ep import Cell

__all__ = ["every_case"]


@functools.cache
def every_case(name: str) -> list[tuple[Cell, Case]]:
    """Return all cases of a family, each with its cell."""
    (family,) = [each for each in ep_families() if each.name == name]
    return [(cell, case) for cell in family.cells() for case in family.cases(cell)]
