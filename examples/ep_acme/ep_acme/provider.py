"""The acme provider: one device, always there."""

from collections.abc import Sequence

import ep
from ep_acme.device import AcmeDevice
from ep_acme.implementations import IMPLEMENTATIONS


class AcmeProvider(ep.spi.Provider):
    """A maker of one imaginary device."""

    implementations = IMPLEMENTATIONS

    def probe(self) -> None:
        """Find the hardware: it is the host's own memory, so there is nothing to look for."""

    def devices(self) -> Sequence[ep.spi.Device]:
        dtypes = frozenset({"bool", "int32", "float16", "float32", "float64"})
        return [AcmeDevice(ep.DeviceInfo("Acme One", "Acme", driver="0.1", alignment=1, dtypes=dtypes))]
