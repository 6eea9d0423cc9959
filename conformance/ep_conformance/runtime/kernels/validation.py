"""EP_VALIDATE=1: contents that an operation is not meant for are refused before their launch is enqueued."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np
from ep_primitives import Gather

from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    import ep
    from ep_conformance.fixture.trial import Trial

_GATHER: Final = "gather/-/float32,int64->float32/dense"
_VARIABLE: Final = "EP_VALIDATE"
_ROWS, _WIDTH = 7, 5


@contextmanager
def _validating() -> Iterator[None]:
    """Let streams that are made inside be in validation mode."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = "1"
    try:
        yield
    finally:
        os.environ.pop(_VARIABLE)
        if before is not None:
            os.environ[_VARIABLE] = before


class _Rows:
    """Rows of a table at indices, on a stream in validation mode."""

    def __init__(self, trial: Trial, stream: ep.Stream) -> None:
        self.trial, self.stream = trial, stream
        self.table = trial.rng.standard_normal((_ROWS, _WIDTH)).astype(np.float32)
        self.good = np.array([_ROWS - 1, 0, 3], np.int64)
        self.bad = np.array([0, _ROWS, -1], np.int64)
        self.blank = np.full((3, _WIDTH), -1.0, np.float32)
        self.gather = Gather.infer(self.table, self.good).on(trial.device)
        self.operands = {
            "x": trial.holding(stream, self.table.view(np.uint8).reshape(-1)),
            "indices": trial.holding(stream, self.good.view(np.uint8)),
            "out": trial.holding(stream, self.blank.view(np.uint8).reshape(-1)),
        }

    def ask(self, indices: npt.NDArray[np.int64], memory: ep.Memory | None = None) -> None:
        """Enqueue the indices."""
        self.stream.upload(memory or self.operands["indices"], indices)

    def refuses(self, what: str, launch: Callable[[], object]) -> None:
        """Fail the case unless a launch is refused, in words that help, and leaves out as it was."""
        out = self.operands["out"]
        self.stream.upload(out, self.blank)
        self.trial.refuses(what, ValueError, launch, "indices[1]", f"is {_ROWS}", f"0 to {_ROWS - 1}")
        self.trial.same_bytes("out", self.trial.content(self.stream, out), self.blank.view(np.uint8).reshape(-1))

    def passes(self, what: str, launch: Callable[[], object], indices: npt.NDArray[np.int64]) -> None:
        """Fail the case unless a launch gathers the rows."""
        launch()
        needed = self.table[indices].view(np.uint8).reshape(-1)
        self.trial.same_bytes(f"out of {what}", self.trial.content(self.stream, self.operands["out"]), needed)


def _each(trial: Trial) -> Iterator[_Rows]:
    with _validating():
        streams = [*trial.streams()]
    for stream in streams:
        yield _Rows(trial, stream)


@case(kernels=True, needs=_GATHER)
def bad_indices_are_refused(trial: Trial) -> None:
    """A launch whose indices are out of range when the stream gets there is a ValueError, and the stream stays usable."""
    for rows in _each(trial):

        def launch(rows: _Rows = rows) -> None:
            rows.gather(rows.stream, **rows.operands)

        rows.passes("a launch", launch, rows.good)
        rows.ask(rows.bad)
        rows.refuses("a launch with a bad index", launch)
        rows.ask(rows.good[::-1].copy())
        rows.passes("a launch after a refusal", launch, rows.good[::-1])


@case(kernels=True, needs=_GATHER)
def bad_indices_of_bound_steps_are_refused(trial: Trial) -> None:
    """Each run of a bound step has its indices looked at."""
    for rows in _each(trial):
        step = trial.closing(rows.gather.bind(**rows.operands))

        def launch(rows: _Rows = rows, step: ep.Step = step) -> None:
            step(rows.stream)

        rows.ask(rows.bad)
        rows.refuses("a step with a bad index", launch)
        rows.ask(rows.good)
        rows.passes("a step", launch, rows.good)


@case(kernels=True, needs=_GATHER)
def bad_indices_of_graphs_are_refused(trial: Trial) -> None:
    """A graph's launch checks the indices that it will find, also in a slot's memory; a capture checks none."""
    for rows in _each(trial):
        rows.ask(rows.bad)
        with rows.stream.capture() as graph:
            rows.gather(rows.stream, **rows.operands)
        trial.closing(graph)
        graph.slot("indices", rows.operands["indices"])
        other = trial.memory(rows.good.nbytes)
        rows.ask(rows.good, other)

        def launch(rows: _Rows = rows, graph: ep.Graph = graph) -> None:
            graph.launch(rows.stream)

        def give(rows: _Rows = rows, graph: ep.Graph = graph, other: ep.Memory = other) -> None:
            graph.launch(rows.stream, indices=other)

        rows.refuses("a graph with a bad index", launch)
        rows.passes("a graph with the indices of a slot", give, rows.good)
        rows.ask(rows.good)
        rows.ask(rows.bad, other)
        rows.passes("a graph", launch, rows.good)
        rows.refuses("a graph with a bad index of a slot", give)


@case(kernels=True, needs=_GATHER)
def indices_that_a_graph_writes_are_not_looked_at(trial: Trial) -> None:
    """What a graph writes before it reads it is not there when the launch is enqueued: bad indices then give zeros."""
    for rows in _each(trial):
        source = trial.holding(rows.stream, rows.bad.view(np.uint8))
        with rows.stream.capture() as graph:
            rows.stream.copy(rows.operands["indices"], source)
            rows.gather(rows.stream, **rows.operands)
        trial.closing(graph)
        graph.launch(rows.stream)
        needed = np.zeros_like(rows.blank)
        needed[0] = rows.table[0]
        trial.same_bytes("out", trial.content(rows.stream, rows.operands["out"]), needed.view(np.uint8).reshape(-1))
