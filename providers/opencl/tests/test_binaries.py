"""Programs as a driver gives them out: kept for the next process, and compiled anew where they are refused or not whole."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pyopencl as cl
import pytest
from ep_opencl.compiler.binaries import Binaries, keeps_none


class Built:
    """A program whose binary is b"code"."""

    def get_info(self, _):
        return [b"code"]


@pytest.fixture
def build(device, monkeypatch, tmp_path):
    """Return a function that builds a text as a new process does; it says whether the program was made anew."""
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))

    def run(text, load=lambda binary: binary):
        result = Binaries(device.twin.native).build(text, Built, load)
        assert isinstance(result, Built) or result == b"code"
        return isinstance(result, Built)

    return run


def test_only_intels_driver_for_cpus_is_known_to_keep_none(device):
    def native(name, kind):
        return SimpleNamespace(type=kind, platform=SimpleNamespace(name=name))

    assert keeps_none(native("Intel(R) OpenCL", cl.device_type.CPU))
    assert not keeps_none(native("Intel(R) OpenCL", cl.device_type.GPU))
    assert not keeps_none(native("Oclgrind", cl.device_type.CPU))
    assert keeps_none(device.twin.native) == device.info.driver.startswith("Intel(R) OpenCL ")


def test_each_text_is_made_once(build):
    assert [build(text) for text in ("a", "a", "b", "b", "a")] == [True, False, True, False, False]


def test_other_settings_of_the_compiler_are_other_programs(build, monkeypatch):
    assert build("a")
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "core-avx2")
    assert [build("a"), build("a")] == [True, False]


def test_other_processors_of_one_name_have_programs_of_their_own(build, monkeypatch):
    assert build("a")
    monkeypatch.setattr("ep_opencl.compiler.binaries.processor_flags", lambda: frozenset({"avx2"}))
    assert [build("a"), build("a")] == [True, False]


def test_what_the_driver_refuses_is_made_anew(build, device):
    assert build("a")
    assert build("a", lambda binary: cl.Program(device.twin.context, [device.twin.native], [binary]).build())


def test_what_is_not_whole_is_made_anew(build, tmp_path):
    assert build("a")
    (kept,) = Path(tmp_path, "opencl", "binaries").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert [build("a"), build("a")] == [True, False]
