"""Generated programs are legal, the same for the same seed, and shrink to what matters."""

import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError
from ep_conformance.programs.launches import Replay
from ep_conformance.programs.moves import Copy, Fill, UploadNoise
from ep_conformance.programs.order import HOST, Order, Span
from ep_conformance.programs.points import Record, Synchronize, SynchronizeEvent, Wait
from ep_conformance.programs.program import Intent, Mix
from ep_conformance.programs.search import SHRINK_SECONDS, try_programs
from ep_conformance.programs.verbs import build
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

MIX = Mix(("upload", "copy", "fill", "download", "wait", "record", "graph", "replay", "close", "synchronize"), unit=4)
NUMBERS = st.integers(0, 2**16 - 1)
INTENTS = st.lists(
    st.builds(Intent, st.sampled_from(MIX.verbs), st.integers(0, 3), NUMBERS, NUMBERS, NUMBERS), max_size=30
)


def places(program):
    """The ops of streams that touch bytes, each with its place in the program."""
    return [(at, op) for at, op in enumerate(program.ops) if op.reads or op.writes]


def reaches(program, start, end):
    """Say whether the op at `end` is behind that at `start`, by walking along streams, events and waits alone."""
    known = {program.ops[start].actor}
    events = set()
    for op in program.ops[start + 1 : end + 1]:
        if op.actor in known and isinstance(op, Record):
            events.add(op.event)
        if isinstance(op, Wait) and op.event in events:
            known.add(op.actor)
        if (isinstance(op, SynchronizeEvent) and op.event in events) or (
            isinstance(op, Synchronize) and op.stream in known
        ):
            return True  # all that the host enqueues from here on is behind it
    return program.ops[end].actor in known


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), INTENTS)
def test_program_orders_every_conflict(streams, intents):
    program = build(MIX, 1, [False] * streams, intents)
    touching = places(program)
    for number, (start, first) in enumerate(touching):
        for end, second in touching[number + 1 :]:
            meets = any(
                a.meets(b)
                for a in (*first.reads, *first.writes)
                for b in (*second.reads, *second.writes)
                if a in first.writes or b in second.writes
            )
            assert not meets or reaches(program, start, end), f"{first} races with {second}"


@settings(max_examples=30, deadline=None)
@given(INTENTS)
def test_program_without_conflicts_is_left_unordered(intents):
    """What does not conflict gets no wait: a suite that orders everything would show nothing."""
    kept = [intent for intent in intents if intent.verb in {"copy", "fill", "upload"}]
    one = build(MIX, 1, [False, False], [intent._replace(stream=0) for intent in kept])
    assert not any(isinstance(op, Wait | Synchronize | SynchronizeEvent) for op in one.ops)


def test_order_knows_what_an_event_is_behind():
    order, span = Order("ab"), Span("m", 0, 4)
    order.enqueue("a", (), (span,))
    assert order.conflict("b", (span,), ()) is not None
    assert order.conflict("b", (span._replace(place="n"),), ()) is None
    order.record("e", "a")
    order.enqueue("a", (), (span,))
    order.wait("b", "e")
    assert order.conflict("b", (span,), ()) is not None, "the event came before the second write"
    order.synchronize("a")
    assert order.conflict("b", (span,), ()) is None


def test_replay_is_ordered_as_what_it_does():
    intents = [
        Intent("graph", 0, 0, 0, 0),
        Intent("fill", 0, 0, 0, 3),
        Intent("graph", 0, 0, 0, 0),
        Intent("fill", 1, 0, 0, 3),
    ]
    program = build(MIX, 1, [False, False], intents)
    replay, fill = [op for op in program.ops if isinstance(op, Replay | Fill) and op.writes]
    assert replay.writes == fill.writes
    assert any(isinstance(op, Wait) and op.actor == "b" for op in program.ops)


class Lies:
    """Lets copies of a device move one byte too few."""

    def __init__(self, monkeypatch, device):
        stream = type(device.stream().twin)
        honest = stream.copy

        def copy(self, dst, src, nbytes):
            both = isinstance(dst, ep.Memory) and isinstance(src, ep.Memory) and nbytes > 1
            honest(self, dst[: nbytes - 1] if both else dst, src[: nbytes - 1] if both else src, nbytes - both)

        monkeypatch.setattr(stream, "copy", copy)


def failure(seed):
    with pytest.raises(CaseError) as caught:
        try_programs(
            Trial(ep.device("cpu:0"), "runtime/program/test", seed, "quick"), Mix(("copy", "fill", "upload", "stall"))
        )
    return str(caught.value)


def test_failing_program_shrinks_to_a_few_lines(monkeypatch):
    monkeypatch.setitem(SHRINK_SECONDS, "quick", 300.0)
    Lies(monkeypatch, ep.device("cpu:0"))
    message = failure(1)
    first, *code = message.splitlines()
    assert "needed" in first
    assert "cpu:0, seed 1" in first
    assert any(".copy(" in line for line in code)
    assert len(code) <= 8, message


def test_same_seed_draws_the_same_programs(monkeypatch):
    seen = []
    monkeypatch.setattr("ep_conformance.programs.search._Search._perform_once", lambda _, program: seen.append(program))
    for seed in (1, 1, 2):
        try_programs(Trial(ep.device("cpu:0"), "runtime/program/test", seed, "quick"), MIX)
    third = len(seen) // 3
    assert seen[:third] == seen[third : 2 * third]
    assert seen[:third] != seen[2 * third :]


def test_program_reads_as_code():
    program = build(MIX, 1, [False, False], [Intent("copy", 0, 1, 0, 0), Intent("upload", 1, 0, 0, 7)])
    assert [type(op) for op in program.ops if not isinstance(op, Record | Wait)] == [Copy, UploadNoise]
    lines = "\n".join(program.lines())
    assert "a = device.stream(synchronous=False)" in lines
    assert "a.copy(" in lines
    assert "h0" not in lines, "what is not used is left out"
    assert all(op.actor != HOST for op in program.ops)
