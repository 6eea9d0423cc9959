"""A Primitive is a descriptor made runnable on a device; a Step is one with its operands bound."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from ep.descriptor import Descriptor
from ep.dtypes import convert, convert_element
from ep.errors import ClosedError
from ep.interchange import operand_memory
from ep.memory import Memory
from ep.namesakes import refuse_device
from ep.operands import checker
from ep.overlap import is_same, overlap
from ep.spec import Scalar, TensorSpec
from ep.tensor import Tensor
from ep.uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.device import Device
    from ep.implementation import Implementation, Kernel
    from ep.stream import Stream

    _Operand = tuple[str, TensorSpec, Memory]
    _Conversion = Callable[[str, Any], Any]

__all__ = ["Primitive", "Step"]

_NOTHING: Final = ()


@final
class Primitive(Uncopied):
    """What runs a descriptor on a device, made by `descriptor.on(device)`. Immutable; shared by threads and streams.

    asked           : the descriptor that was given
    descriptor      : the one that runs: `asked`, or what it lowered to
    implementation  : the row of the provider's table that accepted it
    kernel          : what that made of the descriptor
    """

    __slots__ = (
        "_bind",
        "_check",
        "_check_numbers",
        "_launch",
        "_scalars",
        "asked",
        "descriptor",
        "device",
        "implementation",
        "kernel",
    )

    def __init__(
        self, device: Device, asked: Descriptor, descriptor: Descriptor, implementation: Implementation, kernel: Kernel
    ) -> None:
        self.device = device
        self.asked = asked
        self.descriptor = descriptor
        self.implementation = implementation
        self.kernel = kernel
        # A provider never sees an empty output.
        self._launch = kernel.launch if descriptor.out.size else _do_nothing
        self._bind = kernel.bind if descriptor.out.size else _bind_nothing
        self._scalars = _scalars_of(descriptor) if True in descriptor.key.scalars else _NOTHING
        self._check = checker(descriptor, device)
        is_limited = type(descriptor).check_numbers is not Descriptor.check_numbers
        self._check_numbers = descriptor.check_numbers if is_limited else None

    @property
    def is_lowered(self) -> bool:
        """True if another family's kernel runs in place of the descriptor that was asked for."""
        return self.descriptor is not self.asked

    def __call__(self, stream: Stream, **operands: Any) -> None:
        """Check the operands and enqueue one run.

        stream    : of this primitive's device
        operands  : for each tensor a Memory of the device, a Tensor of the descriptor's spec, or an object that the device
                    reaches; for each Scalar a number, unless the descriptor has a default for it. Memories are read and written when the stream gets there

        Raises TypeError, ValueError or ClosedError, naming the operand, before anything is enqueued.
        """
        memories = self._check(self, stream, operands)
        scalars = self._convert(operands) if self._scalars else _NOTHING
        try:
            stream._submit(self, memories, scalars, self._launch)
        except AttributeError:
            if not hasattr(stream, "_submit"):  # has a device, and is none: a memory
                self._explain_stream(stream)
            raise

    def bind(self, **operands: Any) -> Step:
        """Check the operands once and return a step; `step(stream)` enqueues the run and costs almost nothing.

        The step holds its memories: close() on one of them returns its bytes when the step is closed or gone.
        Raises as a call does.
        """
        self.device._check_fork(f"bind of {self}")
        return Step(self, self._settle(operands), self._convert(operands), self._bind)

    def _launchable(self, stream: Any, operands: dict[str, Any]) -> tuple[Memory, ...]:
        """Do at length what `_check` does in short; in short again, where Tensors of the right description hide memories."""
        if Tensor in map(type, operands.values()):
            given = self._unwrapped(operands)
            if Tensor not in map(type, given.values()):
                return self._check(self, stream, given)
        if getattr(stream, "device", None) is not self.device:
            self._explain_stream(stream)
        return self._settle(operands)

    def _unwrapped(self, operands: dict[str, Any]) -> dict[str, Any]:
        """Return operands with memories in place of Tensors, but for those of another description."""
        given = operands.copy()
        for name, spec in zip(self.asked.operands, self.asked.specs, strict=True):
            tensor = given.get(name)
            if type(tensor) is Tensor and tensor.spec == spec:
                given[name] = tensor.memory
        return given

    def _settle(self, operands: dict[str, Any]) -> tuple[Memory, ...]:
        """Return the memories of operands of any kind, in operand order, or say what is wrong with them."""
        names = self.descriptor.operands
        if operands.keys() != set(names):
            self._check_names(operands)
        written = self.descriptor.written
        memories = []
        # An array lies as the descriptor says that was asked for, even where a lowered one sees it otherwise.
        for name, spec in zip(names, self.asked.specs, strict=True):
            if isinstance(spec, Scalar):
                continue
            operand = operands[name]
            if type(operand) is not Memory:
                operand = operand_memory(f"{self}: {name}", operand, spec, self.device, written=name in written)
            self._check_memory(name, spec, operand)
            if name in written:
                operand._require_writable(f"{self}: {name}")
            memories.append(operand)
        self._check_aliasing(memories)
        return tuple(memories)

    def _convert(self, operands: dict[str, Any]) -> tuple[Any, ...]:
        given = {**self.descriptor.defaults, **operands} if self.descriptor.defaults else operands
        numbers = tuple([self._scalar(name, dtype, given[name], convert) for name, dtype, convert in self._scalars])
        if self._check_numbers is not None:
            self._check_numbers(numbers)
        return numbers

    def _check_aliasing(self, memories: list[Memory]) -> None:
        """Pass disjoint operands and legal in-place ones. See the aliasing rule of the primitive contract."""
        descriptor = self.descriptor
        named = zip(descriptor.operands, descriptor.specs, strict=True)
        tensors = [(name, spec) for name, spec in named if isinstance(spec, TensorSpec)]
        *inputs, out = [(name, spec, memory) for (name, spec), memory in zip(tensors, memories, strict=True)]
        for operand in inputs:
            self._check_disjoint(operand, out, in_place=operand[0] in descriptor.inplace)
        for updated in inputs if descriptor.updates else ():
            if updated[0] in descriptor.updates:
                for operand in inputs:
                    if operand is not updated:
                        self._check_disjoint(operand, updated, in_place=False)

    def _check_disjoint(self, operand: _Operand, target: _Operand, *, in_place: bool) -> None:
        """Raise ValueError if an operand shares bytes with one that is written, unless it may be the very same tensor."""
        name, spec, memory = operand
        target_name, target_spec, target_memory = target
        distance = memory._distance_to(target_memory)
        if distance is None:
            return
        same = not distance and is_same(spec, target_spec)
        if same and (in_place or not target_spec.size):
            return
        shared = True if same else overlap(spec, target_spec, distance)
        if shared is False:
            return
        what = "share" if shared else "may share (too many strides to decide)"
        names = self.descriptor.inplace
        allowed = f"exactly in place is allowed for {', '.join(names)}" if names else "in place is not allowed"
        how = "as" if same else "without being"
        message = f"{self}: {name} and {target_name} {what} bytes {how} the same tensor; {allowed}; give {target_name} a memory of its own"
        raise ValueError(message)

    def _scalar(self, name: str, dtype: str, value: Any, convert: _Conversion) -> Any:
        try:
            return convert(dtype, value)
        except (TypeError, ValueError) as error:
            message = f"{self}: {name}: {error}"
            raise type(error)(message) from None

    def _explain_stream(self, stream: Any) -> NoReturn:
        if not hasattr(stream, "_submit"):
            message = f"{self}: stream is {type(stream).__name__}, needs a Stream; device.stream() makes one"
            raise TypeError(message) from None
        refuse_device(str(self), "stream is of", stream.device, self.device, f"one of {self.device.name}")

    def _check_names(self, operands: dict[str, Any]) -> None:
        names = self.descriptor.operands
        missing = [name for name in names if name not in operands and name not in self.descriptor.defaults]
        unknown = [name for name in operands if name not in names]
        if not missing and not unknown:
            return
        parts = [f"missing {', '.join(missing)}"] if missing else []
        parts += [f"unknown {', '.join(unknown)}"] if unknown else []
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
        tensors = [
            name
            for name, spec in zip(self.descriptor.operands, self.descriptor.specs, strict=True)
            if isinstance(spec, TensorSpec)
        ]
        self._refuse_memory(tensors[place], memories[place])

    def _refuse_memory(self, name: str, memory: Memory) -> NoReturn:
        refuse_device(str(self), f"{name} is on", memory.device, self.device, f"{self.device.name}; use stream.copy")

    def __str__(self) -> str:
        return self.asked.title

    def __repr__(self) -> str:
        return f"<Primitive {self.asked.cell} by {self.implementation.name} on {self.device.name}>"


@final
class Step(Uncopied):
    """A primitive with its operands bound: `step(stream)` enqueues one run. Used by one thread at a time.

    Holds its memories until close() or its end.
    """

    __slots__ = ("_device", "_leases", "_run", "memories", "primitive", "scalars")

    def __init__(
        self, primitive: Primitive, memories: tuple[Memory, ...], scalars: tuple[Any, ...], bind: Callable[..., Any]
    ) -> None:
        self.primitive = primitive
        self.memories = memories
        self.scalars = scalars
        self._leases = tuple([memory._block.keep() for memory in memories])
        self._run: Callable[..., Any] = bind(memories, scalars)
        self._device = primitive.device

    def __call__(self, stream: Stream) -> None:
        """Enqueue one run on a stream of the primitive's device."""
        # The memories are held, so the door has nothing to check: it numbers, and whoever replaced it sees the step.
        try:
            if stream.device is not self._device:
                self.primitive._explain_stream(stream)
            stream._submit(self, _NOTHING, _NOTHING, self._run)
        except AttributeError:
            if not hasattr(stream, "_submit"):  # perhaps it has a device, as memories have
                self.primitive._explain_stream(stream)
            raise

    def close(self) -> None:
        """Let go of the memories. Idempotent; the step cannot be run afterwards."""
        self._run = functools.partial(_refuse, self.primitive)  # no method of its own: it would refer to itself
        self._leases = ()

    def _require_open(self) -> None:
        if not self._leases:
            _refuse(self.primitive)

    def __str__(self) -> str:
        return str(self.primitive)

    def __repr__(self) -> str:
        return f"<Step of {self.primitive!r}>"


def _scalars_of(descriptor: Descriptor) -> tuple[tuple[str, str, _Conversion], ...]:
    """Return the names and dtypes of the operands that are numbers, and what holds a launch's."""
    named = zip(descriptor.operands, descriptor.specs, strict=True)
    how = convert_element if descriptor.compares_elements else convert
    return tuple((name, spec.dtype, how) for name, spec in named if isinstance(spec, Scalar))


def _refuse(primitive: Primitive, *_: Any) -> NoReturn:
    """Take the place of what a closed step ran."""
    message = f"{primitive}: the bound step was closed; bind again"
    raise ClosedError(message)


def _do_nothing(*_: Any) -> None:
    """Run an empty output."""


def _bind_nothing(*_: Any) -> Callable[..., None]:
    """Bind an empty output."""
    return _do_nothing
