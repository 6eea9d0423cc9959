"""The path of a case of a family: draw -> place -> launch -> judge -> repeat, and once on another device. No step calls one before it; this file alone does."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import ep
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.agreement import EQUAL, check_agreement, incomparable
from ep_conformance.judge.attestation import attest, implementations_of
from ep_conformance.judge.determinism import is_promised
from ep_conformance.judge.expression import as_expression
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.judge.result import judge
from ep_conformance.run.steps.draw import draw
from ep_conformance.run.steps.launch import launch
from ep_conformance.run.steps.place import place
from ep_conformance.run.steps.refusal import is_refused
from ep_conformance.run.steps.repeat import check_repeated, check_repeated_part
from ep_conformance.run.steps.turn import Turn, turns, warm_up

if TYPE_CHECKING:
    from ep_primitives.cases.case import Case

    from ep_conformance.judge.draw import Draw
    from ep_conformance.judge.operand import Image

__all__ = ["run_case"]


def run_case(trial: Trial, family: ep.Family, case: Case) -> Outcome:
    """Return the outcome of a checked launch and another, each with memories of its own.

    case : with the seed of the trial, see `Case.seeded`

    Raises CaseError for a wrong result or a stray write, UnsupportedError if the device does not take the descriptor.
    """
    device, descriptor = trial.device, case.descriptor
    primitive = descriptor.on(device)
    drawn = draw(trial, family, case)
    planned = turns(trial.id, drawn, case.manner)
    before = device.native_calls
    if is_refused(descriptor, drawn.inputs):
        for turn in turns(trial.id, drawn):
            trial.refuses("a launch", ValueError, functools.partial(_left, trial, primitive, turn))
        return Outcome(Status.PASS, attested=attest(device, primitive, before))
    warming = warm_up(trial.id, planned)
    if warming is not None:
        with contextlib.suppress(ValueError):  # numbers, or indices of validation mode, that do not go together
            _left(trial, primitive, warming)
        before = device.native_calls
    images = [_left(trial, primitive, turn) for turn in planned]
    attested = attest(device, primitive, before)
    outcome = judge(family, case, [turn.drawn for turn in planned], images, device.name)
    if outcome.status is Status.PASS and is_promised(device):
        check_repeated(family, descriptor, drawn, images)
        for part in family.parts(descriptor):
            with contextlib.suppress(ep.UnsupportedError):  # a layout that the device does not have
                alone = _left(trial, part.on(device), replace(planned[0], drawn=drawn))
                check_repeated_part(family, part, drawn, images[0], alone)
    outcome = replace(outcome, attested=attested, ran=implementations_of(primitive))
    if outcome.status is Status.PASS and trial.other is not None:
        return _compared(trial, trial.other, family, descriptor, drawn, images[0], outcome)
    return outcome


def _compared(  # noqa: PLR0913, PLR0917 - a launch that passed, and the device to compare it with
    trial: Trial,
    other: ep.Device,
    family: ep.Family,
    descriptor: ep.Descriptor,
    drawn: Draw,
    images: dict[str, Image],
    outcome: Outcome,
) -> Outcome:
    """Return the outcome of a case that passed. Raises CaseError if an equal launch on the other device writes other bits."""
    outputs = drawn.outputs.values()
    is_moved = all(output.bits is not None for output in outputs)
    promised = [output.accuracy for output in outputs]
    reason = incomparable(family, descriptor, promised, (trial.device, other), is_moved=is_moved)
    if reason:
        return replace(outcome, bits=reason)
    beside = Trial(other, trial.id, trial.seed, trial.profile)
    try:
        theirs = _left(beside, descriptor.on(other), Turn(drawn))
    except ep.UnsupportedError:
        return replace(outcome, bits=f"{other.name} does not take it")
    except Exception as error:  # noqa: BLE001 - a defect of the other device is none of the one that is judged
        return replace(outcome, bits=f"{other.name} gave no result: {type(error).__name__}")
    finally:
        with contextlib.suppress(Exception):
            beside.close()
    with as_expression(family, descriptor, drawn.inputs):
        check_agreement(drawn, images, theirs, other.name)
    return replace(outcome, bits=EQUAL)


def _left(trial: Trial, primitive: ep.Primitive, turn: Turn) -> dict[str, Image]:
    """Place a turn's operands, launch the primitive on them, and return the contents of their allocations."""
    placed = place(trial, primitive, turn)
    images = launch(primitive, placed)
    placed.give_back()
    return images
