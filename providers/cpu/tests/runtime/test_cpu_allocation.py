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
from ep_primitives.cases.sample import samples

allocations = ctypes.CDLL(None).allocations
largest = {}
for _, sample in samples():
    cell, size = sample.descriptor.cell.split("/")[:2], sample.descriptor.nbytes_moved
    if size < 1 << 23 and size > largest.get(tuple(cell), (0, None))[0]:
        largest[tuple(cell)] = size, sample
device = ep.device("cpu:0")
stream = device.stream()
tried = 0
for _, sample in largest.values():
    descriptor = sample.descriptor
    memories = {role.name: device.allocate(spec.nbytes) for role, spec in descriptor.tensors if spec is not None}
    for memory in memories.values():
        stream.fill(memory, bytes(1))
    numbers = {role.name: descriptor.roles.defaults.get(role.name, 1) for role, spec in descriptor.numbers if spec is not None}
    step = descriptor.on(device).bind(**memories, **numbers)
    with stream.capture() as graph:
        step(stream)
    for launch in (step, graph.launch):
        found = []
        for _ in range(4):
            before = allocations()
            launch(stream)
            found.append(allocations() - before)
        if found[-1]:
            print(sample.id, launch, found)
    tried += 1
before = allocations()
witness = bytearray(1 << 20)
print(tried, allocations() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the counter stands before glibc")
@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_neither_bound_launches_nor_graphs_allocate_after_the_first(tmp_path):
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
    tried, witnessed = map(int, last.split())
    assert not allocating
    assert tried > 30
    assert witnessed > 0
