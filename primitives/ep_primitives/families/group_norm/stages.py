"""The lowering of GroupNorm: a LayerNorm whose rows are groups, and a product and a sum channel by channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Stage, TensorSpec
from ep_primitives.descriptors.channels import spread
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.layer_norm.descriptor import LayerNorm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.group_norm.descriptor import GroupNorm

__all__ = ["stages"]


def stages(norm: GroupNorm) -> Iterator[Stage]:
    """Yield the stages. One group is a LayerNorm with scale and bias; of 16-bit types all else is float32 until the end."""
    x, y, wide, epsilon = norm.x, norm.out, norm.compute, norm.epsilon
    factors = dict(norm.factors)
    if norm.groups == 1:
        each = {name: _over(spec, x.shape[1:]) for name, spec in factors.items()}
        yield Stage(LayerNorm(x=x, y=y, axis=1, epsilon=epsilon, **each), x="x", y="y", **{name: name for name in each})
        return
    is_whole = not factors or x.dtype == wide
    rows = [_grouped(spec, norm.groups) for spec in (x, y)]
    if is_whole:
        yield Stage(LayerNorm(x=rows[0], y=rows[1], axis=2, epsilon=epsilon), x="x", y="y")
        target, place = y, "y"
    else:
        target, place = TensorSpec(wide, x.shape), "normalised"
        row = _grouped(target, norm.groups)
        yield Stage(Cast(x=x, out=target), x="x", out=place)
        yield Stage(LayerNorm(x=row, y=row, axis=2, epsilon=epsilon), x=place, y=place)
    for name, spec in factors.items():
        given, term = spec, name
        if not is_whole:
            given, term = TensorSpec(wide, spec.shape), f"wide {name}"
            yield Stage(Cast(x=spec, out=given), x=name, out=term)
        op, column = "mul" if name == "scale" else "add", spread(given, 1, x.ndim)
        yield Stage(BroadcastBinary(op, a=target, b=column, out=target), a=place, b=term, out=place)
    if not is_whole:
        yield Stage(Cast(x=target, out=y), x=place, out="y")


def _grouped(spec: TensorSpec, groups: int) -> TensorSpec:
    """Return a tensor with its channels in two dimensions, the groups and the channels of one; rows begin at the third.

    Where each channel is a group and has dimensions of its own, these are the rows as they are.
    """
    channels, step = spec.shape[1], spec.strides[1]
    if groups == channels and spec.ndim > 2:  # noqa: PLR2004 - samples and channels
        return spec
    each = channels // groups
    split, strides = (groups, each), (step * each, step)
    return TensorSpec(
        spec.dtype,
        (spec.shape[0], *split, *spec.shape[2:]),
        (spec.strides[0], *strides, *spec.strides[2:]),
        spec.offset,
    )


def _over(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    """Return one number a channel repeated over a whole sample."""
    return TensorSpec(spec.dtype, shape, (*spec.strides, *(0,) * (len(shape) - 1)), spec.offset)
