"""Matmul by panels: both factors are packed into the order that the innermost product reads, whatever their strides."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ep.layout.dims import broadcast_strides
from ep_primitives import Convolution, Matmul
from ep_primitives.families.convolution.stages import grouped, matrix

import ep
from ep_cpu.kernel import Plan, Planned
from ep_cpu.native import open_native
from ep_cpu.numbers import numbers_of
from ep_cpu.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "PanelMatmul", "WindowedMatmul"]

_PLACES: Final = ("a", "b", "bias", "out")
_FEW: Final = 8
"""Columns that are better rows: few of these meet a factor where it lies."""
_LIE: Final = frozenset({"float32", "float64"})
"""Types whose panels hold elements as they lie: windows are copied into panels of a."""
_DEEP: Final = 256
"""Terms of a sum that take much longer than turning it."""
_WORTH_TURNING: Final = 1.07
"""How many times as many sums may be in panels before they are turned."""


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
        transposed: out^T = b^T @ a^T. So is one whose columns fill panels worse than its rows would.
        """
        m, n = descriptor.out.shape[-2:]
        places, conjugates = (0, 1, 2, 3), descriptor.conjugates
        a, b, bias, out = matrices = _matrices(descriptor)
        k = descriptor.a.shape[-1] if descriptor.depth else 0
        if (
            n == 1
            or abs(out.row) < abs(out.column)
            or n <= _FEW < m
            or _fills_less(native, self.row(descriptor), m, n, k)
        ):
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
            **_lie(
                [each._replace(batch=tuple(each.batch[axis] for axis in outside_in)) for each in matrices],
                (m, n, k),
                tuple(shape[axis] for axis in outside_in),
            ),
        }
        return Plan("ep_matmul_plan", fields, numbers_of("complex128", 2), keep=_keep)


class WindowedMatmul(Planned):
    """Convolution with many weights: products of weights and windows, whose panels are copied from x as they are needed."""

    def row(self, descriptor: Convolution) -> Row:
        return Matmul.family, "-", descriptor.x.dtype, descriptor.out.dtype

    def accepts(self, descriptor: Convolution, info: ep.DeviceInfo) -> bool:
        if reason := self.reason(descriptor):
            message = f"{descriptor.title}: {reason}"
            raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def reason(self, descriptor: Convolution) -> str:
        """Return why a descriptor is refused, "" if it is not."""
        if not all(spec.size for _, spec in descriptor.tensors if spec is not None):
            return "there is nothing to sum"
        weights, made = _factors(descriptor)
        if weights is None or made is None:
            return "strides of w or y make no matrix"
        if abs(made.strides[-1]) > abs(made.strides[-2]) or descriptor.x.strides[-1] != 1:
            return "neighbours in a line of x or y lie apart"
        if math.prod(descriptor.sliding.window) == 1:
            return "windows of one element are a matrix, of x or of a copy of some of it"
        if len(descriptor.lower()) == 1:
            return "windows are a matrix as they lie"
        return ""

    def plan(self, descriptor: Convolution, native: Native) -> Plan:
        """Describe a product for each image and group: b has no elements of its own, but those of windows."""
        (weights, made), x, bias, groups = _factors(descriptor), descriptor.x, descriptor.bias, descriptor.groups
        assert weights is not None
        assert made is not None
        (_, m, k), each = weights.shape, x.shape[1] // groups
        matrices = [
            _Matrix.of(weights, (0, m * descriptor.w.strides[0])),
            _Matrix(x.offset, 0, 0, (x.strides[0], each * x.strides[1])).in_bytes(x.itemsize),
            _Matrix.of_column(bias, m),
            _Matrix.of(made, (made.strides[0], made.strides[1])),
        ]
        n, places, windowed = made.shape[-1], (1, 0, 2, 3), native.lib.EP_B
        if x.dtype in _LIE and _fills_less(native, self.row(descriptor), m, n, k):
            m, n, places, windowed = n, m, (0, 1, 2, 3), native.lib.EP_A
            w, seen, column, out = [matrix.transposed() for matrix in matrices]
            matrices = [seen, w, column, out]
        fields = {
            "place": places,
            "activation": native.ffi.NULL,
            "dtype": getattr(native.lib, f"EP_{x.dtype}"),
            "has_bias": bias is not None,
            "kept": 2,
            **_lie(matrices, (m, n, k), (x.shape[0], groups)),
            "windows": native.ffi.new("ep_windows *", Windows.of(descriptor).fields(x)),
            "windowed": windowed,
        }
        return Plan("ep_matmul_plan", fields, _plain, keep=_keep)


def _factors(descriptor: Convolution) -> tuple[ep.TensorSpec | None, ep.TensorSpec | None]:
    """Return weights (groups, m, k) and y (images, groups, m, n); None for one of which strides make no matrices."""
    spatial = len(descriptor.strides)
    weights = matrix(grouped(descriptor, descriptor.w), (1, 1, spatial + 1))
    return weights, matrix(grouped(descriptor, descriptor.out, axis=1), (1, 1, 1, spatial))


def _plain(_: tuple[Any, ...]) -> bytes:
    """Return the numbers of a product that is neither scaled nor added to what was there."""
    return _PLAIN


_PLAIN: Final = numbers_of("complex128", 2)((1, 0))


class _Matrix(NamedTuple):
    """An operand as the native code sees it, in bytes: where it begins, its steps, and its strides over the batches."""

    offset: int
    row: int
    column: int
    batch: tuple[int, ...]

    @classmethod
    def of(cls, spec: ep.TensorSpec, batch: tuple[int, ...]) -> Self:
        """Return a tensor's last two dimensions."""
        return cls(spec.offset, spec.strides[-2], spec.strides[-1], batch).in_bytes(spec.itemsize)

    @classmethod
    def of_column(cls, spec: ep.TensorSpec | None, rows: int) -> Self:
        """Return groups of so many elements as a column each, of images that share them; nothing of an absent one."""
        if spec is None:
            return cls(0, 0, 0, (0, 0))
        return cls(spec.offset, spec.strides[0], 0, (0, rows * spec.strides[0])).in_bytes(spec.itemsize)

    def in_bytes(self, itemsize: int) -> Self:
        """Return the same, which counted elements."""
        offset, row, column, batch = self
        return self._replace(
            offset=offset * itemsize,
            row=row * itemsize,
            column=column * itemsize,
            batch=tuple(stride * itemsize for stride in batch),
        )

    def transposed(self) -> _Matrix:
        """Return the same elements with rows and columns exchanged."""
        return self._replace(row=self.column, column=self.row)


def _lie(matrices: list[_Matrix], sizes: tuple[int, int, int], batch: tuple[int, ...]) -> dict[str, Any]:
    """Return the fields that say how matrices lie: m, n and k, and the extents of their batches."""
    return {
        **dict(zip(("m", "n", "k"), sizes, strict=True)),
        "ndim": len(batch),
        "offset": [each.offset for each in matrices],
        "line": [each.row for each in matrices],
        "column": [each.column for each in matrices],
        "extent": batch,
        "stride": [each.batch for each in matrices],
    }


def _matrices(descriptor: Matmul) -> list[_Matrix]:
    """Return a, b, bias and out; a bias that is missing has no extent anywhere."""
    geometry = descriptor.geometry
    over = dict(zip(descriptor.operands, geometry.strides, strict=True))
    matrices = []
    for name, spec in zip(_PLACES, (descriptor.a, descriptor.b, descriptor.bias, descriptor.out), strict=True):
        if spec is None:
            matrices.append(_Matrix(0, 0, 0, (0,) * len(geometry.shape)))
            continue
        strides = broadcast_strides(spec, descriptor.out.shape) if name == "bias" else spec.strides
        matrices.append(_Matrix(spec.offset, strides[-2], strides[-1], over[name]).in_bytes(spec.itemsize))
    return matrices


def _keep(native: Native, plan: Any, memories: Sequence[ep.Memory | None]) -> tuple[Any, list[ep.Memory]]:
    """Return a plan that finds the panels of frozen factors in memories of their own, and these; the first launch packs them."""
    own, kept = native.ffi.new("ep_matmul_plan *", plan[0]), []
    for operand in (native.lib.EP_A, native.lib.EP_B):
        memory = memories[plan.place[operand]]
        nbytes = 0 if memory is None or not memory.is_frozen else native.lib.ep_matmul_constant(plan, operand)
        if memory is None or not nbytes:
            continue
        extent = plan.m if operand == native.lib.EP_A else plan.n
        lies = plan.offset[operand] + memory.offset, plan.line[operand], plan.column[operand]
        key = (
            PanelMatmul,
            int(native.ffi.cast("intptr_t", plan.row)),
            operand,
            lies,
            extent,
            plan.k,
            plan.conjugate[operand],
        )
        try:
            room = memory.derive(key, functools.partial(_room, native, memory.device, nbytes))
        except (ep.OutOfMemoryError, ep.ClosedError):  # or closed just now: each launch packs what it needs
            continue
        own.constant[operand] = room.handle
        kept.append(room)
    return own, kept


def _room(native: Native, device: ep.Device, nbytes: int) -> ep.Memory:
    """Return memory for panels, of which it says that nothing has been packed."""
    memory = device.allocate(nbytes)
    native.ffi.memmove(memory.handle, bytes(native.lib.EP_CONSTANT_STATE), native.lib.EP_CONSTANT_STATE)
    return memory


def _fills_less(native: Native, row: Row, m: int, n: int, k: int) -> bool:
    """Return True if panels have so many sums fewer once rows and columns are exchanged that turning these costs less."""
    if k < _DEEP or min(m, n) <= _FEW:
        return False
    of, sums = native.rows[row], native.lib.ep_matmul_sums
    return bool(_WORTH_TURNING * sums(of, n, m) < sums(of, m, n))


def _activation(descriptor: Matmul) -> Row:
    """Return the row of the activation, over values of the accumulation type."""
    return "elementwise_unary", descriptor.activation, descriptor.compute, descriptor.compute


IMPLEMENTATIONS: Final = {Matmul: (PanelMatmul(),)}
