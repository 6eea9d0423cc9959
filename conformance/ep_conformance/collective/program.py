"""Generated programs of collectives: on several communicators and streams of each rank, against a model of NumPy arrays."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from ep_collectives import AllGather, AllReduce, Broadcast, ReduceScatter
from ep_collectives.reference import results

from ep import TensorSpec
from ep_conformance.collective.ranks import CollectiveCase, Rank, Ranks, Tensor, same_bits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import ep
    from ep_conformance.fixture.trial import Trial

__all__ = ["programs"]

_COUNT: Final = 24
"""Elements of a part of each tensor: every number of ranks up to 8 but 5 and 7 divides it, so that parts are odd, too."""
_LENGTH: Final = 25
_STREAMS: Final = 2
_PROGRAMS: Final = {"quick": 2, "standard": 8, "large": 100, "exhaustive": 500}


class _Side(NamedTuple):
    """One communicator of some ranks with a stream and a tensor at each: what a program's instructions name.

    ranks    : their numbers in the whole, in the order of the communicator's
    here     : each rank with that communicator and stream
    """

    ranks: tuple[int, ...]
    here: dict[int, Rank]
    tensors: dict[int, Tensor]
    model: dict[int, Any]


def programs() -> Iterator[CollectiveCase]:
    """Yield the case of generated programs."""
    claim = "Programs of random collectives on several communicators and streams leave what a sequential model says."
    yield CollectiveCase("program/communicators-and-streams", _try_programs, claim, "add_n/-/int32/dense")


def _try_programs(trial: Trial, *, size: int) -> None:
    for number in range(_PROGRAMS[trial.profile]):
        ranks = Ranks(trial, size)
        sides = [*_sides(trial, ranks)]
        chosen = [sides[at] for at in trial.rng.integers(0, len(sides), _LENGTH)]
        program = [(side, _collective(trial, side)) for side in chosen]
        for side, collective in program:
            _model(side, collective)
        ranks.each(functools.partial(_launch_all, program))
        for side in sides:
            for rank, tensor in side.tensors.items():
                same_bits(f"program {number}, ranks {side.ranks}: rank {rank}", tensor.read(), side.model[rank])


def _sides(trial: Trial, ranks: Ranks) -> Iterator[_Side]:
    """Yield sides of all ranks and of random ones, on streams of their own."""
    size = ranks.size
    for _ in range(_STREAMS):
        for numbers in (
            tuple(range(size)),
            tuple(trial.rng.permutation(size)[: trial.rng.integers(1, size + 1)].tolist()),
        ):
            here = {}
            for number in (each for each in numbers if each in ranks.here):
                communicator = trial.closing(ranks[number].communicator.split(numbers))
                here[number] = Rank(number, communicator, ranks.stream(ranks[number].device))
            content = {number: trial.rng.integers(-9, 9, _COUNT * len(numbers), np.int32) for number in numbers}
            tensors = {number: Tensor(here[number], trial, content[number]) for number in here}
            yield _Side(numbers, here, tensors, content)


def _collective(trial: Trial, side: _Side) -> ep.Collective:
    """Return a random collective in place, over the side's tensors."""
    size = len(side.ranks)
    whole = TensorSpec("int32", (_COUNT * size,))
    made = (
        AllReduce("sum", x=whole, out=whole),
        AllReduce("max", x=whole, out=whole),
        Broadcast(x=whole, root=int(trial.rng.integers(0, size))),
        AllGather(out=whole),
        ReduceScatter("sum", x=whole),
    )
    return made[int(trial.rng.integers(0, len(made)))]


def _model(side: _Side, collective: ep.Collective) -> None:
    """Do in the model what the ranks do."""
    given = [dict.fromkeys(collective.operands, side.model[number]) for number in side.ranks]
    for number, written in zip(side.ranks, results([collective] * len(side.ranks), given), strict=True):
        side.model[number] = next(iter(written.values())).copy()


def _launch_all(program: Sequence[tuple[_Side, ep.Collective]], rank: Rank) -> None:
    """Launch a rank's part of all that concerns it, in the program's order."""
    for side, collective in program:
        if rank.number in side.here:
            tensor = side.tensors[rank.number]
            side.here[rank.number].launch(collective, **dict.fromkeys(collective.operands, tensor))
