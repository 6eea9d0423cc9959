"""One rank of a test: it ends while collectives are under way, which ranks 1 and above never come to."""

import ep
from ep_collectives import Barrier, mpi_group

device = ep.device("cpu:0")
communicator, stream = ep.communicator(device, mpi_group(timeout=2)), device.stream(synchronous=False)
Barrier().on(communicator)(stream)
if not communicator.rank:
    Barrier().on(communicator)(stream)
