"""A device in another process: its runtime cases pass; its death raises an error with its name and harms no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "ep_far"

KILLED = """
import signal, sys
import ep
device, other = ep.device("far:0"), ep.device("far:1")
stream, beside = device.stream(), other.stream()
memory, source = device.allocate(1 << 20), device.allocate(1 << 20)
theirs, host = other.allocate(64), bytearray(64)
stream.fill(memory, b"a")
stream.synchronize(60)
event = stream.record()
for _ in range(200):
    stream.copy(source, memory)
device.twin.link.process.send_signal(signal.SIGKILL)
device.twin.link.process.wait()
try:
    stream.synchronize(60)
except ep.DeviceLostError as error:
    print(error.op, error.stream == stream.name, error.sequence > 2, "is lost" in str(error))
for use in (event.synchronize, lambda: stream.fill(memory, b"b"), lambda: stream.synchronize(60), device.synchronize):
    try:
        use()
    except ep.DeviceLostError:
        continue
    print("raised nothing")
print(event.is_done, stream.is_idle)
beside.fill(theirs, b"c")
beside.download(host, theirs)
beside.synchronize(60)
print(bytes(host) == b"c" * 64)
sys.exit(5)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a process that has the package."""
    folder = tmp_path_factory.mktemp("far")
    shutil.copytree(EXAMPLE / "ep_far", folder / "ep_far")
    info = folder / "ep_far-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep_far\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[ep.providers]\nfar = ep_far\n")
    return {**os.environ, "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder), "COLUMNS": "200"}


def run(environment, *words):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env=environment, timeout=300
    )


def test_far_passes_the_cases_of_the_runtime(installed, tmp_path):
    """Of the areas in which a device in another process is special."""
    report = tmp_path / "report.json"
    words = ("--provider", "far", "--quick", "--filter", "runtime/[aglps][abrl][aiot][elmpt]*/*", "--json", str(report))
    done = run(installed, "-m", "ep_conformance", "run", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    table = json.loads(report.read_text())
    assert table["summary"]["pass"] == table["summary"]["expected"] > 20
    assert {case["id"].split("/")[1] for case in table["cases"]} >= {"ability", "graph", "late", "slot", "primitive"}
    assert "untried" not in table["verdict"]


def test_far_passes_the_cases_of_its_cells(installed, tmp_path):
    report = tmp_path / "report.json"
    words = ("--provider", "far", "--quick", "--filter", "*/float32/dense/*", "--json", str(report))
    done = run(installed, "-m", "ep_conformance", "run", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(report.read_text())["summary"]["pass"] > 30


def test_death_of_the_process_in_the_middle_is_heard_and_harms_nobody_else(installed):
    done = run(installed, "-c", KILLED)
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.splitlines() == ["copy True True True", "True True", "True"]


def test_bytes_of_a_constant_upload_go_with_its_frame(installed):
    program = """
import ep
from ep_far import wire
device = ep.device("far:0")
stream, memory, back = device.stream(), device.allocate(1 << 20), bytearray(1 << 20)
with_bytes, send = [], wire.send
def noted(end, head, body=b""):
    if len(body):
        with_bytes.append(head[0])
    send(end, head, body)
wire.send = noted
for constant in (False, True):
    source = bytes([65 + constant]) * len(back)
    stream.upload(memory, source, constant=constant)
    stream.fill(memory[:1], b"z")
    stream.download(back, memory)
    stream.synchronize(60)
    print(back == b"z" + source[1:])
print(*with_bytes)
"""
    assert run(installed, "-c", program).stdout.splitlines() == ["True", "True", "pushed upload"]


def test_memory_of_another_process_is_no_dlpack(installed):
    program = """
import ep
device = ep.device("far:0")
try:
    device.stream().export(device.allocate(4), ep.TensorSpec("float32", (1,)))
except ep.UnsupportedError as error:
    print("refused")
"""
    assert run(installed, "-c", program).stdout == "refused\n"
