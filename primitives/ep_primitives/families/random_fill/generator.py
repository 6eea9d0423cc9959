"""Generator: the state of a random sequence in device memory, which random fills read and advance."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied
from ep.integers import index

import ep
from ep import Scalar, TensorSpec
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Generator"]

_FORMAT: Final = struct.Struct("<QQ")
_MODULUS: Final = 2**64
_OFFSET: Final = slice(8, 16)
_ONE: Final = TensorSpec("uint64", (1,))


class Generator(Uncopied):
    """A seed and a place in its sequence, as 16 bytes on a device. Used by one stream at a time, or ordered by events.

    state : the Memory that launches of RandomFill get as `state`; its layout is `random_fill.STATE`

        normal = RandomFill.infer("normal", spec).on(device)
        normal(stream, state=generator.state, out=memory)  # the next launch draws other numbers
    """

    def __init__(self, device: ep.Device, seed: SupportsIndex) -> None:
        """Place a state at the beginning of a seed's sequence; the host waits until it is there.

        seed : an integer from 0 to 2^64 - 1

        Raises TypeError unless they are a device and integers, ValueError for an integer out of range.
        """
        if not isinstance(device, ep.Device):
            message = f"Generator: device is {type(device).__name__}, needs a Device; ep.device('cpu:0') finds one"
            raise TypeError(message)
        number = _word("Generator", "seed", seed)
        self.device = device
        self.state = device.allocate(_FORMAT.size)
        stream = device.stream()
        try:
            stream.upload(self.state, _FORMAT.pack(number, 0))
            stream.synchronize()
        finally:
            stream.close()

    def save(self, stream: ep.Stream) -> bytes:
        """Return the state when the stream gets there, as 16 bytes; the host waits for the stream."""
        _require_stream("Generator.save", stream)
        data = bytearray(_FORMAT.size)
        stream.download(data, self.state)
        stream.synchronize()
        return bytes(data)

    def restore(self, stream: ep.Stream, data: Buffer) -> None:
        """Put a saved state in place of this one, in stream order.

        data : the result of `save`, from a generator on any device

        Raises TypeError unless it is a bytes-like object, ValueError for another length.
        """
        try:
            view = memoryview(data)
        except (TypeError, ValueError, BufferError):
            message = f"Generator.restore: data is {type(data).__name__}, needs the 16 bytes that save returned"
            raise TypeError(message) from None
        if view.nbytes != _FORMAT.size:
            message = f"Generator.restore: data has {view.nbytes} bytes, needs the 16 that save returned"
            raise ValueError(message)
        _require_stream("Generator.restore", stream)
        stream.upload(self.state, bytes(view))

    def skip(self, stream: ep.Stream, words: SupportsIndex) -> None:
        """Go on by a number of words, in stream order, as if they had been drawn.

        words : from 0 to 2^64 - 1

        The device adds them. Where it has no addition of uint64 the host waits for the stream, adds and uploads, which
        counts as the degraded ability "skip". Raises TypeError or ValueError for anything else.
        """
        count = _word("Generator.skip", "words", words)
        _require_stream("Generator.skip", stream)
        add = _adder(self.device)
        if add is None:
            self.device._degrade("skip")  # noqa: SLF001 - what is served in a provider's place is counted there
            seed, offset = _FORMAT.unpack(self.save(stream))
            stream.upload(self.state, _FORMAT.pack(seed, (offset + count) % _MODULUS))
            return
        offset = self.state[_OFFSET]
        add(stream, a=offset, b=count, out=offset)

    def close(self) -> None:
        """Give the state's memory back. Idempotent."""
        self.state.close()

    def __repr__(self) -> str:
        return f"<Generator on {self.device.name}>"


def _adder(device: ep.Device) -> ep.Primitive | None:
    """Return the device's addition of a number to a uint64, None if it has none."""
    try:
        return BroadcastBinary("add", a=_ONE, b=Scalar("uint64"), out=_ONE).on(device)
    except ep.UnsupportedError:
        return None


def _require_stream(operation: str, stream: object) -> None:
    if not isinstance(stream, ep.Stream):
        message = f"{operation}: stream is {type(stream).__name__}, needs a Stream; device.stream() makes one"
        raise TypeError(message)


def _word(operation: str, name: str, value: Any) -> int:
    try:
        number = index(value)
        if number < 0:
            raise ValueError  # noqa: TRY301 - explained below, like every other misfit
    except (TypeError, ValueError) as error:
        message = f"{operation}: {name} is {glimpse(value)}, needs an integer from 0 to 2^64 - 1"
        raise type(error)(message) from None
    return number
