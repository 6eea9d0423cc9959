"""The cases of OneHot: layouts of indices and out, contents of the indices, and the numbers written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

import ep
from ep import TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.arrangement import MANY, WINDOWS, Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.index_data import CONTENTS, fill_of
from ep_primitives.families.one_hot.descriptor import OneHot
from ep_primitives.judging.layout import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan", "cases", "planned_case"]

_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1)
"""Extents of rank 14."""


@dataclass(frozen=True)
class Plan:
    """One case for any element types.

    out      : None: dense, with so many classes at the axis
    contents : name in CONTENTS of the contents of the indices, of the range of classes
    shift    : elements of the larger type that every memory view starts after an aligned place
    is_wide  : True if only int64 holds the indices
    is_bytes : True if only an element type of one byte is worth the memory it takes
    """

    name: str
    indices: Form
    classes: int = 0
    out: Form | None = None
    axis: int = -1
    first: int = 0
    contents: str = "mixed"
    profile: Profile = "quick"
    shift: int = 0
    is_wide: bool = False
    is_bytes: bool = False


def cases(index: str, dtype: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a layout for a type of index and an element type."""
    for plan in PLANS[layout]():
        if plan.is_bytes <= (dtype == "uint8") and plan.is_wide <= (index == "int64"):
            yield planned_case(plan, index, dtype)
    if layout == "dense":
        yield from _numbers(index, dtype)


def planned_case(plan: Plan, index: str, dtype: str) -> Case:
    """Return the case of a plan for a type of index and an element type."""
    descriptor = _describe(plan, index, dtype)
    shift = plan.shift * max(descriptor.out.itemsize, descriptor.indices.itemsize)
    data_of = partial(_data, plan, descriptor)
    return Case(plan.name, descriptor, data_of, profile=plan.profile, shift=shift, fill=fill_of(plan.contents))


def _describe(plan: Plan, index: str, dtype: str) -> OneHot:
    indices = TensorSpec(index, *plan.indices)
    if plan.out is None:
        return OneHot.infer(indices, dtype, plan.classes, axis=plan.axis, first=plan.first)
    return OneHot(indices=indices, out=TensorSpec(dtype, *plan.out), axis=plan.axis, first=plan.first)


def _data(plan: Plan, descriptor: OneHot, rng: np.random.Generator) -> dict[str, Any]:
    spec = descriptor.indices
    asked = CONTENTS[plan.contents](rng, spec, descriptor.first, descriptor.classes)
    on, off = _two_numbers(descriptor.out.dtype, rng)
    return {"indices": settled(spec, asked), "on": on, "off": off}


def _two_numbers(dtype: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return two different numbers, of a bool either way round."""
    if dtype == "bool":
        truth = bool(rng.integers(2))
        return truth, not truth
    on = data.ordinary(rng, dtype)
    return on, -on if ep.dtype(dtype).kind in "fc" else on + 100


def _numbers(index: str, dtype: str) -> Iterator[Case]:
    """Yield a case for each number worth putting down, on one side and on the other, one with equal ones, one of defaults."""
    kind = ep.dtype(dtype).kind
    for name, number in data.numbers(dtype).items() if index == "int64" else ():
        other = not number if kind == "b" else 3
        for side, on, off in (("on", number, other), ("off", other, number)):
            yield _number_case(f"{side}-{name}", index, dtype, on, off)
    yield _number_case("one-and-zero", index, dtype, 1, 0)
    same = next(iter(data.numbers(dtype).values())) if kind == "b" else 7
    yield _number_case("on-is-off", index, dtype, same, same, size=2)


def _number_case(name: str, index: str, dtype: str, on: Any, off: Any, size: int = 19) -> Case:  # noqa: PLR0913, PLR0917 - facts of a case
    descriptor = OneHot.infer(TensorSpec(index, (size,)), dtype, 4)

    def inputs(rng: np.random.Generator) -> dict[str, Any]:
        return {"indices": CONTENTS["random"](rng, descriptor.indices, 0, 4), "on": on, "off": off}

    return Case(name, descriptor, inputs, fill="designed")


def _dense() -> Iterator[Plan]:
    yield Plan("rows", Form((33,)), 17)
    yield Plan("edges", Form((40,)), 5, contents="edges")
    yield Plan("first-axis", Form((33,)), 5, axis=0)
    yield Plan("first-axis-of-three", Form((3, 17)), 7, axis=0)
    yield Plan("middle-axis", Form((5, 17)), 6, axis=1)
    yield Plan("first", Form((33,)), 7, first=11)
    yield Plan("first-edges", Form((40,)), 7, first=-3, axis=0, contents="edges")
    yield Plan("first-is-the-least", Form((19,)), 3, first=-(2**63), is_wide=True)
    yield Plan("last-is-the-greatest", Form((19,)), 3, first=2**63 - 3, is_wide=True)
    yield Plan("one-class", Form((65,)), 1)
    yield Plan("classes-10", Form((257,)), 10, contents="random")
    yield Plan("classes-64", Form((17,)), 64)
    yield Plan("classes-1025", Form((9,)), 1025, contents="random")
    yield Plan("matrix", Form((5, 7)), 9)
    yield Plan("rank-16", Form((*_DEEP, 3)), 5, axis=-3)
    yield Plan("many-rows", Form((70001,)), 5, profile="standard")
    yield Plan("many-on-first-axis", Form((40009,)), 17, axis=0, profile="standard")
    yield Plan("long-rows", Form((3,)), 2**20 + 7, profile="standard")
    yield Plan("many-classes", Form((1,)), MANY, contents="ends", profile="large", is_bytes=True)


def _strided() -> Iterator[Plan]:
    yield Plan("transposed-out", Form((33,)), out=Form((33, 17), (1, 33)))
    yield Plan("padded-rows", Form((9,)), out=Form((9, 17), (24, 1)))
    yield Plan("negative-out", Form((9,)), out=Form((9, 17), (-17, -1), 9 * 17 - 1))
    yield Plan("every-third-class", Form((9,)), out=Form((9, 17), (60, 3)))
    yield Plan("every-third-index", Form((33,), (3,)), 17)
    yield Plan("reversed-indices", Form((33,), (-2,), 64), 17, axis=0)
    yield Plan("one-index-repeated", Form((9, 5), (0, 1)), 7, axis=1)
    yield Plan("windows", Form((9, 7), (1, 1)), 5, axis=0)
    yield Plan("windows-2d", WINDOWS, 5, axis=2)
    yield Plan("permuted", Form((5, 7), (1, 5)), out=Form((5, 6, 7), (1, 40, 5)), axis=1)
    deep = dense_strides((5, 3, *_DEEP[::-1]))[::-1]
    yield Plan("rank-16", Form((*_DEEP, 3)), out=Form((*_DEEP, 3, 5), deep))
    far = Form((2, 19), (MANY, 1))
    yield Plan("far-rows", Form((2,)), out=far, profile="large", is_bytes=True)


def _offset() -> Iterator[Plan]:
    yield Plan("odd", Form((33,), None, 3), out=Form((33, 17), None, 5))
    yield Plan("shifted", Form((33,)), 17, shift=1)
    yield Plan("box", Form((5,), (2,), 7), out=Form((9, 5), (24, 1), 29), axis=0, shift=3)


def _empty() -> Iterator[Plan]:
    yield Plan("no-indices", Form((0,)), 5)
    yield Plan("no-classes", Form((3, 5)), 0, axis=1)
    yield Plan("no-rows", Form((3, 0, 5)), 4, axis=0)


def _rank0() -> Iterator[Plan]:
    yield Plan("one", Form(()), 65, contents="random")
    yield Plan("out-of-range", Form(()), 5, contents="outside")


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
