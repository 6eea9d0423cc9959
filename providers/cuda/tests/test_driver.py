"""Machines without a driver, with one that is too old, with none that is one, and with no device: a sentence each, with the cure."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import ep_cuda
import pytest
from ep_cuda import driver
from ep_cuda.compiler import nvrtc
from ep_cuda.cublas import library

SUITE = ("-m", "ep_conformance", "run", "--provider", "cuda", "--filter", "runtime/device/*")
PACKAGE = Path(ep_cuda.__file__).parent
PROBE = "import ep; print(ep.device('cuda:0').info.name)"


def has_driver(run):
    return run("-c", PROBE).returncode == 0


def test_suite_without_a_driver_is_one_sentence_and_exit_3(run):
    if has_driver(run):
        pytest.skip("this machine has a driver")
    done = run(*SUITE)
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(
        "Error: provider cuda: NVIDIA's driver is not installed (cannot load library 'libcuda.so.1'"
    )
    assert done.stderr.endswith("in a container: --gpus all), or leave this provider out with EP_DISABLE=cuda\n")


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"EP_CUDA_EMULATOR_VERSION": "11080"},
            f"NVIDIA's driver serves CUDA 11.8, and EP needs 12.0; install a newer driver ({driver._CURE})",
        ),
        (
            {"EP_CUDA_EMULATOR_DEVICES": "0"},
            "NVIDIA's driver finds no hardware that it can use (CUDA_ERROR_NO_DEVICE); look at nvidia-smi, and at CUDA_VISIBLE_DEVICES",
        ),
    ],
)
def test_driver_that_cannot_be_used_says_why(run, emulated, variables, sentence):
    done = run(*SUITE, driver=emulated, **variables)
    assert (done.returncode, done.stderr) == (3, f"Error: provider cuda: {sentence}\n")


def test_library_of_another_kind_is_no_driver(run, tmp_path):
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["gcc", "-shared", "-x", "c", "/dev/null", "-o", str(library)], check=True)
    done = run(*SUITE, driver=tmp_path)
    assert done.returncode == 3
    assert "libcuda.so.1 is no driver of NVIDIA's, or one older than CUDA 12.0" in done.stderr


def test_listing_providers_opens_no_driver(run):
    done = run("-c", "import ep_cuda, sys; ep_cuda.ep_provider(); print('ep_cuda.driver' in sys.modules)")
    assert done.stdout == "False\n"


def test_device_tells_what_the_driver_tells(run, emulated):
    done = run(
        "-c",
        "import ep; i = ep.device('cuda:1').info; print(i.name, i.driver, i.fingerprint, i.subgroup_size, sorted(k.name for k in i.memory_kinds))",
        driver=emulated,
        EP_CUDA_EMULATOR_DEVICES="2",
    )
    assert done.stdout == "Emulated CUDA (no GPU) CUDA 13.0 0000:01:00.0 32 ['DEVICE', 'PINNED', 'SHARED']\n", (
        done.stderr
    )


def test_doctor_says_what_is_missing(run, emulated):
    """Without cuBLASLt all works; without NVRTC nothing does. Each comes with the command that brings it."""
    done = run(
        "-c",
        "import sys, ep.cli; sys.argv[1:] = ['doctor']; ep.cli.main()",
        driver=emulated,
        EP_PROVIDERS="cuda",
        COLUMNS="400",
    )
    advice = "matrix products run by the portable kernels; pip install 'execution-provider[cuda-matmul]' brings it"
    if library.located() is None:  # PyTorch for CUDA brings it
        assert f"1 device; cuBLASLt is not installed, so that {advice}" in done.stdout
    program = "import ep_cuda.library as l; l.in_wheels = lambda _: []\nimport ep; ep.device('cuda:0')"
    done = run("-c", program, driver=emulated)
    assert "pip install 'execution-provider[cuda]' brings it" in done.stderr


def test_doctor_names_a_device_that_the_compiler_makes_no_code_for(run, emulated):
    program = "import sys, ep.cli; sys.argv[1:] = ['doctor']; ep.cli.main()"
    variables = {"EP_PROVIDERS": "cuda", "COLUMNS": "600", "EP_CUDA_EMULATOR_ARCHITECTURE": "50"}
    done = run("-c", program, driver=emulated, **variables)
    said = r"1 device; cuda:0 runs no kernel: NVRTC \S+ makes code for compute capability \d+\.\d and newer, and the device has 5\.0; take an older one"
    assert re.search(said, done.stdout), done.stdout


def test_every_type_that_is_named_was_met_before():
    """cffi would meet it under a lock, and a signal handler in the middle of that would wait for ever."""
    for ffi, paths in (
        (driver.ffi, PACKAGE.glob("*.py")),
        (nvrtc._ffi, [PACKAGE / "compiler" / "nvrtc.py"]),
        (library.ffi, PACKAGE.glob("cublas/*.py")),
    ):
        text = "".join(path.read_text(encoding="utf-8") for path in paths)
        named = set(re.findall(r'ffi\.(?:new|cast)\("([^"]+)"', text))
        named |= {f"{kind} *" for kind in re.findall(r'(?:answer|made|owned)\(\s*"\w+", "([^"]+)"', text)}
        named |= {word for kind in re.findall(r'"(u?int\d+_t)"', text) for word in (kind, f"{kind} *")}
        assert named
        assert named <= set(ffi._parsed_types)
