"""A sample placed on a device: its operands in memory, and a step that is bound to them."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from ep_primitives.judging.layout import gather, scatter, view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.judging.layout import Buffer
    from ep_primitives.judging.reference import Array

    import ep

__all__ = ["Placed"]


class Placed:
    """The operands of a descriptor on the device of a stream, and the bound step that is timed.

    buffers  : the bytes of each operand that is read, as uploaded
    memories : of each tensor

    Raises UnsupportedError where the provider has nothing for the descriptor.
    """

    def __init__(self, stream: ep.Stream, descriptor: ep.Descriptor, data: Mapping[str, Any]) -> None:
        primitive = descriptor.on(stream.device)
        self.descriptor = descriptor
        self.is_lowered = primitive.is_lowered
        self.buffers: dict[str, Buffer] = {}
        self._stream = stream
        self._numbers = {role.name: data[role.name] for role, spec in descriptor.numbers if spec is not None}
        self.memories: dict[str, ep.Memory] = {}
        for role, spec in descriptor.tensors:
            if spec is not None:
                memory = self.memories[role.name] = stream.device.allocate(spec.nbytes)
                self._write(role.name, spec, memory, data.get(role.name))
        stream.synchronize()
        self._step = primitive.bind(**self.memories, **self._numbers)

    def _write(self, name: str, spec: ep.TensorSpec, memory: ep.Memory, array: Array | None) -> None:
        """Upload an input; write an output once, so that its pages are memory of their own."""
        if array is None:
            self._stream.fill(memory, b"\0")
            return
        buffer = self.buffers[name] = np.zeros(spec.nbytes, np.uint8)
        scatter(spec, array, buffer)
        self._stream.upload(memory, buffer)

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs by operand, as arrays with the strides of their specs or as numbers."""
        return self.part(self.descriptor)

    def part(self, part: ep.Descriptor) -> dict[str, Any]:
        """Return the inputs of a part of the work: of a descriptor over windows of the same memories."""
        present = part.present
        tensors = {name: view(present[name], buffer) for name, buffer in self.buffers.items()}  # type: ignore[arg-type]  # tensors have buffers
        found = {**tensors, **self._numbers}
        return {name: found[name] for name in part.operands if name in found}

    def run(self, count: int) -> None:
        """Run the step so often, to its end."""
        step, stream = self._step, self._stream
        for _ in repeat(None, count):
            step(stream)
        stream.synchronize()

    def written(self) -> dict[str, Buffer]:
        """Return the bytes of every operand that a launch writes."""
        found: dict[str, Buffer] = {}
        for name in self.descriptor.written:
            memory = self.memories[name]
            buffer = found[name] = np.empty(memory.nbytes, np.uint8)
            self._stream.download(buffer, memory)
        self._stream.synchronize()
        return found

    def results(self) -> dict[str, Array]:
        """Return the outputs by name, dense."""
        buffers = self.written()
        return {name: gather(spec, buffers[name]) for name, spec in self.descriptor.outputs.items()}

    def wipe(self) -> None:
        """Write over what was computed, so that nobody finds it there."""
        for name in self.descriptor.written:
            if name not in self.buffers:
                self._stream.fill(self.memories[name], b"\x2a")
        self._stream.synchronize()

    def close(self) -> None:
        """Give everything back."""
        self._step.close()
        for memory in self.memories.values():
            memory.close()
