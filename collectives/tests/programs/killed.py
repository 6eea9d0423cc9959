"""One rank of a test: rank 1 is killed in the middle of endless collectives."""

import os
import signal

from ep_collectives import Barrier, mpi_group

import ep

device = ep.device("cpu:0")
communicator, stream = ep.communicator(device, mpi_group()), device.stream()
for number in range(10**9):
    Barrier().on(communicator)(stream)
    if number == 100 and communicator.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
