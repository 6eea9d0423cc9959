"""CuPy as a peer on CUDA: NumPy's forms over arrays of the device. It has no element type of 16 bits but float16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.exchange import dlpack
from ep_primitives.judging.reference import array_dtype

import ep
from ep_benchmarks.peers.array import FOREIGN, FORMS
from ep_benchmarks.peers.peer import Call, Peer

try:
    import cupy
except ModuleNotFoundError:
    message = "peer cupy is not installed: pip install cupy-cuda13x, or the wheel of CuPy for another version of CUDA"
    raise ep.UnavailableError(message) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["PEER"]


def _random(xp: Any, descriptor: Any, given: Mapping[str, Any], outs: dict[str, Any]) -> Callable[[], Any] | None:
    """Return the form that allocates: CuPy 14.2 writes but some of an array that is given as `out`."""
    del given
    generator, out = xp.random.default_rng(0), outs["out"]
    forms: Mapping[str, Any] = {"uniform": generator.random, "normal": generator.standard_normal}
    form = forms.get(descriptor.op)
    if form is None:
        return None

    def draw() -> None:
        outs["out"] = form(out.shape, out.dtype)

    return draw


_FORMS: Final[Mapping[str, Any]] = {**FORMS, "random_fill": _random}


class _CuPy(Peer):
    name: ClassVar[str] = "cupy"

    @property
    def version(self) -> str:
        return str(cupy.__version__)

    def use_threads(self, count: int) -> None:
        """Leave it: the work is the device's."""

    def use_device(self, device: ep.Device) -> None:
        kind, index = device.twin.dlpack_device()
        if kind != dlpack.CUDA:
            message = f"peer cupy runs on CUDA, and {device.name} is none of its devices; choose --provider cuda"
            raise ep.UnavailableError(message)
        cupy.cuda.Device(index).use()

    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        if any(spec.dtype in FOREIGN for spec in descriptor.specs if spec is not None):
            return None
        form = _FORMS.get(descriptor.family)
        if form is None:
            return None
        given = {name: self._given(descriptor.present[name], value) for name, value in inputs.items()}
        outs = {name: self._empty(spec) for name, spec in descriptor.outputs.items()}
        run = form(cupy, descriptor, given, outs)

        def results() -> Mapping[str, Any]:
            return {name: cupy.asnumpy(out) for name, out in outs.items()}

        return run and Call(run, results, cupy.cuda.get_current_stream().synchronize)

    def _given(self, spec: Any, value: Any) -> Any:
        if not isinstance(spec, ep.TensorSpec):
            return value
        array = self._empty(spec)
        array[...] = cupy.asarray(value)
        return array

    @staticmethod
    def _empty(spec: ep.TensorSpec) -> Any:
        flat = cupy.zeros(spec.lo + spec.hi, array_dtype(spec.dtype))
        steps = [step * flat.itemsize for step in spec.strides]
        return cupy.lib.stride_tricks.as_strided(flat[spec.offset :], spec.shape, steps)


PEER: Final = _CuPy()
"""What the entry point names."""
