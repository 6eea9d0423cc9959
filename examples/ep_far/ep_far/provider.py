"""The far provider: two devices, each a process that begins when it is first used."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import ep
from ep_far.device import FarDevice
from ep_far.implementations import IMPLEMENTATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEVICES = 2


class FarProvider(ep.spi.Provider):
    """A maker of imaginary devices that are reached through a socket alone."""

    implementations = IMPLEMENTATIONS

    def probe(self) -> None:
        if not hasattr(socket, "AF_UNIX"):
            message = "this system has no Unix-domain sockets"
            raise ep.UnavailableError(message)

    def devices(self) -> Sequence[FarDevice]:
        return [FarDevice() for _ in range(_DEVICES)]
