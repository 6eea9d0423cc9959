"""Values at places between elements, which another tensor holds."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from ep_primitives import Gather

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_CUBIC = -0.75


@rule("GridSample")
def _grid_sample(do: Trace, node: Call, x: Value, grid: Value) -> Value:
    """Weights of neighbours, each gathered by one index into the image, and added up."""
    mode, padding, aligned = node.get("mode", "linear"), node.get("padding_mode", "zeros"), node.get("align_corners", 0)
    if grid.ndim != x.ndim or grid.shape[-1] != x.ndim - 2 or grid.shape[0] != x.shape[0]:
        message = f"the grid has shape {grid.shape} for an image of {x.shape}; needs the same batch and number of dimensions, and {x.ndim - 2} places each"
        raise ValueError(message)
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    n, c, *spatial = x.shape
    count = math.prod(grid.shape[1:-1])
    flat = do.reshape(x, (n, c, math.prod(spatial))).permute((0, 2, 1))
    axes = []
    for axis, extent in enumerate(spatial):
        place = do.reshape(grid[..., len(spatial) - 1 - axis], (n, count))
        axes.append(_Axis(do, do.copy(place), extent, aligned=bool(aligned), padding=padding, mode=mode))
    total = None
    for picks in itertools.product(*[axis.picks for axis in axes]):
        linear, weight = None, None
        for (index, share), extent in zip(picks, spatial, strict=True):
            linear = (
                index
                if linear is None
                else do.binary("add", do.binary("mul", linear, do.constant(extent, "int64")), index)
            )
            if share is not None:
                weight = share if weight is None else do.binary("mul", weight, share)
        assert linear is not None
        taken = do.emit(Gather.infer(flat.spec, linear.spec, 1, batch_dims=1), None, x=flat, indices=linear)
        if weight is not None:
            taken = do.binary("mul", taken, do.reshape(weight, (n, count, 1)))
        total = taken if total is None else do.binary("add", total, taken)
    assert total is not None
    return do.reshape(total.permute((0, 2, 1)), (n, c, *grid.shape[1:-1]))


class _Axis:
    """One dimension of the image: for each neighbour its index, and its share of the value."""

    def __init__(self, do: Trace, place: Value, extent: int, *, aligned: bool, padding: str, mode: str) -> None:
        self._do, self._extent, self._dtype = do, extent, place.dtype
        self._padding, self._aligned = padding, aligned
        place = self._times(self._plus(place, 1), (extent - 1) / 2 if aligned else extent / 2)
        place = place if aligned else self._plus(place, -0.5)
        if padding != "zeros" and mode != "cubic":
            place = self._inside(place)
        if mode == "nearest":
            self.picks = [self._pick(do.unary("rint", place), None)]
            return
        base = do.unary("floor", place)
        part = do.binary("sub", place, base)
        if mode == "linear":
            shares = [self._plus(self._times(part, -1), 1), part]
            self.picks = [self._pick(self._plus(base, step), share) for step, share in enumerate(shares)]
            return
        self.picks = [self._pick(self._plus(base, step), self._cubic(part, step)) for step in range(-1, 3)]

    def _pick(self, near: Value, share: Value | None) -> tuple[Value, Value | None]:
        do, last = self._do, self._extent - 1
        if self._padding == "zeros":
            outside = do.binary(
                "logical_or",
                do.binary("less_than", near, self._number(0)),
                do.binary("greater_than", near, self._number(last)),
            )
            ones = self._number(1).expand(near.shape) if share is None else share
            share = do.where(outside, self._number(0), ones)
        elif self._padding == "reflection":
            near = do.unary("rint", self._reflected(near))
        bounded = do.unary("hard_tanh", near, min=0.0, max=float(last))
        return do.cast(bounded, "int64"), share

    def _inside(self, place: Value) -> Value:
        if self._padding == "reflection":
            place = self._reflected(place)
        return self._do.unary("hard_tanh", place, min=0.0, max=float(self._extent - 1))

    def _reflected(self, place: Value) -> Value:
        """Return places folded back at the borders, which are elements if corners are aligned and lie half beside them else."""
        do, low = self._do, 0.0 if self._aligned else -0.5
        span = self._extent - 1 if self._aligned else self._extent
        if span <= 0:
            return self._times(place, 0)
        period = do.binary("floor_mod", self._plus(place, -low), self._number(2 * span))
        turned = self._plus(self._times(period, -1), 2 * span)
        return self._plus(do.binary("min", period, turned), low)

    def _cubic(self, part: Value, step: int) -> Value:
        """Return Keys' kernel (1981) of the distance from a neighbour, between 0 and 2."""
        a = _CUBIC
        distance = self._do.unary("abs", self._plus(part, -step))
        near = self._polynomial(distance, (a + 2, -(a + 3), 0, 1))
        far = self._polynomial(distance, (a, -5 * a, 8 * a, -4 * a))
        return near if step in {0, 1} else far

    def _polynomial(self, x: Value, factors: tuple[float, ...]) -> Value:
        total = self._plus(self._times(x, factors[0]), factors[1])
        for factor in factors[2:]:
            total = self._plus(self._do.binary("mul", total, x), factor)
        return total

    def _plus(self, x: Value, number: float) -> Value:
        return self._do.binary("add", x, self._number(number)) if number else x

    def _times(self, x: Value, number: float) -> Value:
        return self._do.binary("mul", x, self._number(number))

    def _number(self, number: float) -> Value:
        return self._do.constant(np.array(number), self._dtype)
