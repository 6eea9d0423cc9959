"""CrossEntropy in one pass over each row: its measures, and the loss at its label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import CrossEntropy

import ep
from ep_cpu.families.softmax import lies_in_columns
from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "MeasuredRows"]


class MeasuredRows(Planned):
    """The measures of LogSoftmax, of which the labels' logarithms alone are made; sums in one order, whatever the threads."""

    def plan(self, descriptor: CrossEntropy, native: Native) -> Plan:
        loss, weights, ignored, joins = (
            descriptor,
            descriptor.weights,
            descriptor.ignored,
            descriptor.reduction != "none",
        )
        row = native.rows[self.row(loss)]
        fields = {
            "rows": {"row": row, **_rows(loss)},
            "weights": -1 if weights is None else loss.roles.names.index("weights"),
            "scratch": len(loss.tensors) if joins else -1,
            "label_size": loss.labels.itemsize,
            "is_log": loss.is_log or not loss.x.size,
            "ignores": ignored is not None,
            "is_mean": loss.reduction == "mean",
            "ignored": ignored or 0,
            "weights_offset": 0 if weights is None else weights.offset * weights.itemsize,
            "weights_step": 0 if weights is None else weights.strides[0] * weights.itemsize,
        }
        nbytes = max(2 * loss.labels.size, 1) * ep.dtype(loss.compute).itemsize
        return Plan("ep_cross_entropy_plan", fields, scratch=(lambda _: nbytes) if joins else None)


def _rows(loss: CrossEntropy) -> dict[str, Any]:
    """Return the fields of x, labels and out."""
    across, sizes = loss.across, (loss.x.itemsize, loss.labels.itemsize, loss.out.itemsize)
    step = loss.x.strides[1] * loss.x.itemsize
    strides = [[stride * size for stride in own] for own, size in zip(across.strides, sizes, strict=True)]
    is_measured = loss.x.size and not loss.is_log
    return {
        "place": [loss.roles.names.index(name) for name in ("x", "labels", "out")],
        "columns": bool(is_measured) and lies_in_columns(across.shape, [(*strides[0], step)], loss.x.itemsize),
        "ndim": len(across.shape),
        "traffic": loss.x.nbytes,
        "extent": loss.x.shape[1],
        "offset": [offset * size for offset, size in zip(across.offsets, sizes, strict=True)],
        "step": (step, 0, 0),
        "shape": across.shape,
        "stride": strides,
    }


IMPLEMENTATIONS: Final = {CrossEntropy: (MeasuredRows(),)}
