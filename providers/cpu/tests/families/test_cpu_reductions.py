"""Reductions of views of every kind, against NumPy: both families, ranks 0 to 16, any axes, outputs that are views too."""

import math
from functools import partial

import numpy as np
from ep_primitives import REDUCE_OPS, ArgReduce, Reduce
from ep_primitives.families.arg_reduce.descriptor import ARG_REDUCE_DTYPES
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

MOST, MOST_GROWTH = 20_000, 8
EXTENTS = (1, 2, 2, 3, 5, 17, 33, 70, 130, 300, 1030, 4099, 0)
SLICES = {"whole": slice(None), "back": slice(None, None, -1), "gaps": slice(None, None, 2), "box": slice(1, -2)}
LENGTHS = {"gaps": lambda n: 2 * n, "box": lambda n: n + 3, "repeated": lambda _: 1}
OF_NUMPY = {
    "max": lambda x, low, **row: np.max(x, initial=low, **row),
    "min": lambda x, low, **row: np.min(x, initial=low, **row),
    "any": lambda x, _, **row: (x != 0).any(**row),
    "all": lambda x, _, **row: (x != 0).all(**row),
    "sum": lambda x, _, **row: x.sum(**row),
    "prod": lambda x, _, **row: x.prod(**row),
    "mean": lambda x, _, **row: x.sum(**row) / np.ones_like(x).sum(**row),
    "norm_1": lambda x, _, **row: np.abs(x).sum(**row),
    "norm_2": lambda x, _, **row: np.sqrt((np.abs(x) ** 2).sum(**row)),
    "norm_inf": lambda x, _, **row: np.abs(x).max(initial=0, **row),
    "sum_of_squares": lambda x, _, **row: (np.abs(x) ** 2).sum(**row),
    "log_sum_exp": lambda x, _, **row: np.log(np.exp(x).sum(**row)),
}
WIDE = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}


def view(whole, shape, ways, order):
    """Return boxes of an array, backwards, with gaps or repeated, its dimensions in another order."""
    return np.broadcast_to(
        whole.transpose(np.argsort(order))[tuple(SLICES.get(way, SLICES["whole"]) for way in ways)], shape
    )


def room(shape, ways, order):
    """Return the shape of the array that such a view is taken of."""
    return [LENGTHS.get(ways[axis], int)(shape[axis]) for axis in order]


@st.composite
def layouts(draw, shape, kinds):
    """Draw the arguments of `view`, for arrays that are not much larger than the view."""
    ways, growth = [], 1.0
    for extent in shape:
        ways.append(draw(st.sampled_from(kinds)) if growth < MOST_GROWTH else "whole")
        growth *= LENGTHS.get(ways[-1], int)(extent) / max(extent, 1)
    return shape, ways, draw(st.permutations(range(len(shape))))


@st.composite
def inputs(draw, dtypes):
    """Draw an array of few values, so that many are equal, with or without NaN and infinities."""
    shape = []
    for _ in range(draw(st.integers(0, 16))):
        extent = draw(st.sampled_from(EXTENTS))
        shape.append(extent if math.prod(filter(None, shape)) * extent <= MOST else 1)
    layout = draw(layouts(tuple(shape), ("whole", *SLICES, "repeated")))
    dtype, rng = np.dtype(draw(st.sampled_from(dtypes))), np.random.default_rng(draw(st.integers(0, 1 << 30)))
    whole = rng.integers(0 if dtype.kind in "ub" else -3, 4, room(*layout)).astype(dtype)
    if dtype.kind == "f":
        rare = rng.random(whole.shape) < draw(st.sampled_from((0, 1e-4, 0.02)))
        whole[rare] = rng.choice([math.nan, math.inf, -math.inf], np.count_nonzero(rare))
    return view(whole, *layout)


def launched(device, made, x, layout, dtype):
    """Return the result of a launch into an output that is a view; assert that nothing around it is written."""
    whole = np.ones(room(*layout), dtype)
    out = view(whole, *layout)
    out.flags.writeable = True
    stream = device.stream()
    made(x=ep.TensorSpec.of(x), out=ep.TensorSpec.of(out)).on(device)(stream, x=x, out=out)
    stream.close()
    found = out.copy()
    out[...] = 1
    assert (whole == 1).all(), "a byte outside of the output was written"
    return found


@settings(max_examples=400, deadline=None, derandomize=True)
@given(data=st.data(), op=st.sampled_from(list(REDUCE_OPS)), keepdims=st.booleans())
def test_every_reduction_is_numpys(device, data, op, keepdims):
    x = data.draw(inputs([dtype for dtype in REDUCE_OPS[op].outs if dtype != "bfloat16"]))
    axes = tuple(axis for axis in range(x.ndim) if data.draw(st.booleans()))
    descriptor = Reduce.infer(op, x, axes, keepdims=keepdims)
    out = np.dtype(descriptor.out.dtype)
    layout = data.draw(layouts(descriptor.out.shape, tuple(SLICES)))
    found = launched(device, partial(Reduce, op, axis=axes), x, layout, out)
    with np.errstate(all="ignore"):
        row = {"axis": axes, "keepdims": keepdims}
        wanted = OF_NUMPY[op](x.astype(WIDE[x.dtype.kind]), REDUCE_OPS[op].identity_of(out.name), **row).astype(out)
    near = 0 if out.kind in "bui" or op in {"max", "min", "norm_inf"} else 16 * np.finfo(out).eps
    np.testing.assert_allclose(found, wanted, rtol=near, atol=near)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    data=st.data(),
    op=st.sampled_from(["max", "min"]),
    dtype=st.sampled_from(["int32", "int64"]),
    keepdims=st.booleans(),
)
def test_every_place_is_numpys(device, data, op, dtype, keepdims):
    x = data.draw(inputs([name for name in ARG_REDUCE_DTYPES if name != "bfloat16"]).filter(lambda x: x.size))
    axis = data.draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    descriptor = ArgReduce.infer(op, x, axis, keepdims=keepdims, dtype=dtype)
    layout = data.draw(layouts(descriptor.out.shape, tuple(SLICES)))
    found = launched(device, partial(ArgReduce, op, axis=axis), x, layout, dtype)
    find = {"max": np.argmax, "min": np.argmin}[op]
    assert np.array_equal(found, find(x, axis=axis, keepdims=keepdims))


def test_graph_runs_reductions_as_commands_with_other_inputs(device, stream):
    before = device.degraded["graph"]
    one, other = (np.random.default_rng(seed).integers(-9, 9, (40, 700)).astype(np.float32) for seed in (1, 2))
    x, totals, places, all_of_it = (device.allocate(nbytes) for nbytes in (one.nbytes, 40 * 4, 700 * 8, 4))
    spec = ep.TensorSpec.of(one)
    with stream.capture() as graph:
        Reduce.infer("sum", spec, 1).on(device)(stream, x=x, out=totals)
        ArgReduce.infer("max", spec, 0).on(device)(stream, x=x, out=places)
        Reduce.infer("max", ep.TensorSpec("float32", (40,))).on(device)(stream, x=totals, out=all_of_it)
    graph.slot("x", x)
    for array in (one, other):
        given = device.allocate(array.nbytes)
        stream.upload(given, array)
        graph.launch(stream, x=given)
        for memory, wanted in ((totals, array.sum(1)), (places, array.argmax(0)), (all_of_it, array.sum(1).max())):
            found = np.empty_like(wanted)
            stream.download(found, memory)
            stream.synchronize()
            assert np.array_equal(found, wanted)
    assert device.degraded["graph"] == before
