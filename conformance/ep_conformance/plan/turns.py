"""Turns: of each op only some element types, chosen in turn, for devices whose compilers take longer than their kernels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import ep

__all__ = ["in_turn"]


def in_turn(cells: Iterable[tuple[ep.Family, ep.Cell]], every: int) -> Iterator[tuple[ep.Family, ep.Cell]]:
    """Yield the cells, in their layouts, of every Nth element type of each op, and of one at least.

    every  : the N; 1 yields all. Of a family's ops with equal types the first begins with the first type, the next with the second,
             so that all types have their turn
    """
    found = list(cells)
    types: dict[tuple[str, str], dict[str, None]] = {}
    for family, cell in found:
        types.setdefault((family.name, cell.op), {})[cell.dtypes] = None
    chosen = {}
    numbers: Counter[tuple[str, ...]] = Counter()
    for op, own in types.items():
        step, alike = min(every, len(own)), (op[0], *own)
        chosen[op] = {*list(own)[numbers[alike] % step :: step]}
        numbers[alike] += 1
    return ((family, cell) for family, cell in found if cell.dtypes in chosen[family.name, cell.op])
