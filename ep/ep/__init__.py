"""EP: the contracts between frameworks and hardware. `ep.device("cpu:0")` is where to begin.

Importing it loads no library: not numpy, not pluggy, no provider.
"""

from ep import spi
from ep.collective.communicator import Communicator, communicator
from ep.dtypes import DType, dtype
from ep.errors import (
    ClosedError,
    CommunicatorError,
    CompileError,
    DeviceError,
    DeviceLostError,
    EpError,
    OutOfMemoryError,
    TimeoutError,  # noqa: A004 - it is the builtin, too
    UnavailableError,
    UnsupportedError,
)
from ep.exchange.export import Exported
from ep.exchange.interchange import view
from ep.exchange.tensor import Tensor
from ep.ground.callback import HostThread
from ep.hooks import family_hook, provider_hook
from ep.layout.cells import Cell
from ep.layout.device_info import DeviceInfo
from ep.layout.dims import Geometry
from ep.layout.memory_kind import MemoryKind
from ep.layout.role import CollectiveRoles, Role, Roles
from ep.layout.spec import Scalar, TensorSpec
from ep.memory.memory import Memory
from ep.memory.pool import MemoryInfo
from ep.plugin.family import Family
from ep.plugin.provider import Provider
from ep.plugin.registry import providers
from ep.stream.device import Device
from ep.stream.event import Event
from ep.stream.graph import Graph
from ep.stream.stream import Stream
from ep.work.collective import Collective
from ep.work.descriptor import Descriptor
from ep.work.executable import Executable, Node, Slot
from ep.work.implementation import Implementation, Kernel
from ep.work.key import KernelKey
from ep.work.primitive import Primitive
from ep.work.stage import Stage
from ep.work.step import Step

# Last, because these functions take the place of the submodules of the same name on the package.
from ep.plugin.families import families  # isort: skip
from ep.plugin.registry import device, devices, provider  # isort: skip

__all__ = [
    "Cell",
    "ClosedError",
    "Collective",
    "CollectiveRoles",
    "Communicator",
    "CommunicatorError",
    "CompileError",
    "DType",
    "Descriptor",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceLostError",
    "EpError",
    "Event",
    "Executable",
    "Exported",
    "Family",
    "Geometry",
    "Graph",
    "HostThread",
    "Implementation",
    "Kernel",
    "KernelKey",
    "Memory",
    "MemoryInfo",
    "MemoryKind",
    "Node",
    "OutOfMemoryError",
    "Primitive",
    "Provider",
    "Role",
    "Roles",
    "Scalar",
    "Slot",
    "Stage",
    "Step",
    "Stream",
    "Tensor",
    "TensorSpec",
    "TimeoutError",
    "UnavailableError",
    "UnsupportedError",
    "communicator",
    "device",
    "devices",
    "dtype",
    "families",
    "family_hook",
    "provider",
    "provider_hook",
    "providers",
    "spi",
    "view",
]
