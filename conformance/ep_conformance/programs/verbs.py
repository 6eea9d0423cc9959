"""What an intent can want: each verb appends ops to a program, or nothing where it makes no sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ep_conformance.programs.build import Builder
from ep_conformance.programs.capture import CaptureBuilder
from ep_conformance.programs.launches import Again, Bind, Launch, Replay
from ep_conformance.programs.lives import Allocate, AllocateHere, Close, FreeHere
from ep_conformance.programs.moves import Copy, Download, Fill, Upload, UploadNoise
from ep_conformance.programs.op import noise
from ep_conformance.programs.order import HOST, Span
from ep_conformance.programs.points import (
    CallRead,
    CallWrite,
    Record,
    Renew,
    Scribble,
    Stall,
    Synchronize,
    SynchronizeEvent,
    Wait,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_conformance.programs.program import Intent, Mix, Program

__all__ = ["NEEDS_KERNELS", "NOTHING", "build"]

Verb = Callable[[Builder, str, "Intent"], None]

NOTHING: Final = "nothing"
"""The verb that others shrink to."""

NEEDS_KERNELS: Final = frozenset({"launch", "bind", "again"})

_VECTORS: Final = (64, 16)
"""Bytes of the vectors that kernels take: few, because each is a primitive."""

_VERBS: Final[dict[str, Verb]] = {}


def build(mix: Mix, devices: int, modes: Sequence[bool], intents: Sequence[Intent]) -> Program:
    """Return the legal program that intents make on streams of given modes, which are dealt out to the devices."""
    builder = Builder.of(mix, modes, devices)
    capture: CaptureBuilder | None = None
    for intent in intents:
        stream = [*builder.streams][intent.stream % len(builder.streams)]
        if capture is not None:
            if intent.verb in CaptureBuilder.verbs:
                _VERBS[intent.verb](capture, stream, intent)
            elif intent.verb in {"graph", "replay"}:
                capture.end(builder, intent)
                capture = None
        elif intent.verb == "graph":
            capture = CaptureBuilder(builder, stream)
        else:
            _VERBS[intent.verb](builder, stream, intent)
    return builder.program()


def _verb(function: Verb) -> Verb:
    _VERBS[function.__name__.strip("_")] = function
    return function


@_verb
def _nothing(builder: Builder, stream: str, intent: Intent) -> None:
    del builder, stream, intent


@_verb
def _upload(builder: Builder, stream: str, intent: Intent) -> None:
    memory = builder.memory(stream, intent.first)
    if memory is not None:
        builder.do(UploadNoise(stream, builder.span(memory, intent.second, intent.third), intent.third))


@_verb
def _upload_host(builder: Builder, stream: str, intent: Intent) -> None:
    memory = builder.memory(stream, intent.first)
    if memory is not None:
        span = builder.span(memory, intent.second, intent.third)
        builder.do(Upload(stream, span, _host(span, intent.third)))


@_verb
def _download(builder: Builder, stream: str, intent: Intent) -> None:
    memory = builder.memory(stream, intent.first)
    if memory is not None:
        span = builder.span(memory, intent.second, intent.third)
        builder.do(Download(stream, _host(span, intent.third), span))


def _host(span: Span, number: int) -> Span:
    return span._replace(place=f"h{number % 2}", view=None)


@_verb
def _copy(builder: Builder, stream: str, intent: Intent) -> None:
    pair = builder.pair(stream, intent[2:])
    if pair is not None:
        one, two = pair
        builder.do(Copy(stream, one, two) if intent.first % 2 else Copy(stream, two, one))


@_verb
def _fill(builder: Builder, stream: str, intent: Intent) -> None:
    memory = builder.memory(stream, intent.first)
    if memory is None:
        return
    span = builder.span(memory, intent.second, intent.third)
    lengths = (length for length in (16, 8, 4, 2, 1) if length >= builder.mix.unit)
    fits = [length for length in lengths if span.start % length == 0 and span.nbytes % length == 0]
    pattern = noise(fits[intent.first % len(fits)], intent.third, builder.mix.unit)
    builder.do(Fill(stream, span, pattern.tobytes()))


@_verb
def _record(builder: Builder, stream: str, intent: Intent) -> None:
    del intent
    builder.do(Record(stream, builder.name("e")))


@_verb
def _wait(builder: Builder, stream: str, intent: Intent) -> None:
    if builder.events:
        builder.do(Wait(stream, builder.events[intent.first % len(builder.events)]))


@_verb
def _stall(builder: Builder, stream: str, intent: Intent) -> None:
    del intent
    builder.do(Stall(stream))


@_verb
def _synchronize(builder: Builder, stream: str, intent: Intent) -> None:
    if intent.first % 2 and builder.events:
        builder.do(SynchronizeEvent(HOST, builder.events[intent.second % len(builder.events)]))
    else:
        builder.do(Synchronize(HOST, stream))


@_verb
def _renew(builder: Builder, stream: str, intent: Intent) -> None:
    del intent
    builder.do(Renew(HOST, stream))


@_verb
def _scribble(builder: Builder, stream: str, intent: Intent) -> None:
    del stream
    builder.do(Scribble(HOST, builder.span(f"h{intent.first % 2}", intent.second, intent.third), intent.third))


@_verb
def _call(builder: Builder, stream: str, intent: Intent) -> None:
    span = builder.span(f"h{intent.first % 2}", intent.second, intent.third)
    builder.do(CallWrite(stream, span, intent.third) if intent.second % 2 else CallRead(stream, span))


@_verb
def _launch(builder: Builder, stream: str, intent: Intent) -> None:
    pair = builder.pair(stream, intent[2:], _VECTORS[intent.first % len(_VECTORS)])
    if pair is not None:
        builder.do(Launch(stream, *pair))


@_verb
def _bind(builder: Builder, stream: str, intent: Intent) -> None:
    pair = builder.pair(stream, intent[2:], _VECTORS[intent.first % len(_VECTORS)])
    if pair is not None:
        step = Bind(HOST, builder.name("s"), *pair)
        builder.steps.append(step)
        builder.do(step)
        builder.do(Again(stream, step))


@_verb
def _again(builder: Builder, stream: str, intent: Intent) -> None:
    if builder.steps:
        builder.do(Again(stream, builder.steps[intent.first % len(builder.steps)]))


@_verb
def _close(builder: Builder, stream: str, intent: Intent) -> None:
    memory = builder.memory(stream, intent.first)
    if memory is None:
        return
    del builder.memories[memory]
    builder.do(Close(HOST, memory))
    name = builder.name("n")
    builder.do(Allocate(HOST, name, builder.mix.nbytes, builder.streams[stream][1]))
    _greet(builder, stream, name, intent)


@_verb
def _allocate(builder: Builder, stream: str, intent: Intent) -> None:
    name = builder.name("n")
    builder.do(AllocateHere(stream, name, builder.mix.nbytes))
    _greet(builder, stream, name, intent)


@_verb
def _free(builder: Builder, stream: str, intent: Intent) -> None:
    memory = builder.memory(stream, intent.first)
    if memory is not None:
        del builder.memories[memory]
        builder.do(FreeHere(stream, memory, builder.mix.nbytes))


def _greet(builder: Builder, stream: str, name: str, intent: Intent) -> None:
    """Give fresh memory a content: what it holds at first is undefined."""
    builder.memories[name] = builder.streams[stream][1]
    builder.do(UploadNoise(stream, Span(name, 0, builder.mix.nbytes), intent.third))


@_verb
def _replay(builder: Builder, stream: str, intent: Intent) -> None:
    if not builder.graphs:
        return
    graph = builder.graphs[intent.first % len(builder.graphs)]
    free = [name for name in builder.memories if name not in graph.places]
    binding = tuple(zip(graph.slots, free[: intent.second % 3], strict=False))
    builder.do(Replay(stream, graph, binding))
