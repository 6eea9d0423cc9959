"""Control flow, sequences and optional values: conditions and counts are the host's, bodies are written out."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ep_onnx.elements import dtype_of, narrow
from ep_onnx.rules.rule import counted, rule
from ep_onnx.rules.shapes import integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import TypeProto

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__: list[str] = []

_ENDLESS = 1 << 62


@rule("If")
def _if(do: Trace, node: Call, condition: Value) -> tuple[Any, ...]:
    return tuple(node.body("then_branch" if do.host(condition).item() else "else_branch"))


@rule("Loop")
def _loop(
    do: Trace, node: Call, count: Value | None = None, condition: Value | None = None, *state: Any
) -> tuple[Any, ...]:
    most = int(do.host(count).item()) if count is not None else _ENDLESS
    goes_on = condition is None or bool(do.host(condition).item())
    carried: list[Any] = [*state]
    collected: list[list[Value]] = [[] for _ in node.node.outputs[len(state) :]]
    place = 0
    while goes_on and place < most:
        told = condition if condition is not None else do.constant(True)  # noqa: FBT003 - a content
        made = node.body("body", do.constant(place, "int64"), told, *carried)
        goes_on = bool(do.host(made[0]).item())
        carried = made[1 : 1 + len(state)]
        for kept, each in zip(collected, made[1 + len(state) :], strict=True):
            kept.append(each)
        place += 1
    types = node.get("body").types[1 + len(state) :]
    return (*carried, *[_stacked(do, kept, each) for kept, each in zip(collected, types, strict=True)])


@rule("Scan")
def _scan(do: Trace, node: Call, *inputs: Any) -> Any:
    if node.version < 9:  # noqa: PLR2004 - the older one has a batch
        return NotImplemented
    count = node.get("num_scan_inputs")
    state, scanned = [*inputs[: len(inputs) - count]], inputs[len(inputs) - count :]
    axes = node.get("scan_input_axes", [0] * count)
    backward = node.get("scan_input_directions", [0] * count)
    rows = len(node.node.outputs) - len(state)
    out_axes, out_backward = node.get("scan_output_axes", [0] * rows), node.get("scan_output_directions", [0] * rows)
    collected: list[list[Value]] = [[] for _ in range(rows)]
    types = node.get("body").types[len(state) :]
    extent = scanned[0].shape[axes[0]]
    for place in range(extent):
        parts = []
        for each, axis, turned in zip(scanned, axes, backward, strict=True):
            lead = (slice(None),) * counted(axis, each.ndim)
            parts.append(each[(*lead, extent - 1 - place if turned else place)])
        made = node.body("body", *state, *parts)
        state = made[: len(state)]
        for kept, each in zip(collected, made[len(state) :], strict=True):
            kept.append(each)
    results = []
    for kept, axis, turned, each in zip(collected, out_axes, out_backward, types, strict=True):
        whole = _stacked(do, kept[::-1] if turned else kept, each)
        order = [*range(1, whole.ndim)]
        order.insert(counted(axis, whole.ndim), 0)
        results.append(whole.permute(order))
    return (*state, *results)


@rule("SequenceMap")
def _sequence_map(do: Trace, node: Call, first: list[Any], *others: Any) -> tuple[Any, ...]:
    made = [
        node.body("body", one, *[each[place] if isinstance(each, list) else each for each in others])
        for place, one in enumerate(first)
    ]
    return tuple([[*column] for column in zip(*made, strict=True)]) if made else tuple([[] for _ in node.node.outputs])


@rule("SequenceConstruct")
def _sequence_construct(do: Trace, node: Call, *values: Any) -> tuple[Any, ...]:
    return ([*values],)


@rule("SequenceEmpty")
def _sequence_empty(do: Trace, node: Call) -> tuple[Any, ...]:
    return ([],)


@rule("SequenceAt")
def _sequence_at(do: Trace, node: Call, sequence: list[Any], place: Value) -> Any:
    return sequence[int(do.host(place).item())]


@rule("SequenceLength")
def _sequence_length(do: Trace, node: Call, sequence: list[Any]) -> Value:
    return do.constant(len(sequence), "int64")


@rule("SequenceInsert")
def _sequence_insert(
    do: Trace, node: Call, sequence: list[Any], value: Any, place: Value | None = None
) -> tuple[Any, ...]:
    longer = [*sequence]
    longer.insert(len(sequence) if place is None else int(do.host(place).item()), value)
    return (longer,)


@rule("SequenceErase")
def _sequence_erase(do: Trace, node: Call, sequence: list[Any], place: Value | None = None) -> tuple[Any, ...]:
    shorter = [*sequence]
    shorter.pop(-1 if place is None else int(do.host(place).item()))
    return (shorter,)


@rule("SplitToSequence")
def _split_to_sequence(do: Trace, node: Call, x: Value, sizes: Value | None = None) -> tuple[Any, ...]:
    axis = node.axis(x.ndim, 0)
    extent, keeps = x.shape[axis], node.get("keepdims", 1) or sizes is not None
    given = [1] * extent if sizes is None else integers(do, node, "split", sizes)
    if sizes is not None and not sizes.ndim:
        given = [min(given[0], extent - begin) for begin in range(0, extent, given[0])]
    ends, lead = np.cumsum([0, *given]), (slice(None),) * axis
    places = [(slice(int(b), int(e)) if keeps else int(b)) for b, e in itertools.pairwise(ends)]
    return ([x[(*lead, place)] for place in places],)


@rule("ConcatFromSequence")
def _concat_from_sequence(do: Trace, node: Call, sequence: list[Value]) -> Value:
    axis, is_new = node.get("axis"), node.get("new_axis", 0)
    if not sequence:
        message = "the sequence is empty, and the result would have no shape; give one of at least one tensor"
        raise ValueError(message)
    if is_new:
        axis = counted(axis, sequence[0].ndim + 1)
        sequence = [do.reshape(each, (*each.shape[:axis], 1, *each.shape[axis:])) for each in sequence]
    return do.joined(sequence, counted(axis, sequence[0].ndim))


@rule("Optional")
def _optional(do: Trace, node: Call, value: Any = None) -> tuple[Any, ...]:
    return (value,)


@rule("OptionalHasElement")
def _optional_has_element(do: Trace, node: Call, value: Any = None) -> Value:
    return do.constant(value is not None, "bool")


@rule("OptionalGetElement")
def _optional_get_element(do: Trace, node: Call, value: Any = None) -> tuple[Any, ...]:
    if value is None:
        message = "the value is absent; give one, or let the model ask OptionalHasElement before"
        raise ValueError(message)
    return (value,)


def _stacked(do: Trace, rows: Sequence[Value], declared: TypeProto) -> Value:
    """Return values of one shape stacked along a new first dimension; without any the extents declared, 0 for an open one."""
    if rows:
        return do.joined([do.reshape(each, (1, *each.shape)) for each in rows], 0)
    tensor = declared.tensor_type
    if not tensor.elem_type:
        message = (
            "its body never runs, and does not declare the type of the values that it collects; export it with types"
        )
        raise ValueError(message)
    made = do.empty(dtype_of(tensor.elem_type, "a body's output"), (0, *[each.dim_value for each in tensor.shape.dim]))
    made.element = narrow(tensor.elem_type)
    return made
