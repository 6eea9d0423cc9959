"""Softmaxes by chunks: each row, or tile of neighbouring columns, in passes over pieces that fit the caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward

from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_primitives.descriptors.axis_descriptor import AxisDescriptor

    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "ChunkedRows", "lies_in_columns"]

_ROWS: Final = 3
_FEWEST_COLUMNS: Final = 4
"""With fewer rows side by side, vectors along each one are faster. The result is the same."""


class ChunkedRows(Planned):
    """Maxima and sums of fixed chunks of each row, whatever the strides and the threads; every floating type."""

    def plan(self, descriptor: AxisDescriptor, native: Native) -> Plan:
        del native
        geometry, size = descriptor.geometry, descriptor.out.itemsize
        *across, extent = geometry.shape
        strides = [[stride * size for stride in over] for over in geometry.strides]
        offsets = [offset * size for offset in geometry.offsets]
        columns = lies_in_columns(across, strides, size)
        is_forward = len(strides) < _ROWS
        if is_forward:
            strides.insert(1, [0] * len(geometry.shape))
            offsets.insert(1, 0)
        fields = {
            "place": (0, 0, 1) if is_forward else (0, 1, 2),
            "columns": columns,
            "ndim": len(across),
            "traffic": descriptor.nbytes_moved,
            "extent": extent,
            "offset": offsets,
            "step": [over[-1] for over in strides],
            "shape": across,
            "stride": [over[:-1] for over in strides],
        }
        return Plan("ep_softmax_plan", fields)


def lies_in_columns(across: Sequence[int], strides: Sequence[Sequence[int]], size: int) -> bool:
    """Return True if rows are worked on side by side.

    across  : extents across rows
    strides : of each tensor in bytes, across rows and along them
    size    : bytes of an element
    """
    return bool(across) and across[-1] >= _FEWEST_COLUMNS and all(over[-2] == size != over[-1] for over in strides)


IMPLEMENTATIONS: Final = dict.fromkeys((Softmax, LogSoftmax, SoftmaxBackward, LogSoftmaxBackward), (ChunkedRows(),))
