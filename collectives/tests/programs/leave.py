"""One rank of a test: it ends while collectives are under way, which ranks 1 and above never come to."""

from ep_collectives import Barrier, mpi_group

import ep

device = ep.device("cpu:0")
communicator, stream = ep.communicator(device, mpi_group(timeout=2)), device.stream(synchronous=False)
Barrier().on(communicator)(stream)
if not communicator.rank:
    Barrier().on(communicator)(stream)
