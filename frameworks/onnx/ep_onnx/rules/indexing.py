"""Elements at places that other tensors name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from ep_primitives import Gather, OneHot

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

    Array = NDArray[Any]

__all__ = ["gathered", "scattered"]


def _counted(do: Trace, indices: Value, extent: int) -> Value:
    """Return indices that do not count from the end."""
    if indices.array is not None:
        wide = indices.array.astype(np.int64)
        return do.constant(np.where(wide < 0, wide + extent, wide))
    wide_indices = do.cast(indices, "int64") if indices.dtype not in {"int32", "int64"} else indices
    return do.binary("floor_mod", wide_indices, do.constant(extent, wide_indices.dtype)) if extent else wide_indices


def _places(do: Trace, indices: Value, extent: int) -> Value:
    """Return the same of a gather. Raises IndexError for one that the host knows to be out of range."""
    counted = _counted(do, indices, extent)
    if counted.array is not None:
        _within(counted.array, extent)
    return counted


def _within(places: Array, extents: Any) -> Array:
    """Return places that the host knows. Raises IndexError for one that no extent has."""
    if ((places < 0) | (places >= extents)).any():
        message = f"indices reach from {places.min()} to {places.max()} in extents {extents}"
        raise IndexError(message)
    return places


def gathered(do: Trace, x: Value, indices: Value, axis: int, batch: int = 0) -> Value:
    """Append the elements of x along an axis at indices that are there."""
    made = do.emit(Gather.infer(x.spec, indices.spec, axis, batch_dims=batch), None, x=x, indices=indices)
    made.element = x.element
    return made


@rule("Gather")
def _gather(do: Trace, node: Call, x: Value, indices: Value) -> Value:
    x = x if x.ndim else do.reshape(x, (1,))
    axis = node.axis(x.ndim, 0)
    if indices.array is not None and indices.size == 1 and not indices.ndim:
        return x[(*(slice(None),) * axis, int(indices.array.item()))]
    return gathered(do, x, _places(do, indices, x.shape[axis]), axis)


@rule("GatherElements")
def _gather_elements(do: Trace, node: Call, x: Value, indices: Value) -> Value:
    axis = node.axis(x.ndim, 0)
    rest = [each for each in range(x.ndim) if each != axis]
    part = x[tuple([slice(None) if each == axis else slice(0, indices.shape[each]) for each in range(x.ndim)])]
    rows, places = part.permute([*rest, axis]), _places(do, indices, x.shape[axis]).permute([*rest, axis])
    made = gathered(do, rows, places, x.ndim - 1, x.ndim - 1)
    order = [*range(len(rest))]
    order.insert(axis, len(rest))
    return made.permute(order)


@rule("GatherND")
def _gather_nd(do: Trace, node: Call, x: Value, indices: Value) -> Value:
    batch, depth = node.get("batch_dims", 0), indices.shape[-1]
    flat, extents = _flat_places(do, x, indices, batch, depth)
    lead = x.shape[:batch]
    rows = do.reshape(x, (*lead, math.prod(extents), *x.shape[batch + depth :]))
    return gathered(do, rows, flat, batch, batch)


def _flat_places(do: Trace, x: Value, indices: Value, batch: int, depth: int) -> tuple[Value, tuple[int, ...]]:
    """Return the indices of `depth` dimensions after the batch's as one index each."""
    extents = x.shape[batch : batch + depth]
    steps = [math.prod(extents[place + 1 :]) for place in range(depth)]
    if indices.array is not None:
        wide = indices.array.astype(np.int64)
        limits = np.array(extents, np.int64)
        places = _within(np.where(wide < 0, wide + limits, wide), limits)
        return do.constant((places * np.array(steps, np.int64)).sum(-1)), extents
    wide_indices = do.cast(indices, "int64")
    counted = do.binary("floor_mod", wide_indices, do.constant(np.array(extents, np.int64)))
    terms = do.binary("mul", counted, do.constant(np.array(steps, np.int64)))
    return do.reduce("sum", terms, [-1], keeps=False), extents


@rule("OneHot")
def _one_hot(do: Trace, node: Call, indices: Value, depth: Value, values: Value) -> Value:
    count = int(do.host(depth).reshape(-1)[0])
    off, on = (each.item() for each in do.host(values))
    places = indices if indices.dtype in {"int32", "int64"} else do.cast(indices, "int64")
    low = do.binary("less_than", places, do.constant(-count, places.dtype))
    wrapped = _counted(do, places, count)
    high = do.binary("greater_equal", places, do.constant(count, places.dtype))
    outside = do.binary("logical_or", low, high)
    inside = do.where(outside, do.constant(-1, wrapped.dtype), wrapped)
    axis = node.get("axis", -1)
    descriptor = OneHot.infer(inside.spec, values.dtype, count, axis=axis)
    return do.emit(descriptor, None, indices=inside, on=on, off=off)


@rule("Compress")
def _compress(do: Trace, node: Call, x: Value, condition: Value) -> Value:
    places = do.constant(np.flatnonzero(do.host(condition)))
    axis = node.get("axis")
    rows = do.reshape(x, (x.size,)) if axis is None else x
    along = 0 if axis is None else node.axis(x.ndim, 0)
    places = do.constant(do.host(places)[do.host(places) < rows.shape[along]])
    return gathered(do, rows, places, along)


@rule("ScatterElements", "Scatter")
def _scatter_elements(do: Trace, node: Call, x: Value, indices: Value, updates: Value) -> Value:
    axis = node.axis(x.ndim, 0)
    _same(updates, indices.shape)
    wide = do.host(indices).astype(np.int64)
    places = [*np.meshgrid(*map(np.arange, wide.shape), indexing="ij")] if wide.ndim else []
    places[axis] = np.where(wide < 0, wide + x.shape[axis], wide)
    flat = np.ravel_multi_index(places, x.shape).reshape(-1) if wide.size else np.empty(0, np.int64)
    return scattered(do, x, flat, do.reshape(updates, (updates.size,)), node.get("reduction", "none"))


@rule("ScatterND")
def _scatter_nd(do: Trace, node: Call, x: Value, indices: Value, updates: Value) -> Value:
    wide = do.host(indices).astype(np.int64)
    depth = wide.shape[-1]
    _same(updates, (*wide.shape[:-1], *x.shape[depth:]))
    extents = x.shape[:depth]
    wide = _within(np.where(wide < 0, wide + np.array(extents, np.int64), wide), np.array(extents, np.int64))
    steps = np.array([math.prod(extents[place + 1 :]) for place in range(depth)], np.int64)
    width = math.prod(x.shape[depth:])
    rows = (wide * steps).sum(-1).reshape(-1)
    flat = (rows[:, None] * width + np.arange(width)).reshape(-1)
    return scattered(do, x, flat, do.reshape(updates, (updates.size,)), node.get("reduction", "none"))


def _same(updates: Value, shape: tuple[int, ...]) -> None:
    if updates.shape != shape:
        message = f"the updates have shape {updates.shape}, and the indices need {shape}"
        raise ValueError(message)


def scattered(do: Trace, x: Value, places: Array, updates: Value, reduction: str) -> Value:
    """Append x with updates at places, which the host knows: each round takes of every place the next update that it has."""
    combine = {"add": "add", "mul": "mul", "max": "max", "min": "min"}.get(reduction)
    flat = do.reshape(x, (x.size,))
    if not places.size:
        return x
    order = np.argsort(places, kind="stable")
    ranked = places[order]
    first = np.searchsorted(ranked, ranked, side="left")
    turns = np.arange(ranked.size) - first
    if combine is None:  # the last update of a place is the one that stays
        last = np.searchsorted(ranked, ranked, side="right") - 1 == np.arange(ranked.size)
        rounds = [order[last]]
    else:
        rounds = [order[turns == turn] for turn in range(int(turns.max()) + 1)]
    for chosen in rounds:
        hit = np.zeros(x.size, np.bool_)
        source = np.zeros(x.size, np.int64)
        hit[places[chosen]] = True
        source[places[chosen]] = chosen
        taken = gathered(do, updates, do.constant(source), 0)
        flat = do.where(do.constant(hit), taken if combine is None else do.binary(combine, flat, taken), flat)
    return do.reshape(flat, x.shape)


@rule("TensorScatter")
def _tensor_scatter(do: Trace, node: Call, past: Value, update: Value, begins: Value | None = None) -> Value:
    """Rows of a cache from a place of their own in each batch on: every row asks whether it is one of them."""
    axis = node.axis(past.ndim, -2)
    batch, extent, count = past.shape[0], past.shape[axis], update.shape[axis]
    places = do.constant(np.arange(extent, dtype=np.int64)[None])
    first = do.constant(np.zeros(batch, np.int64)) if begins is None else begins
    off = do.binary("sub", places, do.reshape(first, (batch, 1)))
    if node.get("mode", "linear") == "circular":
        off = do.binary("floor_mod", off, do.constant(extent, "int64"))
    is_new = do.binary("less_than", off, do.constant(count, "int64"))
    is_new = do.binary("logical_and", is_new, do.binary("greater_equal", off, do.constant(0, "int64")))
    order = [0, axis, *[each for each in range(1, past.ndim) if each != axis]]
    rows = gathered(do, update.permute(order), off, 1, 1)  # rows of indices out of range are not taken
    back = [order.index(each) for each in range(past.ndim)]
    spread = do.reshape(is_new, (batch, extent, *[1] * (past.ndim - 2))).permute(back)
    return do.where(spread, rows.permute(back), past)


@rule("NonZero", "Unique", "NonMaxSuppression", "MelWeightMatrix")
def _selected(do: Trace, node: Call, *inputs: Value | None) -> tuple[Any, ...]:
    """Read the inputs and compute on the host: their contents decide the extents of the results."""
    return node.reference([None if each is None else do.host(each) for each in inputs])
