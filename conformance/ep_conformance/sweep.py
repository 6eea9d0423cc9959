"""Every float32 there is, through one op: the slices of profile `exhaustive`, compared in C."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.judging.accuracy import Exact
from ep_primitives.judging.reference import Reference

import ep
from ep_conformance.attestation import attest
from ep_conformance.compare import Comparison, compare
from ep_conformance.expression import explain_failure
from ep_conformance.native import Worst, compare_native
from ep_conformance.output import Output
from ep_conformance.sensitivity import misjudged
from ep_conformance.trial import CaseError, Trial
from ep_conformance.ulp import numpy_dtype, rounded
from ep_conformance.verdict import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.elementwise.domain import Domain
    from ep_primitives.judging.accuracy import Accuracy

__all__ = ["Sweep", "run_sweep", "sweeps"]

_FAMILIES: Final = ("elementwise_unary", "cast")
_SLICES: Final = 64
_INPUTS: Final = (1 << 32) // _SLICES
_CHUNK: Final = 1 << 15
"""Inputs of one launch: what the reference keeps of them on its way stays in a cache."""

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A case over the float32 whose bits, as an integer, are `first` and those behind it, 1/64 of all.

    descriptors : of one launch each, over a part of them: one a set of attributes, which the parts take in turn
    domain      : of the input; what lies outside of one that is not open is not judged
    """

    name: str
    descriptors: tuple[ep.Descriptor, ...]
    domain: Domain
    first: int
    profile: str = "exhaustive"

    @property
    def descriptor(self) -> ep.Descriptor:
        """What a launch computes with the usual attributes."""
        return self.descriptors[0]


def sweeps(family: ep.Family, cell: ep.Cell) -> Iterator[Sweep]:
    """Yield the slices of a cell: none unless it is dense and its one input is a float32."""
    if cell.layout != "dense" or family.name not in _FAMILIES or not isinstance(family, ElementwiseFamily):
        return
    signature = family.signature(cell)
    if signature.inputs != ("float32",):
        return
    specs = {"x": ep.TensorSpec("float32", (_CHUNK,)), "out": ep.TensorSpec(signature.out, (_CHUNK,))}
    descriptors = tuple(
        family.describe(signature.op, specs, attributes) for attributes in family.attribute_sets(signature)
    )
    for place in range(_SLICES):
        yield Sweep(f"every-float32-{place:02}", descriptors, family.domains(signature)[0], place * _INPUTS)


def run_sweep(trial: Trial, family: ep.Family, sweep: Sweep) -> Outcome:
    """Return what all inputs of a slice showed.

    Raises CaseError with the worst element of the first part that has one outside its bound.
    """
    accuracy = family.accuracy(sweep.descriptor)
    primitives = [descriptor.on(trial.device) for descriptor in sweep.descriptors]
    before = trial.device.native_calls
    stream = trial.stream()
    bits = np.arange(_CHUNK, dtype=np.uint32)
    x, out = trial.memory(bits.nbytes), trial.memory(sweep.descriptor.out.nbytes)
    steps = [primitive.bind(x=x, out=out) for primitive in primitives]
    result = np.empty(_CHUNK, numpy_dtype(sweep.descriptor.out.dtype))
    worst, at = Worst(0.0, 0.0, 0, 0), ""
    turns = cycle(zip(sweep.descriptors, steps, strict=True))
    for start in range(sweep.first, sweep.first + _INPUTS, _CHUNK):
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
