"""Run one case of a family: operands in red zones, two launches, and a comparison by the row's accuracy."""

from __future__ import annotations

import contextlib
import functools
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

import ep
from ep_conformance.attestation import attest
from ep_conformance.bias import bias, variance
from ep_conformance.determinism import check_again, check_part, is_promised
from ep_conformance.draw import draw
from ep_conformance.expression import as_expression, explain_failure, failure_details, operands_text
from ep_conformance.operands import place
from ep_conformance.refusal import is_refused
from ep_conformance.trial import CaseError, Trial
from ep_conformance.verdict import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_primitives.cases.case import Case

    from ep_conformance.draw import Draw
    from ep_conformance.operands import Operand
    from ep_conformance.output import Output

__all__ = ["run_case"]

_SHARE: Final = 3
"""One case in three begins with the bound step, and, independently, one launch in three is on an asynchronous stream."""

_MOST_TWICE: Final = 4 << 20
"""Cases with more bytes than these are launched once."""

_BEHIND: Final = ("", "; the launch before it was right")

Array = npt.NDArray[Any]


def run_case(trial: Trial, family: ep.Family, case: Case) -> Outcome:
    """Return what a checked launch and a bound step showed, each with memories of its own.

    Raises CaseError for a wrong result or a stray write, UnsupportedError if the device does not take the descriptor.
    """
    primitive = case.descriptor.on(trial.device)
    drawn = draw(trial, family, case)
    before = trial.device.native_calls
    launches = _launches(trial, drawn)
    if is_refused(case.descriptor, drawn.inputs):
        for launch in launches:
            trial.refuses("a launch", ValueError, functools.partial(_launch, trial, primitive, drawn, launch))
        return Outcome(Status.PASS, attested=attest(trial.device, primitive, before))
    if _is_warmed(trial, launches):
        _warm_up(trial, primitive, drawn, launches[-1])
        before = trial.device.native_calls
    draws = (drawn, drawn.poisoned_low())
    images = [_launch(trial, primitive, given, launch) for given, launch in zip(draws, launches, strict=False)]
    attested = attest(trial.device, primitive, before)
    outcomes = [_judged(trial, family, case, draws[number], images, number) for number in range(len(images))]
    worst = next((outcome for outcome in outcomes if outcome.status is not Status.PASS), outcomes[0])
    if worst.status is Status.PASS and is_promised(trial.device):
        _check_determinism(trial, family, case.descriptor, drawn, launches[-1], images)
    return replace(worst, attested=attested)


def _is_warmed(trial: Trial, launches: Sequence[_Way]) -> bool:
    """Say whether a launch with other values comes before those that are judged: in one case of three, large ones apart."""
    return len(launches) > 1 and zlib.crc32(trial.id.encode()) // _SHARE**3 % _SHARE == _SHARE - 1


def _warm_up(trial: Trial, primitive: ep.Primitive, drawn: Draw, way: _Way) -> None:
    """Launch with the operands' elements in reverse and other numbers: what a kernel keeps of them for later will show."""
    tensors = {name: operand.reversed() for name, operand in drawn.tensors.items()}
    scalars = {name: type(number)(number != 1) for name, number in drawn.scalars.items()}
    with contextlib.suppress(ValueError):  # numbers, or indices of validation mode, that do not go together
        _launch(trial, primitive, replace(drawn, tensors=tensors, scalars=scalars), way)


def _check_determinism(  # noqa: PLR0913, PLR0917 - the work, its data, and what its launches left
    trial: Trial,
    family: ep.Family,
    descriptor: ep.Descriptor,
    drawn: Draw,
    way: _Way,
    images: Sequence[Mapping[str, Any]],
) -> None:
    """Check that equal launches wrote equal bits, and that parts of the work, launched by themselves, write the same bits."""
    with as_expression(family, descriptor, drawn.inputs):
        for again in images[1:]:
            for name in (*drawn.outputs, *drawn.states):
                check_again(drawn.tensors[name], images[0][name], again[name])
    for part in family.parts(descriptor):
        with contextlib.suppress(ep.UnsupportedError):  # a layout that the device does not have
            alone = _launch(trial, part.on(trial.device), drawn, way)
            with as_expression(family, part, drawn.inputs_of(part)):
                for name in part.outputs:
                    check_part(part, drawn.tensors[name], images[0][name], alone[name])


@dataclass(frozen=True)
class _Way:
    """One of the two ways to run a primitive."""

    is_bound: bool
    is_asynchronous: bool


def _launches(trial: Trial, drawn: Draw) -> list[_Way]:
    """Return both ways, in an order and on streams that the case's id decides; of a large case the first alone."""
    dice = zlib.crc32(trial.id.encode())
    is_bound = dice % _SHARE == 0
    ways = [
        _Way(is_bound, dice // _SHARE % _SHARE == 0),
        _Way(not is_bound, dice // _SHARE**2 % _SHARE == 0),
    ]
    return ways if sum(operand.image.nbytes for operand in drawn.tensors.values()) <= _MOST_TWICE else ways[:1]


def _launch(trial: Trial, primitive: ep.Primitive, drawn: Draw, way: _Way) -> dict[str, Any]:
    """Return what the operands' allocations hold after a launch, by the names of `drawn.tensors`."""
    stream = trial.asynchronous() if way.is_asynchronous else trial.stream()
    for operand in drawn.tensors.values():
        operand.allocate(trial)
        operand.upload(stream)
    tensors = [role.name for role, spec in primitive.asked.tensors if spec is not None]
    operands = {**{name: drawn.operand(name).memory for name in tensors}, **drawn.scalars}
    scratch = _scratch(trial, primitive, stream) if way.is_bound else None
    if scratch is not None:
        operands["scratch"] = scratch.memory
    if way.is_bound:
        step = primitive.bind(**operands)
        step(stream)
        step.close()
    else:
        primitive(stream, **operands)
    images = {name: operand.download(stream) for name, operand in drawn.tensors.items()}
    if scratch is not None:
        image = scratch.download(stream)
        stream.synchronize()
        scratch.check(image, is_written=True)
    stream.synchronize()
    return images


def _scratch(trial: Trial, primitive: ep.Primitive, stream: ep.Stream) -> Operand | None:
    """Return scratch full of noise between red zones, for the step; a checked launch takes EP's. None if there is no need."""
    if not primitive.scratch_nbytes:
        return None
    spec = ep.TensorSpec("uint8", (primitive.scratch_nbytes,))
    scratch = place(trial, "scratch", spec, trial.noise(spec.nbytes), 0)
    scratch.allocate(trial)
    scratch.upload(stream)
    return scratch


def _check_states(drawn: Draw, images: Mapping[str, Any]) -> None:
    """Check that each state holds exactly what the family says."""
    for name, needed in drawn.states.items():
        given = drawn.tensors[name].tensor(images[name])
        if not np.array_equal(given, needed):
            was = drawn.inputs[name].tolist()
            message = f"{name} was {was} and is {given.tolist()} after the launch, needed {needed.tolist()}"
            raise CaseError(message, kind="updated", operand=name, bits=np.ascontiguousarray(needed).tobytes().hex())


def _checked(
    family: ep.Family, descriptor: ep.Descriptor, drawn: Draw, images: Mapping[str, Any]
) -> list[tuple[Output, Array]]:
    """Return the outputs with their results. Raises CaseError for what is wrong with them without any arithmetic."""
    results = []
    with as_expression(family, descriptor, drawn.inputs):
        for name, operand in drawn.tensors.items():
            operand.check(images[name], is_written=name in descriptor.written)
        _check_states(drawn, images)
        for name, output in drawn.outputs.items():
            result = drawn.tensors[name].tensor(images[name])
            output.check(result)
            results.append((output, result))
    return results


def _judged(  # noqa: PLR0913, PLR0917 - a launch of several, with all that it is judged by
    trial: Trial, family: ep.Family, case: Case, drawn: Draw, images: Sequence[Mapping[str, Any]], number: int
) -> Outcome:
    """Return what one of the launches showed; a failure says which one it was."""
    try:
        results = _checked(family, case.descriptor, drawn, images[number])
        outcomes = [_judge(trial, family, case, drawn, output, result) for output, result in results]
    except CaseError as error:
        raise CaseError(f"{error}{_BEHIND[number]}", **error.details, launch=number) from None  # noqa: EM102 - told once
    outcome = _worst(outcomes)
    if outcome.status is not Status.FAIL:
        return outcome
    return replace(outcome, reason=f"{outcome.reason}{_BEHIND[number]}", details={**outcome.details, "launch": number})


def _worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first outcome that is a failure, else one in doubt, else the one nearest to its bound."""
    for status in (Status.FAIL, Status.MISTRUSTED):
        for outcome in outcomes:
            if outcome.status is status:
                return outcome
    return max(outcomes, key=lambda outcome: -1.0 if outcome.margin is None else outcome.margin)


def _judge(  # noqa: PLR0913, PLR0917 - as above
    trial: Trial, family: ep.Family, case: Case, drawn: Draw, output: Output, result: Array
) -> Outcome:
    descriptor = case.descriptor
    comparison = output.measure(result)
    if not comparison.passes:
        text = explain_failure(family, descriptor, drawn.inputs, output, result, comparison)
        details = failure_details(output, result, comparison)
        return Outcome(Status.FAIL, f"{text} on {trial.device.name}", comparison.margin, details=details)
    if output.doubt:
        return Outcome(Status.MISTRUSTED, output.doubt, comparison.margin)
    leaning, spread, text = _statistics(case, output, result)
    if text:
        reason = f"{descriptor.title}: {text} on {trial.device.name}"
        return Outcome(Status.FAIL, reason, comparison.margin, bias=leaning, variance=spread)
    at = operands_text(family, descriptor, drawn.inputs, output.name, comparison.worst) if comparison.margin else ""
    return Outcome(
        Status.PASS, margin=comparison.margin, error=comparison.worst_error, at=at, bias=leaning, variance=spread
    )


def _statistics(case: Case, output: Output, result: Array) -> tuple[float | None, float | None, str]:
    """Return bias and variance of a case of sums, each over its limit, and what is wrong with them; nothing of other cases."""
    if not case.summands:
        return None, None, ""
    given = (result, output.reference, output.spec.dtype, case.summands)
    leaning, spread = bias(*given), variance(*given)
    if not leaning <= 1:
        return leaning, spread, f"the mean of the errors is {leaning:.3g} times its limit: the sums lean to one side"
    if not spread <= 1:
        text = "the sums lose more than rounding to the compute type does"
        return leaning, spread, f"the mean square of the errors is {spread:.3g} times its limit: {text}"
    return leaning, spread, ""
