"""One rank of a test: go through collectives until one rank leaves in some way; print what each rank was told.

Arguments: how the victim leaves, the victim, a seed, the timeout. The living go on in a split, and say what it gave.
"""

import os
import random
import signal
import sys
import threading
import time

import numpy as np
from ep_collectives import AllReduce, Barrier, Broadcast, mpi_group

import ep

way, victim, seed, timeout = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
rng = random.Random(seed)
device = ep.device("cpu:0")
communicator = ep.communicator(device, mpi_group(timeout=timeout))
rank, size = communicator.rank, communicator.size
stream = device.stream()
count = rng.choice([1, 1000, 300_000, 3_000_000])
delay = rng.uniform(0, 0.15)
x = device.tensor(np.full(count, rank + 1, np.float32))
out = device.empty(x.spec)
AllReduce.infer("sum", x).on(communicator)(stream, x=x, out=out)  # all are there


def vanish():
    time.sleep(delay)
    os._exit(1)


def stop():
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGSTOP)


def say(*words):
    print("rank", rank, *words, flush=True)  # noqa: T201


begin = time.monotonic()
if rank == victim and way in {"vanish", "stop"}:
    threading.Thread(target=vanish if way == "vanish" else stop, daemon=True).start()
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
except ep.CommunicatorError as error:
    say(
        "told",
        error.rank,
        [*error.blamed],
        error.sequence > 0 or "aborted" in str(error),
        str(error).replace("\n", " "),
    )
    say("broken", communicator.error is not None)
if way in {"vanish", "stop"}:
    living = communicator.living
    own = communicator.split(living)
    total = device.empty(x.spec)
    AllReduce.infer("sum", x).on(own)(stream, x=x, out=total)
    expected = sum(each + 1 for each in living)
    say("living", [*living], bool((total.numpy(stream) == expected).all()))
    own.close()
