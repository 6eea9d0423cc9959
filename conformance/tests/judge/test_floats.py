"""The floating-point environment of a process: a library that changes it is named, and no case passes behind it."""

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from ep_conformance.judge.floats import changed_environment
from ep_conformance.judge.outcome import Status
from ep_conformance.run import worker

import ep

UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}
"""FE_UPWARD of C's fenv.h."""

FLUSHES = bytes.fromhex("0fae5c24f8 814c24f840800000 0fae5424f8 c3")
"""x86-64: stmxcsr, or 0x8040 (flush to zero, denormals are zero), ldmxcsr; what crtfastmath.o of gcc does at its load."""

FLUSH = f"""
import ctypes, mmap
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write({FLUSHES!r})
ctypes.CFUNCTYPE(None)(ctypes.addressof((ctypes.c_char * 4096).from_buffer(memory)))()
from ep_conformance.judge.floats import changed_environment
print(changed_environment())
"""


def test_untouched_environment_is_right():
    assert changed_environment() == ""


@pytest.mark.skipif(platform.machine() not in UPWARD, reason="FE_UPWARD is not known here")
def test_other_rounding_is_noticed():
    libm = ctypes.CDLL(None)
    before = libm.fegetround()
    libm.fesetround(UPWARD[platform.machine()])
    try:
        text = changed_environment()
    finally:
        libm.fesetround(before)
    assert "does not round to nearest" in text
    assert "subnormal" not in text


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the machine code is that of x86-64")
def test_flushing_is_noticed():
    done = subprocess.run([sys.executable, "-c", FLUSH], capture_output=True, text=True, check=True)
    assert "makes subnormal results zero and takes subnormal operands for zero" in done.stdout
    assert "-ffast-math" in done.stdout


@pytest.mark.parametrize("said", [["it rounds up"], ["", "it rounds up"]])
def test_no_case_passes_where_it_was_changed_before_or_by_the_case(monkeypatch, said):
    answers = iter(said)
    monkeypatch.setattr(worker, "changed_environment", lambda: next(answers))
    job = worker.Job("cpu:0", "quick", None, 0, None, Path())
    outcome = worker.execute(ep.device("cpu:0"), "runtime/memory/zero-bytes-are-legal", job)
    assert (outcome.status, outcome.reason) == (Status.FAIL, "it rounds up")
    assert next(answers, "asked no more") == "asked no more"
