"""The situations of ConvolutionTransposed: those of a convolution whose pads crop y, with elements that nothing is added to."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.convolution.situations import channels, convolution_model
from ep_primitives.families.convolution_transposed.plans import Transposed
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.layouts import empty_model, forms_of
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.sliding.situations import slid

if TYPE_CHECKING:
    from ep_primitives.situations.family import Row

__all__ = ["planned", "transposed_model"]

_EXTRA: Final = Dimension("extra", ("none", "most"))
_FEWER: Final = {"pads": ("none", "same", "before", "after"), "inner": ("4k1", "4k", "few")}
"""Of dimensions of a convolution the values that fit; spans of more than x would leave nothing of y."""


@cache
def transposed_model(layout: str) -> Model:
    """Return the model of a layout."""
    if layout == "empty":
        return empty_model("images", "weights")
    usual = convolution_model(layout)
    dimensions = tuple(_fitting(each) for each in usual.dimensions)
    known = {each.name: set(each.values) for each in dimensions}
    rules = tuple(rule for rule in usual.rules if all(set(v) <= known[name] for name, v in rule.values.items()))
    none = Never({"extra": ("most",), "stride": ("1",), "dilation": ("1",)}, "extra elements are fewer than a stride")
    large = Never({"spatial": tuple(known["spatial"] - {"1", "2"}), "stride": ("more",)}, "y has elements enough")
    return Model((*dimensions, _EXTRA), (*rules, none, large))


def planned(layout: str, row: Row, seed: int) -> Transposed:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "empty":
        no = situation["empty"]
        shape = (0 if no == "images" else 2, 3, random.randint(5, 9), 6)
        return Transposed("", Form(shape), Form((3, 0 if no == "weights" else 4, 3, 3)), strides=2)
    groups, each, made = channels(random, situation)
    windows = slid(random, situation)
    images = {"few": random.randint(2, 3), "one": 1, "dozens": 33}[situation.get("images", "few")]
    shapes: dict[str, tuple[int, ...]] = {
        "x": (images, groups * each, *windows.extents),
        "w": (groups * each, made, *windows.window),
    }
    most = [max(pair) - 1 for pair in zip(windows.strides, windows.dilations, strict=True)]
    words: dict[str, Any] = {
        **windows._asdict(),
        "groups": groups,
        "has_bias": situation.get("bias") != "none",
        "extra": tuple(most) if situation["extra"] == "most" else 0,
    }
    del words["extents"], words["window"]
    usual = Transposed("", Form(shapes["x"]), Form(shapes["w"]), **words)
    shapes["y"] = usual.descriptor("float32").out.shape
    return Transposed("", **forms_of(random, situation, shapes), **words)


def _fitting(dimension: Dimension) -> Dimension:
    fewer = _FEWER.get(dimension.name, dimension.values)
    return replace(dimension, values=tuple(value for value in fewer if value in dimension.values))
