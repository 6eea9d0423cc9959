"""The limit of any device: a copy within it of as many bytes, by its provider. Also of a host without a C compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep_benchmarks.limits.work import Limit, Work

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["DeviceLimits"]


class DeviceLimits:
    """What a device's own copies reach. Nothing is known of its products."""

    def __init__(self, stream: ep.Stream, reason: str = "") -> None:
        self._stream = stream
        self._reason = reason
        self._memories: tuple[ep.Memory, ep.Memory] | None = None

    def figures(self) -> dict[str, Any]:
        source = "copies within the device" + (f": {self._reason}" if self._reason else "")
        return {"source": source, "threads": None, "memory": {}, "products": {}}

    def ceilings(self) -> Mapping[str, float]:
        return {}

    def limit(self, work: Work) -> Limit | None:
        """Return the copy of half of the bytes that are read and written."""
        nbytes = work.nbytes // 2
        if not nbytes:
            return None
        source, target = (each[:nbytes] for each in self._held(nbytes))
        stream = self._stream

        def run(count: int) -> None:
            for _ in range(count):
                stream.copy(target, source)
            stream.synchronize()

        return Limit("memory", [run])

    def _held(self, nbytes: int) -> tuple[ep.Memory, ep.Memory]:
        held = self._memories
        if held is None or held[0].nbytes < nbytes:
            for memory in held or ():
                memory.close()
            device = self._stream.device
            held = self._memories = device.allocate(nbytes), device.allocate(nbytes)
            for memory in held:
                self._stream.fill(memory, b"\0")
            self._stream.synchronize()
        return held
