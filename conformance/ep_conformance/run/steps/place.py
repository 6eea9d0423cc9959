"""Place, the second step of a case: its operands in memory of the device, uploaded in a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ep
from ep_conformance.run.steps.placed import Held, Placed
from ep_conformance.run.steps.red_zones import enclose

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial
    from ep_conformance.judge.operand import Operand
    from ep_conformance.run.steps.turn import Turn

__all__ = ["place"]


def place(trial: Trial, primitive: ep.Primitive, turn: Turn) -> Placed:
    """Return a turn's operands in fresh memory, with the memories and numbers for the primitive."""
    drawn = turn.drawn
    stream = trial.asynchronous() if turn.is_asynchronous else trial.stream()
    held = {name: _uploaded(trial, stream, operand) for name, operand in drawn.tensors.items()}
    names = [role.name for role, spec in primitive.asked.tensors if spec is not None]
    operands = {**{name: held[drawn.shared.get(name, name)].memory for name in names}, **drawn.scalars}
    scratch = _scratch(trial, primitive, stream) if turn.is_bound else None
    if scratch is not None:
        operands["scratch"] = scratch.memory
    return Placed(stream, operands, held, scratch, turn.is_bound)


def _scratch(trial: Trial, primitive: ep.Primitive, stream: ep.Stream) -> Held | None:
    """Return scratch full of noise between red zones, for the step; a checked launch takes EP's. None if there is no need."""
    if not primitive.scratch_nbytes:
        return None
    spec = ep.TensorSpec("uint8", (primitive.scratch_nbytes,))
    return _uploaded(trial, stream, enclose(trial, "scratch", spec, trial.noise(spec.nbytes), 0))


def _uploaded(trial: Trial, stream: ep.Stream, operand: Operand) -> Held:
    held = Held(operand, trial.memory(operand.image.nbytes))
    stream.upload(held.whole, operand.image)
    return held
