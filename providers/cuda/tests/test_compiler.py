"""NVRTC and the files of its programs; neither needs a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ep.kept import Kept
from ep_cuda.compiler import kept as files
from ep_cuda.compiler.nvrtc import nvrtc
from ep_cuda.compiler.program import image_of
from ep_cuda.library import in_wheels
from ep_primitives import ElementwiseUnary
from ep_simt import GPU, bodies

import ep

_ELF = b"\x7fELF"


@pytest.fixture
def program():
    key = ElementwiseUnary.infer("abs", ep.TensorSpec("float32", (8,))).key
    return bodies()[key.family].program(key, GPU)


@pytest.mark.parametrize("architecture", [75, 80, 90, 100])
def test_known_architecture_gets_code_of_its_own(monkeypatch, tmp_path, program, architecture):
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    assert image_of(architecture, program).startswith(_ELF)


def test_built_in_functions_of_a_wheel_are_open_before_they_are_needed():
    """PyTorch of CUDA 13 brings NVRTC 13.0, which does not look for them beside itself."""
    wheels = in_wheels("libnvrtc.so.*")
    if not wheels:
        pytest.skip("NVRTC is none of a wheel here")
    found = 'print([l.split()[-1] for l in open("/proc/self/maps") if "libnvrtc-builtins" in l][-1])'
    program = f"from ep_cuda.compiler.nvrtc import nvrtc; nvrtc(); {found}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert Path(done.stdout.strip()).parent == Path(wheels[0]).parent, done.stderr


def test_newer_architecture_than_the_compiler_gets_ptx(monkeypatch, tmp_path, program):
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    newest = max(nvrtc().architectures)
    image = image_of(newest + 1, program)
    assert f".target sm_{newest}".encode() in image
    assert image.endswith(b"\0")


def test_architecture_that_the_compiler_has_dropped_is_unsupported():
    oldest = min(nvrtc().architectures)
    wanted = rf"makes code for compute capability {oldest // 10}\.{oldest % 10} and newer, and the device has 3\.0; .*pip install"
    with pytest.raises(ep.UnsupportedError, match=wanted):
        nvrtc().options(30)


def test_error_of_the_compiler_has_its_log_and_the_source():
    with pytest.raises(ep.CompileError, match=r"NVRTC \d+\.\d+: broken does not compile") as caught:
        nvrtc().compile("__global__ void broken() { nothing; }", "broken", ("--gpu-architecture=compute_90",))
    assert 'broken.cu(1): error: identifier "nothing" is undefined' in caught.value.log
    assert caught.value.source.startswith("__global__")


def test_program_is_compiled_once_and_read_afterwards(monkeypatch, tmp_path):
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    assert files.kept("key", lambda: b"first") == b"first"
    assert files.kept("key", lambda: b"second") == b"first"
    assert files.kept("another", lambda: b"second") == b"second"
    assert (tmp_path / "cuda").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-1], lambda content: b"\0" + content[1:], lambda content: b""]
)
def test_damaged_file_is_made_anew(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    files.kept("key", lambda: b"first")
    (file,) = (tmp_path / "cuda").iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert files.kept("key", lambda: b"second") == b"second"
    assert files.kept("key", lambda: b"third") == b"second"


def test_folder_is_looked_through_seldom(monkeypatch, tmp_path):
    looks = []
    monkeypatch.setattr(Kept, "_make_room", lambda kept: looks.append(kept.folder))
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    for number in range(20):
        files.kept(f"key {number}", lambda: b"program")
    assert len(looks) == 1


def test_without_a_place_programs_are_compiled_each_time(monkeypatch, tmp_path):
    (tmp_path / "cuda").write_text("a file where the folder would be")
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    assert files.kept("key", lambda: b"first") == b"first"
    assert files.kept("key", lambda: b"second") == b"second"
