"""Primitives: creation, checked launches, bound steps, sharing. What they compute is for the cases of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.together import together
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ep_conformance.fixture.trial import Trial

_SHAPES = 10_000
_FEW = 100  # where each shape may be a compilation
_SMALLEST = 64
_CAPACITY = 4096


@case(kernels=True)
def equal_descriptors_are_one_primitive(trial: Trial) -> None:
    """The second creation of an equal descriptor gives the very same primitive."""
    kernel = kernel_of(trial)
    first, second = kernel.descriptor(321).on(trial.device), kernel.descriptor(321).on(trial.device)
    trial.require(first is second, "equal descriptors give one primitive")
    trial.require(first.implementation.name, "primitive.implementation.name is not empty")


def _specialisation(primitive: ep.Primitive) -> Hashable:
    return primitive.implementation.specialise(primitive.descriptor)


@case(kernels=True)
def ten_thousand_shapes_are_one_key(trial: Trial) -> None:
    """10,000 shapes of one op compile once, the cache stays bounded, and the last shapes still compute."""
    kernel, cache = kernel_of(trial), trial.device._primitives  # noqa: SLF001 - the case judges its size
    known = _specialisation(kernel.descriptor(_SMALLEST).on(trial.device))
    compiles, sizes = trial.device.compiles, range(_SMALLEST, _SMALLEST + (_SHAPES if known is None else _FEW))
    answers = {_specialisation(kernel.descriptor(size).on(trial.device)) for size in sizes}
    new = trial.device.compiles - compiles
    if known is None:
        trial.equal("compiled programs for 10,000 shapes of one known key", new, 0)
    else:
        most = len(answers - {known})
        trial.require(
            new <= most, f"{new} compiled programs for {_FEW} shapes are at most the {most} new answers of specialise"
        )
    trial.require(len(cache) <= _CAPACITY, f"{len(cache)} cached primitives are at most {_CAPACITY}")
    stream = trial.stream()
    for size in (_SMALLEST, 777, _SMALLEST + _SHAPES - 1):
        x, out = kernel.data(trial, size), trial.memory(4 * size)
        kernel.descriptor(size).on(trial.device)(
            stream, **{kernel.operand: trial.holding(stream, x.view(np.uint8)), "out": out}
        )
        kernel.check(f"shape ({size},)", size, x, trial.content(stream, out))


@case(kernels=True)
def launches_are_checked(trial: Trial) -> None:
    """Short, misplaced, closed and missing operands are refused by name, and nothing is written."""
    kernel, stream, size = kernel_of(trial), trial.stream(), 100
    primitive = kernel.descriptor(size).on(trial.device)
    content = trial.noise(408)
    x, out = trial.memory(408), trial.holding(stream, content)
    name = kernel.operand

    def launch(kind: type[Exception], what: str, *words: str, **operands: ep.Memory) -> None:
        trial.refuses(what, kind, lambda: primitive(stream, **operands), *words)

    launch(ValueError, "a short output", "out", "400", "396", **{name: x, "out": out[0:396]})
    launch(ValueError, "a short input", name, "400", **{name: x[0:399], "out": out})
    launch(ValueError, "an output at an odd byte", "out", **{name: x, "out": out[1:401]})
    launch(TypeError, "a missing operand", "out", **{name: x})
    launch(TypeError, "an unknown operand", "wrong", **{name: x, "out": out, "wrong": x})
    launch(ValueError, "an output that overlaps the input", **{name: out[0:400], "out": out[4:404]})
    closed = trial.memory(400)
    closed.close()
    launch(ep.ClosedError, "a closed input", **{name: closed, "out": out})
    trial.same_bytes("out", trial.content(stream, out), content)


@case(kernels=True)
def empty_launches_are_legal(trial: Trial) -> None:
    """An output without elements is launched, bound and run without touching anything."""
    kernel, stream = kernel_of(trial), trial.stream()
    primitive = kernel.descriptor(0).on(trial.device)
    operands = {kernel.operand: trial.memory(0), "out": trial.memory(0)}
    primitive(stream, **operands)
    step = primitive.bind(**operands)
    step(stream)
    step.close()
    stream.synchronize()


@case(kernels=True)
def large_launches_reach_the_end(trial: Trial) -> None:
    """A kernel over millions of elements, of which no part is as long as another, writes each of them."""
    kernel, size, stream = kernel_of(trial), trial.fitting(12 << 20, copies=4) // 4 + 7, trial.stream()
    x, out = kernel.data(trial, size), trial.memory(4 * size)
    kernel.descriptor(size).on(trial.device)(
        stream, **{kernel.operand: trial.holding(stream, x.view(np.uint8)), "out": out}
    )
    kernel.check(f"shape ({size},)", size, x, trial.content(stream, out))


@case(kernels=True)
def bound_steps_run_again_and_again(trial: Trial) -> None:
    """A step reads its memories anew each time it runs, on any stream of the device."""
    kernel, size = kernel_of(trial), 1025
    memory, out = trial.memory(4 * size), trial.memory(4 * size)
    step = kernel.descriptor(size).on(trial.device).bind(**{kernel.operand: memory, "out": out})
    for stream in trial.streams():
        for _ in range(20):
            x = kernel.data(trial, size)
            stream.upload(memory, x)
            step(stream)
            kernel.check("a bound step", size, x, trial.content(stream, out))
    step.close()
    trial.refuses("a closed step", ep.ClosedError, lambda: step(trial.stream()))


@case(kernels=True)
def bound_steps_keep_their_own_arguments(trial: Trial) -> None:
    """Steps of one primitive over different memories do not disturb one another, nor do checked launches between them."""
    kernel, size, stream = kernel_of(trial), 513, trial.asynchronous()
    primitive = kernel.descriptor(size).on(trial.device)
    data = [kernel.data(trial, size) for _ in range(6)]
    inputs = [trial.holding(stream, x.view(np.uint8)) for x in data]
    outs = [trial.memory(4 * size) for _ in data]
    steps = [primitive.bind(**{kernel.operand: x, "out": out}) for x, out in zip(inputs[:3], outs[:3], strict=True)]
    held = gate(trial, stream)
    for place in range(3):
        steps[place](stream)
        primitive(stream, **{kernel.operand: inputs[3 + place], "out": outs[3 + place]})
    held.open()
    for x, out in zip(data, outs, strict=True):
        kernel.check("steps and launches in turn", size, x, trial.content(stream, out))
    for step in steps:
        step.close()


@case(kernels=True)
def is_shared_by_streams(trial: Trial) -> None:
    """One primitive launched on several streams at once computes each launch."""
    kernel, size = kernel_of(trial), 4099
    primitive = kernel.descriptor(size).on(trial.device)
    streams = [trial.asynchronous() for _ in range(4)]
    data = [kernel.data(trial, size) for _ in range(16)]
    outs = [trial.memory(4 * size) for _ in data]
    inputs = [trial.holding(streams[0], x.view(np.uint8)) for x in data]
    held = gate(trial, streams[0])
    start = streams[0].record()
    for stream in streams[1:]:
        stream.wait(start)
    for place, (memory, out) in enumerate(zip(inputs, outs, strict=True)):
        primitive(streams[place % 4], **{kernel.operand: memory, "out": out})
    held.open()
    trial.device.synchronize()
    for x, out in zip(data, outs, strict=True):
        kernel.check("one of sixteen launches", size, x, trial.content(streams[0], out))


@case(kernels=True)
def is_shared_by_threads(trial: Trial) -> None:
    """One primitive made and launched by four threads at once computes each launch."""
    kernel, size = kernel_of(trial), 2049
    streams = [trial.stream() for _ in range(4)]
    data = [kernel.data(trial, size) for _ in streams]
    inputs = [trial.holding(streams[0], x.view(np.uint8)) for x in data]
    outs = [trial.memory(4 * size) for _ in streams]

    def work(place: int) -> None:
        for _ in range(25):
            primitive = kernel.descriptor(size).on(trial.device)
            primitive(streams[place], **{kernel.operand: inputs[place], "out": outs[place]})
        streams[place].synchronize()

    together(4, work)
    for x, out in zip(data, outs, strict=True):
        kernel.check("a launch from a thread", size, x, trial.content(streams[0], out))


@case(kernels=True)
def is_in_order_with_its_stream(trial: Trial) -> None:
    """Uploads, kernels and copies alternate on one stream, each seeing the results of those before it."""
    kernel, size = kernel_of(trial), 300
    primitive = kernel.descriptor(size).on(trial.device)
    for stream in trial.streams():
        memory, out = trial.memory(4 * size), trial.memory(4 * size)
        data = [kernel.data(trial, size) for _ in range(30)]
        results = [trial.memory(4 * size) for _ in data]
        held = gate(trial, stream)
        for x, result in zip(data, results, strict=True):
            stream.upload(memory, x)
            primitive(stream, **{kernel.operand: memory, "out": out})
            stream.copy(result, out)
        held.open()
        for x, result in zip(data, results, strict=True):
            kernel.check("a kernel between copies", size, x, trial.content(stream, result))
