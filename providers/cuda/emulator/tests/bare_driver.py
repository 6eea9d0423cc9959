"""The driver's interface by hand: as little of it as tests need, so that they see the driver and nothing of EP."""

from __future__ import annotations

import ctypes
import pickle
import sys
from pathlib import Path

import numpy as np

CALLS = """
import ctypes, sys, numpy as np
from ctypes import c_uint64 as word, c_size_t as size
from ep_cuda.compiler.nvrtc import nvrtc
from bare_driver import Driver, DriverError
driver = Driver()
def kernel(source):
    text = nvrtc().compile('extern "C" {' + source + "}", "program", ("--gpu-architecture=compute_90",))
    return driver.function(driver.load(text.rstrip(b"\\0").decode()), "entry")
def code(name, *arguments):
    return getattr(driver.library, name)(*arguments)
def ints(place, count):
    return driver.download(place, (count,), np.int32).tolist()
"""
"""The beginning of a program that calls the driver."""


class DriverError(Exception):
    """A call of the driver's returned a code."""

    def __init__(self, call, code):
        super().__init__(f"{call}: {code}")
        self.code = code


class Driver:
    """A device with its primary context, current on this thread."""

    def __init__(self, ordinal=0):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = self.answer("cuDevicePrimaryCtxRetain", ordinal)
        self.call("cuCtxPushCurrent_v2", ctypes.c_void_p(context))

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise DriverError(name, code)

    def answer(self, name, *arguments):
        place = ctypes.c_uint64()
        self.call(name, ctypes.byref(place), *arguments)
        return place.value

    def allocate(self, nbytes):
        return self.answer("cuMemAlloc_v2", ctypes.c_size_t(nbytes))

    def free(self, place):
        self.call("cuMemFree_v2", ctypes.c_uint64(place))

    def upload(self, array):
        place = self.allocate(max(array.nbytes, 1))
        self.call(
            "cuMemcpyHtoD_v2", ctypes.c_uint64(place), ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        )
        return place

    def download(self, place, shape, dtype):
        array = np.empty(shape, dtype)
        self.call(
            "cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(place), ctypes.c_size_t(array.nbytes)
        )
        return array

    def load(self, ptx):
        return self.answer("cuModuleLoadData", ctypes.c_char_p(ptx.encode()))

    def function(self, module, name):
        return self.answer("cuModuleGetFunction", ctypes.c_uint64(module), name.encode())

    def launch(self, function, grid, block, *arguments, shared=0, stream=None):
        values = [
            argument if isinstance(argument, ctypes._SimpleCData) else ctypes.c_uint64(argument)
            for argument in arguments
        ]
        places = (ctypes.c_void_p * max(len(values), 1))(
            *[ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values]
        )
        grid, block = ((*size, 1, 1)[:3] if isinstance(size, tuple) else (size, 1, 1) for size in (grid, block))
        self.call(
            "cuLaunchKernel",
            ctypes.c_uint64(function),
            *grid,
            *block,
            shared,
            ctypes.c_uint64(stream or 0),
            places,
            None,
        )

    def synchronize(self):
        self.call("cuCtxSynchronize")

    def run(self, ptx, name, grid, block, operands, dtype, shape, shared=0):
        """Launch one entry on fresh memory: its result first, then the operands."""
        result = self.upload(np.zeros(shape, dtype))
        places = [self.upload(operand) if isinstance(operand, np.ndarray) else operand for operand in operands]
        self.launch(self.function(self.load(ptx), name), grid, block, result, *places, shared=shared)
        self.synchronize()
        return self.download(result, shape, dtype)


def serve():
    """Run kernels of CUDA's C that come through the standard input, and say what they wrote, or by which codes they failed."""
    from ep_cuda.compiler.nvrtc import nvrtc

    driver = Driver()
    while True:
        try:
            source, grid, block, count, shared = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        text = nvrtc().compile(f'extern "C" {{{source}}}', "program", ("--gpu-architecture=compute_90",))
        codes, made = [], None
        try:
            made = driver.run(text.rstrip(b"\0").decode(), "entry", grid, block, [], np.int32, (count,), shared)
        except DriverError as error:
            codes = [error.code, driver.library.cuCtxSynchronize()]
            driver.call("cuDevicePrimaryCtxReset_v2", 0)
        pickle.dump((made, codes), sys.stdout.buffer)
        sys.stdout.flush()


def main(given, made):
    driver = Driver()
    results = {}
    for name, (ptx, block, operands, dtype, shape) in pickle.loads(Path(given).read_bytes()).items():
        results[name] = driver.run(ptx, "entry", 1, block, operands, dtype, shape)
    Path(made).write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 else serve()
