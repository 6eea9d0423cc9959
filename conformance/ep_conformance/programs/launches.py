"""Ops that launch: kernels, bound steps, graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ep_conformance.programs.op import Model, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.programs.order import Span
    from ep_conformance.programs.stage import Stage

__all__ = ["Again", "Bind", "Capture", "Launch", "Replay"]


@dataclass(frozen=True)
class Launch(Op):
    """A kernel makes `out` of `x`."""

    x: Span
    out: Span

    @property
    def reads(self) -> tuple[Span, ...]:
        return (self.x,)

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.out,)

    def predict(self, model: Model) -> None:
        model[self.out] = model.kernel(model[self.x])

    def perform(self, stage: Stage) -> None:
        operands = {stage.operand: stage.memory(self.x), "out": stage.memory(self.out)}
        stage.primitive(self.x.nbytes)(stage.streams[self.actor], **operands)

    def __str__(self) -> str:
        return f"kernel({self.actor}, x={self.x}, out={self.out})"


@dataclass(frozen=True)
class Bind(Op):
    """The host binds a kernel's operands; the step holds their memories."""

    step: str
    x: Span
    out: Span

    def perform(self, stage: Stage) -> None:
        operands = {stage.operand: stage.memory(self.x), "out": stage.memory(self.out)}
        stage.steps[self.step] = stage.primitive(self.x.nbytes).bind(**operands)

    def __str__(self) -> str:
        return f"{self.step} = kernel.bind(x={self.x}, out={self.out})"


@dataclass(frozen=True)
class Again(Op):
    """A bound step is launched."""

    step: Bind

    @property
    def reads(self) -> tuple[Span, ...]:
        return (self.step.x,)

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.step.out,)

    def predict(self, model: Model) -> None:
        model[self.step.out] = model.kernel(model[self.step.x])

    def perform(self, stage: Stage) -> None:
        stage.steps[self.step.step](stage.streams[self.actor])

    def __str__(self) -> str:
        return f"{self.step.step}({self.actor})"


@dataclass(frozen=True)
class Capture(Op):
    """The host captures work of one stream, and of those that join it, as a graph whose memories are slots."""

    graph: str
    origin: str
    nodes: tuple[Op, ...]
    slots: tuple[str, ...]

    @property
    def places(self) -> frozenset[str]:
        """Which memories its nodes touch."""
        return frozenset(span.place for node in self.nodes for span in (*node.reads, *node.writes))

    def perform(self, stage: Stage) -> None:
        with stage.streams[self.origin].capture() as graph:
            for slot in self.slots:
                graph.slot(slot, stage.memories[slot])
            for node in self.nodes:
                node.perform(stage)
        stage.graphs[self.graph] = graph

    def __str__(self) -> str:
        return f"with {self.origin}.capture() as {self.graph}:"

    def lines(self) -> Iterator[str]:
        yield str(self)
        for slot in self.slots:
            yield f'    {self.graph}.slot("{slot}", {slot})'
        for node in self.nodes:
            yield f"    {node}"


@dataclass(frozen=True)
class Replay(Op):
    """A graph is launched, some of its slots on other memories."""

    graph: Capture
    binding: tuple[tuple[str, str], ...]

    @property
    def nodes(self) -> tuple[Op, ...]:
        """What this launch does."""
        return tuple(node.rebound(dict(self.binding)) for node in self.graph.nodes)

    @property
    def reads(self) -> tuple[Span, ...]:
        return tuple(span for node in self.nodes for span in node.reads)

    @property
    def writes(self) -> tuple[Span, ...]:
        return tuple(span for node in self.nodes for span in node.writes)

    def predict(self, model: Model) -> None:
        for node in self.nodes:
            node.predict(model)

    def perform(self, stage: Stage) -> None:
        bound = {slot: stage.memories[memory] for slot, memory in self.binding}
        stage.graphs[self.graph.graph].launch(stage.streams[self.actor], **bound)

    def __str__(self) -> str:
        bound = "".join(f", {slot}={memory}" for slot, memory in self.binding)
        return f"{self.graph.graph}.launch({self.actor}{bound})"
