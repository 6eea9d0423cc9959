"""Two devices: what copies between them, who waits for whom, and access to a peer's memory."""

from __future__ import annotations

import json

HEAD = """
import ep, numpy as np
one, two = ep.device("cuda:0"), ep.device("cuda:1")
"""


def test_suite_runs_its_case_of_several_devices(run, emulated, tmp_path):
    report = tmp_path / "report.json"
    options = ("--quick", "--filter", "runtime/ability/copy*", "--json", str(report), "--no-replays")
    done = run(
        "-m", "ep_conformance", "run", "--provider", "cuda", *options, driver=emulated, EP_CUDA_EMULATOR_DEVICES="2"
    )
    assert done.returncode == 0, done.stdout
    cases = {case["id"]: case["status"] for case in json.loads(report.read_text(encoding="utf-8"))["cases"]}
    assert cases["runtime/ability/copy-between-devices"] == "pass"


def test_copies_between_devices_do_not_pass_the_host(run, emulated):
    text = """
kinds = ep.MemoryKind.DEVICE, ep.MemoryKind.PINNED
stream, theirs = one.stream(synchronous=False), two.stream(synchronous=False)
for mine in kinds:
    for its in kinds:
        here, there = one.allocate(1000, kind=mine), two.allocate(1000, kind=its)
        back, release = np.zeros(1000, np.uint8), []
        theirs.call(lambda: [None for _ in iter(lambda: bool(release), True)])
        theirs.fill(there, b"\\7")
        stream.wait(theirs.record())
        stream.copy(here, there)
        release.append(1)
        stream.fill(here[:10], b"\\1")
        stream.copy(there, here)
        theirs.wait(stream.record())
        theirs.download(back, there)
        theirs.synchronize()
        print((back[:10] == 1).all() and (back[10:] == 7).all())
print(one.degraded["copy-between-devices"], two.degraded["copy-between-devices"], one.can_access(two), one.can_access(ep.device("cpu:0")))
"""
    done = run("-c", HEAD + text, driver=emulated, EP_CUDA_EMULATOR_DEVICES="2")
    assert done.stdout.splitlines() == [*["True"] * 4, "0 0 True False"], done.stderr


def test_kernels_reach_a_peer_that_was_asked_for(run, emulated):
    """Its memory is wrapped past EP, which would refuse it; without the question the emulated driver ends the context."""
    text = """
import sys
from ep_primitives import ElementwiseUnary
if sys.argv[1:]:
    print(one.can_access(two))
there, out, stream = two.allocate(1024), one.allocate(1024), one.stream()
two.stream().fill(there, b"\\0\\0\\x80\\xbf")
two.synchronize()
abs_ = ElementwiseUnary.infer("abs", ep.TensorSpec("float32", (256,))).on(one)
there.device = there._block.device = one
try:
    abs_(stream, x=there, out=out)
    stream.synchronize()
    array = np.empty(256, np.float32)
    stream.download(array, out)
    stream.synchronize()
    print(set(array.tolist()))
except ep.DeviceLostError as error:
    print(error.code)
import os
sys.stdout.flush()
os._exit(0)
"""
    done = run("-c", HEAD + text, "asked", driver=emulated, EP_CUDA_EMULATOR_DEVICES="2")
    assert done.stdout.splitlines() == ["True", "{1.0}"], done.stderr
    done = run("-c", HEAD + text, driver=emulated, EP_CUDA_EMULATOR_DEVICES="2")
    assert done.stdout == "CUDA_ERROR_ILLEGAL_ADDRESS (700)\n", done.stderr
