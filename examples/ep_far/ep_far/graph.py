"""A far graph: the device keeps the work, and a launch is one frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_far.implementations import FarKernel
from ep_far.stream import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_far.link import Link
    from ep_far.stream import FarStream

Work = tuple[str, list[Any]]

_FIRST = {"copy": 1, "fill": 2, "kernel": 3}
"""Where the operands begin among the arguments of a verb."""


class FarGraph(ep.Executable):
    """Nodes that were uploaded once. A launch says which memory takes the place of each slot's."""

    def __init__(
        self, link: Link, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...], work: list[Work | None]
    ) -> None:
        self._link = link
        self._number = link.number()
        self._names = tuple(str(node.what) for node in nodes)
        places = [
            [
                [node, _FIRST[entry[0]] + operand, offset]
                for node, operand, offset in slot.places
                if (entry := work[node])
            ]
            for slot in slots
        ]
        link.send("define", self._number, work, places)

    def bind(self, bindings: tuple[ep.Memory | None, ...]) -> Callable[[Any, Any, Any], None]:
        given = [None if memory is None else place_of(memory) for memory in bindings]

        def run(stream: FarStream, _: Any, __: Any) -> None:
            stream.enqueue("graph", self._number, given, nodes=self._names)

        return run

    def close(self) -> None:
        self._link.send("drop", self._number)


def work_of(nodes: tuple[ep.Node, ...]) -> list[Work | None] | None:
    """Return each node as the device does it, None for one with nothing to do; None in all if it does not know one."""
    work: list[Work | None] = []
    for node in nodes:
        if node.what == "copy":
            dst, src = node.memories
            work.append(("copy", [dst.nbytes, place_of(dst), place_of(src)]))
        elif node.what == "fill":
            (dst,) = node.memories
            work.append(("fill", [dst.nbytes, node.scalars[0].hex(), place_of(dst)]))
        elif node.is_empty:
            work.append(None)
        elif not isinstance(node.what, str) and isinstance(node.what.kernel, FarKernel):
            work.append(("kernel", node.what.kernel.arguments(node.memories)))
        else:
            return None
    return work
