"""Ranks of one process for tests: communicators with streams, fed by one thread."""

import threading
from contextlib import contextmanager
from typing import NamedTuple

from ep_collectives import local_groups

import ep


class Rank(NamedTuple):
    communicator: ep.Communicator
    stream: ep.Stream

    @property
    def device(self):
        return self.communicator.device

    def launch(self, collective, **operands):
        collective.on(self.communicator)(self.stream, **operands)


@contextmanager
def world(*names, timeout=10.0):
    """Ranks on the devices named, each with an asynchronous stream."""
    devices = [ep.device(name) for name in names]
    groups = local_groups(len(names), timeout=timeout)
    ranks = [
        Rank(ep.communicator(device, group), device.stream(synchronous=False))
        for device, group in zip(devices, groups, strict=True)
    ]
    try:
        yield ranks
    finally:
        for rank in ranks:
            rank.communicator.close()


def together(*functions):
    """Run functions in threads of their own; return what each returned or raised."""
    results = [None] * len(functions)

    def run(place, function):
        try:
            results[place] = function()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            results[place] = error

    threads = [threading.Thread(target=run, args=each) for each in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def error_of(rank):
    """The error that a rank's stream raises, None if it raises none."""
    try:
        rank.stream.synchronize(20)
    except ep.EpError as error:
        return error
    return None
