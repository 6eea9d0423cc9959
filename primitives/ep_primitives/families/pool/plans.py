"""The plans of Pool's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.families.pool.descriptor import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

Numbers = int | tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """One case for any op and element type: forms of the operands, attributes, and what x holds.

    y        : None is dense
    ops      : the ops that have it, "" for all
    contents : name in CONTENTS of the contents of x, "" for random numbers
    kinds    : kinds of the element types that have the case
    is_usual : True if every cell has the case, else only those of chosen ops and element types
    is_exact : True if the contents fix every bit of y
    shift    : elements that memory views start after an aligned place
    summands : as in `Case`
    """

    name: str
    x: Form
    window: Numbers
    strides: Numbers = 1
    dilations: Numbers = 1
    pads: Numbers = 0
    ceil: bool = False
    counts_pads: bool = False
    y: Form | None = None
    ops: str = ""
    contents: str = ""
    kinds: str = "iuf"
    is_usual: bool = False
    is_exact: bool = False
    profile: Profile = "quick"
    shift: int = 0
    summands: int = 0

    def descriptor(self, op: str, dtype: str) -> Pool:
        """Return the descriptor for an op and an element type."""
        return Pool.infer(
            op,
            TensorSpec(dtype, *self.x),
            self.window,
            strides=self.strides,
            dilations=self.dilations,
            pads=self.pads,
            ceil=self.ceil,
            counts_pads=self.counts_pads,
            y=None if self.y is None else TensorSpec(dtype, *self.y),
        )


def _plain(name: str, x: tuple[int, ...], window: Numbers, **more: Any) -> Plan:
    return Plan(name, Form(x), window, **more)


def _dense() -> Iterator[Plan]:
    image = (2, 3, 9, 11)
    usual: dict[str, Any] = {"is_usual": True}
    yield _plain("image", image, 3, strides=2, pads=1, **usual)
    yield _plain("no-pads", image, (3, 2))
    yield _plain("blocks", (2, 3, 8, 12), 2, strides=2, **usual)
    yield _plain("line", (3, 5, 17), 4, strides=3, pads=(2, 1))
    yield _plain("volume", (1, 3, 5, 6, 7), (2, 3, 2), strides=(1, 2, 1), pads=(1, 0, 1, 0, 1, 0))
    yield _plain("6-dimensions", (1, 2, 2, 3, 2, 4, 2, 3), (1, 2, 2, 2, 1, 2), pads=(0, 1, 0, 0, 0, 0))
    yield _plain("dilations", (2, 3, 13, 17), 3, dilations=(2, 3))
    yield _plain(
        "strides-dilations-pads", (2, 3, 13, 17), 3, strides=(3, 2), dilations=(2, 3), pads=(1, 4, 2, 0), **usual
    )
    yield _plain("pads-behind", image, 3, pads=(0, 0, 1, 2))
    yield _plain("pads-more-than-x", (2, 2, 2, 3), (2, 3), strides=2, dilations=3, pads=7, **usual)
    yield _plain("pads-that-no-window-reaches", (2, 3, 8, 9), 3, strides=(4, 5), pads=(1, 1, 3, 1))
    yield _plain("some-of-x-in-no-window", (2, 3, 12, 13), 3, strides=(4, 5), pads=(1, 0, 0, 0))
    yield _plain("ceil", (2, 3, 10, 12), 3, strides=2, ceil=True, **usual)
    yield _plain("ceil-pads", (2, 3, 9, 11), (4, 3), strides=(3, 4), pads=1, ceil=True)
    yield _plain("ceil-that-begins-behind-x", (2, 3, 6, 9), 3, strides=(4, 3), pads=(0, 0, 2, 1), ceil=True)
    yield _plain("ceil-dilations", (2, 3, 10, 13), 3, strides=3, dilations=2, ceil=True)
    counted: dict[str, Any] = {"counts_pads": True, "ops": "average", **usual}
    yield _plain("pads-count", image, 3, strides=2, pads=1, **counted)
    yield _plain("pads-count-ceil", (2, 3, 10, 12), 3, strides=2, pads=(1, 0, 0, 1), ceil=True, **counted)
    yield _plain("pads-count-none", image, 3, strides=2, **counted)
    yield _plain("one-element", image, 1)
    yield _plain("one-element-strides", image, 1, strides=(2, 3))
    yield _plain("whole", (3, 5, 7, 9), (7, 9))
    yield _plain("row-window", image, (1, 5), pads=(0, 2))
    yield _plain("column-window", image, (5, 1), strides=(1, 2))
    yield _plain("gaps-between-windows", (2, 3, 9, 14), 2, strides=(3, 5))
    yield _plain("large-window", (1, 2, 20, 21), (13, 11), pads=5)
    yield _plain("point", (3, 5, 1, 1), 1)
    yield _plain("many-channels", (2, 257, 4, 5), 2)
    yield _plain("empty-x", (2, 3, 0, 4), 2, pads=(2, 0, 1, 1))
    yield _plain("below-zero", image, 3, pads=2, contents="below-zero", ops="max", **usual)
    yield _plain("lowest", (2, 3, 5, 6), 3, pads=1, contents="lowest", ops="max", is_exact=True, **usual)
    yield _plain(
        "integers", (2, 3, 9, 12), (2, 4), strides=(1, 2), contents="integers", is_exact=True, ops="max average norm_1"
    )
    yield _plain("not-finite", (2, 35, 6, 9), 3, strides=2, pads=1, contents="not-finite", kinds="f", **usual)
    yield _plain("signed-zeros", (2, 3, 9, 11), 2, contents="signed-zeros", kinds="f", ops="max", is_exact=True)
    signs: dict[str, Any] = {"contents": "positive", "ops": "average", "kinds": "f", "summands": 49}
    yield _plain("one-sign", (1, 3, 22, 23), 7, **signs)
    yield _plain("large", (1, 64, 57, 63), 3, strides=2, pads=1, profile="standard")
    yield _plain("70001-images", (70001, 2, 3), 2, profile="standard")


def _strided() -> Iterator[Plan]:
    shape, made = (2, 3, 9, 11), (2, 3, 7, 9)
    yield Plan("channels-last", Form(shape, (297, 1, 33, 3)), 3, y=Form(made, (189, 1, 27, 3)), is_usual=True)
    yield Plan("channels-last-pads", Form(shape, (297, 1, 33, 3)), 3, pads=1, strides=2)
    yield Plan("transposed-images", Form(shape, (297, 99, 1, 9)), 3, pads=1)
    yield Plan("padded-rows", Form(shape, (600, 200, 16, 1)), (3, 2), pads=(1, 0, 1, 0))
    yield Plan("negative-strides", Form(shape, (-297, -99, -11, -1), 593), 3, strides=2, is_usual=True)
    yield Plan("stride-0-images", Form(shape, (0, 99, 11, 1)), 3, pads=1)
    yield Plan("stride-0-rows", Form(shape, (27, 9, 1, 0)), 3)
    yield Plan("windows", Form((4, 3, 5, 6), (15, 30, 7, 1)), 3, pads=(1, 0))
    yield Plan("padded-y", Form(shape), 3, y=Form(made, (400, 90, 11, 1)))
    yield Plan("negative-y", Form(shape), 3, y=Form(made, (-189, -63, -9, -1), 377))
    yield Plan("every-third-y", Form((2, 3, 13)), 3, y=Form((2, 3, 11), (3, 80, 6)))
    averaged = Form(shape, (400, 130, 13, 1))
    yield Plan("padded-y-pads", Form(shape), 3, pads=1, y=averaged, ops="average")


def _offset() -> Iterator[Plan]:
    x = Form((2, 3, 9, 11), None, 1)
    yield Plan("odd", x, 3, pads=1, y=Form((2, 3, 9, 11), None, 3), is_usual=True)
    yield _plain("shifted", (2, 3, 9, 11), 3, shift=1)
    box = Form((2, 3, 5, 7), (800, 200, 15, 1), 33)
    yield Plan("box", box, 3, strides=2, pads=(0, 1, 1, 0), y=Form((2, 3, 2, 3), (60, 12, 5, 1), 9), shift=3)


def _empty() -> Iterator[Plan]:
    yield _plain("no-images", (0, 3, 9, 11), 3, pads=1, is_usual=True)
    yield _plain("no-channels", (2, 0, 9, 11), 3)


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
