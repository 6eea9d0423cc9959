"""Bound: the stages of a lowering over given operands, launched again and again by a step."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, final

from ep.errors import EpError
from ep.ground.uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ep import spi
    from ep.memory.memory import Memory
    from ep.stream.device import Device
    from ep.work.executable import Executable, Node

    Launch = tuple[Callable[..., Any], tuple[Memory, ...], tuple[Any, ...]]

__all__ = ["Bound"]


@final
class Bound(Uncopied):
    """Launches stage after stage the first time, and from the second time on all of them as one graph of the device's.

    Making a graph costs more than it saves one launch. Where the device makes none, or fails to, stages are launched one by one.
    """

    __slots__ = ("_device", "_executable", "_is_used", "_nodes", "_one_by_one", "_run")

    def __init__(self, device: Device, launches: list[Launch], nodes: Callable[[], Iterable[Node]]) -> None:
        """Take the bound launch of each stage with its memories and numbers, and what makes the same as nodes of a graph.

        Nodes are made with the graph: many steps run once, and one inside another has no graph of its own.
        """
        self._executable: Executable | None = None
        self._device = device
        self._one_by_one = functools.partial(_launch, launches)
        self._nodes: Callable[[], Iterable[Node]] | None = nodes
        self._is_used = False
        self._run: Callable[..., Any] | None = None

    def __call__(self, stream: spi.Stream, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
        """Enqueue the stages."""
        if self._run is not None:
            self._run(stream, memories, scalars)
        elif self._is_used and self._nodes is not None:
            nodes, self._nodes = self._nodes, None  # a signal handler that launches meanwhile goes the other way
            self._run = self._made(nodes)
            self._run(stream, memories, scalars)
        else:
            self._is_used = True
            self._one_by_one(stream, memories, scalars)

    def _made(self, nodes: Callable[[], Iterable[Node]]) -> Callable[..., Any]:
        try:
            self._executable = self._device._native_graph(tuple(nodes()), ())
            return self._one_by_one if self._executable is None else self._executable.bind(())
        except EpError:  # nobody asked for a graph: there is no memory for one, or the driver takes none of a stage
            return self._one_by_one  # which tells what else is wrong, with its place

    def __del__(self) -> None:
        executable: Executable | None = getattr(self, "_executable", None)
        if executable is not None:
            executable.close()


def _launch(launches: list[Launch], stream: spi.Stream, _: Any, __: Any) -> None:
    for launch, memories, scalars in launches:
        launch(stream, memories, scalars)
