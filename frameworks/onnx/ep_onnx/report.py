"""Reports of a session: nodes and how they run, waits of the host, memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ep_onnx.graph import Graph
    from ep_onnx.session import Session
    from ep_onnx.trace import Step

__all__ = ["Operation", "Report", "operations", "report"]


@dataclass(frozen=True)
class Report:
    """The plans of a session so far.

    launches       : steps of all segments
    families       : launches by family
    lowered        : launches by family, of families that run as several steps of others
    waits          : the contents that the host waits for before it can go on, by node
    arena_nbytes   : bytes of all arenas
    needed_nbytes  : bytes of the same buffers if none shared bytes with another
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
    """Return a report of a session's plans so far; run it once before."""
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


@dataclass(frozen=True)
class Operation:
    """How the nodes of one operation of a model run.

    name     : of the operation
    nodes    : how many the model has; 0 for an operation that only bodies of others have
    families : launches by family; none if it is strides and constants alone
    lowered  : the families that run as several steps of others
    lacking  : the families, with their ops, of which the device lacks cells
    """

    name: str
    nodes: int
    families: Mapping[str, int]
    lowered: frozenset[str]
    lacking: Sequence[str]


def operations(graph: Graph, steps: Iterable[Step], lacking: Sequence[str]) -> list[Operation]:
    """Return the operations of a model in the order of their first nodes, then those inside of others.

    lacking : nodes with cells, as a LackingError has them
    """
    nodes = Counter(node.op for node in graph.nodes)
    families: dict[str, Counter[str]] = defaultdict(Counter)
    lowered: dict[str, set[str]] = defaultdict(set)
    missing: dict[str, list[str]] = defaultdict(list)
    for step in steps:
        name, family = step.node.split(" ")[0], step.primitive.asked.family
        families[name][family] += 1
        if step.primitive.is_lowered:
            lowered[name].add(family)
    for sentence in lacking:
        family, op, *_ = sentence.rpartition(": ")[2].split("/")
        missing[sentence.split(" ")[0]].append(family if op == "-" else f"{family}/{op}")
    return [
        Operation(name, nodes[name], families[name], frozenset(lowered[name]), sorted({*missing[name]}))
        for name in [*dict.fromkeys([*nodes, *families, *missing])]
    ]
