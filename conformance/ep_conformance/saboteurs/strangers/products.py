"""Conditions of matrix products and attention."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.sight import LARGE, inputs, number, tensors

if TYPE_CHECKING:
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_ANYWHERE: Final = ("dense", "strided")
_GRID: Final = 65535
_TILE: Final = 16
_EVERY: Final = ("dense", "strided", "broadcast")


def _sizes(launch: Launch) -> tuple[int, int, int]:
    """Return rows, columns and depth of a product; zeros if there is none."""
    a, out = tensors(launch).get("a"), launch.descriptor.out
    if a is None or min(a.ndim, out.ndim) <= 1:
        return 0, 0, 0
    return out.shape[-2], out.shape[-1], a.shape[-1]


def _scores(launch: Launch) -> tuple[int, int]:
    """Return the numbers of queries and keys; zeros if there are none."""
    q, k = tensors(launch).get("q"), tensors(launch).get("k")
    return (0, 0) if q is None or k is None else (q.shape[-2], k.shape[-2])


def _width(launch: Launch, name: str) -> int:
    spec = tensors(launch).get(name)
    return 0 if spec is None else (1, *spec.shape)[-1]


def _is_transposed(launch: Launch, name: str) -> bool:
    spec = inputs(launch).get(name)
    return spec is not None and spec.ndim > 1 < min(spec.shape[-2:]) and spec.strides[-2] == 1 < spec.strides[-1]


def _bias(launch: Launch) -> tuple[int, int]:
    """Return the last two extents of a bias, padded with ones; zeros if there is none."""
    spec = inputs(launch).get("bias")
    rows, columns = (0, 0) if spec is None else (1, 1, *spec.shape)[-2:]
    return rows, columns


CONDITIONS: Final = (
    Condition(
        "corner-tile",
        "Full tiles and edges are right, and the corner is masked in one direction alone (rten#81, myGEMM#2).",
        ("matmul",),
        _ANYWHERE,
        lambda launch: all(extent > _TILE and extent % _TILE for extent in _sizes(launch)[:2]),
    ),
    Condition(
        "columns-overhang",
        "A tile that hangs over the last column is stored into the next row (kernels-community#1154).",
        ("matmul",),
        _ANYWHERE,
        lambda launch: (
            _sizes(launch)[0] > _TILE < _sizes(launch)[1]
            and [n % _TILE > 0 for n in _sizes(launch)[:2]] == [False, True]
        ),
    ),
    Condition(
        "depth-of-whole-32-not-256",
        "The depth is padded to 32 and unrolled by 256 (ROCm/aiter#4176).",
        ("matmul",),
        ("dense",),
        lambda launch: _sizes(launch)[2] in range(256, LARGE, 32) and _sizes(launch)[2] % 256 > 0,
    ),
    Condition(
        "depth-of-one",
        "A product without a sum: the pipeline's prologue and epilogue are the same step (rocm-libraries#1975).",
        ("matmul",),
        _EVERY,
        lambda launch: _sizes(launch)[2] == 1 < min(_sizes(launch)[:2]),
    ),
    Condition(
        "one-column",
        "A matrix times a vector has a kernel of its own, with other strides (mlx#3858).",
        ("matmul",),
        _EVERY,
        lambda launch: _sizes(launch)[1] == 1 < min(_sizes(launch)[0], _sizes(launch)[2]),
    ),
    Condition(
        "more-batches-than-a-grid",
        "Batches are counted by the third dimension of a grid (cutlass#1369, mlx#3858).",
        ("matmul",),
        ("dense",),
        lambda launch: math.prod(launch.descriptor.out.shape[:-2]) > _GRID,
    ),
    Condition(
        "both-transposed",
        "a^T b^T is computed as (b a)^T, and the result is not transposed back (Halide#656).",
        ("matmul",),
        ("strided",),
        lambda launch: _is_transposed(launch, "a") and _is_transposed(launch, "b"),
    ),
    Condition(
        "weights-shared-by-batches",
        "One matrix for all batches: they are merged into rows, although those have gaps or another order.",
        ("matmul",),
        ("broadcast",),
        lambda launch: (
            "b" in tensors(launch)
            and math.prod(tensors(launch)["b"].shape[:-2]) == 1 < math.prod(launch.descriptor.out.shape[:-2])
        ),
    ),
    Condition(
        "bias-a-row-each",
        "A bias (m, 1) is read as the usual (n): one number a column.",
        ("matmul",),
        _ANYWHERE,
        lambda launch: _bias(launch)[0] > 1 == _bias(launch)[1] < _sizes(launch)[1],
    ),
    Condition(
        "beta-and-bias",
        "An epilogue has one addend: the bias replaces beta times out.",
        ("matmul",),
        ("dense",),
        lambda launch: "bias" in inputs(launch) and bool(number(launch, "beta")),
    ),
    Condition(
        "alpha-and-beta-of-one",
        "beta = 1 is done by the accumulator's first value, to which alpha is applied as well.",
        ("matmul",),
        _ANYWHERE,
        lambda launch: number(launch, "beta") == 1 != number(launch, "alpha"),
    ),
    Condition(
        "causal-with-fewer-queries",
        "The causal mask is aligned at the last query in place of the first (mlx#2835, PyTorch#103082).",
        ("attention",),
        _ANYWHERE,
        lambda launch: (
            bool(getattr(launch.descriptor, "is_causal", False)) and 1 < _scores(launch)[0] < _scores(launch)[1]
        ),
    ),
    Condition(
        "causal-with-an-offset",
        "Whole tiles are skipped by a diagonal that is rounded to tiles (SageAttention#26).",
        ("attention",),
        ("dense",),
        lambda launch: (
            bool(getattr(launch.descriptor, "is_causal", False)) and getattr(launch.descriptor, "offset", 0) % _TILE > 0
        ),
    ),
    Condition(
        "heads-shared-and-masked",
        "Fewer heads of keys than of queries: the mask is indexed by the head of the keys (openvino#21217).",
        ("attention",),
        ("dense",),
        lambda launch: getattr(launch.descriptor, "groups", 1) > 1 and "mask" in inputs(launch),
    ),
    Condition(
        "values-of-another-width",
        "Values are read with the width of the keys, to which they are equal nearly always (SageAttention#26).",
        ("attention",),
        _ANYWHERE,
        lambda launch: _width(launch, "v") not in {0, _width(launch, "k")},
    ),
    Condition(
        "ragged-heads",
        "Heads whose width is no whole vector of 8 are padded, and the padding is read from the next row.",
        ("attention",),
        _ANYWHERE,
        lambda launch: _width(launch, "q") in range(9, LARGE) and _width(launch, "q") % 8 > 0,
    ),
)
"""By theme, each with the mistake that it is taken from."""
