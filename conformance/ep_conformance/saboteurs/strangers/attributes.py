"""Conditions of attributes: axes, k, groups, epsilon, optional operands, numbers given at launch."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import ALONG, NORMS, PICKING
from ep_conformance.saboteurs.strangers.sight import LARGE, axes, extents, inner, inputs, number, row, rows

if TYPE_CHECKING:
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_ANYWHERE: Final = ("dense", "strided")
_WARP: Final = 32
_LARGE_EPSILON: Final = 0.1


def _of(launch: Launch, name: str, default: Any = None) -> Any:
    return getattr(launch.descriptor, name, default)


def _k(launch: Launch) -> int:
    """Return how many elements of a row are chosen; 0 if none are."""
    k = _of(launch, "k")
    return k if isinstance(k, int) else 0


def _has_apart_axes(launch: Launch) -> bool:
    """Say whether some dimension that stays, of more than one element, lies between two that go."""
    shape = extents(launch)
    return any(max(shape[one + 1 : other], default=1) > 1 for one, other in pairwise(axes(launch)))


def _cycles(launch: Launch) -> bool:
    """Say whether a permutation undone is another one, so that the two can be confused."""
    order = tuple(_of(launch, "permutation", ()))
    return tuple(map(order.index, range(len(order)))) != order


def _leaves_a_rest(launch: Launch) -> bool:
    block, axis = _of(launch, "block"), _of(launch, "axis")
    return bool(block) and axis is not None and extents(launch)[axis] % block > 0


def _crops_and_pads(launch: Launch) -> bool:
    return any(
        before * after < 0 for before, after in zip(_of(launch, "before", ()), _of(launch, "after", ()), strict=False)
    )


CONDITIONS: Final = (
    Condition(
        "first-axis",
        "Only rows along the last axis have a kernel of their own; the general one has another order of loops (CUDA.jl#599).",
        (*ALONG, *PICKING, "reduce"),
        _ANYWHERE,
        lambda launch: axes(launch) == (0,) and rows(launch) > 1 and row(launch) > 1,
    ),
    Condition(
        "middle-axis",
        "Rows between an outer and an inner extent: one of the two is taken for the step (torch/cunn#150).",
        (*ALONG, *PICKING, "reduce", "gather"),
        _ANYWHERE,
        lambda launch: (
            len(axes(launch)) == 1
            and max(extents(launch)[: axes(launch)[0]], default=1) > 1
            and max(extents(launch)[axes(launch)[0] + 1 :], default=1) > 1
        ),
    ),
    Condition(
        "axes-apart",
        "Axes that go are merged as if they were neighbours.",
        ("reduce",),
        _ANYWHERE,
        _has_apart_axes,
    ),
    Condition(
        "all-axes-kept-as-ones",
        "A reduction of everything takes the whole-tensor path, which forgets the ones in the shape (cupy#2720).",
        ("reduce", "arg_reduce"),
        ("dense",),
        lambda launch: row(launch) > 1 == rows(launch) and launch.descriptor.out.ndim > 1,
    ),
    Condition(
        "axes-of-nothing",
        "No axes mean all axes in some libraries (onnxruntime#2268), and each element alone in others.",
        ("reduce",),
        ("dense",),
        lambda launch: not axes(launch) and len(extents(launch)) > 0,
    ),
    Condition(
        "k-of-all",
        "The best k of k elements: a selection that stops before its last pass.",
        ("top_k",),
        _ANYWHERE,
        lambda launch: _k(launch) == row(launch) > 1,
    ),
    Condition(
        "k-past-a-warp-and-ragged",
        "k is rounded up to a power of two, and the padding comes into the result (onnxruntime#32404).",
        ("top_k",),
        ("dense",),
        lambda launch: _k(launch) in range(_WARP + 1, LARGE) and bool(_k(launch) & _k(launch) - 1),
    ),
    Condition(
        "unsorted-best",
        "Without an order asked for, places and values are moved by different passes.",
        ("top_k",),
        ("dense",),
        lambda launch: _of(launch, "sorted") is False and _k(launch) > 1,
    ),
    Condition(
        "exclusive-and-reverse",
        "Both shift where a row begins, and one of them is applied to the wrong end.",
        ("scan",),
        (*_ANYWHERE, "inplace"),
        lambda launch: bool(_of(launch, "exclusive") and _of(launch, "reverse")) and row(launch) > 1,
    ),
    Condition(
        "row-of-two-dimensions",
        "Scale and bias of several dimensions are read with the stride of the last alone.",
        NORMS,
        (*_ANYWHERE, "inplace"),
        lambda launch: sum(extents(launch)[axis] > 1 for axis in axes(launch)) > 1,
    ),
    Condition(
        "bias-without-scale",
        "Operands are counted in place of named: the bias arrives where scale is expected.",
        ("layer_norm", "batch_norm", "group_norm"),
        (*_ANYWHERE, "inplace"),
        lambda launch: "bias" in inputs(launch) and "scale" not in inputs(launch),
    ),
    Condition(
        "one-statistic-alone",
        "Mean and rstd are written together or not at all.",
        ("layer_norm",),
        ("dense",),
        lambda launch: len({"mean", "rstd"} & {*launch.descriptor.written}) == 1,
    ),
    Condition(
        "large-epsilon",
        "Epsilon is added behind the root, or is a constant of the kernel (1e-5): nobody notices while it is small.",
        (*NORMS, "batch_norm", "group_norm"),
        ("dense",),
        lambda launch: _of(launch, "epsilon", 0.0) > _LARGE_EPSILON,
    ),
    Condition(
        "groups-of-one-channel",
        "As many groups as channels: the loop over the channels of a group has the wrong bound.",
        ("group_norm",),
        (*_ANYWHERE, "inplace"),
        lambda launch: _of(launch, "groups", 0) == (*extents(launch), 1, 1)[1] > 1,
    ),
    Condition(
        "channels-at-the-end",
        "Channels are expected at dimension 1; along the last one, parameters are repeated over the wrong dimension.",
        ("batch_norm",),
        _ANYWHERE,
        lambda launch: _of(launch, "axis") == len(extents(launch)) - 1 > 1 and inner(launch) > 1,
    ),
    Condition(
        "permutation-with-another-inverse",
        "A permutation and its inverse are confused, which swaps of two dimensions do not show.",
        ("permute",),
        _ANYWHERE,
        lambda launch: _cycles(launch) and min(extents(launch), default=0) > 1,
    ),
    Condition(
        "crops-and-pads",
        "A negative count on one side and a positive one on the other side of one dimension.",
        ("pad",),
        _ANYWHERE,
        _crops_and_pads,
    ),
    Condition(
        "weights-in-a-mean",
        "The mean is divided by the number of labels in place of the sum of their weights.",
        ("cross_entropy",),
        _ANYWHERE,
        lambda launch: _of(launch, "reduction") == "mean" and "weights" in inputs(launch),
    ),
    Condition(
        "block-with-a-rest",
        "The last block of a quantised dimension is shorter, and its scale lies behind the others.",
        ("quantize", "dequantize"),
        _ANYWHERE,
        _leaves_a_rest,
    ),
    Condition(
        "batches-of-indices",
        "Each batch asks with its own indices, and the first batch's are taken for all.",
        ("gather",),
        _ANYWHERE,
        lambda launch: _of(launch, "batch_dims", 0) > 0 and extents(launch)[0] > 1,
    ),
    Condition(
        "step-down",
        "A negative step is held without a sign, or multiplied by an index that has none.",
        ("iota",),
        ("dense", "strided", "offset"),
        lambda launch: (number(launch, "step") or 0j).real < 0,
    ),
)
"""By theme, each with the mistake that it is taken from."""
