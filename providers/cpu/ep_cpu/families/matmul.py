"""Matmul by panels: both factors are packed into the order that the innermost product reads, whatever their strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.dims import broadcast_strides
from ep_primitives import Matmul

import ep
from ep_cpu.kernel import Plan, Planned
from ep_cpu.native import open_native
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "PanelMatmul"]

_PLACES: Final = ("a", "b", "bias", "out")


class PanelMatmul(Planned):
    """Tiles of the output, summed over packed panels in registers; every element type, stride and batch."""

    def row(self, descriptor: Matmul) -> Row:
        return descriptor.family, "-", descriptor.a.dtype, descriptor.out.dtype

    def accepts(self, descriptor: Matmul, info: ep.DeviceInfo) -> bool:
        if descriptor.activation != "none" and _activation(descriptor) not in open_native().rows:
            message = f"no loop for {descriptor.activation} in {descriptor.compute}; rows are in native/families/elementwise/*.def"
            raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def plan(self, descriptor: Matmul, native: Native) -> Plan:
        """Describe a product, and which memory stands at each of its places.

        The native code writes along rows. An output whose columns are contiguous, or that is one column, is described as
        transposed: out^T = b^T @ a^T.
        """
        m, n = descriptor.out.shape[-2:]
        places, conjugates = (0, 1, 2, 3), descriptor.conjugates
        a, b, bias, out = matrices = _matrices(descriptor)
        if n == 1 or abs(out.row) < abs(out.column):
            m, n = n, m
            places, conjugates = (1, 0, 2, 3), conjugates[::-1]
            matrices = [matrix.transposed() for matrix in (b, a, bias, out)]
        shape = descriptor.geometry.shape
        outside_in = sorted(range(len(shape)), key=lambda axis: out.batch[axis] == 0)
        fields = {
            "place": places,
            "activation": native.ffi.NULL if descriptor.activation == "none" else native.rows[_activation(descriptor)],
            "dtype": getattr(native.lib, f"EP_{descriptor.a.dtype}"),
            "conjugate": conjugates,
            "has_bias": descriptor.bias is not None,
            "kept": sum(stride != 0 for stride in out.batch),
            "ndim": len(shape),
            "m": m,
            "n": n,
            "k": descriptor.a.shape[-1] if descriptor.depth else 0,
            "offset": [matrix.offset for matrix in matrices],
            "line": [matrix.row for matrix in matrices],
            "column": [matrix.column for matrix in matrices],
            "extent": [shape[axis] for axis in outside_in],
            "stride": [[matrix.batch[axis] for axis in outside_in] for matrix in matrices],
        }
        return Plan("ep_matmul_plan", fields, numbers_of("complex128", 2))


class _Matrix(NamedTuple):
    """An operand as the native code sees it, in bytes: where it begins, its steps, and its strides over the batches."""

    offset: int
    row: int
    column: int
    batch: tuple[int, ...]

    def transposed(self) -> _Matrix:
        """Return the same elements with rows and columns exchanged."""
        return self._replace(row=self.column, column=self.row)


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


def _activation(descriptor: Matmul) -> Row:
    """Return the row of the activation, over values of the accumulation type."""
    return "elementwise_unary", descriptor.activation, descriptor.compute, descriptor.compute


IMPLEMENTATIONS: Final = {Matmul: (PanelMatmul(),)}
