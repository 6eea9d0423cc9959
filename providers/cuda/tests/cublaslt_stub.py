"""A cuBLASLt for tests: it keeps what it is told, as the real one's arguments come through C, and multiplies by NumPy.

Matrices are read as the layouts say, by columns, when the stream gets there. A wrong layout gives a wrong product; what the reference forbids gives a status.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import itertools
import re
from types import SimpleNamespace

import ml_dtypes
import numpy as np
from ep_cuda.cublas import library
from ep_cuda.cublas.library import FUNCTIONS, ffi

TYPES = {0: "f4", 1: "f8", 2: "f2", 3: "i1", 4: "c8", 5: "c16", 10: "i4", 14: ml_dtypes.bfloat16}
TYPES = {code: np.dtype(name) for code, name in TYPES.items()}
INVALID_VALUE, NOT_SUPPORTED, BIAS = 7, 15, 4
STORE = 1 << 36  # from an emulated device's address to its byte (emulator/native/machine/layout.h)


class Stub:
    """The library's functions, `calls` of them by name, and the products as dictionaries.

    refused   : types of factors for which the heuristic knows nothing
    workspace : bytes that an algorithm asks for
    """

    def __init__(self):
        self.calls, self.products, self.refused, self.workspace = [], [], set(), 0
        self._objects, self._numbers = {}, itertools.count(1)
        self._tasks = []
        self._host = ffi.callback("void(void *)", lambda number: self._tasks[int(ffi.cast("uintptr_t", number))]())
        self._driver = ctypes.CDLL("libcuda.so.1")
        self.functions = SimpleNamespace()
        for line in FUNCTIONS.splitlines():
            found = re.match(r"(.*?)\b(cublasLt\w+)\((.*)\);", line)
            if found and not line.startswith("typedef"):
                body = self._recorded(found[2], self._body(found[2].removeprefix("cublasLt")))
                setattr(self.functions, found[2], ffi.callback(f"{found[1]}({found[3]})", body))

    def _body(self, name):
        if name.endswith("SetAttribute"):
            return self._set
        if name.endswith("Destroy"):
            return self._destroyed
        return getattr(self, "_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())

    def _recorded(self, name, body):
        count = len(inspect.signature(body).parameters)

        def call(*arguments):
            self.calls.append(name)
            assert len(arguments) == count
            return body(*arguments)

        return call

    def _made(self, place, **facts):
        number = next(self._numbers)
        self._objects[number] = facts
        place[0] = ffi.cast("void *", number)
        return 0

    def _of(self, handle):
        return self._objects[int(ffi.cast("uintptr_t", handle))]

    def _set(self, handle, attribute, value, size):
        self._of(handle)[attribute] = int.from_bytes(ffi.buffer(value, size), "little", signed=size == 4)
        return 0

    def _destroyed(self, handle):
        del self._objects[int(ffi.cast("uintptr_t", handle))]
        return 0

    def _get_version(self):
        return 130000

    def _get_status_name(self, status):
        self._name = ffi.new("char[]", f"CUBLAS_STATUS_{status}".encode())
        return self._name

    def _create(self, place):
        return self._made(place)

    def _matmul_desc_create(self, place, compute, scale):
        return self._made(place, compute=compute, scale=TYPES[scale])

    def _matrix_layout_create(self, place, kind, rows, columns, leading):
        return self._made(place, dtype=TYPES[kind], rows=rows, columns=columns, leading=leading)

    def _matmul_preference_create(self, place):
        return self._made(place)

    def _matmul_algo_get_heuristic(self, _, description, a, b, c, d, preference, most, found, count):
        wanted, layouts = self._of(preference), [self._of(each) for each in (a, b, c, d)]
        assert most == 1
        assert wanted[3] == 2  # sums of parts in the accumulation type
        assert len({layout[5] for layout in layouts}) == 1
        if str(layouts[0]["dtype"]) in self.refused:
            return NOT_SUPPORTED
        assert self.workspace <= wanted[1]
        found.algo.data[0], found.nbytes, found.state, count[0] = wanted[5], self.workspace, 0, 1
        bias = self._of(description).get(8, 0)
        return INVALID_VALUE if bias % layouts[3]["dtype"].itemsize else 0

    def _matmul(
        self, _, description, alpha, a, of_a, b, of_b, beta, c, of_c, d, of_d, algorithm, scratch, nbytes, stream
    ):
        facts, alignment = self._of(description), algorithm.data[0]
        places = [int(ffi.cast("uintptr_t", each)) for each in (a, b, c, d)] + [facts.get(8, 0)]
        layouts = [self._of(each) for each in (of_a, of_b, of_c, of_d)]
        if any(place % alignment for place in places) or any(each["leading"] < each["rows"] for each in layouts):
            return INVALID_VALUE
        if nbytes < self.workspace or (
            self.workspace and (not int(ffi.cast("uintptr_t", scratch)) or places[2] != places[3])
        ):
            return INVALID_VALUE
        numbers = [
            np.frombuffer(ffi.buffer(each, facts["scale"].itemsize), facts["scale"])[0] for each in (alpha, beta)
        ]
        told = {"compute": facts["compute"], "alignment": alignment, "epilogue": facts.get(7, 1)}
        self.products.append({**told, "operations": (facts[3], facts[4])})
        if self.workspace:
            self._bytes(int(ffi.cast("uintptr_t", scratch)), nbytes)[...] = 0xAA
        work = functools.partial(self._multiply, {**facts}, numbers, places, layouts)
        self._tasks.append(work)
        data, function = ctypes.c_void_p(len(self._tasks) - 1), ctypes.c_void_p(int(ffi.cast("uintptr_t", self._host)))
        return self._driver.cuLaunchHostFunc(ctypes.c_void_p(int(ffi.cast("uintptr_t", stream))), function, data)

    def _multiply(self, facts, numbers, places, layouts):
        """Do a product when the stream, or a graph, gets there."""
        left, right, old, out = (self._read(place, layout) for place, layout in zip(places, layouts, strict=False))
        wide = {"i": np.int64, "c": np.complex128}.get(left.dtype.kind, np.float64)
        alpha, beta = (wide(number) for number in numbers)
        total = alpha * (self._turned(left, facts[3]).astype(wide) @ self._turned(right, facts[4]).astype(wide))
        if beta:
            total += beta * old.astype(wide)
        if facts.get(7, 1) == BIAS:
            total += self._read(places[4], {**layouts[3], "columns": 1, 5: 1, 6: 0}).astype(wide)
        out[...] = total.astype(out.dtype)

    def _read(self, place, layout):
        """Return the matrices of a layout as (batches, rows, columns)."""
        dtype, batches = layout["dtype"], layout[5]
        size = (batches - 1) * layout[6] + (layout["columns"] - 1) * layout["leading"] + layout["rows"]
        strides = [step * dtype.itemsize for step in (layout[6], 1, layout["leading"])]
        shape = batches, layout["rows"], layout["columns"]
        return np.lib.stride_tricks.as_strided(self._bytes(place, size * dtype.itemsize).view(dtype), shape, strides)

    @staticmethod
    def _bytes(place, nbytes):
        return np.frombuffer((ctypes.c_char * nbytes).from_address(place + STORE), np.uint8)

    @staticmethod
    def _turned(matrix, operation):
        turned = matrix if operation == 0 else matrix.swapaxes(1, 2)
        return turned.conj() if operation == 2 else turned


def install():
    """Return a stub that stands for the library in this process, where devices are emulated."""
    stub = Stub()
    library.located = lambda: "stub"
    library.cublaslt = lambda: stub.functions
    from ep_cuda.cublas.matmul import CublasLtMatmul

    CublasLtMatmul._is_emulated = staticmethod(lambda _: False)
    return stub
