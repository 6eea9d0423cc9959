"""Frozen memories: nothing writes them, and what a provider keeps of one serves no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.runtime import case

if TYPE_CHECKING:
    import ep
    from ep_conformance.fixture.kernel import Array
    from ep_conformance.fixture.trial import Trial

_SIZE = 300
_NBYTES = 4 * _SIZE


def _frozen(trial: Trial, stream: ep.Stream, values: Array) -> ep.Memory:
    memory = trial.holding(stream, values.view(np.uint8))
    memory.freeze()
    return memory


@case()
def frozen_memories_are_read_only(trial: Trial) -> None:
    """After freeze() an upload, a fill and a copy to the memory or to a view of it are ValueError; it can be read and closed."""
    stream, content, other = trial.stream(), trial.noise(1000), trial.memory(100)
    memory = trial.holding(stream, content)
    memory.freeze()
    for target in (memory[:100], memory[900:]):
        trial.refuses("upload", ValueError, lambda to=target: stream.upload(to, bytes(100)), "upload", "frozen")  # type: ignore[misc]
        trial.refuses("fill", ValueError, lambda to=target: stream.fill(to, b"\0"), "fill", "frozen")  # type: ignore[misc]
        trial.refuses("copy", ValueError, lambda to=target: stream.copy(to, other), "copy", "frozen")  # type: ignore[misc]
    stream.copy(other, memory[500:600])
    trial.same_bytes("a copy of a part", trial.content(stream, other), content[500:600])
    trial.same_bytes("the memory", trial.content(stream, memory), content)
    memory.close()


@case(kernels=True)
def steps_tell_frozen_memories_apart(trial: Trial) -> None:
    """Steps of one primitive over frozen memories, and over views of one of them, read each its own, the first time and later."""
    kernel, stream = kernel_of(trial), trial.asynchronous()
    primitive = kernel.descriptor(_SIZE).on(trial.device)
    values = [kernel.data(trial, _SIZE) for _ in range(4)]
    both = _frozen(trial, stream, np.concatenate(values[2:]))
    given = [*(_frozen(trial, stream, each) for each in values[:2]), both[:_NBYTES], both[_NBYTES:]]
    outs = [trial.memory(_NBYTES) for _ in values]
    steps = [primitive.bind(**{kernel.operand: x, "out": out}) for x, out in zip(given, outs, strict=True)]
    for turn in range(3):
        for step in steps[turn:] + steps[:turn]:
            step(stream)
        for place, out in enumerate(outs):
            kernel.check(f"step {place}, turn {turn}", _SIZE, values[place], trial.content(stream, out))
            stream.fill(out, b"\xbd")
    for step in steps:
        step.close()


@case(kernels=True)
def slots_replace_frozen_memories(trial: Trial) -> None:
    """A graph that was captured with a frozen memory at a slot reads what a launch gives in its place, frozen or not."""
    kernel, stream = kernel_of(trial), trial.asynchronous()
    values = [kernel.data(trial, _SIZE) for _ in range(3)]
    captured, other = (_frozen(trial, stream, each) for each in values[:2])
    plain, out = trial.holding(stream, values[2].view(np.uint8)), trial.memory(_NBYTES)
    with stream.capture() as graph:
        kernel.descriptor(_SIZE).on(trial.device)(stream, **{kernel.operand: captured, "out": out})
    trial.closing(graph)
    graph.slot("x", captured)
    for what, x, memory in (
        ("captured", values[0], None),
        ("another frozen one", values[1], other),
        ("one that is not frozen", values[2], plain),
        ("captured, again", values[0], None),
    ):
        graph.launch(stream, **({} if memory is None else {"x": memory}))
        kernel.check(what, _SIZE, x, trial.content(stream, out))
