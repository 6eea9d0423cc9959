"""One rank of a test: every collective at every size, against the reference; each rank on one of the devices named."""

import itertools
import sys
from pathlib import Path

import numpy as np
from ep_collectives import AllReduce, Recv, Send, mpi_group
from ep_collectives.mpi.library import library
from ep_collectives.reference import results

import ep

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_collectives import KINDS, MANY, arrays_of, parts

names = sys.argv[1:]
group = mpi_group(timeout=60)
rank, size = group.rank, group.size
device = ep.device(names[rank % len(names)])
communicator, stream = ep.communicator(device, group), device.stream(synchronous=False)


def check(collectives):
    given = [arrays_of(collective, seed) for seed, collective in enumerate(collectives)]
    tensors = {name: device.tensor(array) for name, array in given[rank].items()}
    collectives[rank].on(communicator)(stream, **tensors)
    for name, array in (given[rank] | results(collectives, given)[rank]).items():
        found = tensors[name].numpy(stream).reshape(-1)
        np.testing.assert_array_equal(found, array.reshape(-1), err_msg=f"{collectives[rank]!r} {name}")


for kind, count in itertools.product(KINDS, (0, 1, 1025, MANY)):
    check(parts(kind, size, count, root=size - 1))
for dtype, op in itertools.product(("int8", "float16", "complex64"), ("sum", "prod")):
    spec = ep.TensorSpec(dtype, (MANY,))
    check([AllReduce(op, x=spec, out=spec)] * size)
spec = ep.TensorSpec("float32", (1_000_003,))
x, out = device.tensor(np.full(spec.shape, rank, np.float32)), device.empty(spec)
for _ in range(2):
    with communicator.group():
        Send(x=spec, to=(rank + 1) % size).on(communicator)(stream, x=x)
        Recv(out=spec, source=(rank - 1) % size).on(communicator)(stream, out=out)
    assert (out.numpy(stream) == (rank - 1) % size).all()
# Ranks of one parity, numbered backwards by MPI.
half = library().COMM_WORLD.Split(rank % 2, -rank)
beside, total = ep.communicator(device, mpi_group(half, timeout=60)), device.empty(spec)
AllReduce("sum", x=spec, out=spec).on(beside)(stream, x=x, out=total)
assert beside.rank == half.rank
assert (total.numpy(stream) == sum(range(rank % 2, size, 2))).all()
communicator.close()
print("rank", rank, "done", flush=True)  # noqa: T201
