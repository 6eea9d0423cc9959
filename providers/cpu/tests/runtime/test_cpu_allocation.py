"""No launch allocates: a library loaded before the C library's counts, process-wide, what asks it for memory."""

import os
import platform
import shutil
import subprocess
import sys

import pytest

COUNTER = """
#include <stddef.h>
static long count;
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
#define EP_COUNTED(of) (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED), of)
void *malloc(size_t size) { return EP_COUNTED(__libc_malloc(size)); }
void *calloc(size_t number, size_t size) { return EP_COUNTED(__libc_calloc(number, size)); }
void *realloc(void *old, size_t size) { return EP_COUNTED(__libc_realloc(old, size)); }
void *memalign(size_t to, size_t size) { return EP_COUNTED(__libc_memalign(to, size)); }
void *aligned_alloc(size_t to, size_t size) { return EP_COUNTED(__libc_memalign(to, size)); }
int posix_memalign(void **out, size_t to, size_t size) { return (*out = EP_COUNTED(__libc_memalign(to, size))) ? 0 : 12; }
long allocations(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }
"""

PROGRAM = """
import ctypes
import ep
import ep_primitives as of
from ep_primitives.cases.sample import samples

LIMIT = 1 << 23  # bytes that a launch moves: some hundred kibibytes are enough for two threads
allocations = ctypes.CDLL(None).allocations
device = ep.device("cpu:0")
stream = device.stream()
families = {kind.family for kind in device.provider.implementations}

def small():
    \"\"\"Yield a descriptor of each family, op and layout; float32 if the op has it.\"\"\"
    chosen = {}
    for name in sorted(families):
        for cell in ep.families()[name].cells():
            if cell.dtypes == "float32" or (name, cell.op, cell.layout) not in chosen:
                chosen[name, cell.op, cell.layout] = cell
    for cell in chosen.values():
        yield ep.families()[cell.family].sample(cell)

def large():
    \"\"\"Yield the descriptors that the benchmark times, up to the limit, and others of families that it lacks there.\"\"\"
    for _, sample in samples():
        if sample.descriptor.nbytes_moved < LIMIT:
            yield sample.descriptor
    for dtype in ("float32", "bfloat16"):
        matrix = ep.TensorSpec(dtype, (640, 512))
        row = ep.TensorSpec(dtype, (512,))
        yield of.Copy.infer(matrix)
        yield of.Copy.infer(ep.TensorSpec(dtype, (640, 512), (1, 640)))
        yield of.Fill.infer(matrix)
        yield of.Gather.infer(matrix, ep.TensorSpec("int64", (500,)))
        yield of.Gather.infer(matrix, ep.TensorSpec("int64", (500,)), 1)
        yield of.LayerNorm.infer(matrix, row, row)
        yield of.RmsLayerNorm.infer(matrix, row)
        yield of.GroupNorm.infer(ep.TensorSpec(dtype, (8, 16, 2560)), 4, *[ep.TensorSpec(dtype, (16,))] * 2)
        yield of.BatchNorm.infer(ep.TensorSpec(dtype, (8, 16, 2560)), *[ep.TensorSpec(dtype, (16,))] * 4)
        yield of.AddN.infer(*[matrix] * 3)
        yield of.AddN.infer(*[matrix] * 9)
        yield of.Iota.infer(ep.TensorSpec("int32", (640, 512)))
        yield of.OneHot.infer(ep.TensorSpec("int32", (640,)), dtype, 512)
        yield of.CrossEntropy.infer(matrix, ep.TensorSpec("int64", (640,)))
        for axis in (0, 1):
            yield of.Softmax.infer(matrix, axis)
            yield of.LogSoftmax.infer(matrix, axis)
            yield of.SoftmaxBackward.infer(matrix, matrix, axis)
            yield of.LogSoftmaxBackward.infer(matrix, matrix, axis)
            yield of.Scan.infer("sum", matrix, axis)
            yield of.Scan.infer("prod", matrix, axis, exclusive=True, reverse=True)
        for op in ("constant", "reflect", "edge"):
            yield of.Pad.infer(op, matrix, (3, 5), (2, 1))

tried, threaded = 0, set()
for descriptor in (*small(), *large()):
    try:
        primitive = descriptor.on(device)
    except ep.UnsupportedError:
        continue
    tensors = [(role.name, spec) for role, spec in descriptor.tensors if spec is not None]
    memories = {name: device.allocate(spec.nbytes) for name, spec in tensors}
    for memory in memories.values():
        if memory.nbytes:
            stream.fill(memory, bytes(1))
    numbers = {role.name: descriptor.roles.defaults.get(role.name, 1) for role, spec in descriptor.numbers if spec is not None}
    step = primitive.bind(**memories, **numbers)
    with stream.capture() as graph:
        step(stream)
    for launch in (step, graph.launch, lambda stream: primitive(stream, **memories, **numbers)):
        found = []
        # A thread of the pool may come to its first launch late.
        while len(found) < 4 or (any(found[-2:]) and len(found) < 16):
            before = allocations()
            launch(stream)
            found.append(allocations() - before)
        if any(found[-2:]):
            print(descriptor, launch, found)
    tried += 1
    if descriptor.nbytes_moved > 1 << 19:
        threaded.add(descriptor.family)
    for memory in memories.values():
        memory.close()
before = allocations()
witness = bytearray(1 << 20)
print(*families - threaded, "-", tried, allocations() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the counter stands before glibc")
@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_neither_launches_nor_steps_nor_graphs_allocate_after_the_first(tmp_path):
    source, library = tmp_path / "counter.c", tmp_path / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-fno-builtin", source, "-o", library], check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"LD_PRELOAD": str(library), "EP_CPU_THREADS": "2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    *allocating, last = done.stdout.splitlines()
    too_small, _, counts = last.partition("-")
    assert not allocating
    assert not too_small.split()
    tried, witnessed = map(int, counts.split())
    assert tried > 1000
    assert witnessed > 0
