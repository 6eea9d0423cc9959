"""Rank 0 of 2 over a stand-in for NCCL whose path is the argument, on a device of CUDA: the calls are on its own streams."""

import sys

from cffi import FFI
from ep_collectives import AllReduce, Broadcast, nccl_group, nccl_unique_id

import ep

path, device = sys.argv[1], ep.device("cuda:0")
communicator = ep.communicator(device, nccl_group(0, 2, nccl_unique_id(path=path), path=path))
ffi, memory, spec = FFI(), device.allocate(4096), ep.TensorSpec("float32", (8,))
ffi.cdef("void standin_begin(const void *); const char *standin_record(void);")
standin = ffi.dlopen(path)
standin.standin_begin(ffi.cast("void *", memory.handle + memory.offset))
first, second = device.stream(), device.stream()
total = AllReduce("sum", x=spec, out=spec).on(communicator)
with communicator.group():
    total(first, x=memory[:32], out=memory[64:96])
    Broadcast(x=spec, root=1).on(communicator)(second, x=memory[128:160])
with second.capture() as graph:
    total(second, x=memory[:32], out=memory[:32])
graph.launch(second)
second.synchronize()
one, other = (f"{stream.twin.dlpack_stream():x}" for stream in (first, second))
calls = ffi.string(standin.standin_record()).decode().splitlines()
assert [line.replace(" on 1", "") for line in calls[1:]] == [
    "GroupStart",
    f"AllReduce 0 64 x8 type 7 op 0 at {one}",
    f"Broadcast 128 128 x32 type 1 root 1 at {other}",
    "GroupEnd",
    f"AllReduce 0 0 x8 type 7 op 0 at {other}",
], calls
assert one != other
