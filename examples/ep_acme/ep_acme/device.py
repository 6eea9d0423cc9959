"""The acme device: an allocation is a bytearray."""

import ep
from ep_acme.stream import AcmeStream


class AcmeDevice(ep.spi.Device):
    """Host memory that EP reaches through copies alone."""

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> bytearray:
        del kind
        try:
            return bytearray(nbytes)
        except MemoryError:
            message = f"{self.name}: no room for {nbytes} bytes"
            raise ep.OutOfMemoryError(message, requested=nbytes, provider="acme") from None

    def free(self, handle: bytearray, kind: ep.MemoryKind) -> None:
        """Forget the bytes: the last reference to them goes with the handle."""

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> ep.spi.Stream:
        del priority
        if synchronous is False:
            message = f"{self.name}: streams are synchronous only"
            raise ep.UnsupportedError(message)
        return AcmeStream(ledger, is_synchronous=True, is_timed=timed)
