"""TopK: elements that pass a sieve, the best so far in a heap, or all of a row put in order as far as it is asked for, in scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import TopK

from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "Selection"]


class Selection(Planned):
    """Elements as numbers of their order, compared with their places; every element type and stride."""

    def plan(self, descriptor: TopK, native: Native) -> Plan:
        across = descriptor.across
        sizes = [spec.itemsize for spec in (descriptor.x, *descriptor.outputs.values())]
        fields = {
            "is_smallest": descriptor.op == "smallest",
            "is_sorted": descriptor.sorted,
            "ndim": len(across.shape),
            "itemsize": descriptor.x.itemsize,
            "rows": across.size,
            "extent": descriptor.extent,
            "k": descriptor.k,
            "offset": [offset * size for offset, size in zip(across.offsets, sizes, strict=True)],
            "step": [step * size for step, size in zip(descriptor.steps, sizes, strict=True)],
            "shape": across.shape,
            "stride": [[stride * size for stride in own] for own, size in zip(across.strides, sizes, strict=True)],
        }

        def scratch(plan: Any) -> int:
            nbytes: int = native.lib.ep_top_k_scratch(plan, descriptor.nbytes_moved)
            return nbytes

        return Plan("ep_top_k_plan", fields, scratch=scratch)


IMPLEMENTATIONS: Final = {TopK: (Selection(),)}
