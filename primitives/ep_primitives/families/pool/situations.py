"""The situations of Pool: how windows lie in x, and how x and y lie in memory."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.cases.arrangement import Form
from ep_primitives.families.pool.plans import Plan
from ep_primitives.situations.extents import INNER, drawer
from ep_primitives.situations.forms import LINES, WRITTEN
from ep_primitives.situations.layouts import empty_model, formed, forms_of, not_all_dense, offsets, some_offset
from ep_primitives.situations.manner import MANNERS, starts
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.sliding.situations import DILATION, PADS, SLIDING_RULES, SPATIAL, STRIDE, WINDOW, slid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.situations.family import Row

__all__ = ["planned", "pool_model"]

_CHANNELS: Final = Dimension("channels", ("few", "one", "4k", "hundreds"))
_IMAGES: Final = Dimension("images", ("few", "one", "many"), late=("many",))
_CEIL: Final = Dimension("ceil", ("no", "yes"))
_MANY: Final = 70001


@cache
def pool_model(layout: str) -> Model:
    """Return the model of a layout."""
    return _MODELS[layout]()


def planned(layout: str, row: Row, seed: int) -> Plan:
    """Return the plan of a situation."""
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "empty":
        a, b = random.randint(5, 9), random.randint(5, 9)
        return Plan("", Form((0, 3, a, b) if situation["empty"] == "images" else (2, 0, a, b)), 3, pads=1)
    images = {"few": random.randint(2, 3), "one": 1, "many": _MANY}[situation.get("images", "few")]
    few = random.randint(2, 3)
    channels = {"few": few, "one": 1, "4k": 8, "hundreds": 257}[situation.get("channels", "few")]
    windows = slid(random, situation)
    shape = (images, channels, *windows.extents)
    usual = Plan("", Form(shape), *windows[1:], ceil=situation.get("ceil", "no") == "yes")
    forms = forms_of(random, situation, {"x": shape, "y": usual.descriptor("max", "float32").out.shape})
    return Plan("", forms["x"], *windows[1:], ceil=usual.ceil, y=forms["y"])


def _dense() -> Model:
    large = {"channels": ("hundreds",)}
    return Model(
        (SPATIAL, WINDOW, STRIDE, DILATION, PADS, _CEIL, INNER, _CHANNELS, _IMAGES, *starts("x", "y"), *MANNERS),
        (
            *SLIDING_RULES,
            Never({**large, "spatial": ("3", "6")}, "many dimensions have elements enough"),
            Never({**large, "inner": ("long",)}, "each is tried for itself"),
            Never({"images": ("many",), "spatial": ("2", "3", "6")}, "70,001 images are tried of few elements each"),
            Never(
                {"images": ("many",), "channels": ("4k", "hundreds")}, "70,001 images are tried of few elements each"
            ),
            Never({"images": ("many",), "inner": ("long",)}, "70,001 images are tried of few elements each"),
        ),
    )


def _strided() -> Model:
    forms = formed({"x": (*WRITTEN, "windows"), "y": WRITTEN})
    return Model(
        (SPATIAL, WINDOW, STRIDE, DILATION, PADS, _CEIL, INNER, *forms, *starts("x", "y"), *MANNERS),
        (*SLIDING_RULES, not_all_dense(forms)),
    )


def _offset() -> Model:
    forms, pads = formed({"x": LINES, "y": LINES}), Dimension("pads", ("none", "same"))
    dimensions = (
        SPATIAL,
        WINDOW,
        STRIDE,
        DILATION,
        pads,
        INNER,
        *offsets("x", "y"),
        *forms,
        *starts("x", "y"),
        *MANNERS,
    )
    return Model(dimensions, (*SLIDING_RULES[:2], some_offset("x", "y")))


_MODELS: Final[Mapping[str, Callable[[], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": lambda: empty_model("images", "channels"),
}
