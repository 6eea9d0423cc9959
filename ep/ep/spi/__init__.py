"""What a vendor writes: a provider, its devices, their streams and events. EP holds these objects, and users never see them.

The classes here have the methods that a provider must or may write and no names besides, so that a vendor's own
collide with nothing.
"""

from ep.ground.callback import work_here
from ep.ground.ledger import Ledger, Ticket
from ep.spi.device import Device
from ep.spi.event import Event
from ep.spi.fault import Fault, FaultKind
from ep.spi.provider import Provider
from ep.spi.stream import Stream, let_host_wait
from ep.spi.worker import Worker

__all__ = [
    "Device",
    "Event",
    "Fault",
    "FaultKind",
    "Ledger",
    "Provider",
    "Stream",
    "Ticket",
    "Worker",
    "let_host_wait",
    "work_here",
]
