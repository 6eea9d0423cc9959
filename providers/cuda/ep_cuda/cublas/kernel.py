"""The kernel of a product: what cuBLASLt is told of it once, and its call."""

from __future__ import annotations

import functools
import struct
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep_simt
from ep_simt import bodies

import ep
from ep_cuda.cublas.library import ffi
from ep_cuda.cublas.problem import problem_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives import Matmul

    from ep_cuda.cublas.library import CublasLt
    from ep_cuda.cublas.problem import Layout
    from ep_cuda.device import CudaDevice

__all__ = ["CublasLtKernel", "PortableProduct"]

# cudaDataType, library_types.h
_TYPES: Final = {
    "float32": 0,
    "float64": 1,
    "float16": 2,
    "int8": 3,
    "complex64": 4,
    "complex128": 5,
    "int32": 10,
    "bfloat16": 14,
}
# cublasComputeType_t by the accumulation type
_COMPUTES: Final = {"float32": 68, "complex64": 68, "float64": 70, "complex128": 70, "int32": 72}
_TF32: Final = 77  # CUBLAS_COMPUTE_32F_FAST_TF32
_COMPLEX: Final = frozenset({"complex64", "complex128"})
_NUMBERS: Final = {"float32": "f", "float64": "d", "int32": "i", "complex64": "ff", "complex128": "dd"}

_PLAIN, _TRANSPOSED, _CONJUGATED = 0, 1, 2  # cublasOperation_t
_TRANSPOSE_LEFT, _TRANSPOSE_RIGHT, _EPILOGUE, _BIAS_POINTER = 3, 4, 7, 8  # cublasLtMatmulDescAttributes_t
_BIAS: Final = 4  # CUBLASLT_EPILOGUE_BIAS
_COUNT, _STEP = 5, 6  # cublasLtMatrixLayoutAttribute_t
_MOST_WORKSPACE, _SCHEMES, _ALIGNMENTS = 1, 3, (5, 6, 7, 8)  # cublasLtMatmulPreferenceAttributes_t
_NOT_SUPPORTED: Final = 15  # CUBLAS_STATUS_NOT_SUPPORTED

_WORKSPACE: Final = 32 << 20
"""As many bytes as NVIDIA recommends for Hopper; a launch takes what its algorithm asks for."""
_IN_COMPUTE_TYPE: Final = 2
"""CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE: parts of a sum are added in order, and are not rounded before."""
_MOST_CALLS: Final = 16
"""Sets of operands whose calls a kernel keeps: programs come back to the same memories."""
_POINTER: Final = ffi.typeof("void *")
_FAST: Final = 16
"""The bytes to which all operands are aligned in the usual case; the heuristic is asked for that and for any other."""


class PortableProduct:
    """The portable kernel of a product, compiled when it is first needed: alpha of 0 may not read the factors, and cuBLASLt may."""

    def __init__(self, descriptor: Matmul, device: CudaDevice, functions: Mapping[str, ep_simt.Function]) -> None:
        self._title = descriptor.title
        self._plan = bodies()[descriptor.family].plan(descriptor, device.target)
        self._functions = functions
        self.scratch_nbytes = self._plan.scratch_nbytes

    @functools.cached_property
    def kernel(self) -> ep_simt.PortableKernel:
        """The kernel. Raises CompileError."""
        return ep_simt.PortableKernel(self._title, self._plan, self._functions)


_BIAS_PLACE, _OUT_PLACE = 2, 3  # among the tensors of Matmul


class _Operand(NamedTuple):
    """A matrix: its place among the tensors, and what cuBLASLt knows of it."""

    place: int
    native: Any


class CublasLtKernel(ep.Kernel):
    """One product, with the algorithms that the heuristic chose for operands at multiples of 16 bytes, and for any others.

    The arguments of a call change with its operands alone, so that those of the last few are kept, with descriptions of their own.
    """

    def __init__(self, library: CublasLt, descriptor: Matmul, portable: PortableProduct, *, is_tf32: bool) -> None:
        """Describe it, and ask the heuristic. Raises DeviceError."""
        self._library = library
        self._portable = portable
        self._problem = problem_of(descriptor)
        self._scale = descriptor.compute
        self._compute = _TF32 if is_tf32 and descriptor.a.dtype == "float32" else _COMPUTES[descriptor.compute]
        self._has_bias = descriptor.bias is not None
        self._bias_itemsize = descriptor.bias.itemsize if descriptor.bias else 1
        specs = descriptor.a, descriptor.b, descriptor.bias, descriptor.out
        tensors = [0 if spec is None else spec.offset * spec.itemsize for spec in specs]
        self._starts = [*tensors, 0]  # scratch comes last
        left, right = self._problem.places
        self._left = self._operand(left, self._problem.left, descriptor.a.dtype)
        self._right = self._operand(right, self._problem.right, descriptor.a.dtype)
        self._out = self._operand(_OUT_PLACE, self._problem.out, descriptor.out.dtype)
        self._calls: dict[tuple[tuple[int, ...], tuple[Any, ...]], tuple[Any, ...]] = {}
        self._algorithms = {
            alignment: self._asked(alignment)
            for alignment in (_FAST, min(descriptor.a.itemsize, descriptor.out.itemsize))
        }
        found = [each.nbytes for each in self._algorithms.values() if each is not None]
        self.has_algorithm = bool(found)
        self.scratch_nbytes = max(portable.scratch_nbytes, *found) if found else 0

    def _operand(self, place: int, layout: Layout, dtype: str) -> _Operand:
        sizes = layout.rows, layout.columns, layout.leading
        made = self._library.owned("cublasLtMatrixLayoutCreate", "cublasLtMatrixLayout_t", _TYPES[dtype], *sizes)
        put = functools.partial(self._library.set, "cublasLtMatrixLayoutSetAttribute", made)
        put(_COUNT, "int32_t", self._problem.batches)
        put(_STEP, "int64_t", layout.step)
        return _Operand(place, made)

    def _described(self, bias: int) -> Any:
        """Return a new description of the product, which points to its bias."""
        made = self._library.owned(
            "cublasLtMatmulDescCreate", "cublasLtMatmulDesc_t", self._compute, _TYPES[self._scale]
        )
        put = functools.partial(self._library.set, "cublasLtMatmulDescSetAttribute", made)
        factors = self._problem.left, self._problem.right
        for attribute, factor, conjugated in zip(
            (_TRANSPOSE_LEFT, _TRANSPOSE_RIGHT), factors, self._problem.conjugates, strict=True
        ):
            transposed = _CONJUGATED if conjugated else _TRANSPOSED
            put(attribute, "int32_t", transposed if factor.is_transposed else _PLAIN)
        if self._has_bias:
            put(_EPILOGUE, "uint32_t", _BIAS)
            put(_BIAS_POINTER, "uint64_t", bias)
        return made

    def _asked(self, alignment: int) -> Any:
        """Return what the heuristic chooses for operands at multiples of so many bytes, None if it knows nothing."""
        library = self._library
        preference = library.owned("cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreference_t")
        put = functools.partial(library.set, "cublasLtMatmulPreferenceSetAttribute", preference)
        put(_MOST_WORKSPACE, "uint64_t", _WORKSPACE)
        put(_SCHEMES, "uint32_t", _IN_COMPUTE_TYPE)
        for attribute in _ALIGNMENTS:
            put(attribute, "uint32_t", alignment)
        found, count, out = ffi.new("cublasLtMatmulHeuristicResult_t *"), ffi.new("int *"), self._out.native
        # The heuristic reads the alignment of a bias from its address, and refuses one that no element can have.
        bias = max(alignment, self._bias_itemsize)
        sides = self._described(bias), self._left.native, self._right.native, out, out
        status = library.functions.cublasLtMatmulAlgoGetHeuristic(library.handle, *sides, preference, 1, found, count)
        if status != _NOT_SUPPORTED:
            library.check("cublasLtMatmulAlgoGetHeuristic", status)
        return found if not status and count[0] and not found.state else None

    def launch(self, stream: Any, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        places = self._places(memories)
        call = self._calls.get((places, scalars))
        if call is None:
            call = self._prepared(places, scalars)
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            self._calls[places, scalars] = call
        if call:
            self._run(stream, call)
        else:
            self._portable.kernel.launch(stream, memories, scalars)

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Any:
        call = self._prepared(self._places(memories), scalars)
        if not call:
            return self._portable.kernel.bind(memories, scalars)
        run = self._run
        return lambda stream, _, __: run(stream, call)

    def _places(self, memories: tuple[ep.Memory, ...]) -> tuple[int, ...]:
        """Return the addresses of the tensors, 0 for an absent one, and of scratch if there is some."""
        pairs = zip(memories, self._starts, strict=False)
        return tuple([0 if memory is None else memory.handle + memory.offset + start for memory, start in pairs])

    def _prepared(self, places: tuple[int, ...], scalars: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of the call but its stream, none if the portable kernel has to run."""
        *tensors, scratch = places if self.scratch_nbytes else (*places, 0)
        is_fast = not any(place % _FAST for place in tensors)
        algorithm = self._algorithms[_FAST if is_fast else min(self._algorithms)]
        alpha, beta = scalars
        if not alpha or algorithm is None:
            return ()
        left, right, out = (
            (ffi.cast(_POINTER, places[each.place]), each.native) for each in (self._left, self._right, self._out)
        )
        factors = self._packed(alpha), *left, *right, self._packed(beta)
        ending = ffi.addressof(algorithm, "algo"), ffi.cast(_POINTER, scratch), algorithm.nbytes
        return self._library.handle, self._described(places[_BIAS_PLACE]), *factors, *out, *out, *ending

    def _run(self, stream: Any, call: tuple[Any, ...]) -> None:
        with stream.device.context:
            status = self._library.functions.cublasLtMatmul(*call, stream.native)
        if status:
            self._library.check("cublasLtMatmul", status)
        stream.placed("cublasLtMatmul", status)

    def _packed(self, number: Any) -> Any:
        parts = (number.real, number.imag) if self._scale in _COMPLEX else (number,)
        return ffi.new("char[]", struct.pack(_NUMBERS[self._scale], *parts))
