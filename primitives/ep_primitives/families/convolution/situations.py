"""The situations of Convolution: how windows lie in x, groups, channels, and how all operands lie."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.convolution.plans import Plan
from ep_primitives.situations.extents import INNER, drawer
from ep_primitives.situations.forms import LINES, WRITTEN
from ep_primitives.situations.layouts import empty_model, formed, forms_of, not_all_dense, offsets, some_offset
from ep_primitives.situations.manner import MANNERS, starts
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.sliding.situations import DILATION, PADS, SLIDING_RULES, SPATIAL, STRIDE, WINDOW, slid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["NAMES", "channels", "convolution_model", "planned"]

NAMES: Final = ("x", "w", "y")
_GROUPS: Final = Dimension("groups", ("1", "2", "depthwise"))
_CHANNELS: Final = tuple(Dimension(name, ("few", "one", "4k", "4k1")) for name in ("channels", "made"))
"""The channels of x and of y that each group has; as many groups as those of x where they are depthwise."""
_BIAS: Final = Dimension("bias", ("some", "none"))
_IMAGES: Final = Dimension("images", ("few", "one", "dozens"))


@cache
def convolution_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "empty":
        a, b = random.randint(5, 9), random.randint(5, 9)
        no = situation["empty"]
        return Plan(
            "", Form((0 if no == "images" else 2, 3, a, b)), Form((0 if no == "weights" else 4, 3, 3, 3)), pads=1
        )
    groups, each, made = channels(random, situation)
    windows = slid(random, situation)
    images = {"few": random.randint(2, 3), "one": 1, "dozens": 33}[situation.get("images", "few")]
    shapes: dict[str, tuple[int, ...]] = {
        "x": (images, groups * each, *windows.extents),
        "w": (groups * made, each, *windows.window),
    }
    words: dict[str, Any] = {**windows._asdict(), "groups": groups, "has_bias": situation.get("bias") != "none"}
    del words["extents"], words["window"]
    usual = Plan("", Form(shapes["x"]), Form(shapes["w"]), **words)
    shapes["y"] = usual.descriptor("float32").out.shape
    return Plan("", **forms_of(random, situation, shapes), **words)


def channels(random: Random, situation: Situation) -> tuple[int, int, int]:
    """Return how many groups there are, and each group's channels of x and of y."""
    counts = {"few": random.randint(2, 3), "one": 1, "4k": 8, "4k1": 9}
    each, made = (counts[situation.get(name, "few")] for name in ("channels", "made"))
    if situation["groups"] == "depthwise":
        return each, 1, made
    return int(situation["groups"]), each, made


def _dense() -> Model:
    return Model(
        (
            SPATIAL,
            WINDOW,
            STRIDE,
            DILATION,
            PADS,
            _GROUPS,
            *_CHANNELS,
            _BIAS,
            INNER,
            _IMAGES,
            *starts(*NAMES),
            *MANNERS,
        ),
        (
            *SLIDING_RULES,
            Never({"images": ("dozens",), "spatial": ("3", "6")}, "many dimensions have elements enough"),
            Never({"images": ("dozens",), "inner": ("long",)}, "each is tried for itself"),
        ),
    )


def _strided() -> Model:
    forms = formed({"x": (*WRITTEN, "windows"), "w": ("dense", "padded", "negative", "permuted"), "y": WRITTEN})
    inner = Dimension("inner", ("4k1", "4k", "few"))
    return Model(
        (SPATIAL, WINDOW, STRIDE, PADS, DILATION, _GROUPS, _BIAS, inner, *forms, *starts(*NAMES), *MANNERS),
        (*SLIDING_RULES[1:], not_all_dense(forms)),
    )


def _offset() -> Model:
    forms, pads = formed(dict.fromkeys(NAMES, LINES)), Dimension("pads", ("none", "same"))
    inner, spatial = Dimension("inner", ("4k1", "4k", "few")), Dimension("spatial", ("2", "1", "3"))
    dimensions = (spatial, WINDOW, STRIDE, DILATION, pads, _GROUPS, inner)
    large = Never({"spatial": ("3",), "window": ("large",)}, "many dimensions have elements enough")
    return Model((*dimensions, *offsets(*NAMES), *forms, *starts(*NAMES), *MANNERS), (large, some_offset(*NAMES)))


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("images", "weights"),
}
