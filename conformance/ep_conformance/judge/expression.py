"""A failing element as an expression to evaluate: the operation and the inputs that the element depends on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging.accuracy import Accuracy, Exact

import ep
from ep_conformance.judge.compare import allowance
from ep_conformance.judge.construction import construction_of
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.ulp import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.judge.compare import Comparison, Inputs
    from ep_conformance.judge.output import Output

__all__ = ["as_expression", "call_text", "explain_failure", "failure_details", "operands_text"]

_MOST_TERMS: Final = 8
"""Elements of a row that are printed; of a longer row only its place is printed."""

Array = npt.NDArray[Any]


def explain_failure(  # noqa: PLR0913, PLR0917 - an expression needs the operation, both sides and their distance
    family: ep.Family,
    descriptor: ep.Descriptor,
    inputs: Inputs,
    output: Output,
    result: Array,
    comparison: Comparison,
) -> str:
    """Return `exp(x[3]=2.0)=7.389056, out[3]=7.389051 (5 ulp, bound 4; 1 of 257 elements)` for the worst element."""
    at = comparison.worst
    call = call_text(family, descriptor, inputs, output.name, at)
    text = f"{call}={_text(_needed(output, at))}, {output.name}{_place(at)}={_text(result[at])}"
    return f"{text} ({_distance(comparison, output.accuracy, at)}; {int(comparison.fails.sum())} of {result.size} elements)"


def failure_details(output: Output, result: Array, comparison: Comparison) -> dict[str, Any]:
    """Return the worst element for a replay file: place, both values, and the allowed difference."""
    at, reference, accuracy = comparison.worst, output.reference, output.accuracy
    needed = np.asarray(_needed(output, at), result.dtype)
    true = np.broadcast_to(reference.value, result.shape)[at]
    is_exact = isinstance(accuracy, Exact) or ep.dtype(output.spec.dtype).kind not in "fc"
    return {
        "kind": "element",
        "operand": output.name,
        "index": list(at),
        "given": _text(result[at]),
        "needed": _text(needed),
        "bits": needed.tobytes().hex(),
        "value": repr(np.asarray(true).item()),
        "allowed": 0.0 if is_exact else allowance(reference, accuracy, output.spec.dtype, result.shape, at),
    }


def call_text(family: ep.Family, descriptor: ep.Descriptor, inputs: Inputs, output: str, at: tuple[int, ...]) -> str:
    """Return `exp(x[3]=2.0)` or `sum(x[1,0:257], axis=(1,))`: the operation over the inputs of one element."""
    operands = operands_text(family, descriptor, inputs, output, at)
    construction = construction_of(descriptor)
    named = {} if construction is None else construction.keywords
    attributes = [f"{name}={value!r}" for name, value in named.items() if not _is_operand(value)]
    if construction is None:
        attributes = [repr(value) for value in descriptor.attributes]
    return f"{descriptor.title}({', '.join([*([operands] if operands else []), *attributes])})"


@contextlib.contextmanager
def as_expression(family: ep.Family, descriptor: ep.Descriptor, inputs: Inputs) -> Iterator[None]:
    """Put the operation in front of a CaseError that is raised inside, with its operands if that names an element."""
    try:
        yield
    except CaseError as error:
        at = error.details.get("index")
        call = descriptor.title
        if at is not None:
            call = call_text(family, descriptor, inputs, error.details["operand"], tuple(at))
        message = f"{call}: {error}"
        raise CaseError(message, **error.details) from None


def operands_text(
    family: ep.Family, descriptor: ep.Descriptor, inputs: Inputs, output: str, at: tuple[int, ...]
) -> str:
    """Return `a[3]=2.0, b=1.5`: the inputs that an element of an output, or of a state, depends on."""
    origin = family.origin(descriptor, dict(inputs), output, at) if output in descriptor.outputs else None
    texts = []
    for name in inputs:
        array = np.asarray(inputs[name])
        if name in descriptor.roles.states:
            texts.append(f"{name}={array.tolist()}")
        elif array.ndim == 0:
            texts.append(f"{name}={_text(array)}")
        elif origin is None or not array.size:  # a sum of nothing has no elements to show
            texts.append(f"{name}={array.dtype}{list(array.shape)}")
        elif name in origin:
            texts.append(_part(name, array, origin[name]))
    return ", ".join(texts)


def _part(name: str, array: Array, index: tuple[int | slice, ...]) -> str:
    part = array[index]
    ranges = [_range(i, extent) for i, extent in zip(index, array.shape, strict=True)]
    place = f"{name}[{','.join(ranges)}]"
    if part.size > _MOST_TERMS:
        return f"{place} of {array.dtype}{list(array.shape)}"
    if part.ndim == 0:
        return f"{place}={_text(part)}"
    return f"{place}=[{', '.join(_text(each) for each in part.reshape(-1))}]"


def _range(index: int | slice, extent: int) -> str:
    """Return an index as it is written, a slice with its ends."""
    if not isinstance(index, slice):
        return str(index)
    begin, end, step = index.indices(extent)
    return f"{begin}:{end}" if step == 1 else f"{begin}:{end}:{step}"


def _is_operand(value: Any) -> bool:
    return isinstance(value, ep.TensorSpec | ep.Scalar)


def _needed(output: Output, at: tuple[int, ...]) -> Any:
    true = np.broadcast_to(output.reference.value, output.spec.shape)[at]
    dtype = output.spec.dtype
    return rounded(true, dtype) if ep.dtype(dtype).kind in "fc" else true


def _place(at: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, at))}]" if at else ""


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
