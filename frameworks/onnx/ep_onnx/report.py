"""What a session did: nodes and how they run, waits of the host, memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_onnx.session import Session

__all__ = ["Report", "report"]


@dataclass(frozen=True)
class Report:
    """What is planned of a session so far.

    launches       : steps of all segments
    families       : launches by family
    lowered        : launches by family, of those that run as several steps of other families
    waits          : what the host waits for before it can go on, by node
    arena_nbytes   : bytes of all arenas
    needed_nbytes  : what the same buffers would take if none shared bytes with another
    weights_nbytes : bytes of constants on the device
    """

    plans: int
    segments: int
    launches: int
    families: Mapping[str, int]
    lowered: Mapping[str, int]
    waits: Sequence[str]
    arena_nbytes: int
    needed_nbytes: int
    weights_nbytes: int


def report(session: Session) -> Report:
    """Return what is planned of a session so far; run it once before."""
    segments = [segment for plan in session.plans.values() for segment in plan.segments]
    primitives = [step.primitive for segment in segments for step in segment.steps]
    return Report(
        plans=len(session.plans),
        segments=len(segments),
        launches=len(primitives),
        families=Counter(each.asked.family for each in primitives),
        lowered=Counter(each.asked.family for each in primitives if each.is_lowered),
        waits=[wait for plan in session.plans.values() for wait in plan.waits],
        arena_nbytes=sum(segment.arena_nbytes for segment in segments),
        needed_nbytes=sum(segment.needed_nbytes for segment in segments),
        weights_nbytes=session.weights_nbytes,
    )
