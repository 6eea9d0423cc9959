"""AllReduce over processes that mpiexec starts: EP's over MPI beside MPI's own. Run as a module it is one of the processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ep_collectives import AllReduce, mpi_group
from ep_collectives.mpi.library import library

import ep
from ep_benchmarks.collectives import COUNTS, median, rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["OverMpi", "over_mpi"]


class OverMpi(NamedTuple):
    """A sum of one size: medians in microseconds."""

    nbytes: int
    carried: float
    own: float


def over_mpi(device: str, ranks: int) -> Iterator[OverMpi]:
    """Yield the figures of sums of float32, a process a rank. Raises UnavailableError without mpiexec or if it fails."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        message = "peer MPI is not installed: pip install 'execution-provider[mpi]'"
        raise ep.UnavailableError(message)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [mpiexec, "-n", str(ranks), sys.executable, "-m", __name__, device, str(file)]
        done = subprocess.run(command, check=False)  # noqa: S603 - our own module
        if done.returncode or not file.exists():
            message = f"the processes of MPI failed with exit code {done.returncode}; what they printed stands above"
            raise ep.UnavailableError(message)
        yield from (OverMpi(*row) for row in json.loads(file.read_text()))


def _rank(name: str, file: Path) -> None:
    device, comm = ep.device(name), library().COMM_WORLD.Dup()
    communicator, stream = ep.communicator(device, mpi_group()), device.stream(synchronous=True)
    found = []
    for count in COUNTS:
        x, out = (device.tensor(np.ones(count, np.float32)) for _ in range(2))
        step = AllReduce.infer("sum", x).on(communicator).bind(x=x, out=out)
        carried = median(partial(step, stream), rounds(count), comm.Barrier)
        a, b = np.ones(count, np.float32), np.empty(count, np.float32)
        own = median(partial(comm.Allreduce, a, b), rounds(count), comm.Barrier)
        figures = comm.gather((carried, own), root=0)
        if figures:
            found.append((4 * count, *np.max(figures, axis=0).tolist()))
    if found:
        file.write_text(json.dumps(found))
    communicator.close()


if __name__ == "__main__":
    _rank(sys.argv[1], Path(sys.argv[2]))
