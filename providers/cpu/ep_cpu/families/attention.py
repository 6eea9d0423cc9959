"""Attention by blocks of queries and keys: scores stay in a core's caches, and keys that causality leaves out are not met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import Attention

import ep
from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "BlockedAttention"]

_PLACES: Final = ("q", "k", "v", "mask", "out")
"""The tensors of a native plan, in its order."""
_MOST_COLUMNS: Final = 256
"""With more, so few queries fit the caches beside their sums that keys are packed too often."""
_FEWEST_QUERIES: Final = 16
"""Queries lie side by side in vectors: with fewer, products of their rows are faster."""


class BlockedAttention(Planned):
    """A softmax that goes along with both products, keys by keys; every floating type, stride, mask and batch."""

    def accepts(self, descriptor: Attention, info: ep.DeviceInfo) -> bool:
        super().accepts(descriptor, info)
        if reason := _reason(descriptor):
            message = f"{descriptor.family}: {reason}"
            raise ep.UnsupportedError(message)
        return True

    def plan(self, descriptor: Attention, native: Native) -> Plan:
        wide = descriptor.compute
        specs = (descriptor.q, descriptor.k, descriptor.v, descriptor.mask, descriptor.out)
        strides = [
            [0 if spec is None else step * spec.itemsize for step in descriptor.steps(name)]
            for name, spec in zip(_PLACES, specs, strict=True)
        ]
        numbers = {role.name: number for number, (role, spec) in enumerate(descriptor.tensors) if spec is not None}
        mask, tanh = descriptor.mask, ("elementwise_unary", "tanh", wide, wide)
        fields = {
            "product": native.rows["matmul", "-", descriptor.q.dtype, wide],
            "tanh": native.rows[tanh] if descriptor.softcap else native.ffi.NULL,
            "place": [*(numbers.get(name, -1) for name in _PLACES), len(descriptor.tensors)],
            "is_of_bools": mask is not None and mask.dtype == "bool",
            "is_causal": descriptor.is_causal,
            "ndim": len(strides[0]) - 2,
            "queries": descriptor.q.shape[-2],
            "keys": descriptor.k.shape[-2],
            "depth": descriptor.q.shape[-1],
            "columns": descriptor.v.shape[-1],
            "ahead": min(max(descriptor.offset, -descriptor.q.shape[-2]), descriptor.k.shape[-2]),
            "scale": descriptor.scale,
            "cap": descriptor.softcap,
            "offset": [0 if spec is None else spec.offset * spec.itemsize for spec in specs],
            "line": [over[-2] for over in strides],
            "step": [over[-1] for over in strides],
            "extent": descriptor.batch,
            "stride": [over[:-2] for over in strides],
        }

        def scratch(plan: Any) -> int:
            nbytes: int = native.lib.ep_attention_scratch(plan)
            return nbytes

        return Plan("ep_attention_plan", fields, scratch=scratch)


def _reason(descriptor: Attention) -> str:
    """Return why a descriptor is refused, "" if it is not."""
    if not all(spec.size for spec in descriptor.given):
        return "an operand has no elements"
    if descriptor.q.shape[-2] < _FEWEST_QUERIES:
        return f"{descriptor.q.shape[-2]} queries are fewer than {_FEWEST_QUERIES}: products of rows are faster"
    most = max(descriptor.q.shape[-1], descriptor.v.shape[-1])
    return f"{most} columns are more than {_MOST_COLUMNS}" if most > _MOST_COLUMNS else ""


IMPLEMENTATIONS: Final = {Attention: (BlockedAttention(),)}
