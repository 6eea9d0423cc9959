"""Judge, the fourth step of a case: compare the results of its launches by the row's accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ep_conformance.judge.bias import bias, variance
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.expression import as_expression, explain_failure, failure_details, operands_text
from ep_conformance.judge.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_primitives.cases.case import Case

    import ep
    from ep_conformance.judge.draw import Draw
    from ep_conformance.judge.operand import Image
    from ep_conformance.judge.output import Output

__all__ = ["judge"]

_BEHIND: Final = ("", "; the launch before it was right")

Array = npt.NDArray[Any]


def judge(
    family: ep.Family, case: Case, draws: Sequence[Draw], images: Sequence[Mapping[str, Image]], where: str
) -> Outcome:
    """Return the outcome of a case's launches: the first failure or doubt, else that of the first launch.

    draws   : of each launch
    images  : of each launch the operands' allocations after it
    where   : the device's name, which ends a failure's text

    Raises CaseError for a stray write, a wrong state, a wrongly moved element, and an illegal bool.
    """
    outcomes = [
        _judged(family, case, drawn, left, number, where)
        for number, (drawn, left) in enumerate(zip(draws, images, strict=True))
    ]
    return next((outcome for outcome in outcomes if outcome.status is not Status.PASS), outcomes[0])


def _check_states(drawn: Draw, images: Mapping[str, Image]) -> None:
    """Check that each state holds exactly what the family says."""
    for name, needed in drawn.states.items():
        given = drawn.tensors[name].tensor(images[name])
        if not np.array_equal(given, needed):
            was = drawn.inputs[name].tolist()
            message = f"{name} was {was} and is {given.tolist()} after the launch, needed {needed.tolist()}"
            raise CaseError(message, kind="updated", operand=name, bits=np.ascontiguousarray(needed).tobytes().hex())


def _checked(
    family: ep.Family, descriptor: ep.Descriptor, drawn: Draw, images: Mapping[str, Image]
) -> list[tuple[Output, Array]]:
    """Return the outputs with their results. Raises CaseError for faults that need no arithmetic to be found."""
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
    family: ep.Family, case: Case, drawn: Draw, images: Mapping[str, Image], number: int, where: str
) -> Outcome:
    """Return the outcome of one launch; a failure says which launch it was."""
    try:
        results = _checked(family, case.descriptor, drawn, images)
        outcomes = [_judge(family, case, drawn, output, result, where) for output, result in results]
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
    family: ep.Family, case: Case, drawn: Draw, output: Output, result: Array, where: str
) -> Outcome:
    descriptor = case.descriptor
    comparison = output.measure(result)
    if not comparison.passes:
        text = explain_failure(family, descriptor, drawn.inputs, output, result, comparison)
        details = failure_details(output, result, comparison)
        return Outcome(Status.FAIL, f"{text} on {where}", comparison.margin, details=details)
    if output.doubt:
        return Outcome(Status.MISTRUSTED, output.doubt, comparison.margin)
    leaning, spread, text = _statistics(case, output, result)
    if text:
        reason = f"{descriptor.title}: {text} on {where}"
        return Outcome(Status.FAIL, reason, comparison.margin, bias=leaning, variance=spread)
    at = operands_text(family, descriptor, drawn.inputs, output.name, comparison.worst) if comparison.margin else ""
    return Outcome(
        Status.PASS, margin=comparison.margin, error=comparison.worst_error, at=at, bias=leaning, variance=spread
    )


def _statistics(case: Case, output: Output, result: Array) -> tuple[float | None, float | None, str]:
    """Return bias and variance of a case of sums, each over its limit, and the fault in words; None for other cases."""
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
