"""The plans of ConvolutionTransposed's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep import Descriptor, TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.families.convolution.plans import Numbers, Plan
from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["PLANS", "Transposed"]


@dataclass(frozen=True)
class Transposed(Plan):
    """A plan with weights (C, M / groups, K...); extra : elements of y to which nothing of x is added."""

    extra: Numbers = 0

    def descriptor(self, dtype: str) -> Descriptor:
        """Return the descriptor for an element type."""
        made = Form((self.w.shape[1] * self.groups,))
        return ConvolutionTransposed.infer(
            TensorSpec(dtype, *self.x),
            TensorSpec(dtype, *self.w),
            TensorSpec(dtype, *(self.bias or made)) if self.has_bias else None,
            strides=self.strides,
            dilations=self.dilations,
            pads=self.pads,
            extra=self.extra,
            groups=self.groups,
            y=None if self.y is None else TensorSpec(dtype, *self.y),
        )


def _plain(name: str, x: tuple[int, ...], w: tuple[int, ...], **more: Any) -> Plan:
    return Transposed(name, Form(x), Form(w), **more)


def _dense() -> Iterator[Plan]:
    image, filters = (2, 3, 5, 6), (3, 4, 3, 3)
    yield _plain("image", image, filters, strides=2, pads=1)
    yield _plain("no-bias", image, filters, strides=2, pads=1, has_bias=False)
    yield _plain("no-strides", image, filters)
    yield _plain("no-strides-pads", image, filters, pads=(1, 2, 2, 0))
    yield _plain("line", (3, 5, 7), (5, 6, 4), strides=3, pads=(2, 1))
    yield _plain("volume", (1, 3, 3, 4, 2), (3, 4, 2, 3, 2), strides=(1, 2, 3), pads=(1, 0, 1, 0, 1, 2))
    yield _plain("6-dimensions", (1, 2, 2, 1, 2, 2, 1, 2), (2, 2, 1, 2, 2, 2, 1, 2), strides=(1, 2, 1, 1, 3, 1))
    yield _plain("dilations", image, filters, dilations=(2, 3))
    yield _plain("strides-dilations-pads", image, filters, strides=(3, 2), dilations=(2, 3), pads=(1, 4, 2, 0))
    yield _plain("extra", image, filters, strides=(3, 2), pads=1, extra=(2, 1))
    yield _plain("extra-of-dilation", image, filters, dilations=3, extra=(2, 0))
    yield _plain("gaps-that-nothing-gives-to", image, (3, 4, 2, 2), strides=(3, 4), extra=(2, 3))
    yield _plain("pads-more-than-window", (2, 3, 6, 7), (3, 4, 2, 3), strides=2, pads=(4, 5, 3, 2))
    yield _plain("pads-more-than-window-no-strides", (2, 3, 6, 7), (3, 4, 2, 1), pads=(3, 1, 2, 2))
    yield _plain("blocks", image, (3, 4, 2, 2), strides=2)
    yield _plain("even-window", image, (3, 4, 4, 2), strides=2, pads=(2, 0, 1, 1))
    yield _plain("1x1", image, (3, 17, 1, 1))
    yield _plain("1x1-strides", image, (3, 4, 1, 1), strides=2)
    yield _plain("point", (3, 5, 1, 1), (5, 7, 4, 3), strides=2)
    yield _plain("groups", (2, 6, 5, 4), (6, 2, 3, 3), strides=2, pads=1, groups=2)
    yield _plain("groups-line", (3, 8, 7), (8, 3, 3), strides=2, groups=4, extra=1)
    yield _plain("depthwise", (2, 19, 5, 6), (19, 1, 4, 4), strides=2, pads=1, groups=19)
    yield _plain("depthwise-many", (2, 5, 5, 4), (5, 3, 3, 3), pads=1, groups=5)
    yield _plain("one-channel", (2, 1, 9, 8), (1, 1, 3, 2), strides=(2, 1))
    yield _plain("many-images", (33, 3, 3, 4), (3, 4, 3, 3), strides=2)
    yield _plain("deep", (1, 130, 3, 4), (130, 9, 2, 2), strides=2)
    yield _plain("no-channels", (2, 0, 3, 4), (0, 3, 2, 2), strides=2)
    yield _plain("integers", (2, 6, 5, 4), (6, 2, 3, 3), strides=2, pads=1, groups=2, contents="odd-integers")
    yield _plain("integers-dilations", image, filters, dilations=(2, 1), pads=(1, 2), contents="odd-integers")
    more: dict[str, Any] = {"contents": "positive", "summands": 64, "has_bias": False}
    yield _plain("one-sign", (1, 16, 9, 10), (16, 4, 2, 2), pads=1, **more)
    yield _plain("not-finite", (5, 3, 4, 5), filters, strides=2, pads=1, contents="not-finite")
    yield _plain("large", (2, 32, 28, 27), (32, 16, 4, 4), strides=2, pads=1, profile="standard")


def _strided() -> Iterator[Plan]:
    shape, filters, made = (2, 3, 5, 6), (3, 4, 3, 3), (2, 4, 11, 13)
    inside = Form(shape, (90, 1, 18, 3))
    turned = Form(filters, (1, 3, 36, 12))
    channels_last = Form(made, (572, 1, 52, 4))
    yield Transposed("channels-last", inside, turned, strides=2, y=channels_last)
    yield Transposed("channels-last-no-strides", inside, Form(filters), pads=1)
    yield Transposed("flipped-weights", Form(shape), Form(filters, (36, 9, -3, -1), 8), strides=2)
    yield Transposed("padded-rows", Form(shape, (300, 90, 16, 1)), Form(filters, (60, 12, 4, 1)), strides=(2, 1))
    yield Transposed("negative-strides", Form(shape, (-90, -30, -6, -1), 179), Form(filters), strides=2, pads=1)
    yield Transposed("stride-0-images", Form(shape, (0, 30, 6, 1)), Form(filters), pads=1)
    yield Transposed("stride-0-rows", Form(shape, (15, 5, 1, 0)), Form(filters, (9, 0, 3, 1)), strides=2)
    yield Transposed("windows", Form((4, 3, 5, 6), (15, 30, 7, 1)), Form(filters), strides=2)
    yield Transposed("strided-bias", Form(shape), Form(filters), bias=Form((4,), (-3,), 9))
    yield Transposed("padded-y", Form(shape), Form(filters), strides=2, y=Form(made, (900, 210, 14, 1)))
    yield Transposed("negative-y", Form(shape), Form(filters), strides=2, y=Form(made, (572, -143, -13, -1), 571))
    grouped = Form((2, 6, 5, 4), (120, 1, 24, 6))
    yield Transposed("groups-channels-last", grouped, Form((6, 2, 3, 3), (1, 6, 36, 12)), strides=2, groups=2)


def _offset() -> Iterator[Plan]:
    x, w = Form((2, 3, 5, 6), None, 1), Form((3, 4, 3, 3), None, 5)
    yield Transposed("odd", x, w, strides=2, y=Form((2, 4, 11, 13), None, 3), bias=Form((4,), None, 7))
    yield _plain("shifted", (2, 6, 5, 4), (6, 2, 3, 3), groups=2, strides=2, shift=1)
    box = Form((2, 3, 3, 4), (800, 200, 15, 1), 33)
    yield Transposed("box", box, w, strides=2, pads=1, y=Form((2, 4, 5, 7), (400, 60, 9, 1), 9), shift=3)


def _empty() -> Iterator[Plan]:
    yield _plain("no-images", (0, 3, 5, 6), (3, 4, 3, 3), strides=2)
    yield _plain("no-weights", (2, 3, 5, 6), (3, 0, 3, 3))


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
