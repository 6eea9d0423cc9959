"""Slots under kernels: places in a memory, places by a spec's offset, and which operands count as written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ep
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_SIZE = 200
_NBYTES = 4 * _SIZE


@case(kernels=True)
def views_in_a_slot_move_with_it(trial: Trial) -> None:
    """Operands that are views of one memory take their places in the memory given for it."""
    kernel, stream = kernel_of(trial), trial.asynchronous()
    memory = trial.memory(3 * _NBYTES)
    with stream.capture() as graph:
        kernel.descriptor(_SIZE).on(trial.device)(
            stream, **{kernel.operand: memory[_NBYTES : 2 * _NBYTES], "out": memory[2 * _NBYTES :]}
        )
    trial.closing(graph)
    graph.slot("m", memory)
    for start in (0, 8, _NBYTES):
        x, content = kernel.data(trial, _SIZE), trial.noise(5 * _NBYTES)
        content[start + _NBYTES : start + 2 * _NBYTES] = x.view(np.uint8)
        given = trial.holding(stream, content)
        graph.launch(stream, m=given[start:])
        after = trial.content(stream, given)
        out = slice(start + 2 * _NBYTES, start + 3 * _NBYTES)
        kernel.check(f"out in the memory given, from byte {start}", _SIZE, x, after[out])
        after[out] = content[out]
        trial.same_bytes("the rest of the memory given", after, content)


@case(kernels=True)
def one_memory_serves_at_several_places(trial: Trial) -> None:
    """Launches one after the other with views of one memory each use their own view."""
    kernel, stream = kernel_of(trial), trial.asynchronous()
    x, out = trial.memory(_NBYTES), trial.memory(_NBYTES)
    with stream.capture() as graph:
        kernel.descriptor(_SIZE).on(trial.device)(stream, **{kernel.operand: x, "out": out})
    trial.closing(graph)
    graph.slot("x", x)
    graph.slot("out", out)
    data = [kernel.data(trial, _SIZE) for _ in range(5)]
    inputs, outs = trial.holding(stream, np.concatenate(data).view(np.uint8)), trial.memory(5 * _NBYTES)
    for place in (3, 0, 4, 1, 2):
        part = slice(place * _NBYTES, (place + 1) * _NBYTES)
        graph.launch(stream, x=inputs[part], out=outs[part])
    content = trial.content(stream, outs)
    for place, values in enumerate(data):
        kernel.check(f"view {place}", _SIZE, values, content[place * _NBYTES : (place + 1) * _NBYTES])


@case(kernels=True)
def offsets_of_specs_count(trial: Trial) -> None:
    """An operand lies in a slot if it begins there and the bytes that its spec touches do, however long its memory is."""
    kernel, stream = kernel_of(trial), trial.asynchronous()
    kind: Any = kernel.family.descriptor
    specs = {
        kernel.operand: ep.TensorSpec("float32", (_SIZE,), offset=_SIZE),
        "out": ep.TensorSpec("float32", (_SIZE,)),
    }
    descriptor = kind(**specs) if kernel.op == "-" else kind(kernel.op, **specs)
    try:
        primitive = descriptor.on(trial.device)
    except ep.UnsupportedError:
        return
    memory, out = trial.memory(3 * _NBYTES), trial.memory(_NBYTES)
    with stream.capture() as graph:
        primitive(stream, **{kernel.operand: memory, "out": out})
    trial.closing(graph)
    graph.slot("x", memory[: 2 * _NBYTES])
    content, x = trial.noise(2 * _NBYTES + 64), kernel.data(trial, _SIZE)
    content[64 + _NBYTES :] = x.view(np.uint8)
    graph.launch(stream, x=trial.holding(stream, content)[64:])
    kernel.check("a memory that ends with what is touched", _SIZE, x, trial.content(stream, out))
    with stream.capture() as late:
        primitive(stream, **{kernel.operand: memory, "out": out})
    trial.closing(late)
    late.slot("x", memory[_NBYTES:])
    trial.refuses("a slot behind an operand's beginning", ValueError, lambda: late.launch(stream), "slot x")


@case(kernels=True)
def outputs_of_kernels_count_as_written(trial: Trial) -> None:
    """Memory that a kernel writes may overlap no other memory of a launch; memory that kernels only read may."""
    kernel, stream = kernel_of(trial), trial.stream()
    primitive = kernel.descriptor(_SIZE).on(trial.device)
    x, y, out, other = (trial.memory(_NBYTES) for _ in range(4))
    with stream.capture() as graph:
        primitive(stream, **{kernel.operand: x, "out": out})
        primitive(stream, **{kernel.operand: y, "out": other})
    trial.closing(graph)
    for name, memory in (("x", x), ("y", y), ("out", out)):
        graph.slot(name, memory)
    trial.refuses("x in out", ValueError, lambda: graph.launch(stream, x=out), "x", "out", "written")
    trial.refuses("x in an output without a slot", ValueError, lambda: graph.launch(stream, x=other), "x", "written")
    trial.refuses("out in y", ValueError, lambda: graph.launch(stream, out=y), "out", "y", "written")
    data = kernel.data(trial, _SIZE)
    given = trial.holding(stream, data.view(np.uint8))
    graph.launch(stream, x=given, y=given)
    for memory in (out, other):
        kernel.check("an input of two kernels", _SIZE, data, trial.content(stream, memory))


@case(kernels=True)
def outputs_feed_inputs_in_the_memory_given(trial: Trial) -> None:
    """A memory between two kernels that is rebound carries the first one's result to the second."""
    kernel, stream = kernel_of(trial), trial.asynchronous()
    primitive = kernel.descriptor(_SIZE).on(trial.device)
    x, between, out = (trial.memory(_NBYTES) for _ in range(3))
    untouched = trial.noise(_NBYTES)
    stream.upload(between, untouched)
    with stream.capture() as graph:
        primitive(stream, **{kernel.operand: x, "out": between})
        stream.copy(out, between)
    trial.closing(graph)
    graph.slot("between", between)
    data, given = kernel.data(trial, _SIZE), trial.memory(_NBYTES)
    stream.upload(x, data)
    graph.launch(stream, between=given)
    kernel.check("out", _SIZE, data, trial.content(stream, out))
    kernel.check("the memory given", _SIZE, data, trial.content(stream, given))
    trial.same_bytes("the captured memory", trial.content(stream, between), untouched)
