"""The peer itself: tensors of the inputs, outputs that exist beforehand, and the form of the family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import torch
from ep.exchange import dlpack
from ep_primitives.judging.pytorch import tensor, untensor

import ep
from ep_benchmarks.peers.peer import Call, Peer
from ep_benchmarks.peers.pytorch import computed, elementwise, moved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

    Form = Callable[[Any, Mapping[str, Any], Mapping[str, torch.Tensor]], Callable[[], Any] | None]

__all__ = ["PEER", "place_beside"]

_FORMS: Final[Mapping[str, Form]] = {**elementwise.FORMS, **moved.FORMS, **computed.FORMS}
"""By family, from descriptor, inputs and outputs to the function that is timed: one that writes the outputs, or returns the first."""


def place_beside(device: ep.Device) -> str:
    """Return where PyTorch's tensors lie beside a device, in its words: on the same, if it has that, else on the CPU."""
    kind, index = device.twin.dlpack_device() if device.provider.name == "cuda" else (dlpack.CPU, 0)
    return f"cuda:{index}" if kind == dlpack.CUDA and torch.cuda.is_available() else "cpu"


class _PyTorch(Peer):
    name: ClassVar[str] = "torch"

    def __init__(self) -> None:
        self._device = "cpu"

    @property
    def version(self) -> str:
        return str(torch.__version__)

    def use_threads(self, count: int) -> None:
        torch.set_num_threads(count)

    def use_device(self, device: ep.Device) -> None:
        self._device = place_beside(device)
        torch.backends.cudnn.allow_tf32 = False  # as its products do, and EP, unless asked

    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        form = _FORMS.get(descriptor.family)
        if form is None or not all(hasattr(torch, spec.dtype) for spec in descriptor.specs if spec is not None):
            return None
        given = {name: self._given(descriptor, name, value) for name, value in inputs.items()}
        outs = {name: self._empty(spec) for name, spec in descriptor.outputs.items()}
        with torch.inference_mode():
            run = form(descriptor, given, outs)
            if run is None:
                return None
            made = run()
        first, *_ = outs
        if isinstance(made, torch.Tensor) and made.data_ptr() != outs[first].data_ptr():
            outs[first] = made  # of a form that allocates; later runs make the same

        def results() -> Mapping[str, Array]:
            return {
                name: untensor(spec.dtype, outs[name].cpu()).reshape(spec.shape)
                for name, spec in descriptor.outputs.items()
            }

        return Call(run, results) if self._device == "cpu" else Call(run, results, torch.cuda.synchronize)

    def _given(self, descriptor: ep.Descriptor, name: str, value: Any) -> Any:
        spec = descriptor.present[name]
        if not isinstance(value, np.ndarray) or not isinstance(spec, ep.TensorSpec):
            return value
        return self._empty(spec).copy_(tensor(spec.dtype, value))

    def _empty(self, spec: ep.TensorSpec) -> torch.Tensor:
        flat = torch.zeros(spec.lo + spec.hi, dtype=getattr(torch, spec.dtype), device=self._device)
        return flat.as_strided(spec.shape, spec.strides, spec.offset)


PEER: Final = _PyTorch()
"""What the entry point names."""
