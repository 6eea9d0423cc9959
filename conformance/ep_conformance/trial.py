"""A Trial is what a case gets: the device under test, a seeded generator, checks that explain themselves, and an end."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

import ep
from ep_conformance.capacity import fitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_conformance.order import Order

__all__ = ["PROFILES", "CaseError", "Trial"]

PROFILES: Final = ("quick", "standard", "large", "exhaustive")
"""How much data: each profile runs the cases of those before it, too."""

Closing = TypeVar("Closing")
Bytes = npt.NDArray[np.uint8]


class CaseError(Exception):
    """A claim of the contract did not hold; the message says which, what was given and what was needed.

    details : of that what a replay file keeps, in words that JSON has
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details


@dataclass
class Trial:
    """One run of one case on one device; `close` waits for all of its streams and gives everything back."""

    device: ep.Device
    id: str
    seed: int = 0
    profile: str = "standard"
    _open: list[Any] = field(default_factory=list)
    _scratch: dict[ep.Stream, tuple[ep.Memory, ep.Memory]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng([self.seed, zlib.crc32(self.id.encode())])

    # What a case makes.

    def stream(self, **options: Any) -> ep.Stream:
        """Return a stream that ends with the trial."""
        stream = self.device.stream(**options)
        self._open.append(stream)
        return stream

    def closing(self, thing: Closing) -> Closing:
        """Return something with a close(), which is called when the trial ends."""
        self._open.append(thing)
        return thing

    def streams(self) -> Iterator[ep.Stream]:
        """Yield one stream for each mode that the device has: its habit, synchronous, asynchronous."""
        yield self.stream()
        for synchronous in (True, False):
            with contextlib.suppress(ep.UnsupportedError):
                yield self.stream(synchronous=synchronous)

    def asynchronous(self) -> ep.Stream:
        """Return an asynchronous stream, or one in the device's habit if it has no other."""
        try:
            return self.stream(synchronous=False)
        except ep.UnsupportedError:
            return self.stream()

    def memory(self, nbytes: int) -> ep.Memory:
        """Return fresh memory that ends with the trial."""
        memory = self.device.allocate(nbytes)
        self._open.append(memory)
        return memory

    def fitting(self, nbytes: int, copies: int) -> int:
        """Return how long a memory may be of which the device is to hold so many at once: nbytes, on a small device less."""
        return fitting(self.device, nbytes, copies)

    def scratch(self, stream: ep.Stream, nbytes: int) -> tuple[ep.Memory, ep.Memory]:
        """Return the two memories that the trial has for a stream to be busy with."""
        if stream not in self._scratch:
            self._scratch[stream] = (self.memory(nbytes), self.memory(nbytes))
        return self._scratch[stream]

    def first(self, thing: Any) -> None:
        """Close a thing at the end of the trial before all others, because they may wait for it."""
        self._open.insert(0, thing)

    def noise(self, nbytes: int) -> Bytes:
        """Return random bytes."""
        return self.rng.integers(0, 256, nbytes, dtype=np.uint8)

    def holding(self, stream: ep.Stream, content: Bytes) -> ep.Memory:
        """Return memory with a content that is there already."""
        memory = self.memory(content.nbytes)
        stream.upload(memory, content)
        stream.synchronize()
        return memory

    def content(self, stream: ep.Stream, memory: ep.Memory) -> Bytes:
        """Return what the memory holds when the stream gets there."""
        host = np.full(memory.nbytes, 0xEE, np.uint8)
        stream.download(host, memory)
        stream.synchronize()
        return host

    # What a case checks.

    def require(self, holds: object, claim: str) -> None:
        """Fail the case with a claim that does not hold."""
        if not holds:
            raise CaseError(claim)

    def equal(self, what: str, given: object, needed: object) -> None:
        """Fail the case unless two values are equal."""
        if given != needed:
            message = f"{what} is {given!r}, needed {needed!r}"
            raise CaseError(message)

    def same_bytes(self, what: str, given: Bytes, needed: Bytes, *orders: Order) -> None:
        """Fail the case at the first byte that differs.

        orders : of which the first that explains what is given is named as the violated one
        """
        if given.shape != needed.shape:
            message = f"{what} has {given.size} bytes, needed {needed.size}"
            raise CaseError(message)
        wrong = np.flatnonzero(given != needed)
        if wrong.size:
            at = int(wrong[0])
            message = (
                f"{what}[{at}] == {given[at]:#04x}, needed {needed[at]:#04x} "
                f"({wrong.size} of {given.size} bytes differ) on {self.device.name}"
            )
            violated = next((order for order in orders if order.explains(given, needed)), None)
            raise CaseError(message if violated is None else f"{message}: {violated}")

    def refuses(self, what: str, kind: type[Exception], call: Callable[[], object], *words: str) -> None:
        """Fail the case unless the call raises `kind` with a message that holds each of `words`."""
        try:
            call()
        except kind as error:
            missing = [word for word in words if word not in str(error)]
            if missing:
                message = f"{what} raised {type(error).__name__}({error}), which does not name {', '.join(missing)}"
                raise CaseError(message) from error
            return
        message = f"{what} raised nothing, needed {kind.__name__}"
        raise CaseError(message)

    def close(self) -> None:
        """Wait for the streams and close everything; the first error of the device's is raised at the end."""
        failure: Exception | None = None
        for thing in self._open:
            try:
                thing.close()
            except Exception as error:  # noqa: BLE001 - a host function may have raised anything; the rest is closed all the same
                failure = failure or error
        self._open.clear()
        self._scratch.clear()
        self.device.synchronize()
        if failure is not None:
            raise failure
