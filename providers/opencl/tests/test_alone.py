"""Entries that are functions of their own, which PoCL 3 compiles once, do what kernels do, to the bit."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep.work.cache import LRU
from ep_opencl.compiler import program
from ep_opencl.compiler.alone import alone, is_alone
from ep_opencl.compiler.pocl import declares_all
from ep_primitives import BroadcastBinary, Matmul, Permute, Reduce, Scan, Softmax

X = np.random.default_rng(0).standard_normal((37, 70)).astype(np.float32)
LONG = np.random.default_rng(1).standard_normal(1 << 16).astype(np.float32)
CASES = {
    "dense": (BroadcastBinary.infer("pow", X, X), (X, X), ()),
    "rows": (BroadcastBinary.infer("add", X, X[:1]), (X, X[:1]), ()),
    "sum": (Reduce.infer("sum", X, axis=0), (X,), ()),
    "sum in pieces": (Reduce.infer("sum", LONG), (LONG,), ()),
    "scan": (Scan.infer("sum", X, axis=1), (X,), ()),
    "scan in pieces": (Scan.infer("sum", LONG, axis=0), (LONG,), ()),
    "tiles": (Permute.infer(X, (1, 0)), (X,), ()),
    "softmax": (Softmax.infer(X), (X,), ()),
    "softmax in pieces": (Softmax.infer(LONG), (LONG,), ()),
    "product": (Matmul.infer(X, X.reshape(70, 37)), (X, X.reshape(70, 37), None), (1.0, 0.0)),
}


def program_of(group: int) -> ep_simt.Program:
    take = [ep_simt.Parameter("x", "memory", "f32"), ep_simt.Parameter("geometry", "struct", "ep_rows", 8)]
    return ep_simt.Program(
        "any", (("EP_GROUP", group),), (), (ep_simt.Entry("a", tuple(take)), ep_simt.Entry("b", (), "EP_NONE"))
    )


def test_kernels_hand_on_what_they_take_after_the_number_of_the_group():
    text = alone(program_of(1), "PRELUDE")
    begin, end = text.split("PRELUDE", 1)
    assert "#define a a_alone\n#define b b_alone\n" in begin
    assert "#define EP_ALONE 1" in begin
    assert "#define EP_TAKES const ep_i64 ep_group" in begin
    *_, first, last = (line for line in end.splitlines() if line.startswith("__kernel"))
    taken = "EP_GLOBAL const ep_f32 *x, EP_BY_VALUE(ep_rows) geometry"
    assert first == f"__kernel void a({taken}) {{ a_alone(get_group_id(0), x, geometry); }}"
    assert last == "__kernel void b() { b_alone(get_group_id(0)); }"


def test_entries_with_little_to_do_are_cold():
    program = program_of(1)
    text = alone(
        program._replace(entries=tuple(entry._replace(is_brief=entry.name == "b") for entry in program.entries)), ""
    )
    assert "#define a a_alone\n#define b __attribute__((cold)) b_alone\n" in text


def test_groups_that_share_memory_are_kernels():
    assert is_alone(program_of(1))
    assert is_alone(program_of(1)._replace(words=()))
    assert not is_alone(program_of(16))


@pytest.mark.parametrize("name", CASES)
def test_bits_are_those_of_kernels(device, stream, put, get, monkeypatch, name):
    if not declares_all(device.twin.native):
        pytest.skip("not PoCL 3: its kernels are whole")
    descriptor, given, numbers = CASES[name]
    results = []
    for way in (is_alone, lambda _: False):
        monkeypatch.setattr(program, "is_alone", way)
        monkeypatch.setattr(device.twin, "_programs", LRU())
        portable = ep_simt.Portable()
        kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
        out = put(np.zeros(descriptor.out.shape, np.float32))
        scratch = [put(np.zeros(kernel.scratch_nbytes, np.uint8))] if kernel.scratch_nbytes else []
        kernel.launch(stream.twin, (*(x if x is None else put(x) for x in given), out, *scratch), numbers)
        results.append(get(out, np.uint32))
    np.testing.assert_array_equal(*results)
