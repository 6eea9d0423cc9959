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
from ep_conformance.judge.agreement import EQUAL, check_same, incomparable
from ep_conformance.judge.attestation import attest, implementations_of
from ep_conformance.judge.compare import Comparison, compare
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.expression import as_expression, explain_failure
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
    launches = _Launches(trial, trial.device, sweep)
    other, compared = _other(trial, family, sweep)
    bits = np.arange(CHUNK, dtype=np.uint32)
    worst, at = Worst(0.0, 0.0, 0, 0), ""
    turns = cycle(enumerate(sweep.descriptors))
    for start in range(sweep.first, sweep.first + INPUTS, CHUNK):
        turn, descriptor = next(turns)
        values = (bits + np.uint32(start)).view(np.float32)
        result = launches(turn, values)
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
        if other is not None:
            theirs = other(turn, values)[inside]
            with as_expression(family, descriptor, {"x": values[inside]}):
                check_same("out", result[inside], theirs, other.device.name)
    margin, error = (None, None) if isinstance(accuracy, Exact) else (worst.ratio, worst.error)
    primitive = launches.primitives[0]
    attested, ran = attest(trial.device, primitive, launches.before), implementations_of(primitive)
    return Outcome(Status.PASS, margin=margin, error=error, at=at, attested=attested, ran=ran, bits=compared)


class _Launches:
    """The launches of a sweep on a device, over the same memories; they end with a trial."""

    def __init__(self, trial: Trial, device: ep.Device, sweep: Sweep) -> None:
        self.device = device
        self.primitives = [descriptor.on(device) for descriptor in sweep.descriptors]
        self.before = device.native_calls
        self._stream = trial.closing(device.stream())
        sizes = [spec.nbytes for _, spec in sweep.descriptor.tensors if spec is not None]
        self._x, self._out = (trial.closing(device.allocate(nbytes)) for nbytes in sizes)
        self._steps = [primitive.bind(x=self._x, out=self._out) for primitive in self.primitives]
        for step in self._steps:
            trial.first(step)
        self._dtype = numpy_dtype(sweep.descriptor.out.dtype)

    def __call__(self, turn: int, values: Array) -> Array:
        """Return what the launch with a turn's attributes makes of a part of the inputs."""
        result = np.empty(CHUNK, self._dtype)
        self._stream.upload(self._x, values)
        self._steps[turn](self._stream)
        self._stream.download(result, self._out)
        self._stream.synchronize()
        return result


def _other(trial: Trial, family: ep.Family, sweep: Sweep) -> tuple[_Launches | None, str]:
    """Return the launches on the other device, if it is to give the same bits, and what is said of the case if it does."""
    if trial.other is None:
        return None, ""
    accuracy = family.accuracy(sweep.descriptor)
    reason = incomparable(family, sweep.descriptor, (accuracy,), (trial.device, trial.other))
    if reason:
        return None, reason
    try:
        return _Launches(trial, trial.other, sweep), EQUAL
    except ep.UnsupportedError:
        return None, f"{trial.other.name} does not take it"


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
