"""The attacks of tools/attack, for a moment: everything public gets what callers should not give, and ends in a sentence."""

from __future__ import annotations

import math

import pytest
from attack import calls, capsules


@pytest.mark.parametrize("attack", [calls, capsules], ids=["calls", "capsules"])
def test_nothing_that_is_given_ends_otherwise_than_in_a_sentence(attack):
    counts = attack.attack(math.inf, 1, most=600)
    assert counts.total() == 600
    outcomes = {key.partition(": ")[2] for key in counts}
    assert {"ok", "ValueError", "TypeError"} <= outcomes
