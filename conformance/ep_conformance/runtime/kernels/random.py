"""Random fills: the state of a generator is an operand, read and advanced in stream order."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives import Generator, RandomFill
from ep_primitives.families.random_fill.philox import draw

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import has_cell
from ep_conformance.runtime import case

if TYPE_CHECKING:
    import numpy.typing as npt

    from ep_conformance.fixture.trial import Trial

    Words = npt.NDArray[np.uint32]

_WORDS: Final = "random_fill/words/uint32/dense"
_OTHERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "uniform": ("float32", {}),
    "normal": ("float32", {}),
    "bernoulli": ("bool", {"p": 0.5}),
    "integers": ("int32", {"low": -7, "high": 7}),
}

random_case = functools.partial(case, kernels=True, needs=_WORDS)


def _seed(trial: Trial) -> int:
    return int(trial.rng.integers(0, 2**64, dtype=np.uint64))


def _fill(trial: Trial, size: int) -> ep.Primitive:
    return RandomFill.infer("words", ep.TensorSpec("uint32", (size,))).on(trial.device)


def _drawn(trial: Trial, stream: ep.Stream, state: ep.Memory, size: int) -> ep.Memory:
    """Return memory that holds the next words when the stream gets there."""
    out = trial.memory(4 * size)
    _fill(trial, size)(stream, state=state, out=out)
    return out


def _same(trial: Trial, what: str, stream: ep.Stream, memory: ep.Memory, needed: Words) -> None:
    trial.same_bytes(what, trial.content(stream, memory), needed.view(np.uint8))


@random_case()
def launches_draw_new_numbers(trial: Trial) -> None:
    """Launch after launch draws the next words of the sequence, and never those before."""
    seed, size = _seed(trial), 1025
    generator = trial.closing(Generator(trial.device, seed))
    for stream in trial.streams():
        begin = np.frombuffer(generator.save(stream), np.uint64)[1]
        outs = [_drawn(trial, stream, generator.state, size) for _ in range(8)]
        for place, out in enumerate(outs):
            _same(trial, f"launch {place}", stream, out, draw(seed, int(begin) + place * size, size))


@random_case()
def a_sequence_may_be_split_anywhere(trial: Trial) -> None:
    """Launches of any sizes together give the words of one launch over all of them."""
    seed, stream = _seed(trial), trial.asynchronous()
    sizes = [1, 2, 3, 4, 5, 63, 64, 65, 257, 1000, 4099, 70_001]
    generator = trial.closing(Generator(trial.device, seed))
    outs = [_drawn(trial, stream, generator.state, size) for size in sizes]
    pieces = [trial.content(stream, out) for out in outs]
    trial.same_bytes("the pieces", np.concatenate(pieces), draw(seed, 0, sum(sizes)).view(np.uint8))


@random_case()
def state_advances_in_stream_order(trial: Trial) -> None:
    """Copies of the state between launches hold the seed and the words taken so far; an upload between them counts."""
    seed = _seed(trial)
    generator = trial.closing(Generator(trial.device, seed))
    for stream in trial.streams():
        start = np.array([seed, 2**63 + 5], np.uint64)
        held = gate(trial, stream)
        stream.upload(generator.state, start)
        copies = []
        for size in (7, 1024, 333):
            _drawn(trial, stream, generator.state, size)
            copies.append(trial.memory(16))
            stream.copy(copies[-1], generator.state)
        held.open()
        for copy, taken in zip(copies, (7, 1031, 1364), strict=True):
            needed = np.array([seed, 2**63 + 5 + taken], np.uint64)
            trial.same_bytes(f"the state after {taken} words", trial.content(stream, copy), needed.view(np.uint8))


@random_case()
def streams_take_turns_by_events(trial: Trial) -> None:
    """Two streams that draw from one generator, each after an event of the other, draw one sequence."""
    seed, size = _seed(trial), 2049
    generator = trial.closing(Generator(trial.device, seed))
    streams = [trial.asynchronous(), trial.asynchronous()]
    outs = []
    held = gate(trial, streams[0])
    for turn in range(10):
        stream, other = streams[turn % 2], streams[(turn + 1) % 2]
        outs.append(_drawn(trial, stream, generator.state, size))
        other.wait(stream.record())
    held.hold_back(*streams)
    for turn, out in enumerate(outs):
        _same(trial, f"turn {turn}", streams[0], out, draw(seed, turn * size, size))


@random_case()
def generators_do_not_disturb_one_another(trial: Trial) -> None:
    """Generators on streams of their own, one primitive for all, draw each its own sequence."""
    size, seeds = 3000, [_seed(trial) for _ in range(4)]
    generators = [trial.closing(Generator(trial.device, seed)) for seed in seeds]
    streams = [trial.asynchronous() for _ in seeds]
    outs = [
        [_drawn(trial, stream, generator.state, size) for stream, generator in zip(streams, generators, strict=True)]
        for _ in range(6)
    ]
    trial.device.synchronize()
    for launch, row in enumerate(outs):
        for seed, out in zip(seeds, row, strict=True):
            _same(trial, f"launch {launch}", streams[0], out, draw(seed, launch * size, size))


@random_case()
def distributions_share_a_state(trial: Trial) -> None:
    """Fills of every distribution that the device has take their words from one state, one after the other."""
    seed, size, stream = _seed(trial), 501, trial.asynchronous()
    generator = trial.closing(Generator(trial.device, seed))
    taken = 0
    for op, (dtype, numbers) in _OTHERS.items():
        if not has_cell(trial.device, f"random_fill/{op}/{dtype}/dense"):
            continue
        descriptor = RandomFill.infer(op, ep.TensorSpec(dtype, (size,)))
        out = trial.memory(descriptor.out.nbytes)
        descriptor.on(trial.device)(stream, state=generator.state, out=out, **numbers)
        taken += descriptor.words
        _same(trial, f"words after {op}", stream, _drawn(trial, stream, generator.state, 9), draw(seed, taken, 9))
        taken += 9


@random_case()
def bound_steps_draw_new_numbers(trial: Trial) -> None:
    """A step draws the next words each time it runs, checked launches between its runs too."""
    seed, size = _seed(trial), 777
    generator, out = trial.closing(Generator(trial.device, seed)), trial.memory(4 * size)
    step = _fill(trial, size).bind(state=generator.state, out=out)
    stream, taken = trial.asynchronous(), 0
    for _ in range(6):
        step(stream)
        _same(trial, f"the step after {taken} words", stream, out, draw(seed, taken, size))
        _drawn(trial, stream, generator.state, 5)
        taken += size + 5
    step.close()


@random_case()
def replays_draw_new_numbers(trial: Trial) -> None:
    """Each launch of a captured graph draws the next words, on whichever stream, into whichever memory, others between."""
    seed, size = _seed(trial), 1300
    generator, out, copy = trial.closing(Generator(trial.device, seed)), trial.memory(4 * size), trial.memory(4 * size)
    fill, stream, other = _fill(trial, size), trial.asynchronous(), trial.asynchronous()
    with stream.capture() as graph:
        fill(stream, state=generator.state, out=out)
        stream.copy(copy, out)
        fill(stream, state=generator.state, out=out)
    trial.closing(graph)
    graph.slot("copy", copy)
    trial.equal("the state after the capture", generator.save(stream), np.array([seed, 0], np.uint64).tobytes())
    taken = 0
    for given in [trial.memory(4 * size) for _ in range(5)]:
        graph.launch(stream, copy=given)
        _drawn(trial, stream, generator.state, 3)
        _same(trial, f"first fill after {taken} words", stream, given, draw(seed, taken, size))
        _same(trial, f"second fill after {taken} words", stream, out, draw(seed, taken + size, size))
        taken += 2 * size + 3
        other.wait(stream.record())
        stream, other = other, stream


@random_case()
def replays_take_generators_at_slots(trial: Trial) -> None:
    """A state at a slot is read and advanced by the launch that it is given to, and no other."""
    seeds, size, stream = [_seed(trial) for _ in range(3)], 600, trial.asynchronous()
    generators = [trial.closing(Generator(trial.device, seed)) for seed in seeds]
    fill, out = _fill(trial, size), trial.memory(4 * size)
    with stream.capture() as graph:
        fill(stream, state=generators[0].state, out=out)
    trial.closing(graph)
    graph.slot("state", generators[0].state)
    for turn in range(2):
        for seed, generator in zip(seeds, generators, strict=True):
            graph.launch(stream, state=generator.state)
            _same(trial, f"turn {turn}", stream, out, draw(seed, turn * size, size))


@random_case()
def skipping_is_drawing(trial: Trial) -> None:
    """A skip of n words leaves a generator where drawing n words does, in stream order, up to the end of the sequence."""
    seed = _seed(trial)
    for words in (0, 1, 4, 1023, 2**32 - 1, 2**32, 2**63 + 3, 2**64 - 1):
        stream, generator = trial.asynchronous(), trial.closing(Generator(trial.device, seed))
        first = _drawn(trial, stream, generator.state, 10)
        generator.skip(stream, words)
        second = _drawn(trial, stream, generator.state, 10)
        _same(trial, "words before", stream, first, draw(seed, 0, 10))
        _same(trial, f"words after {words} skipped ones", stream, second, draw(seed, 10 + words, 10))


@random_case()
def saved_generators_are_restored(trial: Trial) -> None:
    """A state that was saved gives the same words again, in the same generator, in another one and after others."""
    stream, seed, size = trial.asynchronous(), _seed(trial), 600
    generator, other = (trial.closing(Generator(trial.device, each)) for each in (seed, seed ^ 1))
    _drawn(trial, stream, generator.state, 33)
    saved = generator.save(stream)
    trial.equal("the saved state", saved, np.array([seed, 33], np.uint64).tobytes())
    before = _drawn(trial, stream, generator.state, size)
    generator.restore(stream, saved)
    other.restore(stream, saved)
    again = _drawn(trial, stream, generator.state, size)
    elsewhere = _drawn(trial, stream, other.state, size)
    for what, out in (("before", before), ("again", again), ("elsewhere", elsewhere)):
        _same(trial, f"words {what}", stream, out, draw(seed, 33, size))


@random_case()
def refused_launches_draw_nothing(trial: Trial) -> None:
    """Launches with wrong operands or numbers are refused by name, and the state stays."""
    stream, generator = trial.asynchronous(), trial.closing(Generator(trial.device, 5))
    fill, out = _fill(trial, 8), trial.memory(32)
    both = trial.holding(stream, trial.noise(64))

    def refuse(kind: type[Exception], what: str, *words: str, **operands: Any) -> None:
        trial.refuses(what, kind, lambda: fill(stream, **operands), *words)

    refuse(ValueError, "a short state", "state", "16", state=generator.state[:8], out=out)
    refuse(ValueError, "a state at an odd place", "state", "8", state=both[4:20], out=out)
    refuse(ValueError, "an output over its state", "state", "out", state=both[:16], out=both[8:40])
    refuse(TypeError, "a missing state", "state", out=out)
    if has_cell(trial.device, "random_fill/bernoulli/bool/dense"):
        toss = RandomFill.infer("bernoulli", ep.TensorSpec("bool", (8,))).on(trial.device)
        for p in (-0.1, 1.5, float("nan")):
            trial.refuses(
                f"p = {p}",
                ValueError,
                functools.partial(toss, stream, state=generator.state, out=out, p=p),
                "bernoulli",
                "p",
            )
    closed = trial.memory(16)
    closed.close()
    refuse(ep.ClosedError, "a closed state", state=closed, out=out)
    trial.equal("the state", generator.save(stream), np.array([5, 0], np.uint64).tobytes())


@random_case()
def empty_launches_draw_nothing(trial: Trial) -> None:
    """An output without elements takes no words."""
    stream, generator = trial.asynchronous(), trial.closing(Generator(trial.device, 6))
    fill, nothing = _fill(trial, 0), trial.memory(0)
    fill(stream, state=generator.state, out=nothing)
    step = fill.bind(state=generator.state, out=nothing)
    step(stream)
    step.close()
    trial.equal("the state", generator.save(stream), np.array([6, 0], np.uint64).tobytes())
