"""The honest provider: opaque handles and worker-thread streams in front of the CPU provider's kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import ep
from ep_conformance.saboteurs.device import HonestDevice
from ep_conformance.saboteurs.event import HonestEvent
from ep_conformance.saboteurs.graph import HonestGraph
from ep_conformance.saboteurs.implementations import EVERY, Delegated, HonestKernel
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["HonestProvider"]


class HonestProvider(ep.spi.Provider):
    """Two asynchronous devices over cpu:0, which it gets through the registry. A saboteur overrides one of their parts.

    registered : the name under which it is installed

    Some defects are of EP's own half, where no provider can plant them: `host_device` and `host_stream` take its place.
    """

    registered: str
    host_device: ClassVar[type[ep.Device]] = ep.Device
    host_stream: ClassVar[type[ep.Stream]] = ep.Stream

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
            families, owns = ep.families(), self.kernel_type.owns
            owned = (families[name].descriptor for name in (families if owns == EVERY else owns))
            delegated = (Delegated(self._cpu, self.kernel_type),)
            self._table = dict.fromkeys((*self._cpu.provider.implementations, *owned), delegated)
        return self._table

    def probe(self) -> None:
        self._cpu = ep.device("cpu:0")

    def devices(self) -> Sequence[HonestDevice]:
        host = ep.provider(self.registered)
        host._device_type, host._stream_type = self.host_device, self.host_stream  # noqa: SLF001 - what is planted there
        return [self.device_type(self._cpu, self.stream_type, self.event_type, self.graph_type) for _ in range(2)]
