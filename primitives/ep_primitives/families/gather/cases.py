"""The cases of Gather: layouts of x, indices and out, and contents of the indices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

from ep import TensorSpec
from ep_primitives.cases.arrangement import MANY, WINDOWS, Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.data import any_bits
from ep_primitives.cases.index_data import CONTENTS, fill_of
from ep_primitives.families.gather.descriptor import Gather
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

    out      : None: dense, of the shape that follows
    contents : name in CONTENTS of the contents of the indices
    shift    : elements of out that every memory view starts after an aligned place
    is_bytes : True if only an element type of one byte is worth the memory it takes
    """

    name: str
    x: Form
    indices: Form
    out: Form | None = None
    axis: int = 0
    batch_dims: int = 0
    contents: str = "mixed"
    profile: Profile = "quick"
    shift: int = 0
    is_bytes: bool = False


def cases(dtype: str, index: str, layout: str) -> Iterator[Case]:
    """Yield the cases of a layout for an element type and a type of index."""
    for plan in PLANS[layout]():
        if plan.is_bytes <= (dtype == "uint8"):
            yield planned_case(plan, dtype, index)


def planned_case(plan: Plan, dtype: str, index: str) -> Case:
    """Return the case of a plan for an element type and a type of index."""
    x, indices = TensorSpec(dtype, *plan.x), TensorSpec(index, *plan.indices)
    options = {"axis": plan.axis, "batch_dims": plan.batch_dims}
    descriptor = Gather.infer(x, indices, **options)
    if plan.out:
        descriptor = Gather(x=x, indices=indices, out=TensorSpec(dtype, *plan.out), **options)
    shift = plan.shift * max(descriptor.out.itemsize, indices.itemsize)
    data = partial(_data, plan, descriptor)
    return Case(plan.name, descriptor, data, profile=plan.profile, shift=shift, fill=fill_of(plan.contents))


def _data(plan: Plan, descriptor: Gather, rng: np.random.Generator) -> dict[str, Any]:
    x, indices = descriptor.x, descriptor.indices
    asked = CONTENTS[plan.contents](rng, indices, 0, descriptor.extent)
    return {
        "x": settled(x, any_bits(rng, x.dtype, x.shape)),
        "indices": settled(indices, asked),
    }


def _dense() -> Iterator[Plan]:
    yield Plan("rows", Form((33, 17)), Form((9,)))
    yield Plan("elements", Form((1025,)), Form((257,)))
    yield Plan("repeated", Form((7, 5)), Form((31,)), contents="repeated")
    yield Plan("sorted", Form((257, 3)), Form((64,)), contents="sorted")
    yield Plan("reversed", Form((64, 3)), Form((64,)), contents="reversed")
    yield Plan("edges", Form((5, 3)), Form((32,)), contents="edges")
    yield Plan("edges-last-axis", Form((3, 5)), Form((32,)), axis=-1, contents="edges")
    yield Plan("last-axis", Form((9, 65)), Form((17,)), axis=-1)
    yield Plan("middle-axis", Form((3, 7, 16)), Form((5,)), axis=1)
    yield Plan("matrix-of-indices", Form((3, 7, 4)), Form((2, 5)), axis=-2)
    yield Plan("one-index", Form((5, 17)), Form(()), contents="random")
    yield Plan("x-of-rank-0", Form(()), Form((19,)))
    yield Plan("batch", Form((3, 7, 4)), Form((3, 5)), axis=1, batch_dims=1)
    yield Plan("batches-and-rows", Form((2, 3, 4, 5, 3)), Form((2, 3, 6)), axis=3, batch_dims=2)
    yield Plan("batch-of-elements", Form((4, 9)), Form((4, 33)), axis=1, batch_dims=1)
    yield Plan("one-of-each-row", Form((33, 17)), Form((33,)), axis=1, batch_dims=1)
    yield Plan("inner-16", Form((65, 16)), Form((33,)), contents="random")
    yield Plan("inner-64", Form((17, 64)), Form((13,)))
    yield Plan("inner-1025", Form((5, 1025)), Form((7,)))
    yield Plan("extent-1", Form((1, 33)), Form((9,)))
    yield Plan("extent-0", Form((3, 0, 5)), Form((9,)), axis=1)
    yield Plan("rank-16", Form((*_DEEP, 3)), Form((2, 3)), axis=2)
    yield Plan("many-elements", Form((65537,)), Form((2**17 + 3,)), profile="standard")
    yield Plan("many-rows", Form((4099, 7)), Form((70001,)), profile="standard")
    yield Plan("long-rows", Form((2, 3, 70001)), Form((5,)), axis=1, profile="standard")
    yield Plan("far-elements", Form((MANY,)), Form((99,)), contents="ends", profile="large", is_bytes=True)
    yield Plan("many-out", Form((3, MANY // 4)), Form((5,)), contents="random", profile="large", is_bytes=True)


def _strided() -> Iterator[Plan]:
    x, indices = Form((33, 17)), Form((9,))
    yield Plan("transposed-x", Form((33, 17), (1, 33)), indices)
    yield Plan("transposed-out", x, indices, Form((9, 17), (1, 9)))
    yield Plan("negative-x", Form((33, 17), (-17, -1), 33 * 17 - 1), indices)
    yield Plan("negative-out", x, indices, Form((9, 17), (-17, -1), 9 * 17 - 1))
    yield Plan("negative-axis", Form((7, 40), (40, -1), 39), Form((19,)), axis=1)
    yield Plan("stride-0-axis", Form((9, 21), (0, 1)), indices)
    yield Plan("windows", Form((9, 21), (1, 1)), indices)
    yield Plan("windows-2d", WINDOWS, Form((5, 3), (1, 1)), axis=1)
    yield Plan("every-third-out", Form((33,)), Form((9,)), Form((9,), (3,)))
    yield Plan("every-third-index", x, Form((9,), (3,)))
    yield Plan("reversed-indices", x, Form((9,), (-2,), 16))
    yield Plan("one-index-repeated", Form((33, 16)), Form((5, 7), (1, 0)))
    yield Plan("padded-rows", Form((33, 17), (24, 1)), indices, Form((9, 17), (19, 1)))
    turned = Form((3, 5, 4), (1, 3, 15))
    yield Plan("all-permuted", Form((3, 8, 4), (1, 12, 3)), Form((5,), (2,)), turned, axis=1)
    batches = Form((4, 9, 6), (1, 24, 4)), Form((4, 5), (1, 4)), Form((4, 5, 6), (30, 1, 5))
    yield Plan("permuted-batches", *batches, axis=1, batch_dims=1)
    deep, inside_out = (*_DEEP, 3, 5), dense_strides((5, 3, *_DEEP[::-1]))[::-1]
    yield Plan("rank-16", Form(deep, inside_out), Form((2,)), axis=14)
    yield Plan("indices-of-rank-16", Form((11,), (2,)), Form((*_DEEP, 3, 2), dense_strides((2, 3, *_DEEP[::-1]))[::-1]))
    far = Form((2, 19), (MANY, 1))
    yield Plan("far-rows", far, Form((5,)), profile="large", is_bytes=True)


def _offset() -> Iterator[Plan]:
    yield Plan("odd", Form((33, 17), None, 1), Form((9,), None, 3), Form((9, 17), None, 5))
    yield Plan("shifted", Form((33, 17)), Form((9,)), shift=1)
    box = Form((7, 9), (32, 1), 67), Form((5,), (2,), 7), Form((7, 5), (24, 1), 3)
    yield Plan("box", *box, axis=1, contents="edges-near", shift=1)


def _empty() -> Iterator[Plan]:
    yield Plan("no-indices", Form((3, 5)), Form((0,)))
    yield Plan("no-rows", Form((3, 0)), Form((5,)), contents="random")
    yield Plan("one-row-of-none", Form((3, 0)), Form(()), contents="random")
    yield Plan("no-batches", Form((0, 3, 5)), Form((0, 2)), axis=1, batch_dims=1)


def _rank0() -> Iterator[Plan]:
    yield Plan("one", Form((9,)), Form(()), contents="random")
    yield Plan("out-of-range", Form((9,)), Form(()), contents="outside")
    yield Plan("all", Form(()), Form(()), contents="random")


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
