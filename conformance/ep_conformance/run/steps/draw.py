"""Draw, the first step of a case: data that can show a fault, between red zones, and the references of the results."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.plugin.family import by_name
from ep_primitives.elementwise.cells import ElementwiseFamily

from ep_conformance.judge.compare import compare
from ep_conformance.judge.decoys import blind_to
from ep_conformance.judge.draw import Draw
from ep_conformance.judge.output import Output, right_result
from ep_conformance.judge.sensitivity import misjudged
from ep_conformance.run.steps.red_zones import enclose

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.reference import Reference

    import ep
    from ep_conformance.fixture.trial import Trial
    from ep_conformance.judge.operand import Operand

    Array = npt.NDArray[Any]

__all__ = ["draw"]

_DRAWS: Final = 12


def draw(trial: Trial, family: ep.Family, case: Case) -> Draw:
    """Return data that can show a fault, if a dozen draws have any."""
    for _ in range(_DRAWS):
        drawn = _drawn(trial, family, case)
        if not drawn.doubt or case.expected:
            break
    unsure = {name: _told(trial, output) for name, output in drawn.outputs.items()}
    return replace(drawn, outputs=unsure)


def _drawn(trial: Trial, family: ep.Family, case: Case) -> Draw:
    descriptor, data = case.descriptor, case.data(trial.rng)
    shared = {} if case.inplace is None else {case.inplace: case.target}
    tensors, scalars = _enclosed(trial, case, data, shared)
    inputs = dict(scalars)
    for role, spec in descriptor.tensors:
        if spec is not None and (role.name in descriptor.roles.read or role.name in data):
            inputs[role.name] = tensors[shared.get(role.name, role.name)].found(spec)
    ordered = {name: inputs[name] for name in descriptor.operands if name in inputs}
    # A table belongs to its data; in every other case the operands are read back from the bytes to upload.
    references = case.expected() if case.expected else family.reference(descriptor, dict(ordered))
    moved = by_name(descriptor, family.moved(descriptor, dict(ordered)))
    drawn = Draw(tensors, scalars, ordered, {}, {name: moved[name] for name in descriptor.roles.states}, shared)
    used = {*shared.values(), *data}
    return replace(drawn, outputs=_outputs(trial, family, case, by_name(descriptor, references), moved, drawn, used))


def _outputs(  # noqa: PLR0913, PLR0917 - the work, its data, and what is known of its results
    trial: Trial,
    family: ep.Family,
    case: Case,
    references: Mapping[str, Reference],
    moved: Mapping[str, Any],
    drawn: Draw,
    used: set[str],
) -> dict[str, Output]:
    descriptor = case.descriptor
    flushes = bool({spec.dtype for spec in descriptor.specs if spec is not None} & trial.device.info.flushes)
    accuracies = by_name(descriptor, case.accuracy or family.accuracy(descriptor))
    constant = by_name(descriptor, family.is_constant(descriptor))
    rights = {name: right_result(spec, references[name]) for name, spec in descriptor.outputs.items()}
    outputs = {}
    for name, spec in descriptor.outputs.items():
        measure = functools.partial(
            compare,
            reference=references[name],
            accuracy=accuracies[name],
            dtype=spec.dtype,
            flushes=flushes,
            is_elementwise=isinstance(family, ElementwiseFamily),
            inputs=drawn.inputs,
            recompute=functools.partial(_again, family, descriptor, name),
        )
        others = {other: right for other, right in rights.items() if other != name}
        blindness = "" if constant[name] else blind_to(rights[name], drawn.inputs, measure, others)
        doubt = f"the data could not have shown a fault: {blindness} would pass as well" if blindness else ""
        known = references[name], accuracies[name], moved[name]
        outputs[name] = Output(name, spec, *known, measure, _of(name, doubt, descriptor), name in used)
    return outputs


def _again(family: ep.Family, descriptor: ep.Descriptor, name: str, changed: Mapping[str, Any]) -> Reference:
    """Return the reference of an output of other inputs."""
    reference: Reference = by_name(descriptor, family.reference(descriptor, dict(changed)))[name]
    return reference


def _of(name: str, doubt: str, descriptor: ep.Descriptor) -> str:
    """Return a doubt with the output's name, where there are several."""
    return f"{name}: {doubt}" if doubt and len(descriptor.outputs) > 1 else doubt


def _told(trial: Trial, output: Output) -> Output:
    """Return the output with the doubt that the comparison itself deserves, if it deserves none for its data."""
    if output.doubt:
        return output
    strict = functools.partial(compare, reference=output.reference, accuracy=output.accuracy, dtype=output.spec.dtype)
    right = right_result(output.spec, output.reference)
    element = misjudged(trial.id, right, output.reference, output.accuracy, strict)
    return replace(output, doubt=f"the comparison could not have shown a fault: {element}" if element else "")


def _enclosed(
    trial: Trial, case: Case, data: Mapping[str, Any], shared: Mapping[str, str]
) -> tuple[dict[str, Operand], dict[str, Any]]:
    """Return the tensor operands and the values of the scalar ones.

    In place, an output takes its input's memory. Else it holds the drawn data if the family reads it, or poison.
    """
    descriptor = case.descriptor
    scalars = {role.name: _number(data[role.name]) for role, spec in descriptor.numbers if spec is not None}
    tensors: dict[str, Operand] = {}
    for role, spec in descriptor.tensors:
        if spec is not None and role.name not in shared.values():
            value = data.get(role.name) if role.name in descriptor.outputs else np.asarray(data[role.name])
            start = case.starts.get(shared.get(role.name, role.name), 0)
            tensors[role.name] = enclose(trial, role.name, spec, value, case.shift + start)
    for name, output in shared.items():
        tensors[output] = replace(tensors.pop(name), name=output, spec=descriptor.outputs[output])
    return tensors, scalars


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value
