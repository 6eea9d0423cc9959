import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from ep_cpu.families.elementwise import geometry_of, loop_of
from ep_cpu.native import open_native, rows_of
from ep_primitives.judging.reference import array_dtype

import ep

ISAS = ("amx", "avx512", "avx2", "baseline")


@pytest.fixture(scope="session")
def device():
    return ep.device("cpu:0")


@pytest.fixture
def stream(device):
    stream = device.stream()
    yield stream
    stream.close()


@pytest.fixture(scope="session")
def fresh_python(tmp_path_factory):
    """Run a program in a fresh interpreter: run(text, NAME=value, ...) returns its output."""

    def run(text: str, **variables: str) -> str:
        program = tmp_path_factory.mktemp("fresh") / "program.py"
        program.write_text(text)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("EP_CPU_")}
        done = subprocess.run(
            [sys.executable, program],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture(params=ISAS)
def isa(request):
    return request.param


@pytest.fixture(scope="session")
def isas():
    return ISAS


@pytest.fixture(scope="session")
def natives():
    """Return the native module as each instruction set has it."""
    native = open_native()
    return {isa: native._replace(rows=rows_of(native.ffi, native.lib.ep_open(isa.encode()))) for isa in ISAS}


@pytest.fixture(scope="session")
def run_on(natives):
    """Run a descriptor's kernel as one instruction set has it: run_on(isa, descriptor, dense inputs) -> dense output."""
    native = open_native()

    def run(isa, descriptor, *inputs):
        geometry = native.ffi.new("ep_geometry *", geometry_of(descriptor, loop_of(descriptor.key, natives[isa])))
        out = np.empty(descriptor.out.shape, array_dtype(descriptor.out.dtype))
        enter = native.lib.ep_launch2 if len(inputs) == 1 else native.lib.ep_launch3
        operands = [
            operand for array in (*inputs, out) for operand in (native.ffi.cast("char *", array.ctypes.data), 0)
        ]
        assert enter(geometry, *operands) == 0
        return out

    return run


@pytest.fixture(scope="session")
def launch_on(device, natives):
    """Launch a planned kernel as one instruction set has it: launch_on(isa, implementation, descriptor, arrays, numbers)."""

    def launch(isa, implementation, descriptor, arrays, scalars=()):
        kernel = implementation.create(descriptor, device.twin, natives[isa])
        memories = tuple(
            None
            if each is None
            else SimpleNamespace(handle=device.twin.wrap_host(each.ctypes.data, each.nbytes), offset=0)
            for each in arrays
        )
        kernel.launch(None, memories, scalars)

    return launch
