"""An Implementation is one way to run one kind of descriptor; it makes a Kernel of each descriptor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ep.errors import UnsupportedError
from ep.ground.glimpse import glimpse

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from ep.layout.device_info import DeviceInfo
    from ep.memory.memory import Memory
    from ep.spi.device import Device
    from ep.spi.stream import Stream
    from ep.work.descriptor import Descriptor
    from ep.work.key import KernelKey

    Launch = Callable[[Stream, tuple[Memory, ...], tuple[Any, ...]], Any]

__all__ = ["Implementation", "Kernel", "choose", "code_key", "created", "refusal"]


class Kernel(ABC):
    """Compiled code with the geometry of one descriptor. Immutable; launched from several threads and streams at once.

    scratch_nbytes : bytes that a launch needs beside its operands, from descriptor and device alone. EP gives the memory to
                     `launch` and `bind`, as the last of `memories`, aligned as the device aligns; what it holds is undefined.
                     A worker finds it closed for the host, as any memory may be by then: its handle is good
    """

    scratch_nbytes: int = 0

    @abstractmethod
    def launch(self, stream: Stream, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> None:
        """Enqueue one run. Everything is validated already.

        memories : of the tensor operands, in operand order: `descriptor.tensors`
        scalars  : numbers of the Scalar operands, in operand order, in their compute types: `descriptor.numbers`

        An optional operand that is absent keeps its place in either, as None. Scratch, if the kernel asks for any,
        comes after the tensors.
        """

    def bind(self, memories: tuple[Memory, ...], scalars: tuple[Any, ...]) -> Launch:
        """Return a launch that ignores the operands of its calls and runs these; it has its own argument storage.

        Used by one thread at a time. Override it to do the work of `launch` once in place of each time: a call through
        another function costs a fifth of a bound step's budget.
        """
        launch = self.launch

        def run(stream: Stream, _: Any, __: Any) -> None:
            launch(stream, memories, scalars)

        return run


class Implementation(ABC):
    """One row of a provider's table; `name` is the strategy's, not the vendor's."""

    @property
    def name(self) -> str:
        """The class name, unless overridden."""
        return type(self).__name__

    @abstractmethod
    def accepts(self, descriptor: Any, info: DeviceInfo) -> bool:
        """Return True if this implementation runs the descriptor on such a device. Pure; compiles nothing.

        Raises UnsupportedError to refuse; its message is the reason that a user reads.
        """

    def specialise(self, descriptor: Any) -> Hashable:
        """Return what the code may depend on beyond the key, such as shapes for a compiler that needs them. Pure.

        It becomes `special` of the key that `compile` gets: descriptors with equal keys and equal values share code,
        and each other value is another compilation. The least recently used code is forgotten; `device.compiles`
        counts.
        Default: None, nothing.
        """
        del descriptor
        return None

    def compile(self, key: KernelKey, device: Device) -> Any:
        """Return the code that all descriptors of a key share; EP caches it, on each device. Raises CompileError.

        key    : all that the code may depend on. Sizes, attributes and numbers of a launch are not in it, unless
                 `specialise` returned them: its value is key.special

        Default: None, for implementations without code of their own to compile.
        """
        del key, device

    @abstractmethod
    def create(self, descriptor: Any, device: Device, code: Any) -> Kernel:
        """Return the kernel of one descriptor over compiled code. Compiles nothing; microseconds matter.

        descriptor : one that `accepts` took
        code       : what `compile` returned for its key and specialisation
        """

    def __repr__(self) -> str:
        return f"<{self.name}>"


def refusal(implementation: Implementation, descriptor: Descriptor, info: DeviceInfo) -> str | None:
    """Return why an implementation refuses a descriptor, None if it accepts."""
    try:
        accepted = implementation.accepts(descriptor, info)
    except UnsupportedError as error:
        return f"{implementation.name}: {error}"
    if accepted is True:
        return None
    if accepted is False:
        return f"{implementation.name}: refused without a reason"
    message = (
        f"{implementation.name}.accepts returned {accepted!r}; return True, or raise UnsupportedError with a reason"
    )
    raise TypeError(message)


def code_key(implementation: Implementation, descriptor: Descriptor) -> KernelKey:
    """Return the key of a descriptor's code. Raises TypeError for a specialisation without a hash."""
    special = implementation.specialise(descriptor)
    if special is None:
        return descriptor.key
    try:
        hash(special)
    except TypeError:
        message = f"{implementation.name}.specialise returned {glimpse(special)}, which has no hash; return such as a tuple of numbers"
        raise TypeError(message) from None
    return descriptor.key._replace(special=special)


def created(implementation: Implementation, descriptor: Descriptor, device: Device, code: Any) -> Kernel:
    """Return what an implementation creates. Raises TypeError for what is no kernel."""
    kernel: object = implementation.create(descriptor, device, code)
    if not isinstance(kernel, Kernel):
        message = f"{implementation.name}.create returned {glimpse(kernel)}, needs an instance of a subclass of ep.Kernel; return one"
        raise TypeError(message)
    return kernel


def choose(
    implementations: Iterable[Implementation], descriptor: Descriptor, info: DeviceInfo, reasons: list[str]
) -> Implementation | None:
    """Return the first implementation that accepts; the others' reasons are appended to `reasons`."""
    for implementation in implementations:
        reason = refusal(implementation, descriptor, info)
        if reason is None:
            return implementation
        reasons.append(reason)
    return None
