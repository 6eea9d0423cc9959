"""Conditions of convolutions and pools: borders, dilations, groups, how windows lie."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import WINDOWS
from ep_conformance.saboteurs.strangers.sight import extents, tensors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_ANYWHERE: Final = ("dense", "strided")
_CONVOLUTIONS: Final = ("convolution", "convolution_transposed")
_FORWARD: Final = ("convolution", "pool")
_PACK: Final = 4
_VOLUME: Final = 3


class _Side(NamedTuple):
    """How windows lie along a spatial dimension, and its extents in x and in the output."""

    window: int
    step: int
    dilation: int
    before: int
    after: int
    extent: int
    out: int


def _sides(launch: Launch) -> Iterator[_Side]:
    """Yield each spatial dimension of a family with windows."""
    of, weights = launch.descriptor, tensors(launch).get("w")
    window = weights.shape[2:] if weights is not None else getattr(of, "window", ())
    pads = tuple(getattr(of, "pads", ()))
    middle = len(pads) // 2
    steps, dilations = getattr(of, "strides", ()), getattr(of, "dilations", ())
    given = (window, steps, dilations, pads[:middle], pads[middle:], extents(launch)[2:], of.out.shape[2:])
    return (_Side(*numbers) for numbers in zip(*given, strict=False))


def _groups(launch: Launch) -> int:
    return int(getattr(launch.descriptor, "groups", 1))


def _channels(launch: Launch) -> tuple[int, int]:
    """Return the channels of x and of the output."""
    return (*extents(launch), 1, 1)[1], (*launch.descriptor.out.shape, 1, 1)[1]


CONDITIONS: Final = (
    Condition(
        "pads-behind-alone",
        "Pads of one side: the first one is taken for both (oneDNN#5080: other columns than with equal pads).",
        WINDOWS,
        _ANYWHERE,
        lambda launch: any(side.before == 0 < side.after for side in _sides(launch)),
    ),
    Condition(
        "dilated-behind-a-pad",
        "The first element in x is found without the dilation, where a window begins in the pad (onnxruntime#29637).",
        WINDOWS,
        _ANYWHERE,
        lambda launch: any(side.before > 0 and side.dilation > 1 and side.window > 1 for side in _sides(launch)),
    ),
    Condition(
        "dilated-with-steps",
        "Steps and dilations are exchanged, or both applied to one index.",
        WINDOWS,
        _ANYWHERE,
        lambda launch: any(1 < side.step != side.dilation > 1 < side.window for side in _sides(launch)),
    ),
    Condition(
        "steps-past-the-window",
        "A buffer for lines is made for the lesser of step and window (oneDNN#5568).",
        WINDOWS,
        _ANYWHERE,
        lambda launch: any(1 < side.window < side.step and side.out > 1 for side in _sides(launch)),
    ),
    Condition(
        "even-windows",
        "Borders are half a window wide on both sides, which is one too many of an even one (ComputeLibrary#78).",
        WINDOWS,
        ("dense",),
        lambda launch: any(
            side.window > 1 and side.window % 2 == 0 and side.before + side.after for side in _sides(launch)
        ),
    ),
    Condition(
        "steps-differ",
        "Height and width are exchanged in one of strides, dilations and pads (MIOpen#3867).",
        WINDOWS,
        _ANYWHERE,
        lambda launch: len({side.step for side in _sides(launch)}) > 1,
    ),
    Condition(
        "window-of-all",
        "A window as large as x leaves one place, and a global path without pads or steps is taken (oneDNN#1727).",
        _FORWARD,
        ("dense",),
        lambda launch: (
            [side.out for side in _sides(launch)] == [1] * len(extents(launch)[2:])
            and all(side.window == side.extent > 1 for side in _sides(launch))
        ),
    ),
    Condition(
        "window-beside-x",
        "A window lies in the pad alone: an empty maximum or a division by 0 (FastNN#5, mxnet#6191).",
        _FORWARD,
        ("dense",),
        lambda launch: any(side.before > (side.window - 1) * side.dilation for side in _sides(launch)),
    ),
    Condition(
        "last-window-past-the-pads",
        "A size rounded up: the last window is divided by elements that are not there (onnxruntime#29629).",
        ("pool",),
        _ANYWHERE,
        lambda launch: any(
            (side.out - 1) * side.step + (side.window - 1) * side.dilation + 1 > side.before + side.extent + side.after
            for side in _sides(launch)
        ),
    ),
    Condition(
        "ragged-groups",
        "Channels of a group are packed by 4, and a pack reaches into the next group (ncnn#1384, PyTorch#21597).",
        _CONVOLUTIONS,
        _ANYWHERE,
        lambda launch: (
            1 < _groups(launch) < _channels(launch)[0] and _channels(launch)[0] // _groups(launch) % _PACK > 0
        ),
    ),
    Condition(
        "depthwise-with-a-multiplier",
        "Depthwise kernels take one channel out for each one in.",
        _CONVOLUTIONS,
        _ANYWHERE,
        lambda launch: _groups(launch) == _channels(launch)[0] > 1 and _channels(launch)[1] > _channels(launch)[0],
    ),
    Condition(
        "one-by-one-with-steps",
        "A window of one is a matrix product over x as it lies, if there are no steps.",
        _CONVOLUTIONS,
        _ANYWHERE,
        lambda launch: (
            math.prod(side.window for side in _sides(launch))
            == 1
            < max((side.step for side in _sides(launch)), default=0)
        ),
    ),
    Condition(
        "three-dimensions",
        "The depth is merged into the batch, or its pads are those of the height.",
        WINDOWS,
        ("dense",),
        lambda launch: (
            len([side for side in _sides(launch) if side.window > 1 and side.before + side.after]) == _VOLUME
        ),
    ),
)
"""By theme, each with the mistake that it is taken from."""
