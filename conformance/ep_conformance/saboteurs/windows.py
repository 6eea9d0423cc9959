"""Planted defects of windows: inputs of which several elements are one, because strides are smaller than extents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_primitives import layout

from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    import ep

__all__: list[str] = []


def _is_windows(spec: ep.TensorSpec) -> bool:
    """Say whether elements are shared although each dimension leads to others."""
    return spec.overlaps_itself and 0 not in spec.strides


@killed_by("primitives/copy/-/float32/strided/windows-2d")
class CopiesTheSpan(Defect):
    """Copy what lies between the first element of windows and the last, as if each had its own."""

    meets = "copy/-/float32/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x: Any = self.descriptor.specs[0]
        if _is_windows(x):
            span = np.zeros(x.nbytes, np.uint8)
            layout.scatter(x, given["x"], span)
            out[...] = np.resize(span.view(out.dtype), out.shape)


@killed_by("primitives/reduce/sum/float32/strided/windows")
class KeepsADimensionAStride(Defect):
    """Keep dimensions by their strides, so that of two with one stride, where windows begin and within them, one is left."""

    meets = "reduce/sum/float32/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if _is_windows(of.x):
            kept = [axis for axis in range(of.x.ndim) if axis not in of.axes]
            within = {of.x.strides[axis] for axis in of.axes}
            first = tuple(
                slice(1) if axis in kept and of.x.strides[axis] in within else slice(None) for axis in range(of.x.ndim)
            )
            sums = given["x"][first].sum(of.axes, keepdims=out.ndim == of.x.ndim, dtype=out.dtype)
            out[...] = np.broadcast_to(sums, out.shape)
