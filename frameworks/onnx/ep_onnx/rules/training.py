"""Steps of optimisers: new weights and states of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_DOMAIN = "ai.onnx.preview.training"


def _scaled(do: Trace, x: Value, factor: Any) -> Value:
    return do.binary("mul", x, factor if hasattr(factor, "spec") else do.constant(factor, x.dtype))


def _groups(values: Sequence[Value], count: int) -> list[tuple[Value, ...]]:
    """Return the inputs of each tensor that is optimised: all inputs come kind by kind."""
    number = len(values) // count
    return [tuple(values[place::number]) for place in range(number)]


def _by_kind(rows: Sequence[Sequence[Value]]) -> tuple[Value, ...]:
    return tuple([each for column in zip(*rows, strict=True) for each in column])


@rule("Adagrad", domain=_DOMAIN)
def _adagrad(do: Trace, node: Call, rate: Value, count: Value, *values: Value) -> tuple[Value, ...]:
    decayed = do.host(rate).item() / (1 + do.host(count).item() * node.get("decay_factor", 0.0))
    rows = []
    for x, gradient, history in _groups(values, 3):
        regular = do.binary("add", _scaled(do, x, node.get("norm_coefficient", 0.0)), gradient)
        total = do.binary("add", history, do.unary("square", regular))
        spread = do.binary("add", do.unary("sqrt", total), do.constant(node.get("epsilon", 1e-6), x.dtype))
        rows.append((do.binary("sub", x, do.binary("div", _scaled(do, regular, decayed), spread)), total))
    return _by_kind(rows)


@rule("Momentum", domain=_DOMAIN)
def _momentum(do: Trace, node: Call, rate: Value, count: Value, *values: Value) -> tuple[Value, ...]:
    step, alpha = do.host(rate).item(), node.get("alpha", 0.0)
    beta = node.get("beta", 0.0) if do.host(count).item() > 0 else 1.0
    rows = []
    for x, gradient, speed in _groups(values, 3):
        regular = do.binary("add", _scaled(do, x, node.get("norm_coefficient", 0.0)), gradient)
        new = do.binary("add", _scaled(do, speed, alpha), _scaled(do, regular, beta))
        moved = do.binary("add", regular, _scaled(do, new, alpha)) if node.get("mode") == "nesterov" else new
        rows.append((do.binary("sub", x, _scaled(do, moved, step)), new))
    return _by_kind(rows)


@rule("Adam", domain=_DOMAIN)
def _adam(do: Trace, node: Call, rate: Value, count: Value, *values: Value) -> tuple[Value, ...]:
    step, turn = do.host(rate).item(), do.host(count).item()
    alpha, beta = node.get("alpha", 0.9), node.get("beta", 0.999)
    if turn > 0:
        step *= (1 - beta**turn) ** 0.5 / (1 - alpha**turn)
    rows = []
    for x, gradient, first, second in _groups(values, 4):
        regular = do.binary("add", _scaled(do, x, node.get("norm_coefficient", 0.0)), gradient)
        mean = do.binary("add", _scaled(do, first, alpha), _scaled(do, regular, 1 - alpha))
        square = do.binary("add", _scaled(do, second, beta), _scaled(do, do.unary("square", regular), 1 - beta))
        spread = do.binary("add", do.unary("sqrt", square), do.constant(node.get("epsilon", 1e-6), x.dtype))
        moved = do.binary("sub", x, do.binary("div", _scaled(do, mean, step), spread))
        rows.append((_scaled(do, moved, 1 - node.get("norm_coefficient_post", 0.0)), mean, square))
    return _by_kind(rows)
