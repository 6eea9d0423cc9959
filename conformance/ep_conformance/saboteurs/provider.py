"""The honest provider: opaque handles and worker-thread streams in front of the CPU provider's kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import ep
from ep_conformance.saboteurs.device import HonestDevice
from ep_conformance.saboteurs.event import HonestEvent
from ep_conformance.saboteurs.graph import HonestGraph
from ep_conformance.saboteurs.implementations import Delegated, HonestKernel
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["HonestProvider"]


class HonestProvider(ep.Provider):
    """Two asynchronous devices over cpu:0, which it gets through the registry. A saboteur overrides one of their parts."""

    device_type: ClassVar[type[HonestDevice]] = HonestDevice
    stream_type: ClassVar[type[HonestStream]] = HonestStream
    event_type: ClassVar[type[HonestEvent]] = HonestEvent
    kernel_type: ClassVar[type[HonestKernel]] = HonestKernel
    graph_type: ClassVar[type[HonestGraph]] = HonestGraph

    _cpu: ep.Device
    _table: Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]] | None = None

    @property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        if self._table is None:
            owned = (ep.families()[family].descriptor for family in self.kernel_type.owns)
            delegated = (Delegated(self._cpu, self.kernel_type),)
            self._table = dict.fromkeys((*self._cpu.provider.implementations, *owned), delegated)
        return self._table

    def _probe(self) -> None:
        self._cpu = ep.device("cpu:0")

    def _devices(self) -> Sequence[ep.Device]:
        return [self.device_type(self._cpu, self.stream_type, self.event_type, self.graph_type) for _ in range(2)]
