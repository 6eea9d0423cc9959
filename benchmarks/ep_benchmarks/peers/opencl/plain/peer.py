"""The peer itself: buffers of the operands, the kernels of the family with their arguments set, and what enqueues them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyopencl as cl
from ep_primitives.judging.layout import gather, scatter
from ep_primitives.judging.reference import array_dtype

import ep
from ep_benchmarks.peers.opencl.device import DevicePeer
from ep_benchmarks.peers.opencl.plain import elementwise, moved, normalised, reduced
from ep_benchmarks.peers.opencl.plain.program import TYPES, built, source
from ep_benchmarks.peers.peer import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

    from ep_benchmarks.peers.opencl.plain.launch import Form, Launch

__all__ = ["PEER"]

_FORMS: Final[Mapping[str, Form]] = {**elementwise.FORMS, **moved.FORMS, **reduced.FORMS, **normalised.FORMS}
"""By family, from a descriptor to its launches, None without a form."""


class _Plain(DevicePeer):
    name: ClassVar[str] = "plain"
    goal: ClassVar[float] = 0.8

    def __init__(self) -> None:
        super().__init__()
        self._memories: Mapping[str, ep.Memory] = {}

    @property
    def version(self) -> str:
        return f"kernels, a short text a family, by pyopencl {cl.VERSION_TEXT}"

    def use_memories(self, memories: Mapping[str, ep.Memory]) -> None:
        self._memories = memories

    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        queue, memories, self._memories = self.queue, self._memories, {}
        form = _FORMS.get(descriptor.family)
        if form is None or any(spec.dtype not in TYPES for spec in descriptor.specs if spec is not None):
            return None
        work = form(descriptor)
        if work is None:
            return None
        present = {**descriptor.present, **work.between}
        arguments = {
            name: _shared(queue, memories.get(name)) or _argument(queue, spec, inputs.get(name))
            for name, spec in present.items()
        }
        runs = [_enqueuing(queue, launch, present, arguments) for launch in work.launches]

        def results() -> Mapping[str, Array]:
            return {name: _downloaded(queue, spec, arguments[name]) for name, spec in descriptor.outputs.items()}

        return Call(runs[0] if len(runs) == 1 else partial(_all, runs), results, queue.finish)


def _shared(queue: cl.CommandQueue, memory: ep.Memory | None) -> cl.Buffer | None:
    """Return the bytes of a memory of EP's that is of the queue's context, None where there is none."""
    handle = memory.handle if memory is not None else None
    if memory is None or not isinstance(handle, cl.Buffer) or handle.context != queue.context or not memory.nbytes:
        return None
    return handle.get_sub_region(memory.offset, memory.nbytes)


def _argument(queue: cl.CommandQueue, spec: ep.TensorSpec | ep.Scalar, value: Any) -> Any:
    """Return a number in its kernel's type, or a buffer with an input's bytes where its spec has them."""
    if isinstance(spec, ep.Scalar):
        return array_dtype("float32" if spec.dtype == "float16" else spec.dtype).type(value)
    flags = cl.mem_flags.READ_WRITE
    if value is None:
        return cl.Buffer(queue.context, flags, spec.nbytes)
    stored = np.zeros(spec.nbytes, np.uint8)
    scatter(spec, value, stored)
    return cl.Buffer(queue.context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=stored)


def _enqueuing(
    queue: cl.CommandQueue, launch: Launch, present: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Callable[[], Any]:
    """Return what enqueues a launch. Its arguments are set once, the cheapest that pyopencl offers."""
    kernel = cl.Kernel(built(queue.context, source(launch, present)), launch.kernel)
    kernel.set_args(*(arguments[operand] for operand in launch.operands.values()))
    return partial(cl.enqueue_nd_range_kernel, queue, kernel, launch.sizes, launch.group)


def _all(runs: list[Callable[[], Any]]) -> None:
    for run in runs:
        run()


def _downloaded(queue: cl.CommandQueue, spec: ep.TensorSpec, buffer: cl.Buffer) -> Array:
    stored = np.empty(spec.nbytes, np.uint8)
    cl.enqueue_copy(queue, stored, buffer)
    return gather(spec, stored)


PEER: Final = _Plain()
"""What the entry point names."""
