"""The cost of a graph's entry beside bound and checked launches: one-element additions, until they are done."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from ep_primitives import BroadcastBinary

from ep_benchmarks.launch import SPEC, Row
from ep_benchmarks.timing import interleave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import ep

__all__ = ["ENTRIES", "graph_rows"]

ENTRIES: Final = (1, 10, 100, 1000)

_ENTRY: Final = 0.01  # microseconds, performance.md: on the CPU, by one native call over a list
_LONG: Final = 1000  # entries from which on that call itself does not count


def graph_rows(device: ep.Device, entries: tuple[int, ...] = ENTRIES) -> Iterator[Row]:
    """Yield microseconds an entry: graphs launched as captured, graphs with other memories each time, single launches.

    The wait for an asynchronous stream, once a round, is timed, too. Ratios are the checked launches' time over the
    graph's.
    """
    stream = device.stream()
    a, b, out, *others = (device.allocate(4) for _ in range(9))
    for memory in (a, b, out, *others):
        stream.fill(memory, b"\0\0\0\0")
    add = BroadcastBinary("add", a=SPEC, b=SPEC, out=SPEC).on(device)
    step = add.bind(a=a, b=b, out=out)
    for count in entries:
        graphs = [_captured(stream, add, count, a, b, out) for _ in range(2)]
        bindings = itertools.cycle(dict(zip("abo", others[i : i + 3], strict=True)) for i in (0, 3))
        candidates = {
            "graph": _launches(stream, graphs[0]),
            "rebound graph": _rebinding(stream, graphs[1], bindings),
            "bound launches": _steps(stream, step, count),
            "checked launches": _checked(stream, add, count, {"a": a, "b": b, "out": out}),
        }
        for run in candidates.values():
            run(2)  # not timed: the first launches may compile or record
        timings = interleave(candidates)
        checked = timings["checked launches"]
        for name, timing in timings.items():
            budget = _ENTRY if name == "graph" and count >= _LONG and stream.is_synchronous else None
            peers = {} if timing is checked else {"checked": timing.ratio(checked)}
            yield Row(f"{name} of {count}", timing.median * 1e6 / count, timing.spread, budget, peers)
        for graph in graphs:
            graph.close()
    step.close()


def _captured(stream: ep.Stream, add: ep.Primitive, count: int, *memories: ep.Memory) -> ep.Graph:
    a, b, out = memories
    with stream.capture() as graph:
        for _ in range(count):
            add(stream, a=a, b=b, out=out)
    for name, memory in zip("abo", memories, strict=True):
        graph.slot(name, memory)
    return graph


def _launches(stream: ep.Stream, graph: ep.Graph) -> Callable[[int], None]:
    def run(times: int) -> None:
        for _ in range(times):
            graph.launch(stream)
        stream.synchronize()

    return run


def _rebinding(stream: ep.Stream, graph: ep.Graph, bindings: Iterator[dict[str, ep.Memory]]) -> Callable[[int], None]:
    def run(times: int) -> None:
        for _ in range(times):
            graph.launch(stream, **next(bindings))
        stream.synchronize()

    return run


def _steps(stream: ep.Stream, step: ep.Step, count: int) -> Callable[[int], None]:
    def run(times: int) -> None:
        for _ in range(times * count):
            step(stream)
        stream.synchronize()

    return run


def _checked(stream: ep.Stream, add: ep.Primitive, count: int, operands: dict[str, ep.Memory]) -> Callable[[int], None]:
    a, b, out = operands.values()

    def run(times: int) -> None:
        for _ in range(times * count):
            add(stream, a=a, b=b, out=out)
        stream.synchronize()

    return run
