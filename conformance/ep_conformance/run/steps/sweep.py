"""Every float32 there is, through one op: the slices of profile `exhaustive`, launched part by part and compared in C."""

from __future__ import annotations

from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from ep_primitives.judging.accuracy import Exact
from ep_primitives.judging.reference import Reference

import ep
from ep_conformance.judge.attestation import attest
from ep_conformance.judge.compare import Comparison, compare
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.expression import explain_failure
from ep_conformance.judge.native import Worst, compare_native
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.judge.output import Output
from ep_conformance.judge.sensitivity import misjudged
from ep_conformance.judge.ulp import numpy_dtype, rounded
from ep_conformance.plan.sweep import CHUNK, INPUTS, Sweep

if TYPE_CHECKING:
    from ep_primitives.judging.accuracy import Accuracy

    from ep_conformance.fixture.trial import Trial

__all__ = ["run_sweep"]

Array = npt.NDArray[Any]


def run_sweep(trial: Trial, family: ep.Family, sweep: Sweep) -> Outcome:
    """Return the outcome of all inputs of a slice.

    Raises CaseError with the worst element of the first part that has one outside its bound.
    """
    accuracy = family.accuracy(sweep.descriptor)
    primitives = [descriptor.on(trial.device) for descriptor in sweep.descriptors]
    before = trial.device.native_calls
    stream = trial.stream()
    bits = np.arange(CHUNK, dtype=np.uint32)
    x, out = trial.memory(bits.nbytes), trial.memory(sweep.descriptor.out.nbytes)
    steps = [primitive.bind(x=x, out=out) for primitive in primitives]
    result = np.empty(CHUNK, numpy_dtype(sweep.descriptor.out.dtype))
    worst, at = Worst(0.0, 0.0, 0, 0), ""
    turns = cycle(zip(sweep.descriptors, steps, strict=True))
    for start in range(sweep.first, sweep.first + INPUTS, CHUNK):
        descriptor, step = next(turns)
        values = (bits + np.uint32(start)).view(np.float32)
        stream.upload(x, values)
        step(stream)
        stream.download(result, out)
        stream.synchronize()
        inside = slice(None) if sweep.domain.is_open else sweep.domain.contains("float32", values)
        reference = _only(family.reference(descriptor, {"x": values}), inside)
        if start == sweep.first and (doubt := _doubt(trial, reference, accuracy, result[inside])):
            return Outcome(Status.MISTRUSTED, doubt)
        found = _measured(result[inside], reference, accuracy, descriptor.out.dtype)
        if found.wrong:
            shown = result[inside]
            measure = partial(compare, reference=reference, accuracy=accuracy, dtype=descriptor.out.dtype)
            spec = ep.TensorSpec(descriptor.out.dtype, shown.shape)
            output = Output("out", spec, reference, accuracy, None, measure)
            text = explain_failure(family, descriptor, {"x": values[inside]}, output, shown, measure(shown))
            raise CaseError(f"{text} on {trial.device.name}")  # noqa: EM102, TRY003 - one failure, told once
        if found.ratio > worst.ratio:
            given = "".join(f", {value:g}" for value in descriptor.attributes)
            worst, at = found, f"x={values[inside][found.at]!s}{given}"
    for step in steps:
        step.close()
    margin, error = (None, None) if isinstance(accuracy, Exact) else (worst.ratio, worst.error)
    attested = attest(trial.device, primitives[0], before)
    return Outcome(Status.PASS, margin=margin, error=error, at=at, attested=attested)


def _only(reference: Reference, inside: Any) -> Reference:
    scale = None if reference.scale is None else reference.scale[inside]
    return Reference(reference.value[inside], scale, reference.error)


def _doubt(trial: Trial, reference: Reference, accuracy: Accuracy, result: Array) -> str:
    """Return which element the comparison judges wrongly, "" if none."""
    dtype = result.dtype.name
    is_rounded = ep.dtype(dtype).kind in "fc"
    right = rounded(reference.value, dtype) if is_rounded else reference.value

    def measure(tried: Array) -> Comparison:
        worst = _measured(tried, reference, accuracy, dtype)
        ratio = np.zeros(tried.shape)
        ratio[worst.at if worst.wrong == 1 else slice(None)] = 2.0 * bool(worst.wrong)
        return Comparison(ratio, None)

    found = misjudged(trial.id, np.asarray(right, result.dtype), reference, accuracy, measure)
    return f"the comparison could not have shown a fault: {found}" if found else ""


def _measured(result: Array, reference: Reference, accuracy: Accuracy, dtype: str) -> Worst:
    """Return the worst of float32 results; other types are those of tests and casts, which are exact."""
    if dtype == "float32":
        return compare_native(result, reference, accuracy)
    comparison = compare(result, reference, accuracy, dtype)
    return Worst(0.0, 0.0, int(comparison.fails.argmax()) if comparison.fails.size else 0, int(comparison.fails.sum()))
