"""Wrapping of host memory, native allocations and native streams that other libraries made."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ep.errors import UnsupportedError
from ep.exchange import dlpack
from ep.ground.glimpse import glimpse
from ep.ground.truth import truth
from ep.integers import count, integer
from ep.layout.memory_kind import MemoryKind
from ep.memory.mapped import is_mapped
from ep.memory.memory import HOST_SPACE, Block, Memory
from ep.memory.segment import Segment

if TYPE_CHECKING:
    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["adopt", "number_of", "require_reach", "require_sound", "wrap_host", "wrap_memory", "wrap_stream"]


def wrap_host(device: Device, address: int, nbytes: int, owner: object, *, is_read_only: bool) -> Memory:
    """Return memory at a host address that the device reaches."""
    device._require_open("wrap_host")
    nbytes = _checked("wrap_host", nbytes, owner)
    is_read_only = truth("wrap_host: is_read_only", is_read_only)
    if device.reaches_host:  # else it is _wrap_host that refuses
        address = _host_address("wrap_host: address", address, nbytes)
    lent = Segment(device.twin.wrap_host(address, nbytes), nbytes, MemoryKind.DEVICE, owner)
    block = Block(device, nbytes, space=HOST_SPACE, address=address, is_read_only=is_read_only)
    return adopt(device, block, lent, 0, nbytes)


def wrap_memory(  # noqa: PLR0913 - beside the five of wrap_host, where in the allocation the memory begins
    device: Device, handle: Any, nbytes: int, owner: object, *, is_read_only: bool, offset: int = 0
) -> Memory:
    """Return `nbytes` bytes from `offset` on of a native allocation of the device."""
    device._require_open("wrap_memory")
    nbytes = _checked("wrap_memory", nbytes, owner)
    is_read_only = truth("wrap_memory: is_read_only", is_read_only)
    if device.reaches_host and device.twin.dlpack_device()[0] in dlpack.HOST:
        handle = _host_address("wrap_memory: handle", handle, offset + nbytes)
    handle = device.twin.wrap_memory(handle, offset + nbytes)
    space, start = _place(device, device.twin.address(handle), offset + nbytes)
    lent = Segment(handle, offset + nbytes, MemoryKind.DEVICE, owner)
    block = Block(device, offset + nbytes, space=space, address=start, is_read_only=is_read_only)
    return adopt(device, block, lent, offset, nbytes)


def wrap_stream(device: Device, handle: Any, owner: object) -> Stream:
    """Return a stream that enqueues into a native one."""
    device._require_open("wrap_stream")
    _checked("wrap_stream", 0, owner)
    device._retired.drain()  # as in device.stream
    stream = device._borrow(handle)
    stream._kept = owner
    return device._enlist(stream)


def number_of(device: Device, handle: Any) -> Any:
    """Return the address that a handle of the device's own stands for where memory is the host's; any other as it is."""
    if hasattr(type(handle), "__index__"):
        return handle
    try:
        return device.twin.address(handle) if device.twin.dlpack_device()[0] in dlpack.HOST else handle
    except Exception:  # noqa: BLE001 - no handle of its own, which is refused in words
        return handle


def require_sound(device: Device, argument: str, handle: Any, nbytes: Any) -> None:
    """Raise TypeError or ValueError for a caller's number that names no memory, as far as EP can find that out.

    A wild address is recognised by its missing pages. A number that names a driver object cannot be checked: a driver
    crashes on a wrong one. There the caller gives the object itself.
    """
    if not hasattr(type(handle), "__index__"):
        return
    try:
        kind = device.twin.dlpack_device()[0]
    except UnsupportedError:
        return
    if device.twin.is_opaque:
        message = f"{argument} is the number {glimpse(handle)}, which may stand for no object; give the object of the driver's binding itself"
        raise TypeError(message)
    if kind in dlpack.HOST:
        nbytes = count(f"{argument.partition(':')[0]}: nbytes", nbytes)
        address = _host_address(argument, handle, nbytes)
        if not is_mapped(address, nbytes):
            message = f"{argument} {address:#x} with {nbytes} bytes is no memory of this process; give such as array.ctypes.data"
            raise ValueError(message)


def adopt(device: Device, block: Block, lent: Segment, offset: int, nbytes: int) -> Memory:
    """Return a part of a block whose bytes somebody else owns, as a memory of the device."""
    device._retired.drain()  # owners whose bytes no work can touch any more are let go
    device._heap.pool.lend(lent, block)
    return Memory(block, offset, nbytes, is_view=False)


def require_reach(where: str, lies: tuple[int, int], device: Device) -> None:
    """Raise ValueError, naming the cure, unless the device reaches what is on a DLPack device."""
    if lies[0] in dlpack.HOST:
        if not device.reaches_host:
            message = f"{where} is host memory, which {device.name} does not reach; copy it there with stream.upload"
            raise ValueError(message)
        return
    try:
        is_reached = device.twin.dlpack_device() == lies
    except UnsupportedError:
        is_reached = False
    if not is_reached:
        message = f"{where} is on DLPack device type {lies[0]}, index {lies[1]}, which {device.name} does not reach; copy it to the host and from there with stream.upload"
        raise ValueError(message)


def _place(device: Device, address: int, nbytes: int) -> tuple[int | None, int]:
    """Return the space in which native bytes lie and their place in it, so that EP finds memories that share bytes."""
    kind = device.twin.dlpack_device()[0]
    if kind in dlpack.HOST:
        return HOST_SPACE, address
    for block in device._heap.pool.blocks():
        begin = device.twin.address(block.handle) if block.nbytes else 0
        overlaps = not device.twin.is_opaque and begin - nbytes < address < begin + block.nbytes
        if block.nbytes and (begin == address or overlaps):
            return block.space, block.start + address - begin
    return None, 0


def _host_address(argument: str, value: Any, nbytes: int) -> int:
    address = integer(argument, value)
    if not 0 <= address <= sys.maxsize - nbytes or (nbytes and not address):
        message = (
            f"{argument} {address:#x} with {nbytes} bytes is no place in host memory; give such as array.ctypes.data"
        )
        raise ValueError(message)
    return address


def _checked(operation: str, nbytes: Any, owner: object) -> int:
    if owner is None:
        message = f"{operation}: owner is None, needs the object that keeps the wrapped one alive"
        raise TypeError(message)
    return count(f"{operation}: nbytes", nbytes)
