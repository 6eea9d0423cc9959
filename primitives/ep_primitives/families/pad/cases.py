"""The cases of Pad: how much on which side, how x and out lie, and the number that surrounds x."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.layout.spec import dense_strides

import ep
from ep import TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.arrangement import MANY, WINDOWS, Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.data import any_bits
from ep_primitives.families.pad.rows import PAD_OPS
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile
    from ep_primitives.families.pad.descriptor import Pad

__all__ = ["PLANS", "Plan", "cases", "planned_case"]

_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)
_DEEP_BEFORE: Final = (1, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2)
_DEEP_AFTER: Final = (0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1)
_SIZES: Final = ("bool", "uint8", "bfloat16", "float32", "complex64", "complex128")
"""Bools, and an element type of each size: a kernel that moves elements may know no more of them."""
_BYTES: Final = ("int8", "uint8")


@dataclass(frozen=True)
class Plan:
    """One case: out is dense, unless strides say more. Counts differ in all places, so that mixed-up ones show.

    ops    : the modes that have it, "" for all
    dtypes : the element types that have it in profile quick, () for all; the others have it in standard
    number : "" for any, else one of `_numbers`
    """

    name: str
    x: Form
    before: tuple[int, ...]
    after: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0
    shift: int = 0
    ops: str = ""
    dtypes: tuple[str, ...] = ()
    profile: Profile = "quick"
    number: str = ""


def cases(kind: type[Pad], op: str, dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a mode and an element type in a layout."""
    for plan in PLANS[layout](dtype):
        if (plan.ops and op not in plan.ops.split()) or (plan.profile == "large" and dtype not in plan.dtypes):
            continue
        profile = plan.profile if not plan.dtypes or dtype in plan.dtypes else "standard"
        yield planned_case(kind, op, replace(plan, profile=profile), dtype)


def planned_case(kind: type[Pad], op: str, plan: Plan, dtype: str) -> Case:
    """Return the case of a plan for a mode and an element type."""
    x = TensorSpec(dtype, *plan.x)
    shape = tuple(map(sum, zip(plan.before, x.shape, plan.after, strict=True)))
    return Case(
        plan.name,
        kind(op, x=x, out=TensorSpec(dtype, shape, plan.strides, plan.offset), before=plan.before, after=plan.after),
        partial(_drawn, op, x, plan.number),
        profile=plan.profile,
        shift=plan.shift * x.itemsize,
        fill="designed" if plan.number else "random",
    )


def _drawn(op: str, x: TensorSpec, number: str, rng: np.random.Generator) -> dict[str, Any]:
    inputs: dict[str, Any] = {"x": settled(x, any_bits(rng, x.dtype, x.shape))}
    if PAD_OPS[op].has_value:
        usual = True if x.dtype == "bool" else data.ordinary(rng, x.dtype)
        inputs["value"] = _numbers(x.dtype)[number] if number else usual
    return inputs


def _numbers(dtype: str) -> dict[str, Any]:
    """Return the numbers for any stored Scalar, and one that narrow floats round."""
    numbers = dict(data.numbers(dtype))
    return numbers | {"rounded": float(np.float32(0.3))} if ep.dtype(dtype).is_floating else numbers


def _dense(dtype: str) -> Iterator[Plan]:
    yield Plan("rank-3", Form((5, 7, 19)), (1, 2, 3), (4, 3, 5))
    yield Plan("rows-only", Form((17, 33)), (2, 0), (3, 0))
    yield Plan("largest", Form((5, 7)), (4, 6), (4, 6))
    yield Plan("whole-extent", Form((5, 7)), (5, 7), (5, 7), ops="edge circular")
    yield Plan("more-than-extent", Form((5, 7)), (9, 20), (11, 33), ops="edge constant")
    yield Plan("one-row", Form((1, 1, 9)), (0, 0, 2), (0, 0, 8))
    yield Plan("ones", Form((1, 3, 1)), (1, 2, 0), (0, 1, 1), ops="edge circular")
    yield Plan("ones-constant", Form((1, 1, 1)), (1, 2, 3), (0, 3, 2), ops="edge constant")
    if dtype in _SIZES:
        yield from _shapes()
    yield Plan("crop-and-pad", Form((9, 17, 33)), (-2, 3, -4), (1, -5, 6), ops="constant")
    yield from _crops()
    yield Plan("empty-x", Form((0, 7)), (2, 1), (3, 0), ops="constant")
    for number in _numbers(dtype):
        yield Plan(f"value-{number}", Form((7, 5)), (1, 0), (2, 3), ops="constant", number=number)
    side = 46_341  # its square is above 2^31
    many: dict[str, Any] = {"ops": "constant edge", "dtypes": _BYTES, "profile": "large"}
    yield Plan("many", Form((3, 5)), (1, 2), (side - 4, side - 7), **many)


def _shapes() -> Iterator[Plan]:
    """Yield plans that differ in shape alone."""
    yield Plan("columns-only", Form((17, 33)), (0, 3), (0, 1))
    yield Plan("before-only", Form((9, 17)), (3, 2), (0, 0))
    yield Plan("after-only", Form((9, 17)), (0, 0), (1, 5))
    yield Plan("nothing", Form((9, 17)), (0, 0), (0, 0))
    yield Plan("line", Form((257,)), (31,), (65,))
    yield Plan("long-rows", Form((3, 1025)), (1, 5), (0, 9))
    yield Plan("image", Form((2, 3, 8, 8)), (0, 0, 1, 1), (0, 0, 1, 1))
    yield Plan("channels-behind", Form((2, 8, 9, 3)), (0, 2, 1, 0), (0, 1, 3, 0))
    yield Plan("tiles", Form((67, 515)), (3, 5), (2, 17))
    yield Plan("rank-16", Form(_DEEP), _DEEP_BEFORE, _DEEP_AFTER)
    yield Plan("wide", Form((33, 8191)), (1, 3), (2, 4), profile="standard")
    yield Plan("tall", Form((70001, 5)), (3, 1), (4, 2), profile="standard")
    yield Plan("long-line", Form((2**20 + 3,)), (1025,), (513,), profile="standard")


def _crops() -> Iterator[Plan]:
    crops = (
        ("crop", (17, 33), (-2, -3), (-1, -5)),
        ("crop-rows", (17, 33), (-2, 0), (-4, 0)),
        ("crop-to-one", (5, 7), (-2, -3), (-2, -3)),
        ("crop-to-border", (5, 7), (-6, 2), (4, 1)),
        ("crop-to-front", (7, 9), (3, 1), (-9, 4)),
        ("shifted-up", (13, 17), (-1, 2), (1, -2)),
    )
    for name, shape, before, after in crops:
        yield Plan(name, Form(shape), before, after, ops="constant", dtypes=_SIZES)


def _strided(_dtype: str) -> Iterator[Plan]:
    rows, columns = 9, 33
    before, after = (2, 3), (1, 4)
    tall, wide = rows + 3, columns + 7
    last = rows * columns - 1
    yield Plan("transposed-x", Form((rows, columns), (1, rows)), before, after)
    yield Plan("padded-rows", Form((rows, columns), (40, 1)), before, after, (47, 1))
    yield Plan("negative-x", Form((rows, columns), (-columns, -1), last), before, after)
    some: dict[str, Any] = {"dtypes": _SIZES}
    yield Plan("transposed-out", Form((rows, columns)), before, after, (1, tall), **some)
    yield Plan("transposed-both", Form((rows, columns), (1, rows)), before, after, (1, tall + 2), **some)
    yield Plan("every-third", Form((rows, columns), (3 * columns, 3)), before, after, (2 * wide, 2), **some)
    yield Plan("negative-out", Form((rows, columns)), before, after, (-wide, -1), tall * wide - 1, **some)
    yield Plan("negative-rows", Form((rows, columns), (-columns, 1), last + 1 - columns), before, after, **some)
    yield Plan("stride-0-rows", Form((rows, columns), (0, 1)), before, after, **some)
    yield Plan("stride-0-columns", Form((rows, columns), (1, 0)), before, after, **some)
    yield Plan("windows", Form((rows, columns), (1, 1)), before, after, **some)
    yield Plan("windows-2d", WINDOWS, (1, 0, 2, 1), (0, 2, 1, 2))
    inside_out = dense_strides(_DEEP[::-1])[::-1]
    yield Plan("rank-16", Form(_DEEP, inside_out), _DEEP_BEFORE, _DEEP_AFTER, **some)
    box = Form((4, 9, 11), (400, 20, 1))
    yield Plan("box-crop", box, (1, -2, -3), (0, 3, 1), (300, 25, 1), ops="constant", **some)
    yield Plan("far-rows", Form((2, 19), (MANY, 1)), (1, 2), (0, 3), dtypes=_BYTES, profile="large")


def _offset(_dtype: str) -> Iterator[Plan]:
    yield Plan("odd", Form((9, 33), None, 1), (2, 3), (1, 4), None, 3)
    yield Plan("shifted", Form((9, 33)), (2, 3), (1, 4), shift=1, dtypes=_SIZES)
    yield Plan("boxes", Form((9, 17), (40, 1), 67), (1, 2), (3, 0), (50, 1), 5, shift=3, dtypes=_SIZES)


def _empty(_dtype: str) -> Iterator[Plan]:
    yield Plan("inner-0", Form((3, 0, 5)), (1, 0, 2), (2, 0, 3))
    yield Plan("cropped-to-0", Form((5, 7)), (-3, 1), (-2, 0), ops="constant")


def _rank0(_dtype: str) -> Iterator[Plan]:
    yield Plan("one", Form(()), (), ())


PLANS: Final[Mapping[str, Callable[[str], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""By layout, the function that makes its plans for an element type; the first one is typical."""
