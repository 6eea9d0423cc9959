"""Matmul by cuBLASLt, and the portable kernels for what it leaves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import ep_simt
from ep_primitives import Matmul

import ep
from ep_cuda.cublas.kernel import CublasLtKernel, PortableProduct
from ep_cuda.cublas.problem import problem_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.work.key import KernelKey

    from ep_cuda.cublas.library import CublasLt
    from ep_cuda.device import CudaDevice

__all__ = ["CublasLtMatmul", "PortableBeside"]

_UNKNOWN: Final = frozenset({"uint8"})


class CublasLtMatmul(ep.Implementation):
    """Products of matrices that lie by rows or by columns, in one batch, with a bias along the contiguous extent.

    One algorithm a descriptor, by the library's heuristic among those that sum without atomic operations and in the accumulation
    type: equal calls give equal bits as long as device, release and the alignment of the operands to 16 bytes are equal.
    Float32 is rounded to TF32 only with EP_CUDA_TF32=1.
    """

    def accepts(self, descriptor: Matmul, info: ep.DeviceInfo) -> bool:
        if self._is_emulated(info):
            message = "cuBLASLt has code for devices alone, and this one is emulated"
            raise ep.UnsupportedError(message)
        if descriptor.a.dtype in _UNKNOWN:
            message = f"cuBLASLt has no products of {descriptor.a.dtype}"
            raise ep.UnsupportedError(message)
        problem_of(descriptor)
        return True

    @staticmethod
    def _is_emulated(info: ep.DeviceInfo) -> bool:
        return "emulated" in info.features

    def compile(self, key: KernelKey, device: CudaDevice) -> tuple[CublasLt, Mapping[str, ep_simt.Function]]:  # type: ignore[override]
        return device.cublaslt, ep_simt.Portable().compile(key, device)

    def create(
        self, descriptor: Matmul, device: Any, code: tuple[CublasLt, Mapping[str, ep_simt.Function]]
    ) -> ep.Kernel:
        library, functions = code
        portable = PortableProduct(descriptor, device, functions)
        kernel = CublasLtKernel(library, descriptor, portable, is_tf32=os.environ.get("EP_CUDA_TF32") == "1")
        return kernel if kernel.has_algorithm else portable.kernel


class PortableBeside(ep_simt.Portable):
    """The portable kernels, unless cuBLASLt runs a plain product that a descriptor is lowered to."""

    def __init__(self, best: CublasLtMatmul, fewest_rows: int = 0) -> None:
        """Take cuBLASLt's products, and how many rows one has at least for which all else is done by kernels of its own."""
        super().__init__()
        self._best, self._fewest_rows = best, fewest_rows

    @property
    def name(self) -> str:
        """That of the portable implementation."""
        return ep_simt.Portable.__name__

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        for stage in descriptor.lower():
            product = stage.descriptor
            is_library = isinstance(product, Matmul) and self._runs(product, info)
            if is_library and product.out.shape[-2] >= self._fewest_rows:
                message = "cuBLASLt runs the plain product, and kernels of their own what is done beside it"
                raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def _runs(self, product: Matmul, info: ep.DeviceInfo) -> bool:
        try:
            return self._best.accepts(product, info)
        except ep.UnsupportedError:
            return False
