"""Place, the second step of a case: its operands in memory of the device, uploaded in a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.run.steps.placed import Held, Placed
from ep_conformance.run.steps.red_zones import enclose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_conformance.fixture.trial import Trial
    from ep_conformance.judge.operand import Operand
    from ep_conformance.run.steps.turn import Turn

__all__ = ["place"]


def place(trial: Trial, primitive: ep.Primitive, turn: Turn) -> Placed:
    """Return a turn's operands in fresh memory, with the memories and numbers for the primitive."""
    drawn = turn.drawn
    stream = _STREAMS[turn.stream](trial)
    wholes = _allocated(trial, drawn.tensors, is_one=turn.memory == "one")
    held = {name: _uploaded(stream, operand, wholes[name]) for name, operand in drawn.tensors.items()}
    names = [role.name for role, spec in primitive.asked.tensors if spec is not None]
    places = {name: drawn.shared.get(name, name) for name in names}
    operands = {**{name: held[its].memory for name, its in places.items()}, **drawn.scalars}
    scratch = _scratch(trial, primitive, stream) if turn.way in _STEPS else None
    if scratch is not None:
        operands["scratch"] = scratch.memory
    elsewhere: dict[str, ep.Memory] = {}
    if turn.way == "moved":
        elsewhere = {name: trial.memory(each.whole.nbytes) for name, each in held.items()}
    return Placed(stream, operands, held, places, scratch, turn.way, turn.memory == "apart", elsewhere)


def _prior(trial: Trial, priority: int) -> ep.Stream:
    return trial.closing(trial.device.stream(priority))


_STEPS: Final = ("bound", "often")
"""The ways that give the scratch; all others take EP's."""

_STREAMS: Final[Mapping[str, Callable[[Trial], ep.Stream]]] = {
    "usual": lambda trial: trial.stream(),
    "asynchronous": lambda trial: trial.asynchronous(),
    "first": lambda trial: _prior(trial, 1),
    "last": lambda trial: _prior(trial, -1),
}


def _allocated(trial: Trial, tensors: Mapping[str, Operand], *, is_one: bool) -> dict[str, ep.Memory]:
    """Return an allocation for each tensor, or an aligned part of one for all of them."""
    if not is_one:
        return {name: trial.memory(operand.image.nbytes) for name, operand in tensors.items()}
    alignment = trial.device.info.alignment
    sizes = {name: -(-operand.image.nbytes // alignment) * alignment for name, operand in tensors.items()}
    whole = trial.memory(sum(sizes.values()))
    found, start = {}, 0
    for name, size in sizes.items():
        found[name] = whole[start : start + tensors[name].image.nbytes]
        start += size
    return found


def _scratch(trial: Trial, primitive: ep.Primitive, stream: ep.Stream) -> Held | None:
    """Return scratch full of noise between red zones, for the step; a checked launch takes EP's. None if there is no need."""
    if not primitive.scratch_nbytes:
        return None
    spec = ep.TensorSpec("uint8", (primitive.scratch_nbytes,))
    operand = enclose(trial, "scratch", spec, trial.noise(spec.nbytes), 0)
    return _uploaded(stream, operand, trial.memory(operand.image.nbytes))


def _uploaded(stream: ep.Stream, operand: Operand, whole: ep.Memory) -> Held:
    held = Held(operand, whole)
    stream.upload(held.whole, operand.image)
    return held
