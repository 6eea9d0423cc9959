"""The provider interface: a vendor writes a provider, devices, streams and events. EP holds them, users never see them.

The classes here have only the methods that a provider must or may write, so that a vendor's own names collide with
none.
"""

from ep.ground.callback import is_working, work_here
from ep.ground.ledger import Ledger, Ticket
from ep.spi.communicator import Communicator, Group
from ep.spi.device import Device
from ep.spi.event import Event
from ep.spi.fault import Fault, FaultKind
from ep.spi.provider import Provider
from ep.spi.stream import Stream, let_host_wait
from ep.spi.waiter import Waiter
from ep.spi.worker import Worker

__all__ = [
    "Communicator",
    "Device",
    "Event",
    "Fault",
    "FaultKind",
    "Group",
    "Ledger",
    "Provider",
    "Stream",
    "Ticket",
    "Waiter",
    "Worker",
    "is_working",
    "let_host_wait",
    "work_here",
]
