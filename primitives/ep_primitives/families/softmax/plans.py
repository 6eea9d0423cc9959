"""How the operands of the softmaxes' cases lie, by layout of the cell, and what each case is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import MANY, WINDOWS, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)

# Below, at and above vectors, the blocks of a sum, and whatever a kernel keeps in its caches.
_EXTENTS: Final = ((9, 1), (5, 2), (4, 7), (3, 15), (5, 16), (4, 17), (2, 31), (3, 33), (5, 63), (3, 64), (2, 65))
_LONGER: Final = ((3, 127), (4, 128), (3, 255), (2, 257), (3, 511), (2, 513), (2, 1025), (2, 4097), (1, 16411))
# More rows than are worked on at once, by no whole number of times.
_BATCHES: Final = ((261, 10), (70, 65))
_STANDARD: Final = ((300, 10), (70001, 3), (70, 1000), (3, 8192), (2, 65537), (1, 262147))

_ALONG: Final[tuple[tuple[tuple[int, ...], int], ...]] = (
    ((33, 17), 0),
    ((5, 67), 0),
    ((4, 19, 35), 1),
    ((515, 67), 0),
    ((2, 3, 4, 5), -3),
)
"""Shapes, and an axis that is not the last."""

_SHAPE: Final = (33, 17)
_ROWS: Final = (7, 65)


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type.

    forms    : of each tensor, the output last
    contents : name in CONTENTS of what the inputs hold
    inplace  : position of the input that shares the output's memory
    dtypes   : the element types that have the case; none named are all
    summands : as in `Case`
    """

    name: str
    forms: tuple[Form, ...]
    axis: int = -1
    contents: str = "random"
    inplace: int | None = None
    profile: Profile = "quick"
    shift: int = 0
    dtypes: tuple[str, ...] = ()
    summands: int = 0


def _plain(name: str, shape: tuple[int, ...], inputs: int, axis: int = -1, **more: Any) -> Plan:
    return Plan(name, (Form(shape),) * (inputs + 1), axis, **more)


def _dense(inputs: int) -> Iterator[Plan]:
    yield _plain("rows", (7, 33), inputs)
    for shapes, profile in ((_EXTENTS + _LONGER + _BATCHES, "quick"), (_STANDARD, "standard")):
        for shape in shapes:
            yield _plain("x".join(map(str, shape)), shape, inputs, profile=profile)
    for extents, axis in _ALONG:
        yield _plain(f"{'x'.join(map(str, extents))}-axis{axis}", extents, inputs, axis)
    yield _plain("4099x18-axis0", (4099, 18), inputs, 0, profile="standard")
    for axis in (0, 9, -1):
        yield _plain(f"rank-16-axis{axis}", _DEEP, inputs, axis)
    for contents in _CONTENTS[inputs]:
        yield _plain(contents, (12, 37), inputs, contents=contents)
        yield _plain(f"{contents}-axis0", (37, 12), inputs, 0, contents=contents)
    for shape in ((3, 1025), (1, 16411)):
        yield _plain(f"same-sign-{shape[1]}", shape, inputs, contents="same-sign")
    yield _plain("same-sign-1025-axis0", (1025, 6), inputs, 0, contents="same-sign")
    yield _plain("same-sign-262147", (2, 262147), inputs, contents="same-sign", profile="standard")
    if inputs == 1:
        yield _plain("last-is-largest-4097", (2, 4097), inputs, contents="last-is-largest")
    else:
        yield _plain("one-sign", (256, 257), inputs, contents="one-sign", summands=257)
    yield _plain("special-rows", (1, 8), inputs, contents="special-rows")
    for shape in ((24, 37), (11, 1025)):
        yield _plain(f"exact-{shape[1]}", shape, inputs, contents="exact")
    yield _plain("exact-axis0", (67, 24), inputs, 0, contents="exact")


_CONTENTS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("far-from-zero", "last-is-largest", "subnormal", "near-overflow", "huge"),
    2: ("cancelling", "last-is-largest", "any-y"),
}
"""By number of inputs, what is tried along both axes."""


def _strided(inputs: int) -> Iterator[Plan]:
    def of(name: str, given: Form, out: Form, axis: int = -1, profile: Profile = "quick") -> Plan:
        return Plan(name, (*(given,) * inputs, out), axis, profile=profile)

    whole, rows = Form(_SHAPE), Form(_ROWS)
    turned = Form(_SHAPE, (1, _SHAPE[0]))
    yield of("transposed", turned, whole)
    yield of("transposed-axis0", turned, whole, 0)
    yield of("transposed-out", whole, Form(_SHAPE, (1, 40)))
    yield of("transposed-all", turned, Form(_SHAPE, (1, 40)))
    yield of("negative-strides", Form(_ROWS, (-65, -1), 454), rows)
    yield of("negative-strides-axis0", Form(_ROWS, (-65, -1), 454), rows, 0)
    yield of("negative-out", rows, Form(_ROWS, (-70, 1), 420))
    yield of("windows", Form(_ROWS, (1, 1)), rows)
    yield of("windows-axis0", Form(_ROWS, (1, 1)), rows, 0)
    yield of("windows-2d", WINDOWS, Form(WINDOWS.shape))
    yield of("windows-2d-axis1", WINDOWS, Form(WINDOWS.shape), 1)
    yield of("stride-0-rows", Form(_ROWS, (0, 1)), rows)
    yield of("stride-0-columns", Form(_ROWS, (1, 0)), rows)
    yield of("padded-rows", Form(_ROWS, (80, 1)), Form(_ROWS, (67, 1)))
    yield of("padded-rows-axis0", Form(_ROWS, (80, 1)), Form(_ROWS, (67, 1)), 0)
    yield of("padded-many-rows", Form((70, 65), (80, 1)), Form((70, 65), (67, 1)))
    yield of("every-third", Form((5, 131), (262, 2)), Form((5, 131), (400, -3), 390))
    yield of("every-third-long", Form((2, 4099), (2, 5)), Form((2, 4099), (1, 3)))
    yield of("channels-last", Form((2, 19, 5, 7), (665, 1, 133, 19)), Form((2, 19, 5, 7)), 1)
    yield of("channels-last-out", Form((2, 19, 5, 7)), Form((2, 19, 5, 7), (665, 1, 133, 19)), 1)
    yield of("permuted", Form((4, 5, 66)), Form((4, 5, 66), (1, 270, 4)), 1)
    deep = Form(_DEEP, tuple(reversed(dense_strides(tuple(reversed(_DEEP))))))
    for axis in (0, 4, -1):
        yield of(f"rank-16-axis{axis}", deep, Form(_DEEP), axis)
    if inputs > 1:
        yield Plan("each-its-own", (Form(_ROWS, (80, 1)), Form(_ROWS, (1, 7)), rows))
        shape = (3, 4, 33)
        yield Plan("each-its-own-deep", (Form(shape, (200, 40, 1)), Form(shape, (1, 3, 12)), Form(shape)))
        yield Plan("each-its-own-axis1", (Form(shape, (200, 40, 1)), Form(shape, (33, 99, 1)), Form(shape)), 1)
        yield Plan("stride-0-and-not", (Form(_ROWS, (0, 0)), rows, rows), contents="any-y")
    far: Mapping[str, Form] = {"far-rows": Form((2, 19), (MANY, 1)), "far-elements": Form((19, 2), (1, MANY))}
    for name, form in far.items():
        forms = (form, *(Form(form.shape),) * inputs)
        yield Plan(name, forms, profile="large", dtypes=("float16", "bfloat16"))


def _inplace(inputs: int) -> Iterator[Plan]:
    for position, name in enumerate(("x",) if inputs == 1 else ("dy", "y")):
        for suffix, form, axis in (
            ("", Form((5, 131)), -1),
            ("-axis0", Form((131, 20)), 0),
            ("-padded-rows", Form(_ROWS, (80, 1)), -1),
            ("-transposed", Form(_SHAPE, (1, _SHAPE[0])), -1),
            ("-every-third", Form((5, 131), (400, -3), 390), -1),
            ("-long", Form((2, 4099)), -1),
        ):
            yield Plan(name + suffix, (form,) * (inputs + 1), axis, inplace=position)


def _offset(inputs: int) -> Iterator[Plan]:
    yield Plan("odd", tuple(Form((3, 131), None, 2 * place + 1) for place in range(inputs + 1)))
    yield Plan("shifted", (Form((3, 131)),) * (inputs + 1), shift=1)
    yield Plan("shifted-axis0", (Form((131, 19)),) * (inputs + 1), 0, shift=1)
    yield Plan("padded-rows", tuple(Form(_ROWS, (80, 1), 3 * place + 5) for place in range(inputs + 1)), shift=3)


def _empty(inputs: int) -> Iterator[Plan]:
    yield _plain("size-0", (0,), inputs)
    yield _plain("no-rows", (0, 5), inputs)
    yield _plain("rows-of-none", (5, 0), inputs)
    yield _plain("inner-0", (3, 5, 0), inputs, 1)
    yield _plain("middle-0", (3, 0, 5), inputs, 1)


def _rank0(inputs: int) -> Iterator[Plan]:
    yield _plain("one", (), inputs)
    yield _plain("axis0", (), inputs, 0)


PLANS: Final[Mapping[str, Callable[[int], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""By layout, what makes its plans for a number of inputs; the first one is typical."""
