"""Gates hold a stream back until they are opened; what passes one that is shut is accused, and nobody else."""

import time

import pytest
from ep_conformance.fixture import gate as gates
from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.long import long_works
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError

import ep


@pytest.fixture
def trial():
    made = Trial(ep.device("cpu:0"), "runtime/event/order")
    yield made
    made.close()


def test_nothing_behind_a_gate_is_done_before_it_opens(trial):
    stream, old, new = trial.asynchronous(), trial.noise(100), trial.noise(100)
    memory, held = late(trial, stream, old, new)
    event = stream.record()
    assert held.holds
    assert held.is_shut
    assert not held.linger(lambda: event.is_done)
    assert (trial.content(trial.stream(), memory) == old).all()
    held.open()
    assert not held.is_shut
    assert (trial.content(stream, memory) == new).all()


def test_stream_that_goes_on_beside_a_gate_is_accused_by_name(trial):
    first, second = trial.asynchronous(), trial.asynchronous()
    held = gate(trial, first)
    with pytest.raises(CaseError, match=f"{second.name} went on although what it waits for was held back"):
        held.hold_back(second)


def test_stream_that_waits_is_accused_of_nothing(trial):
    first, second = trial.asynchronous(), trial.asynchronous()
    held = gate(trial, first)
    second.wait(first.record())
    held.hold_back(second)
    second.synchronize(10)


def test_gate_that_nobody_opens_expires_and_accuses_nobody(trial):
    """A bounded queue lets the host wait; so does a machine that stands still."""
    stream = trial.asynchronous()
    held = gate(trial, stream, is_deep=True)
    stream.synchronize(10)
    assert held.has_expired
    assert not held.is_shut
    held.hold_back(stream)


def test_synchronous_stream_is_not_held(trial):
    held = gate(trial, trial.stream(synchronous=True))
    assert not held.holds
    assert not held.is_shut
    begin = time.monotonic()
    held.hold_back(trial.asynchronous())
    assert time.monotonic() - begin < 1


def test_host_that_would_wait_for_the_gate_puts_none(trial, monkeypatch):
    """Where EP's defaults record and wait, the host does it in the device's place, and never came to open."""
    monkeypatch.setattr(gates, "serves_calls", lambda _: True)
    monkeypatch.setattr(gates, "_orders", gates._orders.__wrapped__)
    for how, holds in (("native", True), ("degraded", False)):
        monkeypatch.setattr(gates, "ability", lambda *_, how=how: how)
        assert gates._can_be_held(trial.stream(synchronous=True)) == holds


def test_long_works_say_what_is_missing(trial):
    for work in long_works(trial, trial.stream()):
        assert (work.parts() != work.needed).any(), work.what
        work.enqueue()
        assert (work.parts() == work.needed).all(), work.what
