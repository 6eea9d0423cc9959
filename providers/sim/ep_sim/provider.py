"""The provider of simulated devices."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import ep
from ep_sim.device import SimDevice
from ep_sim.implementations import implementations_over
from ep_sim.native import open_native
from ep_sim.scheduler import Scheduler
from ep_sim.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SimProvider"]


class SimProvider(ep.spi.Provider):
    """Software alone: devices over cpu:0, which they get through the registry."""

    _schedulers: dict[int, Scheduler]

    @functools.cached_property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        """The table, in implementations.py."""
        return implementations_over(ep.device("cpu:0"))

    def probe(self) -> None:
        read_settings()
        open_native()
        ep.device("cpu:0")
        self._schedulers = {}

    def devices(self) -> Sequence[SimDevice]:
        settings = read_settings()
        # A forked child has none of its parent's threads, so it gets a scheduler of its own.
        process = os.getpid()
        if process not in self._schedulers:
            self._schedulers = {process: Scheduler(ep.device("cpu:0"), settings.seed, settings.patience)}
        scheduler = self._schedulers[process]
        return [SimDevice(scheduler, open_native(), settings, place) for place in range(settings.devices)]
