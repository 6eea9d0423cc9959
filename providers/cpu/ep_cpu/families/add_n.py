"""AddN in one pass: blocks of every term are added up while caches hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import AddN

from ep_cpu.kernel import Plan, Planned
from ep_cpu.tiles import tiled

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "BlockSum"]


class BlockSum(Planned):
    """Sums of blocks by the loops of BroadcastBinary's add; any strides, of any instruction set."""

    def plan(self, descriptor: AddN, native: Native) -> Plan:
        geometry, dtype, size = tiled(descriptor.geometry), descriptor.out.dtype, descriptor.out.itemsize
        shape, strides = geometry.shape or (1,), [own or (0,) for own in geometry.strides]
        terms = len(descriptor.specs) - 1
        family, op = ("broadcast_binary", "add") if terms > 1 else ("elementwise_unary", "identity")
        fields = {
            "sum": native.rows[family, op, dtype, dtype],
            "size": geometry.size,
            "traffic": descriptor.nbytes_moved,
            "terms": terms,
            "ndim": len(shape),
            "shape": shape,
            "offset": native.ffi.new("int64_t[]", [offset * size for offset in geometry.offsets]),
            "stride": native.ffi.new("int64_t[][16]", [[step * size for step in own] for own in strides]),
        }
        return Plan("ep_add_n_plan", fields)


IMPLEMENTATIONS: Final = {AddN: (BlockSum(),)}
