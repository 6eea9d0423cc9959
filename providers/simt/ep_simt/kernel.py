"""PortableKernel: the launches of a plan with the functions of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import ep
from ep_simt.plan import Given, Made, Operand

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_simt.plan import Launch, Plan

__all__ = ["Command", "Function", "Place", "PortableKernel"]


class Function(Protocol):
    """A compiled entry, as a provider launches it."""

    def grid(self, items: int, group: int) -> Any:
        """Return how a launch is cut: into whole groups for `items` work-items, of `group` each or, for 0, as many as it likes."""

    def launch(self, stream: Any, what: str, grid: Any, arguments: list[Any]) -> None:
        """Enqueue a launch, named `what` in errors. Raises DeviceError.

        arguments  : as the entry's parameters: a memory's handle, a number, packed bytes for a structure
        """

    def prepared(self, command: Command) -> Callable[[Any], None]:
        """Return a function that enqueues the command on a given stream, any number of times. It raises DeviceError."""


class Place(NamedTuple):
    """The two arguments of a memory: its handle, then its start, in elements.

    operand   : number of the memory
    argument  : number of the handle's argument
    itemsize  : bytes of an element
    offset    : elements from the memory's first byte
    """

    operand: int
    argument: int
    itemsize: int
    offset: int


class Command(NamedTuple):
    """One launch with its arguments; `places` says which of them follow a memory."""

    what: str
    function: Any
    grid: Any
    arguments: list[Any]
    places: tuple[Place, ...]


class _Filled:
    """A launch with all arguments but the memories' and the numbers'."""

    __slots__ = ("_made", "_numbers", "_template", "function", "grid", "places")

    def __init__(self, launch: Launch, function: Function) -> None:
        self.function = function
        self.grid = function.grid(launch.items, launch.group)
        places, numbers, made = [], [], []
        template: list[Any] = []
        for argument in launch.arguments:
            kind, at = type(argument), len(template)
            if kind is Operand:
                places.append(Place(argument.place, at, argument.itemsize, argument.offset))
                template += (None, None)
            elif kind is Given:
                numbers.append((at, argument.place))
                template.append(None)
            elif kind is Made:
                made.append((at, argument))
                template += [None] * argument.width
            else:
                template.append(argument)
        self.places, self._numbers, self._made, self._template = tuple(places), numbers, made, template

    def arguments(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> list[Any]:
        """Return all arguments of a launch."""
        arguments = self._template.copy()
        for operand, at, itemsize, offset in self.places:
            memory = memories[operand]
            arguments[at] = memory.handle
            arguments[at + 1] = memory.offset // itemsize + offset
        for at, place in self._numbers:
            arguments[at] = scalars[place]
        for at, (make, width) in self._made:
            arguments[at : at + width] = make(scalars)
        return arguments


class PortableKernel(ep.Kernel):
    """A plan over the operands of one descriptor: its launches go to one stream in their order."""

    __slots__ = ("_filled", "_what", "scratch_nbytes")

    def __init__(self, what: str, plan: Plan, functions: Mapping[str, Function]) -> None:
        """Take the launches of a plan, named `what` in errors, and the functions of their entries."""
        self._what = what
        self._filled = [_Filled(launch, functions[launch.entry]) for launch in plan.launches]
        self.scratch_nbytes = plan.scratch_nbytes

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        for each in self._filled:
            each.function.launch(stream, self._what, each.grid, each.arguments(memories, scalars))

    def commands(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> list[Command]:
        """Return the launches with these operands, for a graph or a bound step, in their order."""
        return [
            Command(self._what, each.function, each.grid, each.arguments(memories, scalars), each.places)
            for each in self._filled
        ]

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        runs = [command.function.prepared(command) for command in self.commands(memories, scalars)]
        if len(runs) == 1:
            (only,) = runs
            return lambda stream, _, __: only(stream)

        def run(stream: Any, _: Any, __: Any) -> None:
            for each in runs:
                each(stream)

        return run
