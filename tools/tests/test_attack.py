"""The attacks, for a moment: everything public gets what callers should not give, and ends in a sentence."""

from __future__ import annotations

import math

import pytest
from ep_tools.attack import calls, capsules, command


@pytest.mark.parametrize("attack", [calls, capsules], ids=["calls", "capsules"])
def test_nothing_that_is_given_ends_otherwise_than_in_a_sentence(attack):
    counts = attack.attack(math.inf, 1, most=600)
    assert counts.total() == 600
    outcomes = {key.partition(": ")[2] for key in counts}
    assert {"ok", "ValueError", "TypeError"} <= outcomes


def test_command_counts_what_it_did(tools):
    done = tools("attack", "capsules", "--seconds", 4, "--seed", 7)
    assert (done.code, done.lines) == (0, [])
    first, *counts = done.output.splitlines()
    assert first == "capsules: seed 7, about 4 s"
    assert all(int(line.split()[0].replace(",", "")) > 0 for line in counts)
    assert any(line.endswith(": ok") for line in counts)


def test_finding_is_told_with_what_repeats_it(tools, monkeypatch):
    def attack(seconds, seed):
        raise AssertionError(f"a wrong byte; seed {seed}")

    monkeypatch.setitem(command._PARTS, "signals", attack)
    done = tools("attack", "signals", "--seed", 7)
    assert (done.code, done.lines) == (1, [])
    assert done.output.splitlines() == ["signals: seed 7, about 120 s", "  FOUND a wrong byte; seed 7"]
