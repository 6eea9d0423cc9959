"""A failing element as an expression that one can evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ep_primitives.accuracy import Accuracy, Exact

import ep
from ep_conformance.ulp import rounded

if TYPE_CHECKING:
    from ep_primitives.reference import Reference

    from ep_conformance.compare import Comparison, Inputs

__all__ = ["explain_failure", "operands_text"]

Array = npt.NDArray[Any]


def explain_failure(  # noqa: PLR0913, PLR0917 - an expression needs the operation, both sides and their distance
    descriptor: ep.Descriptor,
    inputs: Inputs,
    result: Array,
    reference: Reference,
    accuracy: Accuracy,
    comparison: Comparison,
) -> str:
    """Return `exp(x[3]=2.0)=7.389056, out[3]=7.389051 (5 ulp, bound 4)` for the worst element."""
    at = comparison.worst
    dtype = descriptor.out.dtype
    place = f"[{','.join(map(str, at))}]" if at else ""
    operands = operands_text(descriptor, inputs, at, result.shape)
    attributes = "".join(f", {value!r}" for value in descriptor.attributes)
    true = np.broadcast_to(reference.value, result.shape)[at]
    needed = rounded(true, dtype) if ep.dtype(dtype).kind in "fc" else true
    text = f"{descriptor.title}({operands}{attributes})={_text(needed)}, out{place}={_text(result[at])}"
    return f"{text} ({_distance(comparison, accuracy, at)}; {int(comparison.fails.sum())} of {result.size} elements)"


def operands_text(descriptor: ep.Descriptor, inputs: Inputs, at: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return `a[3]=2.0, b=1.5`: what made the element of an output of this shape."""
    return ", ".join(
        f"{name}={inputs[name].tolist()}" if name in descriptor.updates else _operand(name, inputs[name], at, shape)
        for name in descriptor.operands[:-1]
    )


def _operand(name: str, value: Any, at: tuple[int, ...], shape: tuple[int, ...]) -> str:
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{name}={_text(array)}"
    lead = len(shape) - array.ndim
    extents = shape[lead:] if lead >= 0 else ()
    if any(extent not in {1, whole} for extent, whole in zip(array.shape, extents, strict=False)) or lead < 0:
        return f"{name}={array.dtype}{list(array.shape)}"  # an element of out is made of many of its elements
    index = tuple(0 if extent == 1 else i for i, extent in zip(at[lead:], array.shape, strict=True))
    return f"{name}[{','.join(map(str, index))}]={_text(array[index])}"


def _distance(comparison: Comparison, accuracy: Accuracy, at: tuple[int, ...]) -> str:
    if comparison.error is None:
        return "exact" if isinstance(accuracy, Exact) else "no error is allowed"
    error, ratio = abs(float(comparison.error[at])), float(comparison.ratio[at])
    if not np.isfinite(error) or not ratio:
        return f"bound {accuracy}"
    return f"{error:.4g} ulp, bound {error / ratio:.4g}"


def _text(value: Any) -> str:
    item = np.asarray(value)
    return str(item.item()) if item.dtype == np.float64 or item.dtype.kind in "biu" else str(item[()])
