"""The stages of BatchNorm: the numbers of each channel folded into two, then a product and a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Scalar, Stage, TensorSpec
from ep_primitives.descriptors.channels import spread
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.batch_norm.descriptor import BatchNorm

__all__ = ["stages"]


def stages(norm: BatchNorm) -> Iterator[Stage]:
    """Yield the stages: factor = scale / sqrt(variance + epsilon), shift = mean factor - bias, y = x factor - shift.

    16-bit types compute in float32, and round y once, at the end.
    """
    x, y, wide = norm.x, norm.out, norm.compute
    is_wide = x.dtype == wide
    one = TensorSpec(wide, (x.shape[norm.axis],))
    given, names = dict(norm.parameters), {name: name for name, _ in norm.parameters}
    if not is_wide:
        for name, spec in norm.parameters:
            given[name], names[name] = one, f"wide {name}"
            yield Stage(Cast(x=spec, out=one), x=name, out=names[name])
    added = BroadcastBinary("add", a=given["variance"], b=Scalar(wide), out=one)
    yield Stage(added, a=names["variance"], b=norm.epsilon, out="factor")
    yield Stage(ElementwiseUnary("rsqrt", x=one, out=one), x="factor", out="factor")
    for op, first, second, place in (
        ("mul", "factor", "scale", "factor"),
        ("mul", "factor", "mean", "shift"),
        ("sub", "shift", "bias", "shift"),
    ):
        if second in given:
            yield Stage(BroadcastBinary(op, a=one, b=given[second], out=one), a=first, b=names[second], out=place)
    source, values, target, place = x, "x", y, "y"
    if not is_wide:
        target = source = TensorSpec(wide, x.shape)
        values = place = "wide x"
        yield Stage(Cast(x=x, out=source), x="x", out=values)
    column = spread(one, norm.axis, x.ndim)
    yield Stage(BroadcastBinary("mul", a=source, b=column, out=target), a=values, b="factor", out=place)
    yield Stage(BroadcastBinary("sub", a=target, b=column, out=target), a=place, b="shift", out=place)
    if not is_wide:
        yield Stage(Cast(x=target, out=y), x=place, out="y")
