"""The lowering of CrossEntropy: a LogSoftmax, its elements at the labels' classes, and sums of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep import Scalar, Stage, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.fill.descriptor import Fill
from ep_primitives.families.gather.descriptor import Gather
from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.families.softmax.descriptor import LogSoftmax
from ep_primitives.families.where.descriptor import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives.families.cross_entropy.descriptor import CrossEntropy

__all__ = ["stages"]


def stages(loss: CrossEntropy) -> Iterator[Stage]:
    """Yield the stages; of 16-bit types all is float32 until the end.

    A label that is no class gathers 0, and so do weights: it needs nothing more. One that is ignored may be a class.
    """
    wide, out = loss.compute, loss.out
    is_wide, is_mean = out.dtype == wide, loss.reduction == "mean"
    each, place = TensorSpec(wide, loss.labels.shape), "loss"
    last, name = (out, "out") if is_wide else (TensorSpec(wide, out.shape), "wide")
    if loss.reduction == "none":
        each, place = last, name
    yield from _picked(loss, each, place)
    weight = TensorSpec(wide, each.shape)
    if is_mean or loss.weights is not None:
        yield from _weighed(loss, weight)
    if loss.weights is not None:
        yield Stage(BroadcastBinary("mul", a=each, b=weight, out=each), a=place, b="weight", out=place)
    yield Stage(ElementwiseUnary("negative", x=each, out=each), x=place, out=place)
    yield from _ignored(loss, {place: each, "weight": weight} if is_mean else {place: each})
    if loss.reduction != "none":
        yield Stage(Reduce("sum", x=each, out=last, axis=range(each.ndim)), x=place, out=name)
    if is_mean:
        count = TensorSpec(wide, ())
        yield Stage(Reduce("sum", x=weight, out=count, axis=range(each.ndim)), x="weight", out="count")
        yield Stage(BroadcastBinary("div", a=last, b=count, out=last), a=name, b="count", out=name)
    if not is_wide:
        yield Stage(Cast(x=last, out=out), x=name, out="out")


def _picked(loss: CrossEntropy, each: TensorSpec, target: str) -> Iterator[Stage]:
    """Yield the stages that write the logarithm of each label's class."""
    x, place = loss.x, "x"
    if not loss.is_log:
        wide = TensorSpec(each.dtype, x.shape)
        if x.dtype != wide.dtype:
            yield Stage(Cast(x=x, out=wide), x="x", out="logarithms")
            x, place = wide, "logarithms"
        yield Stage(LogSoftmax(x=x, out=wide, axis=1), x=place, out="logarithms")
        x, place = wide, "logarithms"
    yield from _gathered(loss, _classes_last(x), place, each, target)


def _weighed(loss: CrossEntropy, each: TensorSpec) -> Iterator[Stage]:
    """Yield the stages that write the weight of each label's class, 1 if there are no weights."""
    weights, place = loss.weights, "weights"
    if weights is None:
        place = "ones"
        weights = TensorSpec(each.dtype, (loss.x.shape[1],))
        yield Stage(Fill(value=Scalar(each.dtype), out=weights), value=1, out=place)
    yield from _gathered(loss, weights, place, each, "weight")


def _gathered(loss: CrossEntropy, x: TensorSpec, place: str, each: TensorSpec, target: str) -> Iterator[Stage]:
    """Yield the stages that gather an element of x for each label, along the last dimension, and widen it."""
    labels, shared = loss.labels, x.ndim - 1
    if shared:
        labels = TensorSpec(labels.dtype, (*labels.shape, 1), (*labels.strides, 1), labels.offset)
    is_wide = x.dtype == each.dtype
    name, taken = (target, each) if is_wide else (f"narrow {target}", TensorSpec(x.dtype, each.shape))
    found = TensorSpec(taken.dtype, labels.shape, (*taken.strides, 1)[: labels.ndim], taken.offset)
    gather = Gather(x=x, indices=labels, out=found, axis=shared, batch_dims=shared)
    yield Stage(gather, x=place, indices="labels", out=name)
    if not is_wide:
        yield Stage(Cast(x=taken, out=each), x=name, out=target)


def _ignored(loss: CrossEntropy, values: Mapping[str, TensorSpec]) -> Iterator[Stage]:
    """Yield the stages that set the losses and weights of ignored labels to 0."""
    labels, ignored = loss.labels, loss.ignored
    if ignored is None:
        return
    mask = TensorSpec("bool", labels.shape)
    equal = BroadcastBinary("equal", a=labels, b=Scalar(labels.dtype), out=mask)
    yield Stage(equal, a="labels", b=ignored, out="ignored")
    for name, each in values.items():
        chosen = Where(condition=mask, a=Scalar(each.dtype), b=each, out=each)
        yield Stage(chosen, condition="ignored", a=0, b=name, out=name)


def _classes_last(spec: TensorSpec) -> TensorSpec:
    """Return a tensor with the classes as its last dimension."""
    axes = (0, *range(2, spec.ndim), 1)
    return TensorSpec(
        spec.dtype, tuple(spec.shape[axis] for axis in axes), tuple(spec.strides[axis] for axis in axes), spec.offset
    )
