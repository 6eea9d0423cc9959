"""Operations whose results have extents that depend on what their inputs hold: the host looks, and works them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []


@rule("NonZero", "Unique", "NonMaxSuppression", "MelWeightMatrix")
def _selected(do: Trace, node: Call, *inputs: Value | None) -> tuple[Any, ...]:
    return node.reference([None if each is None else do.host(each) for each in inputs])
