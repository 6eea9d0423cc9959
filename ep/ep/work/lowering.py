"""A Lowering runs a descriptor as stages: kernels of other families, one after the other, over temporaries in one scratch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from ep.memory.scratch import packed
from ep.work.bound import Bound
from ep.work.executable import Node
from ep.work.implementation import Implementation, Kernel
from ep.work.stage import Lifetime, lifetimes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ep import spi
    from ep.layout.device_info import DeviceInfo
    from ep.memory.memory import Memory
    from ep.work.descriptor import Descriptor
    from ep.work.implementation import Launch
    from ep.work.primitive import Primitive
    from ep.work.stage import Stage

__all__ = ["Composition", "Lowering", "flattened"]

_SCRATCH: Final = -1


class _Wire(NamedTuple):
    """The source of a stage's memory: the whole's memory at `place`, or `nbytes` of the scratch from `begin` on."""

    place: int
    begin: int = 0
    nbytes: int = 0


class _Number(NamedTuple):
    """The source of a stage's number: the whole's number at `place`, or `value`."""

    place: int
    value: Any = None


class _Wired(NamedTuple):
    """A stage's primitive and where its operands come from; None at the places of absent ones."""

    primitive: Primitive
    wires: tuple[_Wire | None, ...]
    numbers: tuple[_Number | None, ...]

    def memories(self, given: tuple[Memory, ...]) -> tuple[Any, ...]:
        """Return the memories of the stage's kernel, given those of a launch of the whole."""
        return tuple([wire if wire is None else _found(wire, given) for wire in self.wires])

    def scalars(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the numbers of the stage's kernel, given those of a launch of the whole."""
        return tuple(
            [
                number if number is None else number.value if number.place < 0 else given[number.place]
                for number in self.numbers
            ]
        )


@final
class Composition(Kernel):
    """Kernels of the stages, launched in their order; the temporaries and the stages' own scratch lie in one scratch."""

    def __init__(self, whole: Descriptor, stages: Sequence[Stage], primitives: Sequence[Primitive]) -> None:
        temporaries = lifetimes(whole, stages)
        own = [Lifetime(place, place, primitive.scratch_nbytes) for place, primitive in enumerate(primitives)]
        self._device = primitives[0].device
        alignment = self._device.info.alignment
        begins, self.scratch_nbytes = packed([*temporaries.values(), *own], alignment)
        named = {
            name: _Wire(_SCRATCH, begin, lifetime.nbytes)
            for (name, lifetime), begin in zip(temporaries.items(), begins, strict=False)
        }
        named |= {role.name: _Wire(place) for place, (role, spec) in enumerate(whole.tensors) if spec is not None}
        numbers = {role.name: _Number(place) for place, (role, _) in enumerate(whole.numbers)}
        scratches = [
            (_Wire(_SCRATCH, begin, lifetime.nbytes),) if lifetime.nbytes else ()
            for lifetime, begin in zip(own, begins[len(temporaries) :], strict=True)
        ]
        self._stages = tuple(
            [
                _Wired(primitive, _wires(stage, named) + scratch, _numbers(stage, primitive, numbers))
                for stage, primitive, scratch in zip(stages, primitives, scratches, strict=True)
            ]
        )

    def launch(self, stream: spi.Stream, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
        for stage in self._stages:
            stage.primitive._run(stream, stage.memories(memories), stage.scalars(scalars))

    def bind(self, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> Launch:
        launches = []
        for stage in self._stages:
            given = stage.memories(memories), stage.scalars(scalars)
            launches.append((stage.primitive._bind(*given), *given))
        return Bound(self._device, launches, functools.partial(self.nodes, memories, scalars))

    def nodes(self, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> Iterator[Node]:
        """Yield the stages of one launch as nodes of a graph; a lowered stage is replaced by its own stages."""
        for stage in self._stages:
            primitive = stage.primitive
            yield from flattened(Node(primitive, stage.memories(memories), stage.scalars(scalars), primitive._run))


@final
class Lowering(Implementation):
    """The implementation of a descriptor by its stages, where the provider has kernels for these only.

    stages : the primitives, in their order
    """

    def __init__(self, stages: Sequence[Stage], primitives: Sequence[Primitive]) -> None:
        self._lowered = stages
        self.stages = tuple(primitives)

    @property
    def name(self) -> str:
        """The names of the stages' implementations, in order."""
        return " + ".join([primitive.implementation.name for primitive in self.stages])

    def accepts(self, descriptor: Any, info: DeviceInfo) -> bool:
        """Return True: a Lowering is made only if all stages are served."""
        del descriptor, info
        return True

    def create(self, descriptor: Any, device: spi.Device, code: Any) -> Composition:
        """Return the composition of the stages' kernels."""
        del device, code
        return Composition(descriptor, self._lowered, self.stages)


def flattened(node: Node) -> Iterator[Node]:
    """Yield a node, or the stages of a lowered one in its place."""
    kernel = None if isinstance(node.what, str) else node.what.kernel
    if isinstance(kernel, Composition) and not node.is_empty:
        yield from kernel.nodes(node.memories, node.scalars)
    else:
        yield node


def _found(wire: _Wire, given: tuple[Memory, ...]) -> Memory:
    if wire.place != _SCRATCH:
        return given[wire.place]
    return given[_SCRATCH]._part(wire.begin, wire.nbytes)


def _wires(stage: Stage, named: dict[str, _Wire]) -> tuple[_Wire | None, ...]:
    tensors = stage.descriptor.tensors
    return tuple([None if spec is None else named[str(stage.operands[role.name])] for role, spec in tensors])


def _numbers(stage: Stage, primitive: Primitive, named: dict[str, _Number]) -> tuple[_Number | None, ...]:
    """Return the sources of a stage's numbers; values that the stage itself gives are converted and checked here."""
    found: list[_Number | None] = []
    for role, spec in stage.descriptor.numbers:
        given = stage.operands.get(role.name, role.default)
        if spec is None:
            found.append(None)
        elif isinstance(given, str):
            found.append(named[given])
        else:
            found.append(_Number(-1, primitive._scalar(role.name, spec.dtype, given)))
    if primitive._check_numbers is not None and all(number is None or number.place < 0 for number in found):
        primitive._check_numbers(tuple([number and number.value for number in found]))
    return tuple(found)
