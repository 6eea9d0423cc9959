"""Conditions of shapes: tails of vectors, remainders of tiles, limits of grids."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import ALONG, ELEMENTWISE, MOVING, NORMS, PICKING, ROWS
from ep_conformance.saboteurs.strangers.sight import LARGE, extents, inner, row, rows, source

if TYPE_CHECKING:
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_GRID: Final = 65535
_MANY: Final = 256
_PAIR: Final = 2


def _is_power(extent: int) -> bool:
    return extent > 1 and not extent & extent - 1


def _has_one_inside(shape: tuple[int, ...]) -> bool:
    return any(extent == 1 and shape[at] > 1 and shape[at + 2] > 1 for at, extent in enumerate(shape[1:-1]))


def _is_torn(launch: Launch, width: int, rest: int) -> bool:
    """Say whether a row begins a further vector, and leaves it at an element."""
    return inner(launch) in range(width + rest, LARGE, width)


CONDITIONS: Final = (
    Condition(
        "inner-one-past-a-warp",
        "A tail of one element behind whole warps: store loops without a scalar rest leave it stale (amd/IRON#198).",
        (*ELEMENTWISE, *ALONG, *NORMS, "copy"),
        ("dense", "strided", "inplace"),
        lambda launch: _is_torn(launch, 32, 1),
    ),
    Condition(
        "inner-one-short-of-64",
        "The last lane of a vector of 64 is masked with <= in place of <, as in unrolled loops of JIT compilers.",
        (*ELEMENTWISE, *MOVING, "reduce"),
        ("dense", "strided"),
        lambda launch: _is_torn(launch, 64, 63),
    ),
    Condition(
        "inner-half-a-vector-more",
        "A rest of 4 goes to a narrower loop than a vector of 8, whose pointers are not moved on (Tencent/ncnn#1384).",
        (*ELEMENTWISE, *NORMS, "batch_norm", "group_norm"),
        ("dense", "inplace"),
        lambda launch: _is_torn(launch, 8, 4),
    ),
    Condition(
        "many-rows-below-a-vector",
        "Rows shorter than a vector: whole vectors are stored into the next row (Halide#5612).",
        (*ELEMENTWISE, *ROWS, "copy"),
        ("strided",),
        lambda launch: inner(launch) in range(2, 4) and source(launch).size >= _MANY,
    ),
    Condition(
        "odd-row-past-512",
        "Rows after the first begin unaligned, and a block's last warp is ragged: softmax of 781 columns (PyTorch#147284).",
        ROWS,
        ("dense",),
        lambda launch: row(launch) in range(513, 1024, 2) and rows(launch) > 1,
    ),
    Condition(
        "row-one-past-a-block",
        "A block of 1024 threads takes a second turn for one element; its partial result is not joined.",
        ROWS,
        ("dense", "strided"),
        lambda launch: row(launch) in range(1025, LARGE, 1024),
    ),
    Condition(
        "row-of-a-whole-block",
        "The path for one block is chosen with <= and made for <: the element at the limit is missing.",
        ROWS,
        ("dense", "strided"),
        lambda launch: row(launch) in {128, 256, 512, 1024} and rows(launch) > 1,
    ),
    Condition(
        "row-past-16-bits",
        "Rows wider than the largest fused size take a path that nobody ran (Liger-Kernel#1252, torch/cunn#150).",
        ROWS,
        ("dense",),
        lambda launch: row(launch) > 1 << 16,
    ),
    Condition(
        "more-rows-than-a-grid",
        "Rows are counted by the second dimension of a grid, which ends at 65535 (AITemplate#708, mlx#3858).",
        (*ROWS, "gather"),
        ("dense",),
        lambda launch: math.prod(extents(launch)[:-1]) > _GRID and inner(launch) > 1,
    ),
    Condition(
        "few-long-rows",
        "Two or three long rows are split over blocks, and the row of a partial result is computed with the wrong divisor.",
        (*NORMS, *PICKING, "reduce", "softmax"),
        ("dense",),
        lambda launch: rows(launch) in range(2, 4) and row(launch) in range(4096, LARGE),
    ),
    Condition(
        "one-inside",
        "An extent of one between others stops the merging of dimensions halfway (csarofeen/pytorch#230).",
        (*ELEMENTWISE, *MOVING, "reduce", "scan"),
        ("dense", "strided"),
        lambda launch: _has_one_inside(extents(launch)),
    ),
    Condition(
        "inner-of-one",
        "The innermost extent is one, and another dimension is the fast one (tt-metal#17701: [N, 1] gives garbage).",
        (*ELEMENTWISE, *MOVING, *ALONG, "reduce"),
        ("dense", "strided"),
        lambda launch: inner(launch) == 1 and len(extents(launch)) > 1 and max(extents(launch)) > 1,
    ),
    Condition(
        "rank-past-six",
        "Kernels hold extents in arrays of five or six, and drop the outermost (tt-metal#12154).",
        (*ELEMENTWISE, *MOVING, "reduce"),
        ("strided",),
        lambda launch: sum(extent > 1 for extent in extents(launch)) in range(7, 17),
    ),
    Condition(
        "outer-powers-of-two",
        "Division by extents is a shift where they are powers of two, and the inner one is taken for one, too.",
        (*ELEMENTWISE, "copy", "permute", "reduce"),
        ("strided",),
        lambda launch: (
            len(extents(launch)[1:-1]) > 0
            and all(map(_is_power, extents(launch)[:-1]))
            and inner(launch) > 1
            and not _is_power(inner(launch))
        ),
    ),
    Condition(
        "equal-extents",
        "An axis is looked up again by its extent, and the first of equal ones is found.",
        ("permute", "reduce", "arg_reduce", "softmax", "scan", "gather", "top_k"),
        ("dense", "strided"),
        lambda launch: len(extents(launch)[2:]) > 0 and len({*extents(launch)}) == 1 and inner(launch) > 1,
    ),
    Condition(
        "odd-rows-of-pairs",
        "Elements of 16 bits are loaded in pairs, and every second row begins amid a pair (tt-metal#9009).",
        ("softmax", "log_softmax", "layer_norm", "rms_layer_norm", "permute", "reduce", "copy"),
        ("dense", "strided"),
        lambda launch: (
            source(launch).itemsize == _PAIR
            and inner(launch) in range(3, LARGE, 2)
            and source(launch).size > inner(launch)
        ),
    ),
    Condition(
        "ragged-past-64-ki",
        "A grid-stride loop ends after whole blocks (NVIDIA/cudf#10368): the rest of a large tensor is left out.",
        (*ELEMENTWISE, "copy", "fill", "iota", "random_fill"),
        ("dense",),
        lambda launch: launch.descriptor.out.size > 1 << 16 and launch.descriptor.out.size % _MANY > 0,
    ),
)
"""By theme, each with the mistake that it is taken from."""
