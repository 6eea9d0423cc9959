"""The plans of Convolution's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep import Descriptor, TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.families.convolution.descriptor import CONVOLUTION_DTYPES, Convolution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

Numbers = int | tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """One case for any element types: forms of the operands, attributes, and the tensors' contents.

    y        : None is dense
    has_bias : False leaves the bias out; `bias` is where it lies if it is not dense
    contents : name in CONTENTS of a change to the random data, "" for none
    kinds    : kinds of the element types of x and w that have the case
    shift    : elements of y that memory views start after an aligned place
    summands : as in `Case`
    """

    name: str
    x: Form
    w: Form
    strides: Numbers = 1
    dilations: Numbers = 1
    pads: Numbers = 0
    groups: int = 1
    y: Form | None = None
    bias: Form | None = None
    has_bias: bool = True
    contents: str = ""
    kinds: str = "iuf"
    profile: Profile = "quick"
    shift: int = 0
    summands: int = 0

    def descriptor(self, dtype: str) -> Descriptor:
        """Return the descriptor for an element type of x."""
        made = CONVOLUTION_DTYPES[dtype]
        bias = TensorSpec(made, *(self.bias or Form(self.w.shape[:1]))) if self.has_bias else None
        return Convolution.infer(
            TensorSpec(dtype, *self.x),
            TensorSpec(dtype, *self.w),
            bias,
            strides=self.strides,
            dilations=self.dilations,
            pads=self.pads,
            groups=self.groups,
            y=None if self.y is None else TensorSpec(made, *self.y),
        )


def _plain(name: str, x: tuple[int, ...], w: tuple[int, ...], **more: Any) -> Plan:
    return Plan(name, Form(x), Form(w), **more)


def _dense() -> Iterator[Plan]:
    image, filters = (2, 3, 9, 11), (4, 3, 3, 3)
    yield _plain("image", image, filters, pads=1)
    yield _plain("no-bias", image, filters, pads=1, has_bias=False)
    yield _plain("no-pads", image, filters)
    yield _plain("line", (3, 5, 17), (6, 5, 3), pads=(2, 1))
    yield _plain("volume", (1, 3, 5, 6, 7), (4, 3, 2, 3, 2), strides=(1, 2, 1), pads=(1, 0, 2, 0, 1, 1))
    yield _plain("6-dimensions", (1, 2, 2, 3, 2, 4, 2, 3), (2, 2, 1, 2, 2, 2, 1, 2), pads=(0, 1, 0, 0, 1, 0))
    yield _plain("strides", (2, 3, 13, 17), filters, strides=(2, 3))
    yield _plain("dilations", (2, 3, 13, 17), filters, dilations=(2, 3))
    yield _plain("strides-dilations-pads", (2, 3, 13, 17), filters, strides=(3, 2), dilations=(2, 3), pads=(1, 4, 2, 0))
    yield _plain("pads-before", image, filters, pads=(2, 1, 0, 0))
    yield _plain("pads-behind", image, filters, pads=(0, 0, 1, 2))
    yield _plain("pads-more-than-x", (2, 2, 2, 3), (3, 2, 2, 3), strides=2, dilations=3, pads=7)
    yield _plain("pads-that-no-window-reaches", (2, 3, 8, 9), filters, strides=(4, 5), pads=(1, 1, 3, 1))
    yield _plain("some-of-x-in-no-window", (2, 3, 12, 13), filters, strides=(4, 5), pads=(1, 0, 0, 0))
    yield _plain("even-window", image, (4, 3, 4, 2), pads=(2, 1, 1, 0))
    yield _plain("row-window", image, (4, 3, 1, 5), pads=(0, 2))
    yield _plain("column-window", image, (4, 3, 5, 1), strides=(1, 2))
    yield _plain("one-window", (3, 5, 4, 3), (7, 5, 4, 3))
    yield _plain("patches", (2, 3, 8, 12), (9, 3, 4, 4), strides=4)
    yield _plain("gaps-between-windows", (2, 3, 9, 14), (4, 3, 2, 2), strides=(3, 5))
    yield _plain("1x1", (3, 33, 5, 7), (17, 33, 1, 1))
    yield _plain("1x1-strides", (3, 33, 5, 7), (17, 33, 1, 1), strides=2)
    yield _plain("1x1-pads", (3, 5, 5, 7), (7, 5, 1, 1), pads=1)
    yield _plain("point", (3, 5, 1, 1), (7, 5, 1, 1))
    yield _plain("groups", (2, 6, 9, 11), (4, 3, 3, 3), pads=1, groups=2)
    yield _plain("groups-1x1", (2, 12, 5, 7), (9, 4, 1, 1), groups=3)
    yield _plain("groups-line", (3, 8, 17), (12, 2, 3), groups=4, strides=2, pads=1)
    yield _plain("depthwise", (2, 19, 9, 11), (19, 1, 3, 3), pads=1, groups=19)
    yield _plain("depthwise-strides", (1, 35, 13, 12), (35, 1, 5, 3), strides=2, pads=(2, 1), groups=35)
    yield _plain("depthwise-many", (2, 5, 9, 11), (15, 1, 3, 3), pads=1, groups=5)
    yield _plain("depthwise-line", (3, 7, 40), (7, 1, 4), dilations=3, groups=7, has_bias=False)
    yield _plain("one-channel", (2, 1, 9, 11), (1, 1, 3, 3))
    yield _plain("one-channel-line", (2, 1, 40), (5, 1, 4), strides=3, dilations=2)
    yield _plain("many-images", (33, 3, 5, 6), (4, 3, 3, 3), pads=1)
    yield _plain("deep", (1, 130, 5, 6), (9, 130, 2, 2))
    yield _plain("wide", (1, 3, 4, 9), (131, 3, 2, 2))
    yield _plain("empty-x", (2, 3, 0, 4), (5, 3, 2, 1), pads=(2, 0, 1, 0))
    yield _plain("no-channels", (2, 0, 5, 6), (3, 0, 2, 2))
    yield _plain("integers", (2, 6, 9, 11), (4, 3, 3, 3), pads=1, groups=2, contents="odd-integers")
    yield _plain("integers-strides", (2, 5, 13, 12), (7, 5, 2, 3), strides=2, dilations=2, contents="odd-integers")
    yield _plain("ends", image, filters, pads=1, contents="ends", kinds="iu")
    more: dict[str, Any] = {"contents": "positive", "kinds": "f", "summands": 147, "has_bias": False}
    yield _plain("one-sign", (1, 3, 22, 23), (2, 3, 7, 7), **more)
    yield _plain("not-finite", (5, 3, 6, 9), filters, pads=1, contents="not-finite", kinds="f")
    yield _plain("not-finite-weights", image, (5, 3, 3, 3), contents="not-finite-weights", kinds="f")
    yield _plain("parts-of-an-image", (2, 64, 60, 65), (3, 64, 3, 3), pads=1, profile="standard")
    yield _plain("parts-of-images", (23, 32, 27, 31), (5, 32, 3, 3), pads=1, profile="standard")
    yield _plain("70001-images", (70001, 2, 3), (3, 2, 2), profile="standard")


def _strided() -> Iterator[Plan]:
    shape, filters, made = (2, 3, 9, 11), (4, 3, 3, 3), (2, 4, 9, 11)
    inside = Form(shape, (297, 1, 33, 3))
    channels_last: dict[str, Any] = {"x": inside, "y": Form(made, (396, 1, 44, 4)), "w": Form(filters, (27, 1, 9, 3))}
    yield Plan("channels-last", **channels_last, pads=1)
    yield Plan("channels-last-strides", inside, Form(filters), strides=2)
    yield Plan("transposed-images", Form(shape, (297, 99, 1, 9)), Form(filters), pads=1)
    yield Plan("transposed-weights", Form(shape), Form(filters, (1, 4, 36, 12)), pads=1)
    yield Plan("flipped-weights", Form(shape), Form(filters, (27, 9, -3, -1), 8), pads=1)
    yield Plan("padded-rows", Form(shape, (600, 200, 16, 1)), Form(filters, (40, 12, 4, 1)), pads=(1, 0, 1, 0))
    last = 2 * 3 * 99 - 1
    yield Plan("negative-strides", Form(shape, (-297, -99, -11, -1), last), Form(filters), strides=2, pads=1)
    yield Plan("stride-0-images", Form(shape, (0, 99, 11, 1)), Form(filters), pads=1)
    yield Plan("stride-0-rows", Form(shape, (27, 9, 1, 0)), Form(filters, (9, 0, 3, 1)))
    yield Plan("windows", Form((4, 3, 5, 6), (15, 30, 7, 1)), Form(filters), pads=(1, 0))
    yield Plan("windows-1x1", Form((4, 5, 3, 3), (1, 1, 3, 1)), Form((7, 5, 1, 1)))
    yield Plan("strided-bias", Form(shape), Form(filters), bias=Form((4,), (-3,), 9))
    yield Plan("one-bias", Form(shape), Form(filters), bias=Form((4,), (0,)))
    yield Plan("padded-y", Form(shape), Form(filters), pads=1, y=Form(made, (600, 150, 13, 1)))
    yield Plan("negative-y", Form(shape), Form(filters), pads=1, y=Form(made, (396, -99, -11, -1), 395))
    yield Plan("every-third-y", Form((2, 3, 13)), Form((4, 3, 3)), y=Form((2, 4, 11), (3, 80, 6)))
    grouped = Form((2, 6, 9, 11), (594, 1, 66, 6))
    yield Plan("groups-channels-last", grouped, Form(filters), pads=1, groups=2, y=Form(made, (396, 1, 44, 4)))
    yield Plan("depthwise-channels-last", grouped, Form((6, 1, 3, 3), (1, 1, 18, 6)), groups=6)
    yield Plan("1x1-channels-last", Form((3, 33, 5, 7), (1155, 1, 231, 33)), Form((17, 33, 1, 1)))


def _offset() -> Iterator[Plan]:
    x, w = Form((2, 3, 9, 11), None, 1), Form((4, 3, 3, 3), None, 5)
    yield Plan("odd", x, w, pads=1, y=Form((2, 4, 9, 11), None, 3), bias=Form((4,), None, 7))
    yield _plain("shifted", (2, 6, 9, 11), (4, 3, 3, 3), groups=2, pads=1, shift=1)
    box = Form((2, 3, 5, 7), (800, 200, 15, 1), 33)
    yield Plan("box", box, w, strides=2, pads=(0, 1, 1, 0), y=Form((2, 4, 2, 3), (60, 12, 5, 1), 9), shift=3)


def _empty() -> Iterator[Plan]:
    yield _plain("no-images", (0, 3, 9, 11), (4, 3, 3, 3), pads=1)
    yield _plain("no-weights", (2, 3, 9, 11), (0, 3, 3, 3))
    yield _plain("no-images-of-no-channels", (0, 0, 5), (3, 0, 2), has_bias=False)


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
