"""Attention, where it is the family's; with a past, windows or scores among its outputs it is ONNX's body of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_primitives import Attention

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_KNOWN: Final = {
    "scale",
    "softcap",
    "is_causal",
    "q_num_heads",
    "kv_num_heads",
    "softmax_precision",
    "qk_matmul_output_mode",
}
_FLAT: Final = 3


@rule("Attention")
def _attention(
    do: Trace,
    node: Call,
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    past_k: Value | None = None,
    past_v: Value | None = None,
    lengths: Value | None = None,
) -> Any:
    if past_k is not None or past_v is not None or any(node.node.outputs[1:]) or set(node.node.attributes) - _KNOWN:
        return NotImplemented
    is_flat, queries, heads = q.ndim == _FLAT, q.shape[-2], node.get("q_num_heads")
    if is_flat:
        few = node.get("kv_num_heads")
        q, k, v = _split(do, q, heads), _split(do, k, few), _split(do, v, few)
    is_causal = bool(node.get("is_causal", 0))
    if lengths is not None:
        if mask is not None:
            return NotImplemented
        mask, is_causal = _there(do, lengths, queries, k.shape[-2], is_causal=is_causal), False
    if mask is not None and (mask.dtype not in {"bool", q.dtype} or mask.shape[-1] != k.shape[-2]):
        return NotImplemented
    descriptor = Attention.infer(
        q.spec,
        k.spec,
        v.spec,
        mask and mask.spec,
        scale=node.get("scale"),
        softcap=node.get("softcap", 0.0),
        is_causal=is_causal,
    )
    made = do.emit(descriptor, None, q=q, k=k, v=v, mask=mask)
    return do.reshape(made.permute((0, 2, 1, 3)), (q.shape[0], queries, heads * v.shape[-1])) if is_flat else made


def _split(do: Trace, x: Value, heads: int) -> Value:
    """Return (batch, rows, heads times columns) as (batch, heads, rows, columns)."""
    batch, rows, width = x.shape
    return do.reshape(x, (batch, rows, heads, width // heads)).permute((0, 2, 1, 3))


def _there(do: Trace, lengths: Value, queries: int, keys: int, *, is_causal: bool) -> Value:
    """Append which keys each query meets: those before the end of its batch, and causally, so that the last meets the last."""
    ends = do.reshape(do.cast(lengths, "int64"), (lengths.size, 1, 1, 1))
    places = do.constant(np.arange(keys, dtype=np.int64).reshape(1, 1, 1, keys))
    if not is_causal:
        return do.binary("less_than", places, ends)
    rows = do.constant((np.arange(queries, dtype=np.int64) - queries).reshape(1, 1, queries, 1))
    return do.binary("less_equal", places, do.binary("add", rows, ends))
