"""The formulas of the alpha-beta model for an AllReduce of n bytes over p ranks, each with a link of its own.

a seconds are a message's latency, b seconds a byte's (Hockney, The communication challenge for MPP, 1994), g seconds a byte's
addition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_tools.links.schedules import chunks_of, depth_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_tools.links.network import Machine

__all__ = ["FORMULAS", "half"]


def _ring(machine: Machine, ranks: int, nbytes: float) -> float:
    part = nbytes / ranks
    return 2 * (ranks - 1) * _message(machine, part) + (ranks - 1) * part / machine.adding


def _doubling(machine: Machine, ranks: int, nbytes: float) -> float:
    return depth_of(ranks) * (_message(machine, nbytes) + nbytes / machine.adding)


def _halving(machine: Machine, ranks: int, nbytes: float) -> float:
    moved = nbytes * (ranks - 1) / ranks
    latencies = 2 * depth_of(ranks) * machine.far.latency
    return latencies + 2 * moved / machine.far.bandwidth + moved / machine.adding


def _tree(machine: Machine, ranks: int, nbytes: float) -> float:
    """Return the time of a first chunk, up and down, and that of the others on a rank's link: four of each, and their gaps."""
    count = chunks_of(machine, ranks, nbytes)
    chunk = nbytes / 2 / count
    passing = 2 * depth_of(ranks) * _message(machine, chunk) + depth_of(ranks) * chunk / machine.adding
    return passing + 4 * (count - 1) * (machine.far.gap + chunk / machine.far.bandwidth)


def _message(machine: Machine, nbytes: float) -> float:
    return machine.far.latency + nbytes / machine.far.bandwidth


def half(ranks: int, machine: Machine) -> float:
    """Return the bytes at which a ring's latencies and its bytes take equal times: p a / b."""
    return ranks * machine.far.latency * machine.far.bandwidth


FORMULAS: Final[Mapping[str, Callable[[Machine, int, float], float]]] = {
    "ring": _ring,
    "doubling": _doubling,
    "halving": _halving,
    "tree": _tree,
}
"""By the names of the schedules."""
