"""RNN, LSTM and GRU: the input's part of all steps as one product, then a cell for each step, which writes its Y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from ep_primitives import GruCell, LstmCell

from ep_onnx.errors import LackingError
from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

    Step = Callable[[Value, Value, Value | None, Value | None], tuple[Value, Value | None]]
    """Append a cell: from its gates, h, c and where to write h_next to h_next and c_next."""

__all__: list[str] = []

_ACTIVATIONS: Final = {"Sigmoid": "sigmoid", "Tanh": "tanh", "Relu": "relu"}
_USUAL: Final = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
_DIRECTIONS: Final = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


class _Weights(NamedTuple):
    """Weights of all directions, (directions, blocks H, ...).

    shared : the bias added to the input's part; (directions blocks H)
    own    : (directions, blocks H), the bias added to the recurrent products; None if it is in `shared`
    """

    node: Call
    w: Value
    r: Value
    shared: Value | None
    own: Value | None

    def recurrent(self, place: int) -> Value:
        """Return the recurrent weights of a direction."""
        return _kept(self.node, f"recurrent weights {place}", self.r, lambda r: r[place])


@rule("RNN")
def _rnn(do: Trace, node: Call, x: Value, w: Value, r: Value, b: Value | None = None, *more: Value | None) -> Any:
    weights = _Weights(node, w, r, _summed(do, node, b), None)

    def cell(place: int) -> Step:
        factor, (activation,) = weights.recurrent(place).permute((1, 0)), _activations(node, place)

        def step(gates: Value, h: Value, c: Value | None, out: Value | None) -> tuple[Value, Value | None]:
            return do.matmul(h, factor, bias=gates, out=out, activation=activation), c

        return step

    return _network(do, weights, x, cell, *more)[:2]


@rule("GRU")
def _gru(do: Trace, node: Call, x: Value, w: Value, r: Value, b: Value | None = None, *more: Value | None) -> Any:
    is_linear, rows = bool(node.get("linear_before_reset", 0)), r.shape[1]
    if is_linear and b is not None:
        shared = _kept(node, "input bias", b, lambda b: b[:, :rows])
        weights = _Weights(node, w, r, do.reshape(shared, (shared.size,)), _kept(node, "own", b, lambda b: b[:, rows:]))
    else:
        weights = _Weights(node, w, r, _summed(do, node, b), None)

    def cell(place: int) -> Step:
        own, factor = weights.own and weights.own[place], weights.recurrent(place)
        gate, candidate = _activations(node, place)

        def step(gates: Value, h: Value, c: Value | None, out: Value | None) -> tuple[Value, Value | None]:
            descriptor = GruCell.infer(
                gates.spec,
                h.spec,
                factor.spec,
                own and own.spec,
                linear_before_reset=is_linear,
                gate_activation=gate,
                candidate_activation=candidate,
                h_next=out and out.spec,
            )
            return do.emit(descriptor, out, gates=gates, h=h, r=factor, bias=own), c

        return step

    return _network(do, weights, x, cell, *more)[:2]


@rule("LSTM")
def _lstm(
    do: Trace,
    node: Call,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lengths: Value | None = None,
    h: Value | None = None,
    c: Value | None = None,
    p: Value | None = None,
) -> Any:
    weights = _Weights(node, w, r, _summed(do, node, b), None)

    def cell(place: int) -> Step:
        factor = weights.recurrent(place)
        peephole = None if p is None else _kept(node, f"peephole {place}", p, lambda p: p[place])
        names = dict(zip(LstmCell.words, _activations(node, place), strict=True))

        def step(gates: Value, h: Value, c: Value | None, out: Value | None) -> tuple[Value, Value | None]:
            given = {"gates": gates, "h": h, "c": c, "r": factor, "peephole": peephole}
            specs: dict[str, Any] = {name: each and each.spec for name, each in given.items()}
            descriptor = LstmCell.infer(**specs, **names, h_next=out and out.spec)
            made = do.launch(descriptor, **given, h_next=out)
            return made["h_next"], made["c_next"]

        return step

    return _network(do, weights, x, cell, lengths, h, c, has_memory=True)


def _network(
    do: Trace,
    weights: _Weights,
    x: Value,
    cell: Callable[[int], Step],
    lengths: Value | None = None,
    h: Value | None = None,
    c: Value | None = None,
    *,
    has_memory: bool = False,
) -> tuple[Value | None, ...]:
    """Append all steps, and return Y, Y_h and Y_c. In Y each step of each direction has its place."""
    node = weights.node
    _check(node)
    is_batch_first = bool(node.get("layout", 0))
    gates = _projected(do, weights, x)
    gates = gates.permute((1, 0, 2)) if is_batch_first else gates
    steps, count, _ = gates.shape
    directions, rows, width = weights.r.shape
    seen = None if lengths is None else _seen(do, lengths, steps)
    y = None
    if node.node.outputs[0]:
        whole = (count, steps, directions, width) if is_batch_first else (steps, directions, count, width)
        y = do.empty(x.dtype, whole)
    turned = None if y is None else y.permute((1, 2, 0, 3)) if is_batch_first else y
    ends: list[tuple[Value, Value | None]] = []
    for place, is_reverse in enumerate(_DIRECTIONS[node.get("direction", "forward")]):
        state = _initial(do, h, place, (count, width), x.dtype, is_batch_first=is_batch_first)
        memory = None
        if has_memory:
            memory = state if c is h else _initial(do, c, place, (count, width), x.dtype, is_batch_first=is_batch_first)
        step = cell(place)
        for time in reversed(range(steps)) if is_reverse else range(steps):
            part = gates[time, :, place * rows : (place + 1) * rows]
            made, kept = step(part, state, memory, turned and turned[time, place])
            state = made if seen is None else do.where(seen[time], made, state)
            if memory is not None and kept is not None:
                memory = kept if seen is None else do.where(seen[time], kept, memory)
        ends.append((state, memory))
    if y is not None and seen is not None:
        y = do.where(_beside(seen, is_batch_first=is_batch_first), y, do.constant(0, x.dtype))
    axis = 1 if is_batch_first else 0
    last = _stacked(do, [state for state, _ in ends], axis)
    return y, last, _stacked(do, [memory for _, memory in ends if memory is not None], axis)


def _projected(do: Trace, weights: _Weights, x: Value) -> Value:
    """Append the input's part of all gates of all directions: one product, (..., directions blocks H)."""
    directions, rows, depth = weights.w.shape
    flat = do.reshape(x, (x.shape[0] * x.shape[1], depth))
    whole = directions * rows
    if weights.w.is_constant:
        factor = _kept(weights.node, "input weights", weights.w, lambda w: w.reshape(whole, depth).T)
    else:
        factor = do.reshape(weights.w, (whole, depth)).permute((1, 0))
    return do.matmul(flat, factor, bias=weights.shared).reshape((*x.shape[:2], whole))


def _kept(node: Call, key: str, value: Value, part: Callable[[Any], Any]) -> Value:
    """Return a part of a value: of a constant the same one in all plans."""
    if not value.is_constant:
        return part(value)  # type: ignore[no-any-return]  # the part of a Value is one
    return node.lasting(key, lambda: np.ascontiguousarray(part(value.array)), value)


def _summed(do: Trace, node: Call, b: Value | None) -> Value | None:
    """Return the sum of the input's bias and the recurrence's, for all directions."""
    if b is None:
        return None
    half = b.shape[1] // 2
    if b.is_constant:
        return _kept(node, "bias", b, lambda b: (b[:, :half] + b[:, half:]).reshape(-1))
    made = do.binary("add", b[:, :half], b[:, half:])
    return made.reshape((made.size,))


def _initial(
    do: Trace, given: Value | None, place: int, shape: tuple[int, int], dtype: str, *, is_batch_first: bool
) -> Value:
    if given is None:
        return do.full(dtype, shape, 0)
    return given[:, place] if is_batch_first else given[place]


def _seen(do: Trace, lengths: Value, steps: int) -> Value | None:
    """Append which steps each sequence has, (steps, N, 1); None where all are known to have all."""
    if do.known(lengths) and (do.host(lengths) >= steps).all():
        return None
    places = do.constant(np.arange(steps).reshape(steps, 1, 1), lengths.dtype)
    return do.binary("less_than", places, do.reshape(lengths, (1, lengths.size, 1)))


def _beside(seen: Value, *, is_batch_first: bool) -> Value:
    """Return the steps that sequences have as they meet Y."""
    steps, count, _ = seen.shape
    if is_batch_first:
        return seen.permute((1, 0, 2)).reshape((count, steps, 1, 1))
    return seen.reshape((steps, 1, count, 1))


def _stacked(do: Trace, parts: list[Value], axis: int) -> Value | None:
    """Return the directions' last states, along an axis of its own."""
    if not parts:
        return None
    count, width = parts[0].shape
    shape = (count, 1, width) if axis else (1, count, width)
    formed = [do.reshape(each, shape) for each in parts]
    return formed[0] if len(formed) == 1 else do.joined(formed, axis)


def _activations(node: Call, place: int) -> Iterable[str]:
    """Return the names of a direction's activations as EP has them."""
    usual = _USUAL[node.node.op]
    given = [each.decode() if isinstance(each, bytes) else each for each in node.get("activations") or ()]
    chosen = given[place * len(usual) : (place + 1) * len(usual)] or usual
    for name in chosen:
        if name.capitalize() not in _ACTIVATIONS:
            message = f"{node.node.title}: its activation {name} is none of {', '.join(_ACTIVATIONS)}, which cells have; export it as a Loop or Scan"
            raise LackingError(message)
    return [_ACTIVATIONS[name.capitalize()] for name in chosen]


def _check(node: Call) -> None:
    for name, usual in (("clip", 0), ("input_forget", 0)):
        if node.get(name, usual):
            message = f"{node.node.title}: its {name} is {node.get(name)}, which cells do not have; export it as a Loop or Scan"
            raise LackingError(message)
