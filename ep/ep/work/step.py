"""A Step is a primitive with its operands bound."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn, final

from ep.errors import ClosedError
from ep.ground.uncopied import Uncopied

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep.memory.memory import Memory
    from ep.stream.stream import Stream
    from ep.work.primitive import Primitive

__all__ = ["Step"]


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
        self._leases: tuple[Any, ...] | None = tuple([memory._block.keep() for memory in memories])
        self._run: Callable[..., Any] = bind(primitive._placed(memories), scalars)
        self._device = primitive.device

    def __call__(self, stream: Stream) -> None:
        """Enqueue one run on a stream of the primitive's device."""
        # The memories are held, so the door checks nothing: it numbers the enqueue, and doors before it see the step.
        try:
            if stream.device is not self._device:
                self.primitive._explain_stream(stream)
            stream._submit(self, (), (), self._run)
        except AttributeError:
            if not hasattr(stream, "_submit"):  # perhaps it has a device, as memories have
                self.primitive._explain_stream(stream)
            raise

    def close(self) -> None:
        """Let go of the memories. Idempotent; the step cannot be run afterwards."""
        self._run = functools.partial(_refuse, self.primitive)  # no method of its own: it would refer to itself
        self._leases = None

    def _require_open(self) -> None:
        if self._leases is None:
            _refuse(self.primitive)

    def __str__(self) -> str:
        return str(self.primitive)

    def __repr__(self) -> str:
        return f"<Step of {self.primitive!r}>"


def _refuse(primitive: Primitive, *_: Any) -> NoReturn:
    """Run in place of a closed step's launch: raise."""
    message = f"{primitive}: the bound step was closed; bind again"
    raise ClosedError(message)
