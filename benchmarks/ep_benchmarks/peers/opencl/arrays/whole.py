"""What a user of pyopencl's arrays writes to copy, to make, and to reduce elements."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pyopencl import array as cl_array
from pyopencl import clmath
from pyopencl.clrandom import PhiloxGenerator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyopencl as cl

    Work = Callable[[], Any]

__all__ = ["FORMS"]

_HAS_TEMPLATES: Final = find_spec("mako") is not None
"""pyopencl makes its reductions and scans from templates of Mako, and does not bring it along."""


def _copy(descriptor: Any, given: Mapping[str, Any], queue: cl.CommandQueue) -> Work:
    del descriptor, queue
    return partial(given["x"].copy)


def _fill(descriptor: Any, given: Mapping[str, Any], queue: cl.CommandQueue) -> Work:
    out = cl_array.empty(queue, descriptor.out.shape, np.dtype(descriptor.out.dtype))
    return partial(out.fill, out.dtype.type(given["value"]))


def _iota(descriptor: Any, given: Mapping[str, Any], queue: cl.CommandQueue) -> Work | None:
    start, step, out = given["start"], given["step"], descriptor.out
    if out.ndim != 1:
        return None
    return partial(cl_array.arange, queue, start, start + step * out.size, step, dtype=np.dtype(out.dtype))


def _reduce(descriptor: Any, given: Mapping[str, Any], queue: cl.CommandQueue) -> Work | None:
    x, out = given["x"], descriptor.out
    if out.size != 1 or not _HAS_TEMPLATES:  # it has no reductions of rows or columns
        return None
    forms: dict[str, Work] = {
        "sum": partial(cl_array.sum, x, np.dtype(out.dtype), queue),
        "max": partial(cl_array.max, x, queue),
        "min": partial(cl_array.min, x, queue),
        "norm_2": lambda: clmath.sqrt(cl_array.dot(x, x)),
    }
    return forms.get(descriptor.op)


def _scan(descriptor: Any, given: Mapping[str, Any], queue: cl.CommandQueue) -> Work | None:
    x = given["x"]
    if descriptor.op != "sum" or x.ndim != 1 or descriptor.exclusive or descriptor.reverse or not _HAS_TEMPLATES:
        return None
    return partial(cl_array.cumsum, x, np.dtype(descriptor.out.dtype), queue)


def _random(descriptor: Any, given: Mapping[str, Any], queue: cl.CommandQueue) -> Work | None:
    del given
    generator: Any = PhiloxGenerator(queue.context)  # type: ignore[no-untyped-call]
    fills = {"uniform": generator.fill_uniform, "normal": generator.fill_normal}
    fill = fills.get(descriptor.op)
    if fill is None:
        return None
    out = cl_array.empty(queue, descriptor.out.shape, np.dtype(descriptor.out.dtype))

    def work() -> Any:
        fill(out)
        return out

    return work


FORMS: Final = {
    "copy": _copy,
    "fill": _fill,
    "iota": _iota,
    "reduce": _reduce,
    "scan": _scan,
    "random_fill": _random,
}
