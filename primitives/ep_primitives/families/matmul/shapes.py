"""Shapes of Matmul: matrices in the last two dimensions, batches before them, which broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep.layout.dims import Geometry, broadcast_strides, merge

from ep import Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["batch_geometry", "broadcast", "check_rank", "check_shapes"]


def check_shapes(a: TensorSpec, b: TensorSpec, out: TensorSpec) -> None:
    """Raise ValueError unless the shapes are (..., m, k), (..., k, n) and (..., m, n), and the batches broadcast."""
    for name, spec in (("a", a), ("b", b), ("out", out)):
        check_rank(name, spec)
    if a.shape[-1] != b.shape[-2] or (a.shape[-2], b.shape[-1]) != out.shape[-2:]:
        message = (
            f"matmul: a {a.shape} @ b {b.shape} does not give out {out.shape}; needed are (..., m, k) @ (..., k, n) = "
            "(..., m, n); for a transposed matrix swap the last two of its shape and of its strides"
        )
        raise ValueError(message)
    broadcast(broadcast(a.shape[:-2], b.shape[:-2]), out.shape[:-2], ("a @ b", "out"))


def check_rank(name: str, spec: TensorSpec) -> None:
    """Raise ValueError for less than a matrix."""
    if len(spec.shape) < 2:  # noqa: PLR2004 - rows and columns
        message = f"matmul: {name} has shape {spec.shape}, needs two dimensions or more; give a vector an extent of 1"
        raise ValueError(message)


def broadcast(one: tuple[int, ...], other: tuple[int, ...], names: tuple[str, str] = ("a", "b")) -> tuple[int, ...]:
    """Return the extents that two batches broadcast to, aligned from the right. Raises ValueError if they do not."""
    if one == other:
        return one
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    aligned = (1,) * (len(longer) - len(shorter)) + shorter
    if any(left != right and 1 not in {left, right} for left, right in zip(longer, aligned, strict=True)):
        message = (
            f"matmul: batches {one} of {names[0]} and {other} of {names[1]} do not broadcast; "
            "each extent, from the right, must be 1 or equal"
        )
        raise ValueError(message)
    return tuple(right if left == 1 else left for left, right in zip(longer, aligned, strict=True))


def batch_geometry(specs: Sequence[TensorSpec | Scalar | None], batch: tuple[int, ...]) -> Geometry:
    """Return the merged batch extents, with the strides of each operand over them; the output is the last operand."""
    if not batch:
        offsets = tuple([spec.offset if isinstance(spec, TensorSpec) else 0 for spec in specs])
        return Geometry((), ((),) * len(specs), offsets, 1, is_dense=True)
    over = [_over(spec, batch) if isinstance(spec, TensorSpec) else spec for spec in specs]
    out = over[-1]
    assert isinstance(out, TensorSpec)
    return merge(out, over)


def _over(spec: TensorSpec, batch: tuple[int, ...]) -> TensorSpec:
    """Return the first elements of a tensor's matrices as a tensor over batch extents, repeated where it lacks them.

    A tensor without elements is never read, and has no strides that mean anything.
    """
    strides = (0,) * len(batch)
    if spec.size:
        first = TensorSpec(spec.dtype, spec.shape[:-2], spec.strides[:-2], spec.offset)
        strides = broadcast_strides(first, batch)
    return TensorSpec(spec.dtype, batch, strides, spec.offset)
