"""Advice for an open rung: what the provider can still gain there, and by which function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_conformance.ladder.rungs import ABILITIES, BREADTH, CLAIMS, KERNEL, OWN_ABILITIES, TOGETHER
from ep_conformance.plan.planned import Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_conformance.ladder.arrival import Arrival
    from ep_conformance.ladder.breadth import Breadth
    from ep_conformance.ladder.contract import Function
    from ep_conformance.ladder.rungs import Rung
    from ep_conformance.plan.planned import Planned

__all__ = ["Step", "first_steps", "open_steps"]


_MOST: Final = 3


class Step(NamedTuple):
    """What to do next on a rung.

    what       : a sentence; of a failing rung the fault, if no case says it
    functions  : the functions to write or mend
    command    : a command that does it, or shows it
    """

    what: str = ""
    functions: tuple[Function, ...] = ()
    command: str = ""


def first_steps(arrival: Arrival) -> dict[Rung, Step]:
    """Return the next step below the claims."""
    if arrival.device["kernel"]:
        return {}
    what = "no kernel of one dense float32 tensor yet; accept relu, say, in a row of the table, and make its kernel"
    return {KERNEL: Step(what, tuple(map(arrival.function, ("Implementation.accepts", "Kernel.launch"))))}


def open_steps(arrival: Arrival, plan: Sequence[Planned], breadth: Breadth) -> dict[Rung, Step]:
    """Return the next steps from the claims on, for a device that passes all expected cases.

    plan  : of the whole suite
    """
    steps: dict[Rung, Step] = {}
    unclaimed = [p.id for p in plan if p.standing is Standing.UNCLAIMED]
    cells = {identity.rpartition("/")[0] for identity in unclaimed if identity.startswith("primitives/")}
    if cells:
        what = f"accepted and not claimed: {len(cells)} cells"
        steps[CLAIMS] = Step(what, command=f"ep-conformance claims --provider {arrival.provider} --write")
    steps |= _abilities(arrival)
    wishes = []
    if arrival.device["determinism"] == "none":
        wishes.append('DeviceInfo.determinism is "none"; "bitwise" promises equal bits of equal launches')
    if not arrival.device["fork_safe"]:
        wishes.append("provider.toml says fork_safe = false; children of a fork cannot use the device")
    if wishes:
        steps[TOGETHER] = Step("; ".join(wishes))
    return steps | {BREADTH: _breadth(arrival, breadth)}


def _abilities(arrival: Arrival) -> dict[Rung, Step]:
    lacking = [ability for ability in ABILITIES if arrival.abilities.get(ability.name) != "native"]
    if not lacking:
        return {}
    best, *others = lacking
    how = "served by a default of EP" if arrival.abilities.get(best.name) == "degraded" else "not there"
    then = f"; then {', '.join(ability.name for ability in others[:_MOST])}" if others else ""
    further = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    what = f"{best.name} is {how}; with it {best.worth}{then}{further}"
    return {OWN_ABILITIES: Step(what, (arrival.function(best.function),))}


def _breadth(arrival: Arrival, breadth: Breadth) -> Step:
    speed = f"ep-bench launch --provider {arrival.provider}"
    if not breadth.missing:
        return Step(f"all {len(breadth.served)} families are served; measure them", command=speed)
    first = breadth.missing[0]
    gives = f", which brings {', '.join(first.unlocks)}" if first.unlocks else ""
    others = f" of {len(breadth.missing)} to write" if len(breadth.missing) > 1 else ""
    what = f"families served: {len(breadth.served)}; the simplest{others} is {first.family}{gives}"
    return Step(what, (arrival.function("Implementation.accepts"),), speed)
