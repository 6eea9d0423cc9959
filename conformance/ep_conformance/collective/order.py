"""Cases of order: of terms, of launches, of what waits for what; steps and graphs that run again and again."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_collectives import AllReduce, Barrier

from ep import TensorSpec
from ep_conformance.collective.ranks import CollectiveCase, Rank, Ranks, Tensor, same_bits

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

__all__ = ["ORDERS"]

_COUNT: Final = 1025
_PATIENCE: Final = 0.05
_SPEC: Final = TensorSpec("float32", (_COUNT,))
_SUM: Final = AllReduce("sum", x=_SPEC, out=_SPEC)
_ADD: Final = "add_n/-/float32/dense"


def _tensors(ranks: Ranks, trial: Trial, values: list[float]) -> dict[int, Tensor]:
    return {rank.number: Tensor(rank, trial, np.full(_COUNT, values[rank.number], np.float32)) for rank in ranks}


def _launch_sum(tensors: dict[int, Tensor], rank: Rank) -> None:
    rank.launch(_SUM, x=tensors[rank.number], out=tensors[rank.number])


def _terms_are_added_in_the_order_of_the_ranks(trial: Trial, *, size: int) -> None:
    needed = np.float32(0)
    values = [float(np.float32((1e8, 1.0, -1e8, 3.0)[rank % 4])) for rank in range(size)]
    for value in values:
        needed += np.float32(value)
    for order in (range(size), range(size - 1, -1, -1)):
        ranks = Ranks(trial, size)
        tensors = _tensors(ranks, trial, values)
        ranks.each(functools.partial(_launch_sum, tensors), order)
        for rank, tensor in tensors.items():
            what = f"the sum at rank {rank}, launched in the order {[*order]},"
            same_bits(what, tensor.read(), np.full(_COUNT, needed, np.float32))


def _a_rank_waits_for_all_others(trial: Trial, *, size: int) -> None:
    ranks = Ranks(trial, size)
    if ranks.has_synchronous:
        return  # the launch itself waits, which the other cases need
    tensors = _tensors(ranks, trial, [1.0] * size)
    events, last = {}, size - 1
    for rank in ranks:
        if rank.number != last:
            _launch_sum(tensors, rank)
            events[rank.number] = rank.stream.record()
    time.sleep(_PATIENCE)
    for number, event in events.items():
        trial.require(not event.is_done, f"rank {number} was done before rank {last} had launched its part")
    ranks.meet()
    if last in ranks.here:
        _launch_sum(tensors, ranks[last])
    for tensor in tensors.values():
        same_bits("the sum", tensor.read(), np.full(_COUNT, size, np.float32))


def _launches_meet_in_their_order_on_whatever_streams(trial: Trial, *, size: int) -> None:
    ranks = Ranks(trial, size)
    if ranks.has_synchronous:
        return  # one thread cannot have two of them under way
    held = []
    for rank in ranks:
        streams = [rank.stream, ranks.stream(rank.device)]
        streams[rank.number % 2].call(lambda: time.sleep(_PATIENCE))
        for number, stream in enumerate(streams, 1):
            side = Rank(rank.number, rank.communicator, stream)
            tensor = Tensor(rank._replace(stream=ranks.stream(rank.device)), trial, np.full(_COUNT, number, np.float32))
            side.launch(_SUM, x=tensor, out=tensor)
            held.append((number, side, tensor))
    for number, side, tensor in held:
        side.stream.synchronize()
        what = f"launch {number} of rank {side.number}"
        same_bits(what, tensor.read(), np.full(_COUNT, size * number, np.float32))


def _steps_and_graphs_take_what_is_there(trial: Trial, *, size: int) -> None:
    ranks = Ranks(trial, size)
    tensors = _tensors(ranks, trial, [0.0] * size)
    outs = _tensors(ranks, trial, [0.0] * size)
    steps: dict[int, Any] = {}
    for rank in ranks:
        operands = {"x": tensors[rank.number].memory, "out": outs[rank.number].memory}
        steps[rank.number] = _SUM.on(rank.communicator).bind(**operands)
    graphs = {}
    for rank in ranks:
        with rank.stream.capture() as graph:
            steps[rank.number](rank.stream)
        graphs[rank.number] = graph
    for round_ in range(4):
        arrays = [trial.rng.integers(-99, 99, _COUNT).astype(np.float32) for _ in range(size)]

        def go(rank: Rank, given: Any = arrays, *, is_graph: bool = round_ % 2 == 1) -> None:
            tensors[rank.number].put(given[rank.number])
            run = graphs[rank.number].launch if is_graph else steps[rank.number]
            run(rank.stream)

        ranks.each(go)
        needed = np.asarray(np.sum(arrays, axis=0, dtype=np.float32))
        for rank in ranks:
            same_bits(f"round {round_} at rank {rank.number}: out", outs[rank.number].read(), needed)


def _a_barrier_holds_back_what_is_behind_it(trial: Trial, *, size: int) -> None:
    ranks = Ranks(trial, size)
    if ranks.has_synchronous:
        return  # the launch itself waits
    barrier, events = Barrier(), []
    for rank in ranks:
        if rank.number != size - 1:
            rank.launch(barrier)
            events.append(rank.stream.record())
    time.sleep(_PATIENCE)
    trial.require(not any(event.is_done for event in events), "a stream passed a barrier that one rank had not come to")
    ranks.meet()
    if size - 1 in ranks.here:
        ranks[size - 1].launch(barrier)
    for rank in ranks:
        rank.stream.synchronize()


def _splits_are_apart(trial: Trial, *, size: int) -> None:
    ranks = Ranks(trial, size)
    parts = [[number for number in range(size) if number % 2 == half] for half in range(2)]
    own = {}
    for numbers in parts:
        for number in ranks.here.keys() & set(numbers):
            communicator = trial.closing(ranks[number].communicator.split(reversed(numbers)))
            trial.equal("the rank", communicator.rank, numbers[::-1].index(number))
            trial.equal("the size", communicator.size, len(numbers))
            own[number] = communicator
    tensors = _tensors(ranks, trial, [float(number) for number in range(size)])

    def go(rank: Rank) -> None:
        memory = tensors[rank.number].memory
        _SUM.on(own[rank.number])(rank.stream, x=memory, out=memory)

    ranks.each(go)
    for number, tensor in tensors.items():
        needed = float(sum(parts[number % 2]))
        same_bits(f"the sum of ranks {parts[number % 2]}", tensor.read(), np.full(_COUNT, needed, np.float32))


ORDERS: Final = (
    CollectiveCase(
        "order/terms-are-added-in-the-order-of-the-ranks",
        _terms_are_added_in_the_order_of_the_ranks,
        "A sum is ((x0 + x1) + x2) + ..., in float32, at every rank, whichever rank came first.",
        _ADD,
    ),
    CollectiveCase(
        "order/a-rank-waits-for-all-others",
        _a_rank_waits_for_all_others,
        "An event behind an AllReduce is not done before the last rank has launched its part.",
        _ADD,
        2,
    ),
    CollectiveCase(
        "order/launches-meet-in-their-order-on-whatever-streams",
        _launches_meet_in_their_order_on_whatever_streams,
        "Of two streams of each rank some stand still for a while: the first launch of each meets the first of all others.",
        _ADD,
        2,
    ),
    CollectiveCase(
        "order/steps-and-graphs-take-what-is-there",
        _steps_and_graphs_take_what_is_there,
        "A bound step and a graph of it, run again and again, reduce what their operands hold then.",
        _ADD,
    ),
    CollectiveCase(
        "order/a-barrier-holds-back-what-is-behind-it",
        _a_barrier_holds_back_what_is_behind_it,
        "No stream passes a barrier before every rank's stream has come to it.",
        "",
        2,
    ),
    CollectiveCase(
        "order/splits-are-apart",
        _splits_are_apart,
        "Even and odd ranks have communicators of their own, numbered backwards, whose sums do not mix.",
        _ADD,
        2,
    ),
)
