"""Planted defects of determinism and of rounding: each result by itself is within its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.values import ArrayKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep
    from ep_conformance.saboteurs.implementations import HonestKernel

__all__ = ["ComputesTailsApart", "TruncatesSums", "WaversByAnUlp"]

_LANES: Final = 16

Array = npt.NDArray[Any]


def _add_an_ulp(values: Array) -> None:
    """Replace each finite number by the next one."""
    with np.errstate(all="ignore"):
        values[...] = np.where(np.isfinite(values), np.nextafter(values, np.inf, dtype=values.dtype), values)


class _WaversByAnUlp(ArrayKernel):
    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        self._launches = 0

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        self._launches += 1
        if self.descriptor.op == "elu" and self.descriptor.out.dtype == "float32" and self._launches % 2:
            _add_an_ulp(self.array(operands, "out"))


class WaversByAnUlp(HonestProvider):
    """Add an ulp to the results of every second launch."""

    kernel_type: ClassVar[type[HonestKernel]] = _WaversByAnUlp


class _ComputesTailsApart(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        out = self.descriptor.out
        if self.descriptor.op == "elu" and out.dtype == "float32" and out.is_dense:
            _add_an_ulp(self.array(operands, "out").reshape(-1)[out.size // _LANES * _LANES :])


class ComputesTailsApart(HonestProvider):
    """Compute the elements that fill no vector of 16 by another formula, an ulp off."""

    kernel_type: ClassVar[type[HonestKernel]] = _ComputesTailsApart


class _TruncatesSums(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        is_product = self.descriptor.family == "matmul" and len(operands) == len(("a", "b", "alpha", "beta", "out"))
        if not is_product or self.descriptor.out.dtype != "float32" or (operands["alpha"], operands["beta"]) != (1, 0):
            return
        a, b, out = (self.array(operands, name) for name in ("a", "b", "out"))
        if a.dtype == np.float32 and a.ndim == b.ndim == 2 and np.isfinite(a).all() and np.isfinite(b).all():  # noqa: PLR2004 - matrices
            out[...] = _truncated_product(a, b)


def _truncated_product(a: Array, b: Array) -> Array:
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        exact = total.astype(np.float64) + a[:, k, None].astype(np.float64) * b[k].astype(np.float64)
        near = exact.astype(np.float32)
        is_beyond = np.abs(near.astype(np.float64)) > np.abs(exact)
        total = np.where(is_beyond, np.nextafter(near, np.float32(0)), near)
    return total


class TruncatesSums(HonestProvider):
    """Round each sum of a matrix product towards zero."""

    kernel_type: ClassVar[type[HonestKernel]] = _TruncatesSums
