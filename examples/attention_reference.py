"""The reference for examples/attention.py: the same block in float64 NumPy, one batch element, head and row at a time.

Written from the formulas, apart from the kernel: the gradient of a softmax is its Jacobian, and masked keys are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["largest_error", "problem", "reference", "shapes"]


def shapes(x: tuple[int, int, int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all inputs, for x of a shape (batch, length, width)."""
    width = x[-1]
    weights: dict[str, tuple[int, ...]] = {"w_in": (width, 3 * width), "b_in": (3 * width,)}
    return {"x": x, **weights, "w_out": (width, width), "b_out": (width,), "dy": x}


def problem(shape: tuple[int, int, int], seed: int = 0) -> dict[str, NDArray[np.float32]]:
    """Return inputs for x of a shape (batch, length, width), drawn such that scores are of the size of 1."""
    draw: Any = np.random.default_rng(seed).standard_normal
    inputs = {name: draw(each, np.float32) for name, each in shapes(shape).items()}
    for name in ("w_in", "w_out"):
        inputs[name] *= np.float32(shape[-1] ** -0.5)
    return inputs


def largest_error(found: NDArray[Any], wanted: NDArray[Any]) -> float:
    """Return the largest difference, as a part of the largest element wanted."""
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def reference(inputs: Mapping[str, NDArray[Any]], heads: int) -> dict[str, Array]:
    """Return y and the gradients of sum(y dy) by x, w_in, b_in, w_out and b_out."""
    x, w_in, b_in, w_out, b_out, dy = (
        np.asarray(inputs[name], np.float64) for name in ("x", "w_in", "b_in", "w_out", "b_out", "dy")
    )
    batch, length, width = x.shape
    depth = width // heads
    y, dx = np.zeros_like(x), np.zeros_like(x)
    dw_in, db_in, dw_out, db_out = (np.zeros_like(each) for each in (w_in, b_in, w_out, b_out))
    for n in range(batch):
        projected = x[n] @ w_in + b_in
        dprojected = np.zeros_like(projected)
        joined, djoined = np.zeros((length, width)), dy[n] @ w_out.T
        for head in range(heads):
            q, k, v = (slice(part * width + head * depth, part * width + (head + 1) * depth) for part in range(3))
            place = slice(head * depth, (head + 1) * depth)
            for row in range(length):
                seen = slice(row + 1)
                scores = projected[seen, k] @ projected[row, q] / depth**0.5
                powers = np.exp(scores - scores.max())
                p = powers / powers.sum()
                joined[row, place] = p @ projected[seen, v]
                jacobian = np.diag(p) - np.outer(p, p)
                dscores = jacobian @ (projected[seen, v] @ djoined[row, place]) / depth**0.5
                dprojected[seen, v] += np.outer(p, djoined[row, place])
                dprojected[row, q] += dscores @ projected[seen, k]
                dprojected[seen, k] += np.outer(dscores, projected[row, q])
        y[n] = x[n] + joined @ w_out + b_out
        dx[n] = dy[n] + dprojected @ w_in.T
        dw_in += x[n].T @ dprojected
        db_in += dprojected.sum(0)
        dw_out += joined.T @ dy[n]
        db_out += dy[n].sum(0)
    return {"y": y, "dx": dx, "dw_in": dw_in, "db_in": db_in, "dw_out": dw_out, "db_out": db_out}
