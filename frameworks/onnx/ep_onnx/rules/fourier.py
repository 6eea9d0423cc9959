"""Fourier transforms, as products with a constant matrix of waves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ep_onnx.rules.rule import counted, rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

    Array = NDArray[Any]

__all__: list[str] = []


@rule("DFT")
def _dft(do: Trace, node: Call, x: Value, length: Value | None = None, axis: Value | None = None) -> Value:
    along = int(do.host(axis).item()) if axis is not None else node.get("axis", -2 if node.version >= 20 else 1)  # noqa: PLR2004 - a version
    along = counted(along, x.ndim)
    is_inverse, is_onesided = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    extent = x.shape[along]
    usual = 2 * (extent - 1) if is_inverse and is_onesided else extent
    count = usual if length is None else int(do.host(length).item())
    rows = min(count // 2 + 1 if is_inverse and is_onesided else count, extent)
    x = x[(*(slice(None),) * along, slice(0, rows))]
    if is_inverse and is_onesided:
        matrix = _real(rows, count)
    else:
        bins = count // 2 + 1 if is_onesided else count
        matrix = _waves(rows, bins, count, x.shape[-1], is_inverse=is_inverse)
    order = [*[each for each in range(x.ndim - 1) if each != along], along]
    made = _transformed(do, x.permute([*order, x.ndim - 1]), matrix)
    back = sorted(range(x.ndim - 1), key=lambda place: order[place])
    return made.permute([*back, x.ndim - 1])


@rule("STFT")
def _stft(
    do: Trace, node: Call, x: Value, step: Value, window: Value | None = None, length: Value | None = None
) -> Value:
    """Each frame is a window of the signal, read where it lies."""
    between = int(do.host(step).item())
    count = window.shape[0] if window is not None else x.shape[1]
    count = count if length is None else int(do.host(length).item())
    if between <= 0 or not 0 < count <= x.shape[1]:
        message = f"frames of {count} elements begin {between} apart in a signal of {x.shape[1]}; give both above 0, and a longer signal"
        raise ValueError(message)
    images, extent, parts = x.shape
    x = do.dense(x)
    frames = (extent - count) // between + 1
    first, along, inner = x.spec.strides
    seen = x.windows((images, frames, count, parts), (first, between * along, along, inner))
    if window is not None:
        seen = do.binary("mul", seen, do.reshape(window, (count, 1)))
    bins = count // 2 + 1 if node.get("onesided", 1) else count
    return _transformed(do, seen, _waves(count, bins, count, parts, is_inverse=False))


def _transformed(do: Trace, x: Value, matrix: Array) -> Value:
    """Append the product of (..., rows, parts) and a matrix (rows, parts, columns, parts of the result)."""
    rows, parts, columns, made = matrix.shape
    flat = do.reshape(x, (math.prod(x.shape[:-2]), rows * parts))
    product = do.matmul(flat, do.constant(matrix.reshape(rows * parts, columns * made), x.dtype))
    return do.reshape(product, (*x.shape[:-2], columns, made))


def _waves(rows: int, bins: int, count: int, parts: int, *, is_inverse: bool) -> Array:
    """Return (rows, parts, bins, 2): a real product with it is the complex one with exp(-2 pi i row bin / count).

    Real and imaginary part of the input lie beside each other, the product's too. The inverse turns the other way, and divides by count.
    """
    angle = 2 * np.pi * np.outer(np.arange(rows), np.arange(bins)) / count * (1 if is_inverse else -1)
    wave = np.exp(1j * angle) / (count if is_inverse else 1)
    matrix = np.zeros((rows, parts, bins, 2))
    matrix[:, 0, :, 0], matrix[:, 0, :, 1] = wave.real, wave.imag
    if parts > 1:
        matrix[:, 1, :, 0], matrix[:, 1, :, 1] = -wave.imag, wave.real
    return matrix


def _real(bins: int, count: int) -> Array:
    """Return (bins, 2, count, 1): the inverse of a transform of real numbers, of which one side is given.

    Each bin stands for its conjugate on the other side, too, but for the first, and the middle one where count is even.
    """
    turns = np.outer(np.arange(bins), np.arange(count)) / count
    sides = np.where((np.arange(bins) == 0) | (2 * np.arange(bins) == count), 1, 2)[:, None] / count
    wave = np.exp(2j * np.pi * turns) * sides
    return np.stack([wave.real, -wave.imag], axis=1)[..., None]
