"""How the operands of a case lie in memory: the shapes, strides and offsets that each layout of a cell is tried with.

Written once for every elementwise family: an arrangement has one form for each operand, and knows nothing of dtypes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.layout.spec import dense_strides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ep_primitives.cases.case import Profile

__all__ = ["DILATED", "WINDOWS", "Arrangement", "Form", "arrangements", "dense"]

SIZES: Final = (1, 7, 15, 16, 17, 63, 64, 65, 257, 1023, 1024, 1025, 65537, 2**20 + 3)
QUICK_SIZES: Final = (1, 17, 257, 65537)
MANY: Final = 2**31 + 17
"""More elements than a signed 32-bit index counts."""

# A vector's width and its neighbours, in extents that do not merge; of the larger one several tiles, and the last in part.
_SHAPE: Final = (33, 17)
_TILES: Final = (67, 515)
_ROWS: Final = (7, 65)
_DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 3)


class Form(NamedTuple):
    """Where one operand lies, in elements; strides None is row-major."""

    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0


WINDOWS: Final = Form((4, 5, 3, 3), (38, 2, 19, 1))
"""Windows of 3 by 3 in every second row and column of a matrix whose rows have 19 elements; neighbours share elements."""
DILATED: Final = Form((4, 5, 3, 3), (19, 1, 38, 2))
"""The same extents at every row and column, of every second one in each window."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """One form for each operand, the output last, None for a Scalar.

    inplace  : position of the input that shares the output's memory
    shift    : elements that memory views start after an aligned place
    is_bytes : True if only element types of one byte are worth the memory it takes
    """

    name: str
    forms: tuple[Form | None, ...]
    inplace: int | None = None
    shift: int = 0
    profile: Profile = "quick"
    is_bytes: bool = False


def arrangements(layout: str, names: Sequence[str]) -> Iterator[Arrangement]:
    """Yield the arrangements of a layout for inputs of these names that may be tensors; the first is typical.

    The last two names are those of the operands that may be a Scalar, if the layout has one.
    """
    return _LAYOUTS[layout](names)


def dense(name: str, shape: tuple[int, ...], inputs: int, profile: Profile = "quick") -> Arrangement:
    """Return the arrangement of dense operands of one shape."""
    return Arrangement(name, (Form(shape),) * (inputs + 1), profile=profile)


def _dense(names: Sequence[str]) -> Iterator[Arrangement]:
    inputs = len(names)
    yield dense("rank-4", (3, 5, 7, 11), inputs)
    for size in SIZES:
        yield dense(f"size-{size}", (size,), inputs, "quick" if size in QUICK_SIZES else "standard")


def _strided(names: Sequence[str]) -> Iterator[Arrangement]:
    inputs = len(names)
    transposed = Form(_SHAPE, (1, _SHAPE[0]))
    backwards = Form(_ROWS, (-_ROWS[1], -1), _ROWS[0] * _ROWS[1] - 1)
    deep = Form(_DEEP, tuple(reversed(dense_strides(tuple(reversed(_DEEP))))))
    if inputs:
        yield Arrangement("transposed", ((transposed,) * inputs) + (Form(_SHAPE),))
        tiles = Form(_TILES, (1, _TILES[0]))
        yield Arrangement("transposed-tiles", ((tiles,) * inputs) + (Form(_TILES),))
        yield Arrangement("negative-strides", ((backwards,) * inputs) + (Form(_ROWS),))
        windows = Form(_ROWS, (1, 1))
        yield Arrangement("windows", ((windows,) * inputs) + (Form(_ROWS),))
        yield Arrangement("stride-0", (*_cycled(inputs, Form(_ROWS, (0, 1)), Form(_ROWS, (1, 0))), Form(_ROWS)))
        yield Arrangement("rank-16", ((deep,) * inputs) + (Form(_DEEP),))
        column = Form((33, 1), (5, 1))  # not dense, whatever the stride of its only column
        yield Arrangement("one-column", ((column,) * inputs) + (Form((33, 1)),), profile="standard")
    else:
        apart = tuple(2 * stride for stride in dense_strides(_DEEP))
        yield Arrangement("rank-16", (Form(_DEEP, apart),))
    rows = _cycled(inputs, Form(_ROWS, (80, 1)), Form(_ROWS, (67, 1)))
    yield Arrangement("padded-rows", (*rows, Form(_ROWS, (96, 1))))
    steps = _cycled(inputs, Form((131,), (2,)), Form((131,), (-3,), 390))
    yield Arrangement("every-third", (*steps, Form((131,), (-3,), 390)))
    yield Arrangement("transposed-out", (Form(_SHAPE),) * inputs + (Form(_SHAPE, (1, 40)),))
    yield Arrangement("negative-out", (Form(_ROWS),) * inputs + (Form(_ROWS, (-70, 1), 420),))
    # More elements than a kernel may hold at a time: each operand's own step counts from block to block, too.
    profile: Profile = "quick" if inputs > 2 else "standard"  # noqa: PLR2004 - more than a and b
    yield Arrangement("out-apart", (Form((1300,)),) * inputs + (Form((1300,), (2,)),), profile=profile)
    if inputs > 1:
        steps = _cycled(inputs, Form((1300,), (2,)), Form((1300,), (-1,), 1299), Form((1300,)))
        yield Arrangement("steps-apart", (*steps, Form((1300,))), profile=profile)
    cube = Form((4, 5, 66), (1, 270, 4))
    yield Arrangement("permuted-3d", (Form((4, 5, 66)),) * inputs + (cube,), profile="standard")
    many = Form((70001, 3), (5, 1))  # more rows than the 65,535 groups that some devices have along one dimension
    yield Arrangement("many-rows", (Form(many.shape, (4, 1)),) * inputs + (many,), profile="standard", is_bytes=True)
    far = Form((2, 19), (MANY, 1))
    yield Arrangement("far-rows", (far,) * (inputs + 1), profile="large", is_bytes=True)
    if inputs:
        yield Arrangement("windows-2d", (WINDOWS,) * inputs + (Form(WINDOWS.shape),))


def _broadcast(names: Sequence[str]) -> Iterator[Arrangement]:
    inputs = len(names)
    row, column, whole = Form((1, 65)), Form((9, 1)), Form((9, 65))
    if inputs == 1:
        yield _repeated("row", [row], (9, 65))
        yield _repeated("column", [column], (9, 65))
        yield _repeated("lower-rank", [Form((17,))], (3, 5, 17))
        yield _repeated("middle", [Form((5, 1, 7))], (5, 11, 7))
    else:
        if inputs == 2:  # noqa: PLR2004 - a and b
            yield _repeated("row-right", [whole, Form((65,))], (9, 65))
            yield _repeated("row-left", [row, whole], (9, 65))
            yield _repeated("column-right", [whole, column], (9, 65))
            yield _repeated("column-left", [column, whole], (9, 65))
            yield _repeated("one-right", [Form((257,)), Form((1,))], (257,))
        else:
            yield from _each_repeated(names)
        yield _repeated("outer", _cycled(inputs, column, row), (9, 65))
        yield _repeated("ranks", _cycled(inputs, Form((3, 1, 17)), Form((5, 1))), (3, 5, 17))
        yield _repeated("middle", _cycled(inputs, Form((5, 1, 7)), Form((5, 11, 1))), (5, 11, 7))
    yield _repeated("rank0", _cycled(inputs, Form(()), Form((9,))), (9,))
    if inputs <= 2:  # noqa: PLR2004 - of more, one element each would hide whose they are
        many, out = (Form((1,)),) * inputs, Form((MANY,))
    else:
        many, out = _cycled(inputs, Form((2, 1)), Form((1, 1))), Form((2, MANY // 2 + 1))
    yield Arrangement("many", (*many, out), profile="large", is_bytes=True)


def _each_repeated(names: Sequence[str]) -> Iterator[Arrangement]:
    """Yield each input alone repeated, along every dimension, while the others are whole."""
    forms = {
        "row": (Form((65,)), (9, 65)),
        "column": (Form((9, 1)), (9, 65)),
        "middle": (Form((5, 1, 7)), (5, 11, 7)),
        "one": (Form((1,)), (257,)),
    }
    for place, name in enumerate(names):
        for kind, (form, shape) in forms.items():
            inputs = [form if each == place else Form(shape) for each in range(len(names))]
            yield _repeated(f"{kind}-{name}", inputs, shape)


def _scalar(names: Sequence[str], side: int) -> Iterator[Arrangement]:
    forms = {
        "dense": (Form((1025,)), Form((1025,))),
        "one": (Form((1,)), Form((1,))),
        "transposed": (Form(_SHAPE, (1, _SHAPE[0])), Form(_SHAPE)),
        "padded-rows": (Form(_ROWS, (80, 1)), Form(_ROWS, (96, 1))),
        "row": (Form((1, 65)), Form((9, 65))),
        "column": (Form((9, 1)), Form((9, 65))),
    }
    more = len(names) - 2
    for name, (tensor, out) in forms.items():
        both = (tensor, None) if side else (None, tensor)
        yield Arrangement(name, (Form(out.shape),) * more + (*both, out))
        if more and tensor.shape != out.shape:
            yield Arrangement(f"{name}-of-all", (tensor,) * more + (*both, out))
        if more and not side:
            profile: Profile = "quick" if name in {"dense", "transposed", "row"} else "standard"
            yield Arrangement(f"{name}-of-numbers", (tensor,) * more + (None, None, out), profile=profile)


def _inplace(names: Sequence[str]) -> Iterator[Arrangement]:
    padded = Form(_ROWS, (80, 1))
    inputs = len(names)
    for position, name in enumerate(names):
        yield Arrangement(name, (Form((1025,)),) * (inputs + 1), inplace=position)
        yield Arrangement(f"{name}-padded-rows", (padded,) * (inputs + 1), inplace=position)
        if inputs > 1:
            other = [Form((65,))] * inputs
            other[position] = Form((9, 65))
            yield Arrangement(f"{name}-broadcast", (*other, Form((9, 65))), inplace=position)


def _offset(names: Sequence[str]) -> Iterator[Arrangement]:
    inputs = len(names)
    odd = tuple(Form((1025,), None, 2 * place + 1) for place in range(inputs + 1))
    yield Arrangement("odd", odd)
    yield Arrangement("shifted", (Form((1025,)),) * (inputs + 1), shift=1)
    rows = tuple(Form(_ROWS, (80, 1), 3 * place + 5) for place in range(inputs + 1))
    yield Arrangement("padded-rows", rows, shift=3)


def _cycled(inputs: int, *forms: Form) -> tuple[Form, ...]:
    """Return a form for each input, these in turn."""
    return tuple(islice(cycle(forms), inputs))


def _repeated(name: str, inputs: Sequence[Form], shape: tuple[int, ...]) -> Arrangement:
    return Arrangement(name, (*inputs, Form(shape)))


def _empty(names: Sequence[str]) -> Iterator[Arrangement]:
    inputs = len(names)
    yield dense("size-0", (0,), inputs)
    yield dense("inner-0", (3, 0, 5), inputs)
    if inputs:
        yield _repeated("broadcast-0", [Form((1,))] * inputs, (0,))


def _rank0(names: Sequence[str]) -> Iterator[Arrangement]:
    yield dense("one", (), len(names))


_LAYOUTS: Final[dict[str, Callable[[Sequence[str]], Iterator[Arrangement]]]] = {
    "dense": _dense,
    "strided": _strided,
    "broadcast": _broadcast,
    "scalar-left": partial(_scalar, side=0),
    "scalar-right": partial(_scalar, side=1),
    "inplace": _inplace,
    "offset": _offset,
    "empty": _empty,
    "rank0": _rank0,
}
