"""`ep-cuda-emulator`, as its users start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ep_cuda_emulator import place


def start(*words, **variables):
    command = [sys.executable, "-c", "from ep_cuda_emulator.cli import main; main()", *words]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def test_program_finds_the_driver_and_its_options():
    done = start(
        "run",
        "--devices",
        "3",
        "--seed",
        "5",
        "--in-step",
        "--",
        sys.executable,
        "-c",
        "import ctypes, os; d = ctypes.CDLL('libcuda.so.1'); n = ctypes.c_int(); d.cuInit(0); d.cuDeviceGetCount(ctypes.byref(n)); "
        "print(n.value, os.environ['EP_CUDA_EMULATOR_SEED'], os.environ['EP_CUDA_EMULATOR_IN_STEP'])",
    )
    assert (done.stdout, done.returncode) == ("3 5 1\n", 0), done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DEVICES", "9"),
        ("MEMORY", "4GiB"),
        ("ARCHITECTURE", "9.0"),
        ("SEED", "-1"),
        ("THREADS", ""),
        ("VERSION", "13.0"),
    ],
)
def test_variable_that_is_no_such_number_is_wrong_use(name, text):
    with pytest.raises(ValueError, match=f"EP_CUDA_EMULATOR_{name} is '{text}', needs a number from [0-9]+ to [0-9]+"):
        place.environment({f"EP_CUDA_EMULATOR_{name}": text})


def test_exit_code_is_the_programs():
    assert start("run", sys.executable, "-c", "raise SystemExit(7)").returncode == 7


def test_program_that_is_not_there_is_wrong_use():
    done = start("run", "no-such-program")
    assert done.returncode == 2
    assert done.stderr.endswith("Error: there is no program no-such-program\n")


def test_path_is_where_the_library_lies():
    assert start("path").stdout.strip() == str(place.library().parent)


def test_library_that_was_not_built_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(place.ep_cuda_emulator, "__path__", [])
    with pytest.raises(place.MissingError, match="g\\+\\+"):
        place.library()


def test_compiler_that_is_missing_says_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    with pytest.raises(place.MissingError, match=r"pip install 'execution-provider\[cuda-emulator\]' brings it"):
        place.environment({})


def test_python_that_is_missing_is_an_error_of_the_driver(emulate):
    text = """
from bare_driver import Driver, DriverError
try:
    Driver().load(".version 9.0\\n.target sm_90\\n")
except DriverError as error:
    print(error.code)
"""
    environment = {
        **place.environment(),
        "EP_CUDA_EMULATOR_PYTHON": "/no/python",
        "PYTHONPATH": str(Path(__file__).parent),
    }
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "304\n"
    assert "no Python translates PTX" in done.stderr


def test_nvcc_makes_ptx_where_code_of_a_device_is_asked_for(tmp_path, monkeypatch):
    """The compiler of a toolkit is stood in for by a script that says what it was asked."""
    real = tmp_path / "nvcc"
    real.write_text('#!/bin/sh\necho "$@"\n')
    real.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    variables = place.environment({**os.environ, "PATH": path})
    done = subprocess.run(
        ["nvcc", "--cubin", "-arch", "sm_90", "-I/a b", "kernel.cu"],
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "--ptx -arch sm_90 -I/a b kernel.cu -o kernel.cubin\n"
