"""Limits are positive, move what they are asked to, and fall back to the device's own copies."""

from __future__ import annotations

import numpy as np
import pytest
from ep_benchmarks.limits import host, native
from ep_benchmarks.limits.device import DeviceLimits
from ep_benchmarks.limits.host import HostLimits
from ep_benchmarks.limits.native import compiled
from ep_benchmarks.limits.work import Work, work_of
from ep_benchmarks.run import command as run_command
from ep_primitives import BroadcastBinary, Matmul

import ep

SPEC = ep.TensorSpec("float32", (1 << 16,))


@pytest.fixture(scope="module", name="limits")
def _limits():
    if compiled() is None:
        pytest.skip("no C compiler")
    return HostLimits(2, sizes=(1 << 16,))


def test_figures_are_positive(limits):
    figures = limits.figures()
    assert set(figures["memory"]) == {"copy", "add", "read", "fill"}
    assert all(speed > 0 for each in figures["memory"].values() for speed in each.values())
    assert figures["products"]["float32"] > 0


def test_what_binds_is_chosen(limits):
    assert limits.limit(work_of(BroadcastBinary.infer("add", SPEC, SPEC))).kind == "memory"
    square = ep.TensorSpec("float32", (1024, 1024))
    assert limits.limit(work_of(Matmul.infer(square, square))).kind == "float32"


@pytest.mark.parametrize(
    ("read", "written", "kinds"),
    [(2, 1, (1, 0, 0, 0)), (1, 1, (0, 1, 0, 0)), (3, 1, (1, 0, 1, 0)), (3, 2, (1, 1, 0, 0)), (1, 3, (0, 1, 0, 2))],
)
def test_bytes_are_moved_by_the_fewest_movements(limits, monkeypatch, read, written, kinds):
    seen = []
    monkeypatch.setattr(host, "Traffic", lambda *given: seen.append(given[3:7]) or native.Traffic(*given))
    unit = 64 * int(limits._vector)
    limits._moving(Work(read * unit, written * unit, 0, ""), 1, 0)(1)
    assert seen == [tuple(64 * each for each in kinds)]


def test_loops_write_what_they_say(limits):
    a, b, c = (np.zeros(3 * 64 + 16, np.float32) for _ in range(3))
    begin = [-each.ctypes.data % 64 // 4 for each in (a, b, c)]
    a, b, c = (each[first : first + 192] for each, first in zip((a, b, c), begin, strict=True))
    a[:], b[:] = 2, 3
    width = int(limits._vector) // 4
    for way in (0, 1, 2):
        c[:] = 0
        given = native.Traffic(
            a.ctypes.data, b.ctypes.data, c.ctypes.data, 64 // width, 64 // width, 0, 64 // width, way
        )
        compiled().limits_move(given, 3, 2)
        assert c.tolist() == [5] * 64 + [2] * 64 + [1] * 64


def test_without_a_compiler_the_device_copies(monkeypatch):
    monkeypatch.setattr(host, "compiled", lambda: None)
    device = ep.device("cpu:0")
    limits = run_command._limits(device, device.stream())
    assert isinstance(limits, DeviceLimits)
    assert "no C compiler" in limits.figures()["source"]
    limit = limits.limit(Work(4096, 4096, 0, "float32"))
    limit.runs[0](2)
    assert limit.kind == "memory"
