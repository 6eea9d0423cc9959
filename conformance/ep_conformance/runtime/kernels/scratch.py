"""Scratch: the memory of a kernel beside its operands is its own while it runs, even beside other kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ep
from ep_conformance.fixture.cells import every_cell
from ep_conformance.fixture.gate import gate
from ep_conformance.judge.determinism import is_promised
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_conformance.fixture.trial import Bytes, Trial

_ROUNDS = 20


def _primitives(trial: Trial) -> Iterator[ep.Primitive]:
    """Yield a primitive of each family, as far as its first of float32 asks for scratch."""
    seen: set[str] = set()
    for family, cell in every_cell():
        if cell.layout == "dense" and cell.dtypes == "float32" and family.name not in seen:
            seen.add(family.name)
            try:
                primitive = family.sample(cell).on(trial.device)
            except ep.UnsupportedError:
                continue
            if primitive.scratch_nbytes:
                yield primitive


def _operands(trial: Trial, stream: ep.Stream, primitive: ep.Primitive) -> dict[str, Any]:
    """Return operands of a launch, the tensors full of numbers that no other launch has."""
    operands: dict[str, Any] = {}
    for name, spec in primitive.asked.present.items():
        if isinstance(spec, ep.Scalar):
            operands[name] = 1
            continue
        values = trial.rng.uniform(0.5, 2, -(-spec.nbytes // 4)).astype(np.float32)
        operands[name] = trial.holding(stream, values.view(np.uint8)[: spec.nbytes])
    return operands


class _Pair:
    """One primitive with operands on each of two streams, and the result of each launch alone.

    Outputs have their first contents again before each launch, because a product may add to them.
    """

    def __init__(self, trial: Trial, primitive: ep.Primitive) -> None:
        self.trial, self.primitive = trial, primitive
        self.streams = [trial.asynchronous(), trial.asynchronous()]
        self.given = [_operands(trial, stream, primitive) for stream in self.streams]
        self.firsts = [
            self._copied(stream, operands) for stream, operands in zip(self.streams, self.given, strict=True)
        ]
        self.alone = []
        for stream, operands in zip(self.streams, self.given, strict=True):
            primitive(stream, **operands)
            self.alone.append(self._results(stream, operands))

    def check(self, launch: Callable[[ep.Stream, dict[str, Any]], object]) -> None:
        """Launch many times on both streams, which begin together, and compare the results of each at the end."""
        held = gate(self.trial, self.streams[0])
        self.streams[1].wait(self.streams[0].record())
        for _ in range(_ROUNDS):
            for stream, operands, firsts in zip(self.streams, self.given, self.firsts, strict=True):
                for name, first in firsts.items():
                    stream.copy(operands[name], first)
                launch(stream, operands)
        held.open()
        for stream, operands, needed in zip(self.streams, self.given, self.alone, strict=True):
            for found, right in zip(self._results(stream, operands), needed, strict=True):
                self.trial.same_bytes(f"{self.primitive} beside another stream", found, right)

    def _copied(self, stream: ep.Stream, operands: dict[str, Any]) -> dict[str, ep.Memory]:
        outputs = {name: operands[name] for name in self.primitive.asked.outputs}
        return {
            name: self.trial.holding(stream, self.trial.content(stream, output)) for name, output in outputs.items()
        }

    def _results(self, stream: ep.Stream, operands: dict[str, Any]) -> list[Bytes]:
        return [self.trial.content(stream, operands[name]) for name in self.primitive.asked.outputs]


@case(kernels=True, since="1.1")
def streams_have_their_own(trial: Trial) -> None:
    """Launches of one primitive on two streams at once give the results of each alone: scratch is not shared."""
    for primitive in _primitives(trial) if is_promised(trial.device) else ():
        _Pair(trial, primitive).check(lambda stream, operands: primitive(stream, **operands))  # noqa: B023 - called at once


@case(kernels=True, since="1.1")
def steps_have_their_own(trial: Trial) -> None:
    """Two bound steps of one primitive, run on two streams at once, give the results of each alone: scratch is of a step."""
    for primitive in _primitives(trial) if is_promised(trial.device) else ():
        pair = _Pair(trial, primitive)
        bound = [trial.closing(primitive.bind(**operands)) for operands in pair.given]
        steps = dict(zip(pair.streams, bound, strict=True))
        pair.check(lambda stream, _: steps[stream](stream))  # noqa: B023 - called at once


@case(kernels=True, since="1.1")
def graphs_wait_for_their_arena(trial: Trial) -> None:
    """Launches of one graph on two streams follow each other, with the memories of each: they work in one arena."""
    for primitive in _primitives(trial) if is_promised(trial.device) else ():
        pair = _Pair(trial, primitive)
        captured = pair.given[0]
        with pair.streams[0].capture() as graph:
            primitive(pair.streams[0], **captured)
        trial.closing(graph)
        names = [name for name, value in captured.items() if isinstance(value, ep.Memory) and value.nbytes]
        for name in names:
            graph.slot(name, captured[name])
        pair.check(lambda stream, operands: graph.launch(stream, **{name: operands[name] for name in names}))  # noqa: B023
