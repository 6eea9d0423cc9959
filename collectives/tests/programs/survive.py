"""One rank of a test: it goes through collectives until one rank leaves in some way, and notes what it was told.

Arguments: a folder, how the victim leaves, the victim, a seed, the timeout. The living of a victim that is gone go on in a
split. What the rank saw stands in the folder, as JSON in a file of its number.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
from ep_collectives import AllReduce, Barrier, Broadcast, mpi_group

import ep

folder, way, victim, seed, timeout = Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
if way == "vanish beside mpi4py":  # which would finalise MPI
    from mpi4py import MPI  # noqa: F401
rng = random.Random(seed)
device = ep.device(rng.choice(["cpu:0", "cpu:0", "sim:0", "opencl:0"]))
communicator = ep.communicator(device, mpi_group(timeout=timeout))
rank, size = communicator.rank, communicator.size
stream = device.stream()
count = rng.choice([1, 1000, 300_000, 3_000_000])
delay = rng.uniform(0, 0.15)
x = device.tensor(np.full(count, rank + 1, np.float32))
out = device.empty(x.spec)


def vanish():
    time.sleep(delay)
    os._exit(1)


def stop():
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGSTOP)


(folder / f"{rank}.pid").write_text(str(os.getpid()))
seen = {}
begin = time.monotonic()
if rank == victim and way.startswith(("vanish", "stop")):
    threading.Thread(target=stop if way == "stop" else vanish, daemon=True).start()
try:
    for number in range(1_000_000):
        if rank == victim and time.monotonic() - begin > delay:
            if way == "close":
                communicator.close()
                break
            if way == "abort":
                communicator.abort("enough")
            elif way == "other":
                Barrier().on(communicator)(stream)
            elif way == "size":
                y = device.tensor(np.zeros(count + 1, np.float32))
                AllReduce.infer("sum", y).on(communicator)(stream, x=y, out=y)
        AllReduce.infer("sum", x).on(communicator)(stream, x=x, out=out)
        Broadcast(x=x.spec, root=number % size).on(communicator)(stream, x=out)
        if number % 5 == 4:  # streams of some devices run behind
            stream.synchronize()
except ep.CommunicatorError as error:
    seen |= {"rank": error.rank, "blamed": error.blamed, "said": str(error)}
    seen |= {"seconds": time.monotonic() - begin, "is_broken": communicator.error is not None}
if way.startswith(("vanish", "stop")):
    seen["living"] = living = communicator.living
    own = communicator.split(living)
    total = device.empty(x.spec)
    AllReduce.infer("sum", x).on(own)(stream, x=x, out=total)
    seen["is_summed"] = bool((total.numpy(stream) == sum(each + 1 for each in living)).all())
    own.close()
(folder / f"{rank}.part").write_text(json.dumps(seen))
(folder / f"{rank}.part").rename(folder / f"{rank}.json")
