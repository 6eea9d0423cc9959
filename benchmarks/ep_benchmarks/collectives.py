"""Collectives: AllReduce over ranks of one process, beside two passes of the copy limit, and Gloo's over as many processes."""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import threading
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from ep_collectives import AllReduce, local_groups

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["COUNTS", "AllReduced", "all_reduce_rows", "median", "meeting", "rounds"]

COUNTS: Final = (1, 16 << 10, 16 << 20)
_MOST_ROUNDS: Final = 300
_LEAST_ROUNDS: Final = 9
_WARM_UP: Final = 3


class AllReduced(NamedTuple):
    """One size: medians in microseconds. The copies move as many bytes as the memories of one rank have, twice."""

    nbytes: int
    op: str
    local: float
    copies: float
    gloo: float | None

    @property
    def share(self) -> float:
        """The share of what two passes of the copy limit allow."""
        return self.copies / self.local


def all_reduce_rows(device: ep.Device, ranks: int, *, with_gloo: bool) -> Iterator[AllReduced]:
    """Yield the figures of sums and means of float32, in threads that each feed a synchronous stream."""
    for count in COUNTS:
        gloo = _gloo(ranks, count) if with_gloo else None
        for op in ("sum", "mean"):
            before = _copies(device, count)
            local = _local(device, ranks, op, count)
            yield AllReduced(4 * count, op, local, (before + _copies(device, count)) / 2, gloo if op == "sum" else None)


def meeting(ranks: int) -> float:
    """Return how long threads take to meet at Python's own barrier, in microseconds: what no collective can be below."""
    ready, met, times = threading.Barrier(ranks), threading.Barrier(ranks), []
    _in_threads(ranks, lambda _: times.append(median(met.wait, _MOST_ROUNDS, ready.wait)), ready, met)
    return max(times)


def _local(device: ep.Device, ranks: int, op: str, count: int) -> float:
    groups, together, times = local_groups(ranks), threading.Barrier(ranks), []

    def feed(rank: int) -> None:
        communicator, stream = ep.communicator(device, groups[rank]), device.stream(synchronous=True)
        x, out = (device.tensor(np.ones(count, np.float32)) for _ in range(2))
        step = AllReduce.infer(op, x).on(communicator).bind(x=x, out=out)
        times.append(median(lambda: step(stream), rounds(count), together.wait))

    _in_threads(ranks, feed, together)
    return max(times)


def _in_threads(ranks: int, feed: Callable[[int], object], *barriers: threading.Barrier) -> None:
    """Call `feed` with each rank in a thread of its own. Raises the first error of one, for which no other waits at the barriers."""
    errors: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            feed(rank)
        except threading.BrokenBarrierError:
            pass  # by the error of another thread
        except BaseException as error:  # noqa: BLE001 - it is raised where the threads were started
            errors.append(error)
            for barrier in barriers:
                barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _copies(device: ep.Device, count: int) -> float:
    """Return how long two copies take."""
    stream = device.stream(synchronous=True)
    source, target = (device.tensor(np.ones(count, np.float32)).memory for _ in range(2))
    return 2 * median(lambda: stream.copy(target, source), rounds(count), lambda: None)


def _gloo(ranks: int, count: int) -> float:
    """Return how long Gloo's AllReduce takes, as PyTorch calls it, in processes of their own with a thread each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    processes = [context.Process(target=_gloo_rank, args=(rank, ranks, port, count, answers)) for rank in range(ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        message = "Gloo's processes failed; is torch installed with torch.distributed?"
        raise ep.UnavailableError(message)
    slowest: float = max(answers.get() for _ in processes)
    return slowest


def _gloo_rank(rank: int, ranks: int, port: int, count: int, answers: Any) -> None:
    import torch  # noqa: PLC0415 - an optional peer, and of this process alone
    from torch import distributed  # noqa: PLC0415 - likewise

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    x = torch.ones(count)
    answers.put(median(lambda: distributed.all_reduce(x), rounds(count), distributed.barrier))
    distributed.destroy_process_group()


def rounds(count: int) -> int:
    """Return how often to time a size: the same in every process and thread, because they meet."""
    return _LEAST_ROUNDS if count == COUNTS[-1] else _MOST_ROUNDS


def median(call: Callable[[], object], times: int, meet: Callable[[], object]) -> float:
    """Return the median of a call in microseconds; `meet` comes before each, untimed."""
    seconds = []
    for round_ in range(_WARM_UP + times):
        meet()
        begin = time.perf_counter()
        call()
        if round_ >= _WARM_UP:
            seconds.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(seconds)
