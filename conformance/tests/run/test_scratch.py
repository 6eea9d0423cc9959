"""Scratch in the suite: full of noise between red zones, and apart for streams that run side by side."""

import contextlib
import itertools
import threading

import numpy as np
import pytest
from ep.stream.graph import Graph
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.catalogue import find
from ep_conformance.run.steps.path import run_case
from ep_primitives import Softmax
from ep_primitives.judging import layout

import ep

CASE = "primitives/softmax/-/float32/dense/rows"


class ScratchKernel(ep.Kernel):
    """A softmax over what it copied into scratch; `meet` is called when that is there."""

    def __init__(self, descriptor, defect, meet):
        self.descriptor, self.defect, self.meet = descriptor, defect, meet
        self.scratch_nbytes = descriptor.out.nbytes

    def launch(self, stream, memories, scalars):
        x, out, scratch = memories
        between = content(scratch).view(np.float32)[: self.descriptor.out.size]
        self.defect(between, scratch)
        between[:] = layout.view(self.descriptor.specs[0], content(x)).reshape(-1)
        self.meet()
        rows = between.reshape(self.descriptor.out.shape).astype(np.float64)
        rows = np.moveaxis(rows, self.descriptor.axis, -1)
        powers = np.exp(rows - rows.max(-1, keepdims=True))
        result = np.moveaxis(powers / powers.sum(-1, keepdims=True), -1, self.descriptor.axis)
        layout.view(self.descriptor.out, content(out))[...] = result


def content(memory, more=0):
    """Return the bytes of a memory, which is closed by the time a worker gets to it, and those behind it."""
    whole = np.frombuffer(memory.device.twin.host(memory.handle, memory._block.nbytes), np.uint8)
    return whole[memory.offset : memory.offset + memory.nbytes + more]


class OverScratch(ep.Implementation):
    def __init__(self, *hooks):
        self.hooks = hooks

    def accepts(self, descriptor, info):
        return True

    def create(self, descriptor, device, code):
        return ScratchKernel(descriptor, *self.hooks)


@pytest.fixture
def planted(monkeypatch):
    """Return a trial of a case on a CPU whose softmax works in scratch, and does something else there before."""
    device = ep.device("cpu:0")
    trials = []

    def plant(identity, defect=lambda *_: None, meet=lambda: None):
        table = {**device.provider.implementations, Softmax: (OverScratch(defect, meet),)}
        monkeypatch.setattr(type(device.provider), "implementations", table)
        device._primitives.clear()
        trials.append(Trial(device, identity))
        return trials[-1]

    yield plant
    device._primitives.clear()
    for trial in trials:
        trial.close()


def run(trial):
    found = find(CASE)
    return run_case(trial, found.family, found.case)


def test_kernel_that_keeps_to_its_scratch_passes_and_gets_noise(planted):
    held = []
    assert run(planted(CASE, lambda between, _: held.append(between.copy()))).status is Status.PASS
    given = [each for each in held if np.unique(each).size > each.size // 2]
    assert given, "no launch got noise"


def test_write_behind_scratch_is_found(planted):
    def stray(between, scratch):
        content(scratch, 4)[scratch.nbytes :] = 0

    with pytest.raises(CaseError, match=r"scratch: a write [1-4] bytes? past the end of its tensor"):
        run(planted(CASE, stray))


@pytest.mark.parametrize("name", ["streams-have-their-own", "graphs-wait-for-their-arena"])
def test_runtime_cases_launch_what_asks_for_scratch(planted, name):
    launches = []
    trial = planted(f"runtime/scratch/{name}", lambda between, scratch: launches.append(scratch.nbytes))
    find(trial.id).body(trial)
    assert len(launches) > 40


def pairwise():
    """Return what lets two launches at a time meet, once each stream has had one alone."""
    barrier, count = threading.Barrier(2), itertools.count()

    def meet():
        if next(count) >= 2:
            with contextlib.suppress(threading.BrokenBarrierError):
                barrier.wait(5)

    return meet


def test_graphs_whose_launches_do_not_follow_each_other_are_found(planted, monkeypatch):
    monkeypatch.setattr(Graph, "_follow", lambda self, stream, *rest: stream._submit(self, *rest))
    trial = planted("runtime/scratch/graphs-wait-for-their-arena", meet=pairwise())
    with pytest.raises(CaseError, match=r"\w+ beside another stream\[\d+\] == 0x"):
        find(trial.id).body(trial)


def test_launches_that_share_their_scratch_are_found(planted, monkeypatch):
    trial, taken = planted("runtime/scratch/streams-have-their-own", meet=pairwise()), []

    def allocate(stream, nbytes):
        taken.append(trial.device.allocate(nbytes) if not taken else taken[0])
        return taken[0]

    monkeypatch.setattr(ep.Stream, "allocate", allocate)
    monkeypatch.setattr(ep.Stream, "free", lambda *_: None)
    with pytest.raises(CaseError, match=r"\w+ beside another stream\[\d+\] == 0x"):
        find(trial.id).body(trial)
