"""The peer itself: arrays of the inputs on the device, and the form of the family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pyopencl as cl
from ep_primitives.judging.reference import array_dtype
from pyopencl import array as cl_array
from pyopencl.tools import ImmediateAllocator, MemoryPool

import ep
from ep_benchmarks.peers.opencl.arrays import elementwise, whole
from ep_benchmarks.peers.opencl.device import DevicePeer
from ep_benchmarks.peers.peer import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

    Form = Callable[[Any, Mapping[str, Any], cl.CommandQueue], Callable[[], Any] | None]

__all__ = ["PEER"]

_FOREIGN: Final = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
"""Types that no array of pyopencl's has."""
_FORMS: Final[Mapping[str, Form]] = {**elementwise.FORMS, **whole.FORMS}
"""By family, from descriptor, arrays and queue to the function that is timed, which returns the result; None without a form."""


class _Arrays(DevicePeer):
    name: ClassVar[str] = "pyopencl"
    goal: ClassVar[float] = 10.0

    @property
    def version(self) -> str:
        return str(cl.VERSION_TEXT)

    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        queue = self.queue
        form = _FORMS.get(descriptor.family)
        if form is None or not all(_has(spec, queue.device) for spec in descriptor.specs if spec is not None):
            return None
        # Results are allocated anew by each call. pyopencl's documentation recommends a pool for that.
        pool = MemoryPool(ImmediateAllocator(queue))
        given = {name: _on_device(queue, value, pool) for name, value in inputs.items()}
        work = form(descriptor, given, queue)
        if work is None:
            return None
        made: list[cl_array.Array] = []

        def run() -> None:
            made[:] = [work()]

        def results() -> Mapping[str, Array]:
            ((name, spec),) = descriptor.outputs.items()
            # Comparisons give bytes, and a reduction of all elements gives one without a shape.
            return {name: made[0].get(queue).reshape(spec.shape).astype(array_dtype(spec.dtype), copy=False)}

        return Call(run, results, queue.finish)


def _has(spec: ep.TensorSpec | ep.Scalar, device: cl.Device) -> bool:
    """Say whether arrays can hold an operand: float16 needs an extension of the device, and views cannot be used in formulas."""
    if spec.dtype in _FOREIGN or (spec.dtype == "float16" and "cl_khr_fp16" not in device.extensions.split()):
        return False
    return not isinstance(spec, ep.TensorSpec) or spec.is_dense


def _on_device(queue: cl.CommandQueue, value: Any, pool: MemoryPool) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    dense = np.ascontiguousarray(value)
    # pyopencl's own comparisons give int8, and its kernels do not know bool.
    return cl_array.to_device(queue, dense.view(np.int8) if dense.dtype == np.bool_ else dense, allocator=pool)


PEER: Final = _Arrays()
"""What the entry point names."""
