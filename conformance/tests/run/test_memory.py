"""Memory: what a case needs is known before it runs, and one that does not fit is named, not tried."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from ep_conformance.commands.options import Bytes
from ep_conformance.fixture.capacity import fitting
from ep_conformance.plan.catalogue import cell_cases, cells, find
from ep_conformance.run.memory import PeakMemory, free_memory
from ep_conformance.run.steps.need import lack_of_memory, needed_memory, size_text
from ep_conformance.run.worker import Job, execute

import ep

RELU = "primitives/elementwise_unary/relu/float32/dense/size-*"
LARGE = "primitives/elementwise_unary/relu/float32/dense/size-1048579"
GIB = 1 << 30


def read(toy):
    return {case["id"]: case for case in json.loads(toy.report.read_text())["cases"]}


def test_case_that_does_not_fit_is_missing_and_says_what_it_needs(toy):
    words = ("--profile", "standard", "--filter", RELU, "--memory-limit", "80MiB", "--jobs", 1)
    done = toy("run", "--provider", "toy", "--json", toy.report, *words)
    assert done.returncode == 1, done.stdout
    found = read(toy)
    large = found.pop(LARGE)
    assert large["status"] == "missing"
    assert large["reason"] == "not run: it needs about 192 MiB of memory, and --memory-limit leaves a worker 80 MiB"
    assert large["first"] is None
    assert {case["status"] for case in found.values()} == {"pass"}
    again = toy("run", "--provider", "toy", "--json", toy.report, "--resume", toy.report, *words[:-4], *words[-2:])
    assert again.returncode == 0
    assert read(toy)[LARGE]["status"] == "pass"


def test_case_whose_operands_the_device_does_not_hold_is_missing_before_it_runs(command):
    """Two vectors of 1048579 float32."""
    words = ("--profile", "standard", "--filter", LARGE, "--jobs", 1, "--json", command.report)
    done = command("run", "--provider", "sim", *words, EP_SIM_MEMORY="8M")
    assert done.returncode == 1, done.stdout
    (case,) = read(command).values()
    assert (case["status"], case["seconds"]) == ("missing", 0)
    assert case["reason"] == "not run: its operands take 8388632 bytes of the device's memory, and sim:0 has 8388608"


def test_runtime_cases_fit_a_device_of_16_mib(command):
    """Those that take most, and some that keep streams busy; all others take less."""
    done = command.run("sim", "--filter", "runtime/[acdflmp]*/[lmw]*", EP_SIM_MEMORY="16M")
    assert done.returncode == 0, done.stdout
    ran = {case["id"] for case in done.json["cases"] if case["status"] == "pass"}
    assert {
        "runtime/ability/memory-info",
        "runtime/copy/large-ranges-are-moved-to-the-end",
        "runtime/fill/large-ranges-are-filled-to-the-end",
        "runtime/memory/large-memories-hold-their-ends",
        "runtime/primitive/large-launches-reach-the-end",
    } <= ran


def test_lengths_shrink_with_the_device_alone(device_of):
    assert fitting(device_of(1 << 30), 4 << 20, copies=16) == 4 << 20
    assert fitting(device_of(64 << 20), 4 << 20, copies=16) == 2 << 20
    assert fitting(device_of(100), 4 << 20, copies=16) == 4096
    assert fitting(device_of(0), 4 << 20, copies=16) == 4 << 20, "nobody knows"


@pytest.fixture
def device_of():
    def make(total):
        info = ep.DeviceInfo("small", "EP", memory=total)
        return SimpleNamespace(info=info, memory_info=lambda: SimpleNamespace(total=total or None))

    return make


def test_limit_is_a_number_of_bytes():
    assert [Bytes().convert(text, None, None) for text in ("7", "80MiB", "4 GiB")] == [7, 80 << 20, 4 << 30]
    for text in ("much", "0", "-1", "4 TB", "1.5GiB"):
        with pytest.raises(click.BadParameter, match="write it like 4GiB"):
            Bytes().convert(text, None, None)


def test_lack_names_what_is_needed_and_what_there_is(monkeypatch):
    monkeypatch.setattr("ep_conformance.run.steps.need.free_memory", lambda: 8 * GIB)
    assert lack_of_memory(7 * GIB, None) == ""
    assert (
        lack_of_memory(9 * GIB, None)
        == "not run: it needs about 9.0 GiB of memory, and 8.0 GiB are free on this machine"
    )
    assert lack_of_memory(9 * GIB, 64 * GIB), "the machine is no larger than it is"
    assert "--memory-limit leaves a worker 2.0 GiB" in lack_of_memory(3 * GIB, 2 * GIB)
    monkeypatch.setattr("ep_conformance.run.steps.need.free_memory", lambda: None)
    assert lack_of_memory(900 * GIB, None) == ""


def test_no_case_of_the_standard_profile_needs_a_gibibyte():
    most = max(
        (needed_memory(found, is_on_host=True), found.id)
        for family, cell in cells()
        if cell.layout in {"dense", "strided"}
        for found in cell_cases(family, cell, "standard")
        if any(word in found.id for word in ("size-1048579", "long", "many", "past"))
    )
    assert most[0] < GIB, f"{most[1]} needs about {size_text(most[0])}"


@pytest.mark.parametrize(
    "identity",
    [
        "primitives/elementwise_unary/identity/int8/strided/far-rows",
        "primitives/where/-/bool,int8->int8/strided/far-rows",
        "primitives/softmax/-/float16/strided/far-elements",
    ],
)
def test_far_elements_of_the_large_profile_are_counted(identity):
    found = find(identity)
    spans = sum(spec.nbytes for spec in found.case.descriptor.specs)
    assert 3 * spans < needed_memory(found, is_on_host=True) < 7 * spans
    assert needed_memory(found, is_on_host=True) - needed_memory(found, is_on_host=False) == spans


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone tells a peak anew")
def test_need_bounds_what_a_case_takes():
    device = ep.device("cpu:0")
    identity = "primitives/broadcast_binary/add/float64/dense/size-1048579"
    needed = needed_memory(find(identity), is_on_host=True)
    device.trim()
    Path("/proc/self/clear_refs").write_text("5")
    before = PeakMemory().read()
    execute(device, identity, Job("cpu:0", "standard", None, 0, None, Path(os.devnull)))
    taken = PeakMemory().read() - before
    assert taken < needed < 16 * max(taken, 16 << 20)


def test_peak_memory_is_seen():
    peak = PeakMemory()
    before = peak.read()
    block = np.ones(1 << 26, np.uint8)
    assert peak.read() >= max(before, block.nbytes)


def cgroup(root, kind, files):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4096 kB\n")
    (root / "proc/self/cgroup").write_text(f"3:cpu:/x\n{kind}\n")
    for path, text in files.items():
        place = root / "sys/fs/cgroup" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return free_memory(root)


def test_free_memory_is_what_the_tightest_of_machine_and_groups_leaves(tmp_path):
    assert cgroup(tmp_path / "none", "0::/job", {}) == 4096 << 10
    unlimited = {"job/memory.max": "max\n", "job/memory.current": "5\n"}
    assert cgroup(tmp_path / "max", "0::/job", unlimited) == 4096 << 10
    limited = {"job/memory.max": "1000", "job/memory.current": "900", "job/memory.stat": "anon 1\ninactive_file 50\n"}
    assert cgroup(tmp_path / "second", "0::/job/inner", limited) == 150
    first = {"memory/job/memory.limit_in_bytes": "700", "memory/job/memory.usage_in_bytes": "900"}
    assert cgroup(tmp_path / "first", "4:memory:/job", first) == 0
