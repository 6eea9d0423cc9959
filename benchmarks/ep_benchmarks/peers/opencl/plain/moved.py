"""Plain kernels of the families that move, repeat and make elements: a work-item an element of the output."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_benchmarks.peers.opencl.plain.launch import over, parameters
from ep_benchmarks.peers.opencl.plain.places import places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_benchmarks.peers.opencl.plain.launch import Form, Work

__all__ = ["FORMS"]

_TILE: Final = 8
"""Rows and columns of a group that reads along one and writes along the other: whole cache lines of both."""
_IMAGES: Final = 4
"""The rank of a batch of images."""


def _copy(descriptor: Any) -> Work | None:
    return _moved(descriptor.present["x"], descriptor.out)


def _permute(descriptor: Any) -> Work | None:
    x, order = descriptor.present["x"], descriptor.permutation
    turned = ep.TensorSpec(x.dtype, [x.shape[at] for at in order], [x.strides[at] for at in order], x.offset)
    return _moved(turned, descriptor.out)


def _moved(x: ep.TensorSpec, out: ep.TensorSpec) -> Work | None:
    visit = places(out, {"x": x, "out": out})
    if visit is None:
        return None
    if visit.is_dense:
        return over("moved/copy", ("x", "out"), visit.sizes, {})
    is_turned = len(visit.sizes) > 1 and visit.strides["x"] != 1 and not any(size % _TILE for size in visit.sizes[:2])
    tile = (_TILE, _TILE, 1)[: len(visit.sizes)] if is_turned else None
    return over("moved/strided", ("x", "out"), visit.sizes, visit.words, tile)


def _filled(result: str) -> Form:
    def form(descriptor: Any) -> Work | None:
        *operands, _ = descriptor.present
        if not descriptor.out.is_dense:
            return None
        words = {"PARAMETERS": parameters(operands), "RESULT": result}
        return over("moved/fill", (*operands, "out"), (descriptor.out.size,), words)

    return form


def _iota(descriptor: Any) -> Work | None:
    return _filled("START(0) + STEP(0) * (OUT_VALUE)i")(descriptor) if descriptor.out.ndim == 1 else None


def _pad(descriptor: Any) -> Work | None:
    """Return the kernel for images with a border of a number or of their own elements."""
    x, out = descriptor.x, descriptor.out
    if x.ndim != _IMAGES or not (x.is_dense and out.is_dense) or any((*descriptor.before[:2], *descriptor.after[:2])):
        return None
    results = {
        "constant": "column < WIDTH && row < HEIGHT ? X((k * HEIGHT + row) * WIDTH + column) : VALUE(0)",
        "reflect": "X((k * HEIGHT + reflected(j, TOP, HEIGHT)) * WIDTH + reflected(i, LEFT, WIDTH))",
    }
    if descriptor.op not in results:
        return None
    *operands, _ = descriptor.present
    words = {"PARAMETERS": parameters(operands), "RESULT": results[descriptor.op]}
    words |= {"TOP": descriptor.before[2], "LEFT": descriptor.before[3], "HEIGHT": x.shape[2], "WIDTH": x.shape[3]}
    return over("moved/pad", descriptor.present, _images(out), words)


def _images(out: ep.TensorSpec) -> tuple[int, ...]:
    """Return columns, rows, and the channels of all images."""
    return (out.shape[3], out.shape[2], out.shape[0] * out.shape[1])


def _gather(descriptor: Any) -> Work | None:
    x, axis, indices = descriptor.x, descriptor.axis, descriptor.indices
    if descriptor.batch_dims or indices.ndim != 1 or not (x.is_dense and indices.is_dense and descriptor.out.is_dense):
        return None
    width = math.prod(x.shape[axis + 1 :])
    sizes = (width, indices.size, math.prod(x.shape[:axis]))
    words = {"WIDTH": width, "EXTENT": x.shape[axis]}
    return over("moved/gather", ("x", "indices", "out"), sizes, words)


def _one_hot(descriptor: Any) -> Work | None:
    out, indices = descriptor.out, descriptor.indices
    if descriptor.first or descriptor.axis != out.ndim - 1 or not (out.is_dense and indices.is_dense):
        return None
    return over("moved/one_hot", descriptor.present, (out.shape[-1], indices.size), {})


def _pool(descriptor: Any) -> Work | None:
    x, sliding = descriptor.x, descriptor.sliding
    is_plain = not any((*sliding.before, *sliding.after)) and set(sliding.dilations) == {1}
    joins = {
        "max": ("-INFINITY", "(u > v ? u : v)", "joined"),
        "average": ("0", "(u + v)", f"joined / {math.prod(sliding.window)}"),
    }
    if x.ndim != _IMAGES or not is_plain or not x.is_dense or descriptor.op not in joins:
        return None
    initial, join, result = joins[descriptor.op]
    words = {"INITIAL": initial, "JOIN(u, v)": join, "RESULT": result, "HEIGHT": x.shape[2], "WIDTH": x.shape[3]}
    words |= {"ROWS": sliding.window[0], "COLUMNS": sliding.window[1]}
    words |= {"ROW_STRIDE": sliding.strides[0], "COLUMN_STRIDE": sliding.strides[1]}
    return over("moved/pool", ("x", "y"), _images(descriptor.present["y"]), words)


FORMS: Final[Mapping[str, Form]] = {
    "copy": _copy,
    "permute": _permute,
    "fill": _filled("VALUE(0)"),
    "tensor_fill": _filled("X(0)"),
    "iota": _iota,
    "pad": _pad,
    "gather": _gather,
    "one_hot": _one_hot,
    "pool": _pool,
}
"""By family, from a descriptor to its launches, None without a form."""
