"""Plans along one axis: how operands of one shape lie, by layout of the cell, for families that work on rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import MANY, WINDOWS, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["DEEP", "LAID_OUT", "Plan", "plain"]

DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)
"""A shape of rank 16."""
_SHAPE: Final = (33, 17)
_ROWS: Final = (7, 65)


@dataclass(frozen=True)
class Plan:
    """One case for any floating element type.

    forms    : of each tensor, the output last
    contents : name of the inputs' contents
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


def plain(name: str, shape: tuple[int, ...], inputs: int, axis: int = -1, **more: Any) -> Plan:
    """Return a plan whose tensors, `inputs` and the output, are dense."""
    return Plan(name, (Form(shape),) * (inputs + 1), axis, **more)


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
    deep = Form(DEEP, tuple(reversed(dense_strides(tuple(reversed(DEEP))))))
    for axis in (0, 4, -1):
        yield of(f"rank-16-axis{axis}", deep, Form(DEEP), axis)
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
    yield plain("size-0", (0,), inputs)
    yield plain("no-rows", (0, 5), inputs)
    yield plain("rows-of-none", (5, 0), inputs)
    yield plain("inner-0", (3, 5, 0), inputs, 1)
    yield plain("middle-0", (3, 0, 5), inputs, 1)


def _rank0(inputs: int) -> Iterator[Plan]:
    yield plain("one", (), inputs)
    yield plain("axis0", (), inputs, 0)


LAID_OUT: Final[Mapping[str, Callable[[int], Iterator[Plan]]]] = {
    "strided": _strided,
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
"""By layout but "dense", the function that makes its plans for a number of inputs."""
