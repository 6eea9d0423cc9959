"""Measure a sample: place it, judge it, and time it in turns with its peers and its limit."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_benchmarks.limits.work import work_of
from ep_benchmarks.run.computed import Computed, elements
from ep_benchmarks.run.judgement import apart, wrong
from ep_benchmarks.run.placed import Placed
from ep_benchmarks.run.row import Ratio, Row
from ep_benchmarks.timing import interleave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.cases.sample import Sample

    import ep
    from ep_benchmarks.limits.work import Limits
    from ep_benchmarks.peers.peer import Call, Peer

__all__ = ["failed", "measure"]

_SEED: Final = 18
_PAUSE: Final = 0.003
"""Seconds: GNU's OpenMP, which PyTorch uses, spins for about as long after its last loop."""
_MORE: Final = 3
"""Times as many rounds has a sample that is disturbed."""
_LEAST: Final = 4096
"""Bytes below which no limit is stated: the cost of a launch is all there is, and `ep-bench launch` holds that to budgets."""


def measure(  # noqa: PLR0913, PLR0917 - what is measured, where, and beside what
    family: ep.Family,
    sample: Sample,
    stream: ep.Stream,
    limits: Limits,
    peers: Mapping[str, Peer],
    rounds: int,
) -> Row:
    """Return the row of a sample. Raises UnsupportedError where the device has nothing for it."""
    placed = Placed(stream, sample.descriptor, sample.data(np.random.default_rng(_SEED)))
    try:
        return _measured(
            replace(_blank(sample), is_lowered=placed.is_lowered), family, sample, placed, stream, limits, peers, rounds
        )
    finally:
        placed.close()
        gc.collect()


def _measured(  # noqa: PLR0913, PLR0917 - as above, and the row so far
    row: Row,
    family: ep.Family,
    sample: Sample,
    placed: Placed,
    stream: ep.Stream,
    limits: Limits,
    peers: Mapping[str, Peer],
    rounds: int,
) -> Row:
    placed.run(1)
    fault = wrong(family, sample, placed)
    if fault:
        return replace(row, faults=(f"EP: {fault}",))
    calls, faults = _agreeing(sample, placed, peers)
    candidates: dict[str, Callable[[int], None]] = {"ep": placed.run}
    candidates |= {f"peer {name}": call.repeat for name, call in calls.items()}
    work = work_of(sample.descriptor)
    limit = limits.limit(work) if max(work.nbytes, work.flops) >= _LEAST else None
    computed = None
    if limit is not None and _is_larger(sample):
        computed = Computed(sample, stream, [peers[name] for name in calls], np.random.default_rng(_SEED))
        limit = computed.binding(limit)
    ways = {f"limit {number}": way for number, way in enumerate(limit.runs if limit else ())}
    candidates |= ways
    timings = interleave(candidates, rounds, pause=_PAUSE, most=_MORE * rounds)
    if computed is not None:
        computed.close()
    ours = timings["ep"]
    return replace(
        row,
        us=ours.median * 1e6,
        spread=ours.spread,
        limit=limit.kind if limit else "",
        fraction=min((ours.ratio(timings[way])[0] for way in ways), default=None),
        peers={
            name: Ratio(timings[f"peer {name}"].median * 1e6, *ours.ratio(timings[f"peer {name}"])) for name in calls
        },
        faults=tuple(faults),
    )


def _is_larger(sample: Sample) -> bool:
    """Return True if a sample has a cached form that is smaller than it."""
    return sample.cached is not None and elements(sample.cached) < elements(sample.descriptor)


def failed(sample: Sample, error: Exception) -> Row:
    """Return the row of a sample that the device could not run."""
    return replace(_blank(sample), faults=(f"EP: {type(error).__name__}: {str(error).partition(chr(10))[0]}",))


def _blank(sample: Sample) -> Row:
    descriptor, work = sample.descriptor, work_of(sample.descriptor)
    op = (
        descriptor.title
        if descriptor.op == "-" or descriptor.family in _PLAIN
        else f"{descriptor.family} {descriptor.op}"
    )
    return Row(
        case=sample.id,
        label=f"{op} {sample.name}",
        family=descriptor.family,
        dtype=descriptor.cell.split("/")[2],
        size=descriptor.out.size,
        read=work.read,
        written=work.written,
        flops=work.flops,
    )


_PLAIN: Final = frozenset({"elementwise_unary", "broadcast_binary"})
"""Families whose ops are names enough."""


def _agreeing(sample: Sample, placed: Placed, peers: Mapping[str, Peer]) -> tuple[dict[str, Call], list[str]]:
    """Return the calls of peers whose results agree with EP's, and the disagreements of the others."""
    calls: dict[str, Call] = {}
    faults: list[str] = []
    ours = placed.results() if peers else {}
    for name, peer in peers.items():
        try:
            placed.wipe()
            peer.use_memories(placed.memories)
            call = peer.call(sample.descriptor, placed.inputs)
            if call is not None:
                call.run()
                call.finish()
                fault = apart(sample.descriptor, ours, call.results())
                if fault:
                    faults.append(f"{name}: {fault}")
                else:
                    calls[name] = call
        except Exception as error:  # noqa: BLE001 - whatever a stranger's library raises is a line of the report
            faults.append(f"{name}: {type(error).__name__}: {str(error).partition(chr(10))[0]}")
    return calls, faults
