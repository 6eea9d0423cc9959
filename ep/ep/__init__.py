"""EP: the contracts between frameworks and hardware. `ep.device("cpu:0")` is where to begin.

Importing it loads no library: not numpy, not pluggy, no provider.
"""

from ep import spi
from ep.callback import HostThread
from ep.cells import Cell
from ep.descriptor import Descriptor
from ep.device import Device
from ep.device_info import DeviceInfo
from ep.dims import Geometry
from ep.dtypes import DType, dtype
from ep.errors import (
    ClosedError,
    CompileError,
    DeviceError,
    DeviceLostError,
    EpError,
    OutOfMemoryError,
    TimeoutError,  # noqa: A004 - it is the builtin, too
    UnavailableError,
    UnsupportedError,
)
from ep.event import Event
from ep.executable import Executable, Node, Slot
from ep.export import Exported
from ep.family import Family
from ep.graph import Graph
from ep.hooks import family_hook, provider_hook
from ep.implementation import Implementation, Kernel
from ep.interchange import view
from ep.key import KernelKey
from ep.memory import Memory, MemoryKind
from ep.pool import MemoryInfo
from ep.primitive import Primitive
from ep.provider import Provider
from ep.registry import providers
from ep.role import Role, Roles
from ep.spec import Scalar, TensorSpec
from ep.stage import Stage
from ep.step import Step
from ep.stream import Stream
from ep.tensor import Tensor

# Last, because these functions take the place of the submodules of the same name on the package.
from ep.families import families  # isort: skip
from ep.registry import device, devices, provider  # isort: skip

__all__ = [
    "Cell",
    "ClosedError",
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
