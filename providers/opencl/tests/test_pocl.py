"""The repair of PoCL: nothing happens unasked; the name that it gets, and that nothing else is written."""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

import pytest
from ep_opencl.compiler import pocl, program
from ep_opencl.compiler.pocl import check_variable, lacks_processor, name_processor, processor_name, write_over

import ep

GENERIC, HASWELL = "generic", "haswell"


class Driver:
    """The attributes of a pyopencl device that the cure reads."""

    def __init__(self, *, platform="Portable Computing Language", driver_version="3.0", target="generic"):
        self.name = ctypes.create_string_buffer(target.encode(), 24)
        self.structure = (ctypes.c_uint64 * 256)(0, 8, 2**64 - 1, ctypes.addressof(self.name))
        self.int_ptr = ctypes.addressof(self.structure)
        self.platform = type("Platform", (), {"name": platform})
        self.driver_version = driver_version
        self.version = f"OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-{target}"


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/mem").exists(), reason="the cure works on Linux, where it is needed"
)


@needs_proc
def test_name_is_written_once_and_then_found():
    driver = Driver()
    assert write_over(driver.int_ptr, GENERIC, HASWELL)
    assert driver.name.value == b"haswell"
    assert write_over(driver.int_ptr, GENERIC, HASWELL)
    assert not write_over(driver.int_ptr, GENERIC, "x86-64")


@needs_proc
def test_constant_is_never_written():
    page = mmap.mmap(-1, mmap.PAGESIZE)
    page.write(b"generic\0")
    constant = ctypes.c_char.from_buffer(page)
    driver = Driver()
    driver.structure[3] = ctypes.addressof(constant)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert libc.mprotect(driver.structure[3], mmap.PAGESIZE, mmap.PROT_READ) == 0
    assert not write_over(driver.int_ptr, GENERIC, HASWELL)
    assert page[:8] == b"generic\0"


@pytest.mark.parametrize("other", [{"platform": "Intel(R) OpenCL"}, {"driver_version": "5.0"}, {"target": "haswell"}])
def test_other_drivers_are_left_alone(other):
    driver = Driver(**other)
    assert not lacks_processor(driver)
    assert not name_processor(driver)
    assert driver.name.value.decode() == other.get("target", "generic")


@needs_proc
@pytest.mark.parametrize(("flags", "named"), [({"avx512f"}, b"haswell"), (set(), b"rocketlake")])
def test_processor_with_avx512_gets_another_name_though_the_compiler_knows_its_own(monkeypatch, flags, named):
    haswell = {"avx2", "bmi1", "bmi2", "fma", "f16c", "abm", "movbe"}
    monkeypatch.setattr(pocl, "processor_flags", lambda: frozenset(haswell | flags))
    monkeypatch.setenv("EP_POCL_PROCESSOR", "auto")
    driver = Driver(target="rocketlake")
    assert not lacks_processor(driver)
    for _ in range(2):
        assert bool(name_processor(driver)) == bool(flags)
        assert driver.name.value == named


@needs_proc
def test_nothing_is_written_unasked(monkeypatch):
    monkeypatch.delenv("EP_POCL_PROCESSOR", raising=False)
    driver = Driver()
    assert lacks_processor(driver)
    assert name_processor(driver) == ""
    assert driver.name.value == b"generic"
    for asked, given in (("haswell", b"haswell"), ("auto", None)):
        monkeypatch.setenv("EP_POCL_PROCESSOR", asked)
        driver = Driver()
        name = name_processor(driver)
        assert driver.name.value == name.encode() == (given or name.encode())


def test_name_that_the_compiler_does_not_know_is_refused(monkeypatch):
    monkeypatch.setenv("EP_POCL_PROCESSOR", "znver9")
    with pytest.raises(ep.UnavailableError, match=r"EP_POCL_PROCESSOR=znver9 is no processor .* use auto, or one of"):
        check_variable()


def test_device_that_lacks_a_processor_says_how_to_name_one(device, monkeypatch):
    monkeypatch.setattr(device.twin, "is_lost", True)
    with pytest.raises(ep.CompileError, match="cannot compile any for it; set EP_POCL_PROCESSOR=auto"):
        program.build_source(device.twin, "", "any")


def test_system_that_hides_its_memory_is_no_error(monkeypatch):
    monkeypatch.setenv("EP_POCL_PROCESSOR", "auto")

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert not name_processor(Driver())


def test_processor_is_named_by_what_it_has():
    haswell = {"sse2", "avx2", "bmi1", "bmi2", "fma", "f16c", "abm", "movbe"}
    assert processor_name(haswell | {"avx512f", "avx512bw", "gfni"}) == "haswell"
    assert processor_name({"sse2", "avx"}) == "x86-64"
    assert processor_name({"fp", "asimd"}) is None
