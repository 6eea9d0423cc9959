"""Matmul by panels: both factors are packed into the order that the innermost product reads, whatever their strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ep.layout.dims import broadcast_strides
from ep_primitives.families.matmul.descriptor import MATMUL_DTYPES

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native

if TYPE_CHECKING:
    from ep_primitives import Matmul

    from ep_cpu.native import Native

__all__ = ["PanelMatmul"]

_PLACES = ("a", "b", "bias", "out")


class PanelMatmul(ep.Implementation):
    """Tiles of the output, summed over packed panels in registers; every element type, stride and batch."""

    def accepts(self, descriptor: Matmul, info: ep.DeviceInfo) -> bool:
        del info
        if descriptor.out.dtype not in MATMUL_DTYPES.get(descriptor.a.dtype, ()):
            message = f"no products of {descriptor.a.dtype} that give {descriptor.out.dtype}"
            raise ep.UnsupportedError(message)
        if descriptor.activation != "none" and _row(descriptor) not in open_native().rows:
            message = f"no loop for {descriptor.activation} in {descriptor.compute}; rows are in native/*.def"
            raise ep.UnsupportedError(message)
        return True

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Matmul, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return PanelKernel(code, *described(descriptor, code))


class PanelKernel(CommandKernel):
    """A described product; `order` says which memory stands at each of the native places: a, b, bias and out."""

    __slots__ = ("_matmul", "_native", "_order")

    def __init__(self, native: Native, matmul: Any, order: tuple[int, ...]) -> None:
        self._native = native
        self._matmul = matmul
        self._order = order

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream
        alpha, beta = scalars
        check(
            self._native.lib.ep_launch_matmul(
                self._matmul, *self._addresses(memories), alpha.real, alpha.imag, beta.real, beta.imag
            ),
            "ep_launch_matmul",
        )

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        alpha, beta = scalars
        ffi, matmul = self._native.ffi, self._matmul
        packed = ffi.new(
            "ep_matmul_packed *",
            {
                "matmul": matmul,
                "at": self._addresses(memories),
                "alpha": (alpha.real, alpha.imag),
                "beta": (beta.real, beta.imag),
            },
        )
        places = [self._order.index(operand) for operand in range(len(memories))]
        offsets = tuple([ffi.offsetof("ep_matmul_packed", "at", place) for place in places])
        return Command(self._native, "ep_multiply", packed, offsets, matmul)

    def _addresses(self, memories: tuple[ep.Memory, ...]) -> list[int]:
        # A factor without elements may stand in a memory without bytes, which has no handle; the bias may be absent.
        addresses = [0 if memory is None else (memory.handle or 0) + memory.offset for memory in memories]
        return [addresses[place] for place in self._order]


class _Matrix(NamedTuple):
    """An operand as the native code sees it, in bytes: where it begins, its steps, and its strides over the batches."""

    offset: int
    row: int
    column: int
    batch: tuple[int, ...]

    def transposed(self) -> _Matrix:
        """Return the same elements with rows and columns exchanged."""
        return self._replace(row=self.column, column=self.row)


def described(descriptor: Matmul, native: Native) -> tuple[Any, tuple[int, ...]]:
    """Return the native description of a product, and which memory stands at each of its places.

    The native code writes along rows. An output whose columns are contiguous, or that is one column, is described as
    transposed: out^T = b^T @ a^T.
    """
    m, n = descriptor.out.shape[-2:]
    places = [0, 1, 2, 3]
    conjugates = descriptor.conjugates
    a, b, bias, out = matrices = _matrices(descriptor)
    if n == 1 or abs(out.row) < abs(out.column):
        m, n = n, m
        places[:2], conjugates = (1, 0), conjugates[::-1]
        matrices = [matrix.transposed() for matrix in (b, a, bias, out)]
    shape = descriptor.geometry.shape
    outside_in = sorted(range(len(shape)), key=lambda axis: out.batch[axis] == 0)
    matmul = {
        "engine": native.lib.ep_matmul_engine_of(native.isa.encode()),
        "activation": native.ffi.NULL if descriptor.activation == "none" else native.rows[_row(descriptor)],
        "dtype": getattr(native.lib, f"EP_{descriptor.a.dtype}"),
        "out_dtype": getattr(native.lib, f"EP_{descriptor.out.dtype}"),
        "conjugate": conjugates,
        "has_bias": descriptor.bias is not None,
        "kept": sum(stride != 0 for stride in out.batch),
        "ndim": len(shape),
        "m": m,
        "n": n,
        "k": descriptor.a.shape[-1] if descriptor.depth else 0,
        "offset": [matrix.offset for matrix in matrices],
        "row": [matrix.row for matrix in matrices],
        "column": [matrix.column for matrix in matrices],
        "extent": [shape[axis] for axis in outside_in],
        "stride": [[matrix.batch[axis] for axis in outside_in] for matrix in matrices],
    }
    return native.ffi.new("ep_matmul *", matmul), tuple(places)


def _matrices(descriptor: Matmul) -> list[_Matrix]:
    """Return a, b, bias and out; a bias that is missing has no extent anywhere."""
    geometry = descriptor.geometry
    over = dict(zip(descriptor.operands, geometry.strides, strict=True))
    matrices = []
    for name, spec in zip(_PLACES, (descriptor.a, descriptor.b, descriptor.bias, descriptor.out), strict=True):
        if spec is None:
            matrices.append(_Matrix(0, 0, 0, (0,) * len(geometry.shape)))
            continue
        size = spec.itemsize
        strides = broadcast_strides(spec, descriptor.out.shape) if name == "bias" else spec.strides
        batch = tuple(stride * size for stride in over[name])
        matrices.append(_Matrix(spec.offset * size, strides[-2] * size, strides[-1] * size, batch))
    return matrices


def _row(descriptor: Matmul) -> tuple[str, str, str, str]:
    """Return the row of the activation, over values of the accumulation type."""
    return "elementwise_unary", descriptor.activation, descriptor.compute, descriptor.compute
