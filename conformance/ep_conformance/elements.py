"""Run one case of a family: operands in red zones, two launches, and a comparison by the row's accuracy."""

from __future__ import annotations

import contextlib
import functools
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.elementwise import ElementwiseFamily

import ep
from ep_conformance.attestation import attest
from ep_conformance.bias import bias, variance
from ep_conformance.bits import check_bits
from ep_conformance.compare import Comparison, compare
from ep_conformance.decoys import blind_to
from ep_conformance.determinism import check_again, check_part, is_promised
from ep_conformance.expression import as_expression, explain_failure, failure_details, operands_text
from ep_conformance.operands import Operand, place
from ep_conformance.refusal import is_refused
from ep_conformance.sensitivity import misjudged
from ep_conformance.trial import CaseError, Trial
from ep_conformance.ulp import rounded
from ep_conformance.verdict import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_primitives.accuracy import Accuracy
    from ep_primitives.case import Case
    from ep_primitives.reference import Reference

__all__ = ["run_case"]

_SHARE: Final = 3
"""One case in three begins with the bound step, and, independently, one launch in three is on an asynchronous stream."""

_MOST_TWICE: Final = 4 << 20
"""Cases with more bytes than these are launched once."""

_BEHIND: Final = ("", "; the launch before it was right")

_DRAWS: Final = 12

Array = npt.NDArray[Any]


def run_case(trial: Trial, family: ep.Family, case: Case) -> Outcome:
    """Return what a checked launch and a bound step showed, each with memories of its own.

    Raises CaseError for a wrong result or a stray write, UnsupportedError if the device does not take the descriptor.
    """
    primitive = case.descriptor.on(trial.device)
    draw = _draw(trial, family, case)
    before = trial.device.native_calls
    launches = _launches(trial, draw)
    if is_refused(case.descriptor, draw.inputs):
        for launch in launches:
            trial.refuses("a launch", ValueError, functools.partial(_launch, trial, primitive, draw, launch))
        return Outcome(Status.PASS, attested=attest(trial.device, primitive, before))
    if _is_warmed(trial, launches):
        _warm_up(trial, primitive, draw, launches[-1])
        before = trial.device.native_calls
    draws = (draw, draw.poisoned_low())
    images = [_launch(trial, primitive, given, launch) for given, launch in zip(draws, launches, strict=False)]
    attested = attest(trial.device, primitive, before)
    outcomes = [_judged(trial, family, case, draws[number], images, number) for number in range(len(images))]
    worst = next((outcome for outcome in outcomes if outcome.status is not Status.PASS), outcomes[0])
    if worst.status is Status.PASS and is_promised(trial.device):
        _check_determinism(trial, family, case.descriptor, draw, launches[-1], images)
    return replace(worst, attested=attested)


def _is_warmed(trial: Trial, launches: Sequence[_Launch]) -> bool:
    """Say whether a launch with other values comes before those that are judged: in one case of three, large ones apart."""
    return len(launches) > 1 and zlib.crc32(trial.id.encode()) // _SHARE**3 % _SHARE == _SHARE - 1


def _warm_up(trial: Trial, primitive: ep.Primitive, draw: _Draw, launch: _Launch) -> None:
    """Launch with the operands' elements in reverse and other numbers: what a kernel keeps of them for later will show."""
    tensors = {name: operand.reversed() for name, operand in draw.tensors.items()}
    scalars = {name: type(number)(number != 1) for name, number in draw.scalars.items()}
    with contextlib.suppress(ValueError):  # numbers, or indices of validation mode, that do not go together
        _launch(trial, primitive, replace(draw, tensors=tensors, out=tensors[draw.out.name], scalars=scalars), launch)


def _check_determinism(  # noqa: PLR0913, PLR0917 - the work, its data, and what its launches left
    trial: Trial,
    family: ep.Family,
    descriptor: ep.Descriptor,
    draw: _Draw,
    launch: _Launch,
    images: Sequence[Mapping[str, Any]],
) -> None:
    """Check that equal launches wrote equal bits, and that parts of the work, launched by themselves, write the same bits."""
    with as_expression(family, descriptor, draw.inputs):
        for again in images[1:]:
            for name in (draw.out.name, *descriptor.updates):
                check_again(draw.tensors[name], images[0][name], again[name])
    for part in family.parts(descriptor):
        with contextlib.suppress(ep.UnsupportedError):  # a layout that the device does not have
            alone = _launch(trial, part.on(trial.device), draw, launch)
            with as_expression(family, part, draw.inputs_of(part)):
                check_part(part, draw.out, images[0][draw.out.name], alone[draw.out.name])


@dataclass(frozen=True)
class _Draw:
    """The data of one case, placed but not uploaded, with its reference.

    doubt        : which fault could not be seen
    is_out_used  : True if the output's memory holds an input, or what the family reads
    """

    tensors: Mapping[str, Operand]
    scalars: Mapping[str, Any]
    inputs: Mapping[str, Any]
    out: Operand
    reference: Reference
    accuracy: Accuracy
    measure: Callable[[Array], Comparison]
    doubt: str
    is_out_used: bool

    def poisoned_low(self) -> _Draw:
        """Return the draw with the other poison in an output that the family does not read and that is no input's memory."""
        if self.is_out_used:
            return self
        out = self.out.poisoned_low()
        return replace(self, tensors={**self.tensors, out.name: out}, out=out)

    def inputs_of(self, part: ep.Descriptor) -> dict[str, Any]:
        """Return the inputs of a part of the work, as the device will find them."""
        given = dict(self.scalars)
        for name, spec in zip(part.operands, part.specs, strict=True):
            if name in self.inputs and isinstance(spec, ep.TensorSpec):
                place_of = self.tensors.get(name, self.out)
                given[name] = replace(place_of, spec=spec).tensor(place_of.image)
        return given


def _draw(trial: Trial, family: ep.Family, case: Case) -> _Draw:
    """Return data that can show a fault, if a dozen draws have any."""
    descriptor = case.descriptor
    flushes = bool({spec.dtype for spec in descriptor.specs} & trial.device.info.flushes)
    accuracy: Accuracy = case.accuracy or family.accuracy(descriptor)
    for _ in range(_DRAWS):
        data = case.data(trial.rng)
        tensors, scalars = _place(trial, case, data)
        out = tensors[descriptor.operands[-1]]
        inputs = _inputs(case, tensors, scalars, is_out_read=out.name in data)
        # A table belongs to its data; in every other case the operands are read back from what will be uploaded.
        reference: Reference = case.expected() if case.expected else family.reference(descriptor, dict(inputs))
        strict = functools.partial(compare, reference=reference, accuracy=accuracy, dtype=descriptor.out.dtype)
        measure = functools.partial(
            strict,
            flushes=flushes,
            is_elementwise=isinstance(family, ElementwiseFamily),
            inputs=inputs,
            recompute=lambda changed: family.reference(descriptor, dict(changed)),
        )
        right = rounded(reference.value, descriptor.out.dtype)
        expected = np.array(np.broadcast_to(right, descriptor.out.shape))
        blindness = "" if family.is_constant(descriptor) else blind_to(expected, inputs, measure)
        if not blindness or case.expected:
            break
    doubt = f"the data could not have shown a fault: {blindness} would pass as well" if blindness else ""
    if not doubt and (element := misjudged(trial.id, expected, reference, accuracy, strict)):
        doubt = f"the comparison could not have shown a fault: {element}"
    is_out_used = case.inplace is not None or out.name in data
    return _Draw(tensors, scalars, inputs, out, reference, accuracy, measure, doubt, is_out_used)


def _place(trial: Trial, case: Case, data: Mapping[str, Any]) -> tuple[dict[str, Operand], dict[str, Any]]:
    """Return the tensor operands and the values of the scalar ones.

    In place, the output takes its input's memory; else it holds what the data says, for a family that reads it, or poison.
    """
    descriptor = case.descriptor
    *names, out_name = descriptor.operands
    tensors: dict[str, Operand] = {}
    scalars: dict[str, Any] = {}
    for name, spec in zip(names, descriptor.specs, strict=False):
        if isinstance(spec, ep.Scalar):
            scalars[name] = _number(data[name])
        else:
            tensors[name] = place(trial, name, spec, np.asarray(data[name]), case.shift)
    if case.inplace is None:
        tensors[out_name] = place(trial, out_name, descriptor.out, data.get(out_name), case.shift)
    else:
        tensors[out_name] = replace(tensors.pop(case.inplace), name=out_name, spec=descriptor.out)
    return tensors, scalars


def _inputs(
    case: Case, tensors: Mapping[str, Operand], scalars: Mapping[str, Any], *, is_out_read: bool
) -> dict[str, Any]:
    """Return the value of every input as the device will find it, of the output, too, if the family reads it."""
    *names, out_name = case.descriptor.operands
    inputs: dict[str, Any] = {}
    for name, spec in zip(names, case.descriptor.specs, strict=False):
        if isinstance(spec, ep.Scalar):
            inputs[name] = scalars[name]
        else:
            place_of = tensors[out_name] if name == case.inplace else tensors[name]
            inputs[name] = replace(place_of, spec=spec).tensor(place_of.image)
    if is_out_read:
        inputs[out_name] = tensors[out_name].tensor(tensors[out_name].image)
    return inputs


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


@dataclass(frozen=True)
class _Launch:
    """One of the two ways to run a primitive."""

    is_bound: bool
    is_asynchronous: bool


def _launches(trial: Trial, draw: _Draw) -> list[_Launch]:
    """Return both ways, in an order and on streams that the case's id decides; of a large case the first alone."""
    dice = zlib.crc32(trial.id.encode())
    is_bound = dice % _SHARE == 0
    ways = [
        _Launch(is_bound, dice // _SHARE % _SHARE == 0),
        _Launch(not is_bound, dice // _SHARE**2 % _SHARE == 0),
    ]
    return ways if sum(operand.image.nbytes for operand in draw.tensors.values()) <= _MOST_TWICE else ways[:1]


def _launch(trial: Trial, primitive: ep.Primitive, draw: _Draw, launch: _Launch) -> dict[str, Any]:
    stream = trial.asynchronous() if launch.is_asynchronous else trial.stream()
    for operand in draw.tensors.values():
        operand.allocate(trial)
        operand.upload(stream)
    operands: dict[str, Any] = {name: draw.tensors.get(name, draw.out).memory for name in primitive.asked.operands}
    operands |= draw.scalars
    if launch.is_bound:
        step = primitive.bind(**operands)
        step(stream)
        step.close()
    else:
        primitive(stream, **operands)
    images = {name: operand.download(stream) for name, operand in draw.tensors.items()}
    stream.synchronize()
    return images


def _check_bools(result: Array) -> None:
    odd = np.argwhere(result.view(np.uint8) > 1)
    if odd.size:
        at = tuple(int(i) for i in odd[0])
        message = f"out{list(at)} holds the byte {int(result.view(np.uint8)[at])}; a bool output is 0 or 1"
        raise CaseError(message, kind="bool", operand="out", index=list(at))


def _check_updated(family: ep.Family, descriptor: ep.Descriptor, draw: _Draw, images: Mapping[str, Any]) -> None:
    """Check that each operand that the launch updates holds exactly what the family says."""
    for name, needed in family.updated(descriptor, dict(draw.inputs)).items():
        given = draw.tensors[name].tensor(images[name])
        if not np.array_equal(given, needed):
            was = draw.inputs[name].tolist()
            message = f"{name} was {was} and is {given.tolist()} after the launch, needed {needed.tolist()}"
            raise CaseError(message, kind="updated", operand=name, bits=np.ascontiguousarray(needed).tobytes().hex())


def _checked(family: ep.Family, descriptor: ep.Descriptor, draw: _Draw, images: Mapping[str, Any]) -> Array:
    """Return the output. Raises CaseError for what is wrong with it without any arithmetic."""
    with as_expression(family, descriptor, draw.inputs):
        for name, operand in draw.tensors.items():
            operand.check(images[name], is_written=operand is draw.out or name in descriptor.updates)
        _check_updated(family, descriptor, draw, images)
        result = draw.out.tensor(images[draw.out.name])
        moved = family.moved(descriptor, dict(draw.inputs))
        if moved is not None:
            check_bits("out", result, moved, "because elements are moved bit for bit")
        elif result.dtype == np.bool_:
            _check_bools(result)
    return result


def _judged(  # noqa: PLR0913, PLR0917 - a launch of several, with all that it is judged by
    trial: Trial, family: ep.Family, case: Case, draw: _Draw, images: Sequence[Mapping[str, Any]], number: int
) -> Outcome:
    """Return what one of the launches showed; a failure says which one it was."""
    try:
        outcome = _judge(trial, family, case, draw, images[number])
    except CaseError as error:
        raise CaseError(f"{error}{_BEHIND[number]}", **error.details, launch=number) from None  # noqa: EM102 - told once
    if outcome.status is not Status.FAIL:
        return outcome
    return replace(outcome, reason=f"{outcome.reason}{_BEHIND[number]}", details={**outcome.details, "launch": number})


def _judge(trial: Trial, family: ep.Family, case: Case, draw: _Draw, images: Mapping[str, Any]) -> Outcome:
    descriptor = case.descriptor
    result = _checked(family, descriptor, draw, images)
    comparison = draw.measure(result)
    if not comparison.passes:
        text = explain_failure(family, descriptor, draw.inputs, result, draw.reference, draw.accuracy, comparison)
        details = failure_details(descriptor, result, draw.reference, draw.accuracy, comparison)
        return Outcome(Status.FAIL, f"{text} on {trial.device.name}", comparison.margin, details=details)
    if draw.doubt:
        return Outcome(Status.MISTRUSTED, draw.doubt, comparison.margin)
    leaning, spread, text = _statistics(descriptor, case, draw, result)
    if text:
        reason = f"{descriptor.title}: {text} on {trial.device.name}"
        return Outcome(Status.FAIL, reason, comparison.margin, bias=leaning, variance=spread)
    at = operands_text(family, descriptor, draw.inputs, comparison.worst) if comparison.margin else ""
    return Outcome(
        Status.PASS, margin=comparison.margin, error=comparison.worst_error, at=at, bias=leaning, variance=spread
    )


def _statistics(
    descriptor: ep.Descriptor, case: Case, draw: _Draw, result: Array
) -> tuple[float | None, float | None, str]:
    """Return bias and variance of a case of sums, each over its limit, and what is wrong with them; nothing of other cases."""
    if not case.summands:
        return None, None, ""
    given = (result, draw.reference, descriptor.out.dtype, case.summands)
    leaning, spread = bias(*given), variance(*given)
    if not leaning <= 1:
        return leaning, spread, f"the mean of the errors is {leaning:.3g} times its limit: the sums lean to one side"
    if not spread <= 1:
        text = "the sums lose more than rounding to the compute type does"
        return leaning, spread, f"the mean square of the errors is {spread:.3g} times its limit: {text}"
    return leaning, spread, ""
