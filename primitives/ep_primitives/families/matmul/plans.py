"""The plans of Matmul's cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import MANY, Form
from ep_primitives.families.matmul.descriptor import ACTIVATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_primitives.cases.case import Profile

__all__ = ["PLANS", "Plan"]

_DEEP: Final = (1, 2, 1, 1, 3, 1, 1, 2, 1, 1, 2, 1, 1, 1)
"""Batch extents of rank 14, the most that leave room for a matrix."""

# m, k, n: below, at and above the tiles of kernels; vectors on either side; products of two vectors.
_SHAPES: Final = (
    (33, 65, 129),
    (1, 1, 1),
    (1, 512, 64),
    (64, 512, 1),
    (257, 1, 300),
    (17, 300, 19),
    (64, 64, 64),
    (13, 7, 31),
)
_STANDARD_SHAPES: Final = ((257, 513, 255), (1, 4096, 3), (1025, 9, 515), (48, 2100, 48))


@dataclass(frozen=True)
class Plan:
    """One case for any element types: forms of the operands, numbers, options, and the tensors' contents.

    alpha, beta : for floats; other types take the numbers that belong to these
    contents    : name in CONTENTS of a change to the random data, "" for none
    kinds       : kinds of the element types of a and b that have the case
    summands    : as in `Case`
    """

    name: str
    a: Form
    b: Form
    out: Form
    bias: Form | None = None
    alpha: float = 1.0
    beta: float = 0.0
    activation: str = "none"
    conjugates: str = ""
    contents: str = ""
    profile: Profile = "quick"
    shift: int = 0
    kinds: str = "iufc"
    summands: int = 0


def _product(name: str, shape: tuple[int, int, int], **more: Any) -> Plan:
    m, k, n = shape
    return Plan(name, Form((m, k)), Form((k, n)), Form((m, n)), **more)


def _dense() -> Iterator[Plan]:
    for shapes, profile in ((_SHAPES, "quick"), (_STANDARD_SHAPES, "standard")):
        for shape in shapes:
            yield _product("x".join(map(str, shape)), shape, profile=profile)
    usual = (17, 33, 35)
    yield _product("integers", (21, 63, 37), contents="odd-integers")
    yield _product("cancelling", (21, 64, 37), contents="cancelling")
    yield _product("ends", (21, 63, 37), contents="ends", kinds="iu")
    yield _product("one-sign", (16, 257, 17), contents="positive", kinds="f", summands=257)
    yield _product("nan-and-infinity", (17, 9, 19), contents="not-finite", kinds="f")
    yield _product("alpha-0", usual, alpha=0.0, beta=-1.5, contents="unread-factors")
    yield _product("alpha", usual, alpha=0.75)
    yield _product("beta-0-reads-nothing", usual, contents="unread-out")
    yield _product("beta-1", usual, beta=1.0)
    yield _product("alpha-beta", usual, alpha=0.75, beta=-1.5)
    yield _product("depth-0", (3, 0, 3), contents="unread-out")
    yield _product("depth-0-beta-bias", (5, 0, 7), beta=-1.5, bias=Form((7,)))
    row, column, whole = Form((35,)), Form((17, 1)), Form((17, 35))
    yield _product("bias-row", usual, bias=row)
    yield _product("bias-column", usual, bias=column)
    yield _product("bias-one", usual, bias=Form(()))
    yield _product("bias-whole-alpha-beta", usual, bias=whole, alpha=0.75, beta=-1.5)
    for activation, kinds in ACTIVATIONS.items():
        if activation != "none":
            yield _product(activation, usual, activation=activation, bias=row, alpha=0.25, beta=0.5, kinds=kinds)
    for flags in ("a", "b", "ab"):
        yield _product(f"conjugate-{flags}", usual, conjugates=flags, alpha=0.75, kinds="c")
    yield Plan("batches", Form((3, 2, 9, 21)), Form((3, 2, 21, 18)), Form((3, 2, 9, 18)))
    yield Plan("many-batches", Form((150, 3, 5)), Form((150, 5, 4)), Form((150, 3, 4)), beta=1.0)
    thousands: Any = {"profile": "standard"}  # more than the 65,535 groups that some devices have along one dimension
    yield Plan("70001-batches", Form((70001, 2, 3)), Form((70001, 3, 2)), Form((70001, 2, 2)), **thousands)
    yield Plan("rank-16", Form((*_DEEP, 3, 5)), Form((*_DEEP, 5, 7)), Form((*_DEEP, 3, 7)), alpha=0.75, beta=-1.5)


def _strided() -> Iterator[Plan]:
    m, k, n = 33, 37, 41
    a, b, out = Form((m, k)), Form((k, n)), Form((m, n))
    turned_a, turned_b, turned_out = Form((m, k), (1, m)), Form((k, n), (1, k)), Form((m, n), (1, m))
    yield Plan("transposed-a", turned_a, b, out)
    yield Plan("transposed-b", a, turned_b, out, alpha=0.75, beta=-1.5)
    yield Plan("transposed-a-b", turned_a, turned_b, out)
    yield Plan("transposed-out", a, b, turned_out, alpha=0.75, beta=-1.5, bias=Form((n,)))
    yield Plan(
        "transposed-all", turned_a, turned_b, turned_out, bias=Form((m, n), (1, m + 3)), activation="relu", kinds="iuf"
    )
    for flags in ("a", "b", "ab"):
        yield Plan(f"conjugate-transposed-{flags}", turned_a, turned_b, turned_out, conjugates=flags, kinds="c")
    padded = (Form((m, k), (k + 3, 1)), Form((k, n), (n + 5, 1)), Form((m, n), (n + 7, 1)))
    yield Plan("padded-rows", *padded, beta=1.0, bias=Form((m, 1), (4, 1)))
    steps = (Form((m, k), (3 * k, 3)), Form((k, n), (2 * n, 2)), Form((m, n), (4 * n, 3)))
    yield Plan("every-third", *steps, beta=1.0, bias=Form((n,), (2,)))
    last = m * k - 1, k * n - 1, m * n - 1
    back = (Form((m, k), (-k, -1), last[0]), Form((k, n), (-1, -k), last[1]), Form((m, n), (-n, -1), last[2]))
    yield Plan("negative-strides", *back, alpha=0.75, beta=-1.5, bias=Form((n,), (-1,), n - 1))
    yield Plan("stride-0-rows", Form((m, k), (0, 1)), Form((k, n), (1, 0)), out, bias=Form((m, n), (0, 1)))
    yield Plan("stride-0-depth", Form((m, k), (1, 0)), Form((k, n), (0, 1)), out)
    yield Plan("windows", Form((m, k), (1, 1)), Form((k, n), (1, 1)), out)
    rows = Form((4, 9, 21), (60, 6, 1))  # windows of seven places of three channels, every second place in lines of ten
    yield Plan("windows-2d", rows, Form((4, 21, 17)), Form((4, 9, 17)), alpha=0.75, beta=-1.5)
    columns = Form((3, 9, 35), (90, 6, 1))
    yield Plan("windows-of-b", Form((3, 17, 9)), columns, Form((3, 17, 35)))
    inner = (Form((4, 5, 6), (1, 24, 4)), Form((4, 6, 7), (1, 28, 4)), Form((4, 5, 7), (1, 4, 20)))
    yield Plan("batches-inside", *inner, beta=1.0)
    outside_in = dense_strides(_DEEP[::-1])[::-1]
    deep = Form((*_DEEP, 3, 5), (*(15 * stride for stride in outside_in), 1, 3))
    yield Plan("rank-16", deep, Form((*_DEEP, 5, 7)), Form((*_DEEP, 3, 7)))
    far = Form((2, 19), (MANY, 1))
    yield Plan("far-rows", far, Form((19, 17)), Form((2, 17)), profile="large", kinds="iu")


def _broadcast() -> Iterator[Plan]:
    a, b = (9, 21), (21, 18)
    c = (a[0], b[1])
    scaled: Any = {"alpha": 0.75, "beta": -1.5}
    yield Plan("one-a", Form(a), Form((4, *b)), Form((4, *c)))
    yield Plan("one-b", Form((4, *a)), Form(b), Form((4, *c)), bias=Form((18,)))
    yield Plan("outer", Form((3, 1, *a)), Form((4, *b)), Form((3, 4, *c)), **scaled)
    yield Plan("middle", Form((2, 3, 2, *a)), Form((2, 1, 2, *b)), Form((2, 3, 2, *c)), bias=Form((3, 1, 1, 18)))
    yield Plan("repeated-out", Form(a), Form((1, *b)), Form((3, *c)), **scaled)
    yield Plan("sum", Form((5, *a)), Form((5, *b)), Form((1, *c)))
    yield Plan("sum-to-a-matrix", Form((2, 3, *a)), Form((2, 3, *b)), Form(c), **scaled)
    yield Plan("sum-of-one-a", Form(a), Form((5, *b)), Form(c), bias=Form((9, 1)), beta=1.0)
    yield Plan("sum-inside", Form((2, 3, 4, *a)), Form((2, 3, 4, *b)), Form((2, 1, 4, *c)), **scaled)
    yield Plan("sum-outside", Form((3, 4, *a)), Form((4, *b)), Form((1, 4, *c)), bias=Form((4, 1, 1)), **scaled)
    yield Plan("sum-of-none", Form((0, *a)), Form((0, *b)), Form((1, *c)), bias=Form((18,)), beta=-1.5)
    turned = Form((3, 9, 18), (1, 3, 27))
    yield Plan("strided", Form((3, *a), (1, 63, 3)), Form((2, 1, *b), (378, 1, 1, 21)), turned, **scaled)
    yield Plan("many-sums", Form((150, 3, 5)), Form((150, 5, 4)), Form((3, 4)))


def _empty() -> Iterator[Plan]:
    yield _product("no-rows", (0, 5, 7))
    yield _product("no-columns", (5, 7, 0), bias=Form((1,)))
    yield Plan("no-batches", Form((0, 5, 7)), Form((7, 3)), Form((0, 5, 3)))
    yield _product("nothing", (0, 0, 0))


def _offset() -> Iterator[Plan]:
    odd = (Form((33, 37), None, 1), Form((37, 41), None, 3), Form((33, 41), None, 5))
    yield Plan("odd", *odd, bias=Form((41,), None, 7), alpha=0.75, beta=-1.5)
    yield _product("shifted", (33, 37, 41), shift=1)
    blocks = (Form((9, 21), (64, 1), 67), Form((21, 18), (1, 50), 5), Form((9, 18), (40, 1), 3))
    yield Plan("blocks", *blocks, beta=1.0, shift=3)


PLANS: Final[Mapping[str, Callable[[], Iterator[Plan]]]] = {
    "dense": _dense,
    "strided": _strided,
    "broadcast": _broadcast,
    "offset": _offset,
    "empty": _empty,
}
"""For each layout the function that makes its plans; the first plan is the typical one."""
