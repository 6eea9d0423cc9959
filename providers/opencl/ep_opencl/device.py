"""ClDevice: one OpenCL device with a context of its own, its buffers and its programs."""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, Any, Final

import ep_simt
import pyopencl as cl
from ep.ground.roster import Roster
from ep.work.cache import LRU

import ep
from ep_opencl import description, foreign
from ep_opencl.command_buffer import entry_points
from ep_opencl.compiler.binaries import Binaries, keeps_none
from ep_opencl.compiler.pocl import is_pocl, lacks_processor, name_processor
from ep_opencl.compiler.program import FUSED, build, fuses
from ep_opencl.errors import failure
from ep_opencl.function import ClFunction
from ep_opencl.graph import ClGraph, work_of
from ep_opencl.memory.host_buffer import HostBuffer
from ep_opencl.memory.large_buffer import LARGE, LargeBuffer, has_large_buffers
from ep_opencl.stream import ClStream, new_queue

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_opencl.command_buffer import EntryPoints
    from ep_opencl.compiler.folder import CompilerFolder

__all__ = ["ClDevice"]

_DLPACK_OPENCL: Final = 4  # kDLOpenCL, dlpack.h: the data pointer is a cl_mem


class ClDevice(ep.spi.Device):
    """One OpenCL device.

    native   : the pyopencl device
    is_cpu   : True if its work-items are loop iterations, so that groups are large and neighbours stay together
    foresees : True if it is a processor that fetches the lines behind those that are read; Intel's of clouds do not
    target   : how it likes portable kernels to be cut
    processor: the processor's name that EP wrote for the driver's compiler, "" if it wrote none
    is_lost  : True if its compiler knows no processor that it could compile for
    works_in_waits: True if its driver works in threads that wait for it, too, as Intel's for CPUs does
    reads_early: True if its driver reads host memory when an upload is enqueued, before its turn, as NVIDIA's does
    context  : its own: contexts shared by devices move buffers between them unasked, and fail together
    info     : whether it fuses products with sums is asked of its compiler, once
    """

    is_opaque = True  # DLPack's pointers are cl_mem

    def __init__(self, native: cl.Device, folder: CompilerFolder | None = None) -> None:
        """Describe a device.

        folder : where its driver's compiler keeps files, None if that is not known
        """
        super().__init__(description.describe(native))
        self._folder = folder
        self.native = native
        self.is_cpu = bool(native.type & cl.device_type.CPU)
        self.foresees = self.is_cpu and "intel" not in native.name.lower()
        self.target = _target(is_cpu=self.is_cpu, most=native.max_work_group_size)
        self.processor = name_processor(native)
        self.works_in_waits = self.is_cpu and not is_pocl(native)
        self._has_large_buffers = has_large_buffers(native)
        self._binaries = Binaries(native) if keeps_none(native) else None
        self.reads_early = native.vendor.startswith("NVIDIA")
        self.is_lost = not self.processor and lacks_processor(native)
        self._most = native.max_mem_alloc_size
        self._programs: LRU[ep_simt.Program, cl.Program] = LRU()
        self._open: Roster[ClStream] = Roster()
        self._turn = threading.RLock()
        self._context: cl.Context | None = None
        self._counting = threading.RLock()
        self._calls = 0
        self._reserved = 0
        if fuses(self):
            self.info = self.info._replace(features=self.info.features | {FUSED})

    @property
    def context(self) -> cl.Context:
        """The context, made when it is first needed: listing devices makes none but on PoCL, where one takes a millisecond."""
        with self._turn:
            if self._context is None:
                self.count()
                try:
                    context = cl.Context([self.native])
                except cl.Error as error:
                    raise failure(error) from error
                if self._context is None:  # else a handler came in and has made it
                    self._context = context
                    if self._folder is not None:
                        self._folder.enter()
            return self._context

    def compiled(self, text: str, make: Callable[[], cl.Program], load: Callable[[bytes], cl.Program]) -> cl.Program:
        """Return the program that `make` builds of a text and its options, or that an earlier process left, if it is whole.

        load : makes it of what the driver once gave out; PoCL finds its own files again
        """
        if self._folder is not None:
            native = self.native
            return self._folder.build(f"{native.version} {native.driver_version} {native.name} {text}", make)
        return make() if self._binaries is None else self._binaries.build(text, make, load)

    def function(self, program: ep_simt.Program, entry: ep_simt.Entry) -> ClFunction:
        """Return an entry that can be launched. Raises CompileError, also where its driver's compiler has no room to write."""
        if self._folder is not None:
            self._folder.require_room(f"{self.name}: {entry.name}")
        return ClFunction(self, program, entry)

    def program(self, program: ep_simt.Program) -> cl.Program:
        """Return a program, built once for all kernel keys that share it. Raises CompileError."""
        return self._programs.get(program, functools.partial(build, self))

    @property
    def native_calls(self) -> int:
        """OpenCL calls that allocated, compiled or enqueued."""
        return self._calls + sum(stream.calls for stream in self._open.living())

    def count(self, calls: int = 1) -> None:
        """Add calls that no open stream counts."""
        with self._counting:
            self._calls += calls

    def give_up(self) -> None:
        """Open the gates of all open streams, for one may wait for another's."""
        for stream in self._open.living():
            stream.give_up()

    def forget(self, stream: ClStream) -> None:
        """Take over the count of a stream that ends."""
        with self._counting:
            self._calls += stream.calls
            stream.calls = 0

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> cl.Buffer:
        context = self.context  # its failure takes no bytes
        self._reserve(nbytes)
        try:
            if kind is not ep.MemoryKind.DEVICE:
                return HostBuffer(self, nbytes)
            if self._has_large_buffers and nbytes >= LARGE:
                return LargeBuffer(self, nbytes)
            return cl.Buffer(context, cl.mem_flags.READ_WRITE, nbytes)
        except cl.Error as error:
            self._reserve(-nbytes)
            raise failure(error, nbytes) from error
        except ep.OutOfMemoryError:
            self._reserve(-nbytes)
            raise

    def segment_size(self, nbytes: int) -> int:
        return max(nbytes, min(super().segment_size(nbytes), self._most))

    def _reserve(self, nbytes: int) -> None:
        """Account for bytes: drivers that allocate when a buffer is first touched would refuse too late, or never."""
        with self._counting:
            self._calls += 1
            free = self.info.memory - self._reserved
            fits = nbytes <= free and nbytes <= self._most
            if fits:
                self._reserved += nbytes
        if fits:
            return
        limit = (
            f"{free} bytes of {self.info.memory} are free" if nbytes > free else f"a buffer has at most {self._most}"
        )
        message = f"{self.name}: {nbytes} bytes do not fit: {limit}"
        raise ep.OutOfMemoryError(
            message, requested=nbytes, free=free, reserved=self._reserved, provider="opencl", call="clCreateBuffer"
        )

    def free(self, handle: cl.Buffer, kind: ep.MemoryKind) -> None:
        del kind
        self._reserve(-handle.size)
        if isinstance(handle, (HostBuffer, LargeBuffer)):
            handle.free()
        else:
            handle.release()

    def host(self, handle: cl.Buffer, nbytes: int) -> memoryview:
        return handle.view[:nbytes] if isinstance(handle, HostBuffer) else super().host(handle, nbytes)

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> ClStream:
        self.count()
        queue = new_queue(self, is_timed=timed, priority=priority)
        return self._opened(ClStream(self, ledger, queue, is_synchronous=bool(synchronous)))

    def _opened(self, stream: ClStream) -> ClStream:
        self._open.add(stream)
        return stream

    def wrap_memory(self, handle: Any, nbytes: int) -> cl.Buffer:
        return foreign.buffer_of(self, handle, nbytes)

    def wrap_stream(self, ledger: ep.spi.Ledger, handle: Any) -> ClStream:
        return self._opened(ClStream(self, ledger, foreign.queue_of(self, handle), is_synchronous=False))

    def instantiate(self, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...]) -> ep.Executable | None:
        work = work_of(nodes)
        return None if work is None else ClGraph(self._points, slots, work)

    @functools.cached_property
    def _points(self) -> EntryPoints | None:
        return entry_points(self.native)

    def dlpack_device(self) -> tuple[int, int]:
        return (_DLPACK_OPENCL, self.index)

    def address(self, handle: cl.Buffer) -> int:
        address: int = handle.int_ptr
        return address

    def close(self) -> None:
        self._programs.clear()
        if self._context is not None and self._folder is not None:
            self._folder.leave()
        self._context = None


def _target(*, is_cpu: bool, most: int) -> ep_simt.Target:
    """Return how portable kernels are cut. Raises UnavailableError for an EP_OPENCL_TARGET that is neither cpu nor gpu.

    most : work-items that the device takes in a group; where it takes one, each is a loop, as on a CPU
    """
    name = os.environ.get("EP_OPENCL_TARGET") or ("cpu" if is_cpu else "gpu")
    targets = {"cpu": ep_simt.CPU, "gpu": ep_simt.GPU if most > 1 else ep_simt.CPU}
    if name not in targets:
        message = f"EP_OPENCL_TARGET={name} is no way to cut kernels; use cpu or gpu, or remove it"
        raise ep.UnavailableError(message)
    target = targets[name]
    return target._replace(group=min(target.group, 1 << most.bit_length() - 1))
