"""The kernel of a collective in NCCL's shape: one call, or a group of sends and receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep.errors import UnsupportedError

from ep_collectives.carrier.launch import CarriedKernel
from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.pairs import Recv, Send
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.spreading import AllGather, Broadcast
from ep_collectives.nccl.library import DTYPES, OPS

if TYPE_CHECKING:
    import ep
    from ep_collectives.nccl.communicator import NcclCommunicator

__all__ = ["NcclKernel"]

_PARTS: Final = {"complex64": "float32", "complex128": "float64"}
"""A sum of complex numbers, or a mean, is one of twice as many real ones."""


class NcclKernel(CarriedKernel):
    """One rank's part in one collective.

    Raises UnsupportedError for an op or element type that NCCL does not reduce. Elements that are only moved are bytes.
    """

    def __init__(self, collective: ep.Collective, communicator: NcclCommunicator) -> None:
        super().__init__(collective, communicator)
        # Ranks that exchange nothing meet all the same: each gives a byte.
        self.scratch_nbytes = 0 if collective.specs else communicator.device.info.alignment
        self._itemsize = collective.specs[0].itemsize if collective.specs else 1
        self._type, self._width = DTYPES["uint8"], self._itemsize
        if isinstance(collective, AllReduce | Reduce | ReduceScatter):
            dtype = collective.specs[0].dtype
            real = _PARTS.get(dtype, dtype) if collective.op in {"sum", "mean"} else dtype
            if real not in DTYPES:
                message = f"{collective.title}: {communicator.library.flavour} does not reduce {dtype}; cast it, or take another carrier"
                raise UnsupportedError(message)
            self._type, self._width = DTYPES[real], 2 if real != dtype else 1

    def run(self, memories: tuple[ep.Memory, ...], lane: ep.spi.Stream, native: Any, stream: Any) -> None:
        """Enqueue it. Raises DeviceError."""
        each, places = self.collective, self._places(memories)
        call, rest = self.communicator.library.call, (native, stream)
        op = OPS.get(each.op, 0)
        match each:
            case AllReduce():
                call("AllReduce", places["x"], places["out"], self._count("x"), self._type, op, *rest)
            case Reduce():
                out = places.get("out", self.communicator.library.ffi.NULL)
                call("Reduce", places["x"], out, self._count("x"), self._type, op, each.root, *rest)
            case ReduceScatter():
                part = self._count("x") // self.communicator.size
                mine = places["x"] + self.communicator.rank * part * self._itemsize // self._width
                call("ReduceScatter", places["x"], places.get("out", mine), part, self._type, op, *rest)
            case AllGather():
                part = self._count("out") // self.communicator.size
                call(
                    "AllGather",
                    places.get("x", places["out"] + self.communicator.rank * part),
                    places["out"],
                    part,
                    self._type,
                    *rest,
                )
            case Broadcast():
                call("Broadcast", places["x"], places["x"], self._count("x"), self._type, each.root, *rest)
            case Send():
                call("Send", places["x"], self._count("x"), self._type, each.peer, *rest)
            case Recv():
                call("Recv", places["out"], self._count("out"), self._type, each.peer, *rest)
            case AllToAll() if each.specs:
                self._exchange(each, memories, lane, rest)
            case _:
                byte = self._pointer(memories[0])
                call("AllReduce", byte, byte, 1, self._type, OPS["max"], *rest)

    def _exchange(self, each: AllToAll, memories: Any, lane: ep.spi.Stream, rest: tuple[Any, Any]) -> None:
        """Send a part to each rank and receive one from it, as one group; copy this rank's own."""
        library, mine = self.communicator.library, self.communicator.rank
        sends, receives = each.counts(self.communicator.size)
        x, out = (self._memory(memories, name) for name in ("x", "out"))
        with library.group():
            for rank, count in enumerate(sends):
                if count and rank != mine:
                    library.call("Send", self._part(x, sends, rank), count * self._width, self._type, rank, *rest)
            for rank, count in enumerate(receives):
                if count and rank != mine:
                    library.call("Recv", self._part(out, receives, rank), count * self._width, self._type, rank, *rest)
        if sends[mine] and receives[mine]:
            nbytes, size = receives[mine] * self._itemsize, self._itemsize
            target = out._part(sum(receives[:mine]) * size, nbytes)
            lane.copy(target, x._part(sum(sends[:mine]) * size, nbytes), nbytes)

    def _part(self, memory: ep.Memory, counts: tuple[int, ...], rank: int) -> Any:
        return self._pointer(memory) + sum(counts[:rank]) * self._itemsize

    def _memory(self, memories: tuple[ep.Memory, ...], name: str) -> Any:
        """Return the bytes of an operand's elements, None if this rank has none of that name."""
        if name not in self.collective.operands:
            return None
        place = self.collective.operands.index(name)
        spec: Any = self.collective.specs[place]
        return memories[place]._part(spec.lo * spec.itemsize, spec.nbytes)

    def _places(self, memories: tuple[ep.Memory, ...]) -> dict[str, Any]:
        return {name: self._pointer(self._memory(memories, name)) for name in self.collective.operands}

    def _pointer(self, memory: ep.Memory) -> Any:
        ffi = self.communicator.library.ffi
        if not memory.nbytes:
            return ffi.cast("char *", 0)
        return ffi.cast("char *", self.communicator.device.twin.address(memory.handle) + memory.offset)

    def _count(self, name: str) -> int:
        size: int = self.collective.specs[self.collective.operands.index(name)].size
        return size * self._width
