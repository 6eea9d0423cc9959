"""The lowering of LayerNorm: reductions, differences and products; the variance comes from the differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Scalar, Stage, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.reduce.descriptor import Reduce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.layer_norm.descriptor import LayerNorm

__all__ = ["stages"]


def stages(norm: LayerNorm) -> Iterator[Stage]:
    """Yield the stages. 16-bit types compute in float32, and round y once, at the end.

    The differences from the mean are one temporary of the shape of x, in which y comes about; mean and rstd are the whole's
    outputs, or temporaries where it has none.
    """
    x, y, wide = norm.x, norm.out, norm.compute
    is_wide = x.dtype == wide
    rows = range(norm.axis, x.ndim)
    kept = TensorSpec(wide, tuple([1 if axis in rows else extent for axis, extent in enumerate(x.shape)]))
    whole, values = TensorSpec(wide, x.shape), "x"
    source = x
    if not is_wide:
        source, values = whole, "centred"
        yield Stage(Cast(x=x, out=whole), x="x", out=values)
    mean, rstd = (_kept(norm, name, kept) for name in ("mean", "rstd"))
    yield Stage(Reduce("mean", x=source, out=mean, axis=rows), x=values, out="mean")
    yield Stage(BroadcastBinary("sub", a=source, b=mean, out=whole), a=values, b="mean", out="centred")
    yield Stage(Reduce("sum_of_squares", x=whole, out=rstd, axis=rows), x="centred", out="rstd")
    for op, number in (("div", norm.terms), ("add", norm.epsilon)):
        yield Stage(BroadcastBinary(op, a=rstd, b=Scalar(wide), out=rstd), a="rstd", b=number, out="rstd")
    yield Stage(ElementwiseUnary("rsqrt", x=rstd, out=rstd), x="rstd", out="rstd")
    factors = [(name, spec) for name in ("scale", "bias") if isinstance(spec := norm.present.get(name), TensorSpec)]
    last = len(factors) if is_wide else -1
    place, target = ("y", y) if not last else ("centred", whole)
    yield Stage(BroadcastBinary("mul", a=whole, b=rstd, out=target), a="centred", b="rstd", out=place)
    for number, (name, spec) in enumerate(factors, 1):
        given, term = spec, name
        if not is_wide:
            given, term = TensorSpec(wide, spec.shape), f"wide {name}"
            yield Stage(Cast(x=spec, out=given), x=name, out=term)
        place, target = ("y", y) if number == last else ("centred", whole)
        op = "mul" if name == "scale" else "add"
        yield Stage(BroadcastBinary(op, a=whole, b=given, out=target), a="centred", b=term, out=place)
    if not is_wide:
        yield Stage(Cast(x=whole, out=y), x="centred", out="y")


def _kept(norm: LayerNorm, name: str, kept: TensorSpec) -> TensorSpec:
    """Return mean or rstd with extents of 1 in the dimensions of a row: the descriptor's own, or a temporary."""
    spec = norm.outputs.get(name)
    if spec is None:
        return kept
    return TensorSpec(spec.dtype, kept.shape, spec.strides[: norm.axis] + (1,) * (kept.ndim - norm.axis), spec.offset)
