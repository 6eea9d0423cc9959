"""Images of other extents: along each dimension a product with a constant matrix, or a choice of elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from ep_primitives import Gather

from ep_onnx.rules.products import product
from ep_onnx.rules.rule import counted, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

    Array = NDArray[Any]

__all__: list[str] = []


@rule("Upsample")
def _upsample(do: Trace, node: Call, x: Value, scales: Value | None = None) -> Value:
    factors = node.get("scales") if scales is None else [float(each) for each in do.host(scales)]
    mode, dtype = node.get("mode", "nearest"), x.dtype
    x = x if mode == "nearest" else _continuous(do, x)
    for axis, factor in enumerate(factors):
        extent = math.floor(x.shape[axis] * factor)
        axis_of = _Axis(x.shape[axis], extent, factor, "asymmetric", (0.0, 1.0))
        x = (
            _nearest(do, x, axis, axis_of, "floor" if factor >= 1 else "ceil")  # as ONNX's tests of operator set 10
            if mode == "nearest"
            else _weighted(do, x, axis, axis_of, _linear, 0.0)
        )
    return _rounded(do, x, dtype)


@rule("Resize")
def _resize(
    do: Trace,
    node: Call,
    x: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
) -> Value:
    if node.version < 11:  # noqa: PLR2004 - the first one had no coordinate modes, and scales in the place of roi
        scaled: Value = _upsample(do, node, x, roi)
        return scaled
    axes = [counted(axis, x.ndim) for axis in node.get("axes", range(x.ndim))]
    extents = [x.shape[axis] for axis in axes]
    factors, wanted = _extents(do, node, extents, scales, sizes)
    region = [0.0] * len(axes) + [1.0] * len(axes)
    if node.get("coordinate_transformation_mode") == "tf_crop_and_resize" and roi is not None:
        region = [float(each) for each in do.host(roi)]
    mode, dtype = node.get("mode", "nearest"), x.dtype
    if mode not in {"nearest", "linear", "cubic"}:
        message = f"its mode is {mode}, needs nearest, linear or cubic"
        raise ValueError(message)
    x = x if mode == "nearest" else _continuous(do, x)
    outside: list[tuple[int, Array]] = []
    for place, axis in enumerate(axes):
        part = region[place], region[place + len(axes)]
        axis_of = _Axis(
            extents[place],
            wanted[place],
            factors[place],
            node.get("coordinate_transformation_mode", "half_pixel"),
            part,
        )
        if axis_of.is_same:
            continue
        if mode == "nearest":
            x = _nearest(do, x, axis, axis_of, node.get("nearest_mode", "round_prefer_floor"))
        else:
            kernel = _linear if mode == "linear" else _cubic(node.get("cubic_coeff_a", -0.75))
            width = 1.0 / min(factors[place], 1.0) if node.get("antialias", 0) else 0.0
            x = _weighted(do, x, axis, axis_of, kernel, width, excludes=bool(node.get("exclude_outside", 0)))
        if axis_of.mode == "tf_crop_and_resize":
            outside.append((axis, axis_of.outside))
    x = _rounded(do, x, dtype)
    for axis, gone in outside:
        mask = gone.reshape([-1 if each == axis else 1 for each in range(x.ndim)])
        if gone.any():
            x = do.where(do.constant(mask), do.constant(node.get("extrapolation_value", 0.0), x.dtype), x)
    return x


def _extents(
    do: Trace, node: Call, extents: list[int], scales: Value | None, sizes: Value | None
) -> tuple[list[float], list[int]]:
    """Return of each dimension the factor and the new extent."""
    if scales is not None and scales.size:
        factors = [float(each) for each in do.host(scales)]
        _check(factors, len(extents))
        return factors, [math.floor(extent * factor) for extent, factor in zip(extents, factors, strict=True)]
    assert sizes is not None
    wanted = [int(each) for each in do.host(sizes)]
    _check(wanted, len(extents))
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    factors = [new / old for new, old in zip(wanted, extents, strict=True)]
    if policy != "stretch":
        one = min(factors) if policy == "not_larger" else max(factors)
        return [one] * len(extents), [math.floor(one * extent + 0.5) for extent in extents]
    return factors, wanted


def _check(numbers: Sequence[float], count: int) -> None:
    if len(numbers) != count or not all(each > 0 for each in numbers):
        message = f"{[*numbers]} are given for {count} dimensions, which need a number above 0 each"
        raise ValueError(message)


class _Axis:
    """One dimension that changes its extent: where the new elements lie among the old ones."""

    def __init__(self, old: int, new: int, factor: float, mode: str, region: tuple[float, float]) -> None:
        self.old, self.new, self.factor, self.mode = old, new, factor, mode
        begin, end = region
        place = np.arange(new, dtype=np.float64)
        if mode == "asymmetric":
            self.places = place / factor
        elif mode == "align_corners":
            length = factor * old
            self.places = place * (old - 1) / (length - 1) if length != 1 else 0 * place
        elif mode == "tf_crop_and_resize":
            length = factor * old
            inner = (
                place * (end - begin) * (old - 1) / (length - 1)
                if length > 1
                else 0.5 * (end - begin) * (old - 1) + 0 * place
            )
            self.places = begin * (old - 1) + inner if length > 1 else (begin + end) * (old - 1) / 2 + 0 * place
        elif mode == "pytorch_half_pixel":
            self.places = (place + 0.5) / factor - 0.5 if factor * old > 1 else 0 * place - 0.5
        elif mode == "half_pixel_symmetric":
            offset = old / 2 * (1 - new / (factor * old))
            self.places = offset + (place + 0.5) / factor - 0.5
        else:
            self.places = (place + 0.5) / factor - 0.5

    @property
    def is_same(self) -> bool:
        """True if nothing changes along the dimension."""
        return self.new == self.old and np.array_equal(self.places, np.arange(self.old))

    @property
    def outside(self) -> Array:
        """Which of the new elements lie outside the old ones."""
        return (self.places < 0) | (self.places > self.old - 1)


def _nearest(do: Trace, x: Value, axis: int, axis_of: _Axis, mode: str) -> Value:
    places = axis_of.places
    rounded = {
        "round_prefer_floor": lambda: np.ceil(places - 0.5),
        "round_prefer_ceil": lambda: np.floor(places + 0.5),
        "floor": lambda: np.floor(places),
        "ceil": lambda: np.ceil(places),
    }[mode]()
    if axis_of.is_same:
        return x
    chosen = do.constant(np.clip(rounded, 0, axis_of.old - 1).astype(np.int64))
    return do.emit(Gather.infer(x.spec, chosen.spec, axis), None, x=x, indices=chosen)


def _weighted(
    do: Trace,
    x: Value,
    axis: int,
    axis_of: _Axis,
    kernel: Callable[[Array], Array],
    width: float,
    *,
    excludes: bool = False,
) -> Value:
    """Append a product with the matrix of weights; places outside take the border's value, or none if `excludes`."""
    scale = max(width, 1.0)
    reach = math.ceil(2 * scale) + 1
    matrix = np.zeros((axis_of.new, axis_of.old))
    base = np.floor(axis_of.places).astype(np.int64)
    for step in range(-reach, reach + 1):
        near = base + step
        weight = kernel(np.abs(axis_of.places - near) / scale)
        if excludes:
            weight = np.where((near >= 0) & (near < axis_of.old), weight, 0)
        np.add.at(matrix, (np.arange(axis_of.new), np.clip(near, 0, axis_of.old - 1)), weight)
    sums = matrix.sum(1, keepdims=True)
    weights = do.constant(matrix / np.where(sums == 0, 1, sums), x.dtype)
    if axis == x.ndim - 1:
        return product(do, x, weights.permute((1, 0)))
    order = [*range(x.ndim)]
    order[axis], order[-2 if x.ndim > 1 else -1] = order[-2 if x.ndim > 1 else -1], order[axis]
    turned = x.permute(order)
    return product(do, weights, turned).permute(order)


def _continuous(do: Trace, x: Value) -> Value:
    """Return x in a type that holds weighted means of it."""
    if not x.dtype.startswith(("int", "uint")):
        return x
    return do.cast(x, "float64" if np.dtype(x.dtype).itemsize > 2 else "float32")  # noqa: PLR2004 - float32 has 24 bits


def _rounded(do: Trace, x: Value, dtype: str) -> Value:
    """Return x in the type that it had: integers to the nearest one of their range, which cubic weights may leave."""
    if x.dtype == dtype:
        return x
    limits = np.iinfo(dtype)
    most = min(float(limits.max), np.nextafter(2.0 ** (limits.bits - (limits.min < 0)), 0.0))
    above = do.binary("max", x, do.constant(float(limits.min), x.dtype))
    return do.cast(do.unary("rint", do.binary("min", above, do.constant(most, x.dtype))), dtype)


def _linear(distance: Array) -> Array:
    return np.asarray(np.maximum(1 - distance, 0))


def _cubic(a: float) -> Callable[[Array], Array]:
    """Return Keys' kernel (1981), with ONNX's default of its one parameter."""

    def kernel(distance: Array) -> Array:
        near = (a + 2) * distance**3 - (a + 3) * distance**2 + 1
        far = a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a
        return np.where(distance <= 1, near, np.where(distance < 2, far, 0))  # noqa: PLR2004 - the kernel reaches two elements

    return kernel
