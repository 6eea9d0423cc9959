"""A Primitive is a descriptor made runnable on a device."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from ep.dtypes import convert, convert_element
from ep.errors import ClosedError
from ep.exchange.interchange import operand_memory
from ep.exchange.tensor import Tensor
from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied
from ep.layout.overlap import is_same, overlap
from ep.layout.role import SCRATCH
from ep.layout.spec import TensorSpec
from ep.memory.memory import Memory
from ep.memory.namesakes import refuse_device
from ep.memory.scratch import checked_nbytes
from ep.work.descriptor import Descriptor
from ep.work.lowering import Lowering
from ep.work.operands import ABSENT, operands_of
from ep.work.step import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.layout.role import Role
    from ep.stream.device import Device
    from ep.stream.stream import Stream
    from ep.work.implementation import Implementation, Kernel
    from ep.work.operands import Operands

    _Operand = tuple[Role, TensorSpec, Memory]

__all__ = ["Primitive", "primitive_of"]

_NOTHING: Final = ()


@final
class Primitive(Uncopied):
    """A descriptor made runnable by `descriptor.on(device)`. Immutable; shared by threads and streams.

    asked           : the descriptor that was given
    descriptor      : the one that runs: `asked`, or the one other that it lowered to
    implementation  : the row of the provider's table that accepted it, or the Lowering to stages
    kernel          : the kernel that the implementation made of the descriptor
    scratch_nbytes  : bytes that a launch needs beside its operands; it takes them in stream order, a step when it is bound
    """

    __slots__ = (
        "_absent",
        "_check_numbers",
        "_in_place",
        "_lacking",
        "_launch",
        "_names",
        "_nbytes",
        "_odd",
        "_run",
        "_scalars",
        "_to_number",
        "asked",
        "descriptor",
        "device",
        "implementation",
        "kernel",
        "scratch_nbytes",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - what `primitive_of` found out already, in its order
        self,
        device: Device,
        asked: Descriptor,
        descriptor: Descriptor,
        implementation: Implementation,
        kernel: Kernel,
        operands: Operands,
        scratch_nbytes: int,
        run: Callable[..., Any],
    ) -> None:
        self.device = device
        self.asked = asked
        self.descriptor = descriptor
        self.implementation = implementation
        self.kernel = kernel
        self.scratch_nbytes = scratch_nbytes
        specs = descriptor.specs
        self._names = operands.names
        self._absent = operands.absent
        numbers = operands.numbers
        self._scalars = (
            tuple([(name, "" if place < 0 else specs[place].dtype, default) for name, place, default in numbers])
            if numbers
            else _NOTHING
        )
        self._to_number = convert_element if descriptor.compares_elements else convert
        self._nbytes, self._odd, self._in_place = operands.limits(descriptor)
        self._run = run
        self._launch = functools.partial(_run_placed, run, operands.absent) if operands.absent else run
        # As many memories are all but the scratch; of a kernel that needs none no launch has.
        self._lacking = len(operands.tensors) if self.scratch_nbytes else -1
        is_limited = type(descriptor).check_numbers is not Descriptor.check_numbers
        self._check_numbers = descriptor.check_numbers if is_limited else None

    @property
    def is_lowered(self) -> bool:
        """True if kernels of other families run in place of the descriptor that was asked for."""
        return self.descriptor is not self.asked or bool(self.stages)

    @property
    def stages(self) -> tuple[Primitive, ...]:
        """The stages that run in its place, if it is lowered to several or to one with other operands; else ()."""
        return self.implementation.stages if type(self.implementation) is Lowering else ()

    def __call__(self, stream: Stream, **operands: Any) -> None:
        """Check the operands and enqueue one run.

        stream    : of this primitive's device
        operands  : for each tensor a Memory of the device, a Tensor of the descriptor's spec, or an object that the device
                    reaches; for each Scalar a number, unless the descriptor has a default for it. Memories are read and
                    written when the stream gets there.
                    `scratch` may be a Memory of at least scratch_nbytes, aligned as the device aligns; else EP takes one

        Raises TypeError, ValueError or ClosedError, naming the operand, before anything is enqueued.
        """
        self._launch_at_length(stream, operands, {})

    def bind(self, **operands: Any) -> Step:
        """Check the operands once and return a step; `step(stream)` enqueues the run and costs almost nothing.

        The step holds its memories: close() on one of them returns its bytes when the step is closed or gone.
        Raises as a call does.
        """
        self.device._check_fork(f"bind of {self}")
        memories, scratch = self._settle(operands), None
        if len(memories) == self._lacking:
            scratch = self.device.allocate(self.scratch_nbytes)
            memories = (*memories, scratch)
        step = Step(self, memories, self._convert(operands), self._bind)
        if scratch is not None:
            scratch.close()  # the step alone holds it
        return step

    def _launch_at_length(self, stream: Any, operands: dict[str, Any], more: dict[str, Any]) -> None:
        """Launch what may be wrong or no memory, with all words that errors need. See `operands.call` for the short way.

        operands : a keyword that was not given has the value ABSENT
        more     : keywords that no operand has
        """
        operands = {name: value for name, value in operands.items() if value is not ABSENT} | more
        if Tensor in map(type, operands.values()):
            given = self._unwrapped(operands)
            if Tensor not in map(type, given.values()):
                self(stream, **given)
                return
        memories = self._launchable(stream, operands)
        scalars = self._convert(operands) if self._scalars else _NOTHING
        if len(memories) == self._lacking:
            self._launch_over_scratch(stream, memories, scalars)
            return
        self._require_stream(stream)
        stream._submit(self, memories, scalars, self._launch)

    def _launch_over_scratch(self, stream: Stream, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
        """Enqueue a run over scratch that later work of the stream may have again; a graph brings its own."""
        self._require_stream(stream)
        if stream._capture is not None:
            stream._submit(self, memories, scalars, self._launch)
            return
        scratch = stream.allocate(self.scratch_nbytes)
        try:
            stream._submit(self, (*memories, scratch), scalars, self._launch)
        finally:
            stream.free(scratch)

    def _bind(self, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the run over memories as kernels get them; it does nothing if there are no elements to write."""
        bound: Callable[..., Any] = _do_nothing if self._run is _do_nothing else self.kernel.bind(memories, scalars)
        if not callable(bound):
            message = f"{type(self.kernel).__name__}.bind returned {bound!r}, needs a launch, to be called with (stream, _, _); return one"
            raise TypeError(message)
        return bound

    def _placed(self, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
        """Return the memories that a stream's door gets as kernels get them: None in the place of an absent tensor."""
        return _placed(self._absent, memories) if self._absent else memories

    def _launchable(self, stream: Any, operands: dict[str, Any]) -> tuple[Memory, ...]:
        """Return the memories of a launch, each checked at length, in operand order."""
        if getattr(stream, "device", None) is not self.device:
            self._explain_stream(stream)
        return self._settle(operands)

    def _unwrapped(self, operands: dict[str, Any]) -> dict[str, Any]:
        """Return operands with memories in place of Tensors, except Tensors of another spec."""
        given = operands.copy()
        for name, spec in zip(self.asked.operands, self.asked.specs, strict=True):
            tensor = given.get(name)
            if type(tensor) is Tensor and tensor.spec == spec:
                given[name] = tensor.memory
        return given

    def _settle(self, operands: dict[str, Any]) -> tuple[Memory, ...]:
        """Return the memories of operands of any kind, in operand order, or say what is wrong with them."""
        if operands.keys() != self._names:
            self._check_names(operands)
        memories = []
        # Arrays are checked against the descriptor that was asked for, even if a lowered one has other specs.
        for role, spec in self.asked.tensors:
            if spec is None:
                continue
            name, operand = role.name, operands[role.name]
            if type(operand) is not Memory:
                operand = operand_memory(f"{self}: {name}", operand, spec, self.device, written=role.is_written)
            self._check_memory(name, spec, operand)
            if role.is_written:
                operand._require_writable(f"{self}: {name}")
            memories.append(operand)
        self._check_aliasing(memories)
        if self.scratch_nbytes and operands.get(SCRATCH.name) is not None:
            memories.append(self._checked_scratch(operands[SCRATCH.name], memories))
        return tuple(memories)

    def _checked_scratch(self, scratch: Any, memories: list[Memory]) -> Memory:
        """Return a caller's scratch. Raises TypeError, ValueError or ClosedError for an unusable one."""
        needs, alignment = TensorSpec("uint8", (self.scratch_nbytes,)), self.device.info.alignment
        if type(scratch) is not Memory:
            message = f"{self}: scratch is {glimpse(scratch)}, needs a Memory of {needs.nbytes} bytes; leave it out, and EP takes one"
            raise TypeError(message)
        self._check_memory(SCRATCH.name, needs, scratch)
        scratch._require_writable(f"{self}: {SCRATCH.name}")
        if scratch.offset % alignment:
            message = f"{self}: scratch starts at byte {scratch.offset}, needs a multiple of {alignment}, the device's alignment; take a view that begins there"
            raise ValueError(message)
        target = SCRATCH, needs, scratch
        tensors = [(role, spec) for role, spec in self.descriptor.tensors if spec is not None]
        for (role, spec), memory in zip(tensors, memories, strict=True):
            self._check_disjoint((role, spec, memory), target)
        return scratch

    def _convert(self, operands: dict[str, Any]) -> tuple[Any, ...]:
        """Return the numbers of a launch whose keywords are checked, None for an absent one."""
        numbers = tuple(
            [
                self._scalar(name, dtype, operands.get(name, default)) if dtype else None
                for name, dtype, default in self._scalars
            ]
        )
        if self._check_numbers is not None:
            self._check_numbers(numbers)
        return numbers

    def _check_aliasing(self, memories: list[Memory]) -> None:
        """Pass disjoint operands and legal in-place ones. See the aliasing rule of the primitive contract."""
        tensors = [(role, spec) for role, spec in self.descriptor.tensors if spec is not None]
        operands = [(role, spec, memory) for (role, spec), memory in zip(tensors, memories, strict=True)]
        read = [operand for operand in operands if not operand[0].is_written]
        written = [operand for operand in operands if operand[0].is_written]
        for place, target in enumerate(written):
            for operand in (*written[:place], *read):
                self._check_disjoint(operand, target)

    def _check_disjoint(self, operand: _Operand, target: _Operand) -> None:
        """Raise ValueError if an operand shares bytes with one that is written, unless it may be the very same tensor."""
        (name, *_), spec, memory = operand
        (target_name, *_), target_spec, target_memory = target
        distance = memory._distance_to(target_memory)
        if distance is None:
            return
        same = not distance and is_same(spec, target_spec)
        if same and (target_name in operand[0].shares or not target_spec.size):
            return
        shared = True if same else overlap(spec, target_spec, distance)
        if shared is False:
            return
        what = "share" if shared else "may share (too many strides to decide)"
        names = [role.name for role in self.descriptor.roles if target_name in role.shares]
        allowed = f"exactly in place is allowed for {', '.join(names)}" if names else "in place is not allowed"
        how = "as" if same else "without being"
        message = f"{self}: {name} and {target_name} {what} bytes {how} the same tensor; {allowed}; give {target_name} a memory of its own"
        raise ValueError(message)

    def _scalar(self, name: str, dtype: str, value: Any) -> Any:
        try:
            return self._to_number(dtype, value)
        except (TypeError, ValueError) as error:
            message = f"{self}: {name}: {error}"
            raise type(error)(message) from None

    def _require_stream(self, stream: Any) -> None:
        if not hasattr(stream, "_submit"):  # it has a device, and is none: a memory
            self._explain_stream(stream)

    def _explain_stream(self, stream: Any) -> NoReturn:
        if not hasattr(stream, "_submit"):
            message = f"{self}: stream is {type(stream).__name__}, needs a Stream; device.stream() makes one"
            raise TypeError(message) from None
        refuse_device(str(self), "stream is of", stream.device, self.device, f"one of {self.device.name}")

    def _check_names(self, operands: dict[str, Any]) -> None:
        """Raise TypeError unless exactly the needed operands are given; None counts as not given."""
        named = [*zip(self.descriptor.roles, self.descriptor.specs, strict=True)]
        needed = [role.name for role, spec in named if spec is not None and role.default is None]
        missing = [name for name in needed if name not in operands]
        unknown = [name for name in operands if name not in (*self.descriptor.operands, SCRATCH.name)]
        needless = [role.name for role, spec in named if spec is None and operands.get(role.name) is not None]
        if not missing and not unknown and not needless:
            return
        parts = [f"missing {', '.join(missing)}"] if missing else []
        parts += [f"unknown {', '.join(unknown)}"] if unknown else []
        parts += [f"{', '.join(needless)} given, which the descriptor was made without"] if needless else []
        names = [name for name in self.descriptor.operands if name in self._names]
        message = f"{self}: operands are {', '.join(names)}; {'; '.join(parts)}"
        raise TypeError(message)

    def _check_memory(self, name: str, spec: TensorSpec, memory: Memory) -> None:
        if memory.is_closed:
            message = f"{self}: {name} ({memory.nbytes} bytes on {memory.device.name}) was closed; give an open memory"
            raise ClosedError(message)
        if memory.device is not self.device:
            self._refuse_memory(name, memory)
        if memory.nbytes < spec.nbytes:
            message = f"{self}: {name} needs {spec.nbytes} bytes for {spec}, has {memory.nbytes}"
        elif memory.offset % spec.itemsize:
            message = f"{self}: {name} starts at byte {memory.offset}, needs a multiple of the itemsize {spec.itemsize}"
        else:
            return
        raise ValueError(message)

    def _explain_foreign(self, memories: tuple[Memory, ...], place: int) -> NoReturn:
        names = [*(role.name for role, spec in self.descriptor.tensors if spec is not None), SCRATCH.name]
        self._refuse_memory(names[place], memories[place])

    def _refuse_memory(self, name: str, memory: Memory) -> NoReturn:
        refuse_device(str(self), f"{name} is on", memory.device, self.device, f"{self.device.name}; use stream.copy")

    def __str__(self) -> str:
        return self.asked.title

    def __repr__(self) -> str:
        return f"<Primitive {self.asked.cell} by {self.implementation.name} on {self.device.name}>"


def primitive_of(
    device: Device, asked: Descriptor, descriptor: Descriptor, implementation: Implementation, kernel: Kernel
) -> Primitive:
    """Return the primitive of a kernel, of the class whose `__call__` is written for such operands."""
    operands = operands_of(descriptor)
    run: Callable[..., Any] = _do_nothing  # a provider never sees work whose outputs are all empty
    scratch_nbytes = 0
    if not descriptor.is_empty:
        run, scratch_nbytes = kernel.launch, checked_nbytes(kernel.scratch_nbytes, implementation.name)
    kind = _class_with(operands.call(needs_scratch=scratch_nbytes > 0))
    return kind(device, asked, descriptor, implementation, kernel, operands, scratch_nbytes, run)


@functools.cache
def _class_with(call: Callable[..., None] | None) -> type[Primitive]:
    """Return the class of the primitives that are called by `call`, Primitive itself for None."""
    if call is None:
        return Primitive
    namespace = {"__slots__": (), "__call__": call, "__doc__": Primitive.__doc__, "__module__": __name__}
    return type("Primitive", (Primitive,), namespace)


def _placed(absent: tuple[int, ...], memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """Return memories with None at the places that are absent."""
    placed: list[Any] = [*memories]
    for place in absent:
        placed.insert(place, None)
    return tuple(placed)


def _run_placed(
    run: Callable[..., Any],
    absent: tuple[int, ...],
    stream: Stream,
    memories: tuple[Memory, ...],
    scalars: tuple[Any, ...],
) -> None:
    """Launch a kernel some of whose tensors are absent, with the memories of the others."""
    run(stream, _placed(absent, memories), scalars)


def _do_nothing(*_: Any) -> None:
    """Run what has no elements to write."""
