"""Many launches are judged by equal bits where a device promises them, and else by the kernel's own accuracy."""

import numpy as np
import pytest
from ep_conformance.fixture import rows
from ep_conformance.fixture.kernel import find_kernel
from ep_conformance.fixture.rows import Launches, check_rows, numbered
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError

import ep

COUNT = 100


@pytest.fixture
def trial():
    made = Trial(ep.device("cpu:0"), "runtime/depth/launches")
    yield made
    made.close()


@pytest.fixture
def work(trial):
    """The launches, all done."""
    made, stream = Launches(trial, find_kernel(trial.device), COUNT), trial.stream()
    for number in range(COUNT):
        made.primitive(stream, **made.operands(number))
    stream.synchronize()
    return made


def changed(trial, work, number, change):
    """Let a launch have written something else."""
    stream, out = trial.stream(), work.operands(number)["out"]
    result = trial.content(stream, out).view(np.float32)
    stream.upload(out, change(result).astype(np.float32).view(np.uint8))
    stream.synchronize()


def test_last_bit_counts_where_bits_are_promised(trial, work):
    work.check("launch")
    changed(trial, work, 7, lambda result: np.nextafter(result, np.float32(0)))
    with pytest.raises(CaseError, match="launch 7 of 100"):
        work.check("launch")


def test_wrong_kernel_is_found_without_the_promise(trial, work, monkeypatch):
    monkeypatch.setattr(rows, "is_promised", lambda _: False)
    changed(trial, work, 7, lambda result: np.nextafter(result, np.float32(0)))
    work.check("launch")
    changed(trial, work, 8, lambda result: result[::-1])
    with pytest.raises(CaseError, match=r"launch 8 of 100: .* gave .*, needed "):
        work.check("launch")


def test_first_wrong_row_is_named(trial):
    found, needed = numbered(5), numbered(5)
    found[3, 7] ^= 1
    with pytest.raises(CaseError, match=r"copy 3 of 5\[7\]"):
        check_rows(trial, "copy", found, needed)
    assert np.unique(needed, axis=0).shape == needed.shape
