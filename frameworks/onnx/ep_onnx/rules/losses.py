"""Losses of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep_primitives import CrossEntropy, LogSoftmax

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []


@rule("NegativeLogLikelihoodLoss")
def _nll(do: Trace, node: Call, x: Value, labels: Value, weights: Value | None = None) -> Value:
    return _loss(do, node, x, labels, weights, is_log=True)


@rule("SoftmaxCrossEntropyLoss")
def _cross_entropy(do: Trace, node: Call, x: Value, labels: Value, weights: Value | None = None) -> Any:
    loss = _loss(do, node, x, labels, weights, is_log=False)
    if len(node.node.outputs) == 1:
        return loss
    return loss, do.emit(LogSoftmax.infer(x.spec, 1), None, x=x)


def _loss(do: Trace, node: Call, x: Value, labels: Value, weights: Value | None, *, is_log: bool) -> Value:
    descriptor = CrossEntropy.infer(
        x.spec,
        labels.spec,
        weights and weights.spec,
        reduction=node.get("reduction", "mean"),
        ignore_index=node.get("ignore_index"),
        is_log=is_log,
    )
    return do.emit(descriptor, None, x=x, labels=labels, weights=weights)
