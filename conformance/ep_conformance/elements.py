"""Run one case of a family: operands in red zones, one launch, and a comparison by the row's accuracy."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

import ep
from ep_conformance.compare import Comparison, compare
from ep_conformance.decoys import blind_to
from ep_conformance.expression import explain_failure
from ep_conformance.operands import Operand, place
from ep_conformance.trial import CaseError, Trial
from ep_conformance.verdict import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.accuracy import Accuracy
    from ep_primitives.case import Case
    from ep_primitives.reference import Reference

__all__ = ["run_case"]

_SHARE: Final = 3
"""One case in three runs as a bound step, and, independently, one in three on an asynchronous stream."""

Array = npt.NDArray[Any]


def run_case(trial: Trial, family: ep.Family, case: Case) -> Outcome:
    """Return what one launch of a case showed.

    Raises CaseError for a wrong result or a stray write, UnsupportedError if the device does not take the descriptor.
    """
    descriptor = case.descriptor
    primitive = descriptor.on(trial.device)
    tensors, scalars = _place(trial, case)
    out = tensors[descriptor.operands[-1]]
    inputs = {name: operand.tensor(operand.image) for name, operand in tensors.items() if operand is not out}
    if case.inplace is not None:
        inputs[case.inplace] = out.tensor(out.image)
    before = trial.device.native_calls
    images = _launch(trial, primitive, tensors, scalars)
    after = trial.device.native_calls
    for name, operand in tensors.items():
        operand.check(images[name], is_output=operand is out)
    result = out.tensor(images[descriptor.operands[-1]])
    values = {name: inputs.get(name, scalars.get(name)) for name in descriptor.operands[:-1]}
    if descriptor.family == "copy":
        _check_bits(values["x"], result)
    else:
        _check_bools(descriptor, result)
    outcome = _judge(trial, family, case, values, result)
    attested = _attested(trial.device, primitive)
    if attested == "attested" and before is not None and after is not None and after > before:
        attested = "native"
    return replace(outcome, attested=attested)


def _place(trial: Trial, case: Case) -> tuple[dict[str, Operand], dict[str, Any]]:
    """Return the tensor operands and the values of the scalar ones; in place, two names share one operand."""
    descriptor = case.descriptor
    data = case.data(trial.rng)
    out_name = descriptor.operands[-1]
    tensors: dict[str, Operand] = {}
    scalars: dict[str, Any] = {}
    for name, spec in zip(descriptor.operands, descriptor.specs, strict=True):
        if isinstance(spec, ep.Scalar):
            scalars[name] = _number(data[name])
        elif name not in (out_name, case.inplace):
            tensors[name] = place(trial, name, spec, np.asarray(data[name]), case.shift)
    value = None if case.inplace is None else np.asarray(data[case.inplace])
    tensors[out_name] = place(trial, out_name, descriptor.out, value, case.shift)
    return tensors, scalars


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def _launch(
    trial: Trial, primitive: ep.Primitive, tensors: Mapping[str, Operand], scalars: Mapping[str, Any]
) -> dict[str, Any]:
    dice = zlib.crc32(trial.id.encode())
    stream = trial.asynchronous() if dice // _SHARE % _SHARE == 0 else trial.stream()
    for operand in tensors.values():
        operand.upload(stream)
    out = tensors[primitive.asked.operands[-1]]
    operands = {name: tensors[name].memory if name in tensors else out.memory for name in primitive.asked.operands}
    operands |= scalars
    if dice % _SHARE:
        primitive(stream, **operands)
    else:
        step = primitive.bind(**operands)
        step(stream)
        step.close()
    images = {name: operand.download(stream) for name, operand in tensors.items()}
    stream.synchronize()
    return images


def _check_bools(descriptor: ep.Descriptor, result: Array) -> None:
    if descriptor.out.dtype != "bool":
        return
    odd = np.argwhere(result.view(np.uint8) > 1)
    if odd.size:
        at = tuple(int(i) for i in odd[0])
        message = f"out{list(at)} holds the byte {int(result.view(np.uint8)[at])}; a bool output is 0 or 1"
        raise CaseError(message)


def _check_bits(x: Array, result: Array) -> None:
    """Check a copy more closely than numbers can be compared: NaN payloads and the bytes of bools count."""
    bits = f"u{result.itemsize}"
    wrong = np.argwhere(result.view(bits) != np.broadcast_to(x.view(bits), result.shape))
    if wrong.size:
        at = tuple(int(i) for i in wrong[0])
        given, needed = result.view(bits)[at], np.broadcast_to(x.view(bits), result.shape)[at]
        message = (
            f"copy: out{list(at)} has the bits {given:#x}, needed {needed:#x} ({len(wrong)} of {result.size} elements)"
        )
        raise CaseError(message)


def _judge(trial: Trial, family: ep.Family, case: Case, inputs: Mapping[str, Any], result: Array) -> Outcome:
    descriptor = case.descriptor
    accuracy: Accuracy = case.accuracy or family.accuracy(descriptor)
    # A table belongs to its data; in every other case the operands are read back from what was really uploaded.
    reference: Reference = case.expected() if case.expected else family.reference(descriptor, dict(inputs))
    flushes = bool({spec.dtype for spec in descriptor.specs} & trial.device.info.flushes)

    def measure(candidate: Array) -> Comparison:
        return compare(
            candidate,
            reference,
            accuracy,
            descriptor.out.dtype,
            flushes=flushes,
            inputs=inputs,
            recompute=lambda changed: family.reference(descriptor, dict(changed)),
        )

    comparison = measure(result)
    if not comparison.passes:
        text = explain_failure(descriptor, inputs, result, reference, accuracy, comparison)
        return Outcome(Status.FAIL, f"{text} on {trial.device.name}", comparison.margin)
    blindness = blind_to(result, inputs, measure)
    if blindness:
        reason = f"the data could not have shown a fault: {blindness} passes as well"
        return Outcome(Status.MISTRUSTED, reason, comparison.margin)
    return Outcome(Status.PASS, "", comparison.margin)


def _attested(device: ep.Device, primitive: ep.Primitive) -> str:
    """Return "attested" if what ran is a row of this very device's provider, "no" otherwise."""
    table = device.provider.implementations
    rows = table.get(type(primitive.descriptor), ())
    ours = primitive.device is device and any(primitive.implementation is row for row in rows)
    return "attested" if ours else "no"
