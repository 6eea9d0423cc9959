"""Norms' kernels against the definition in long double, in every arrangement; any threads, the same bits."""

import math
from contextlib import closing

import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_cpu.families.norm import ChannelNorm, RowNorm
from ep_primitives import BatchNorm, GroupNorm, LayerNorm
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

RNG = np.random.default_rng(17)
DTYPES = ("float16", "bfloat16", "float32", "float64")
BLOCK, KEPT = 512, 4096

BITS = """
import hashlib
import numpy as np
import ep
from ep_primitives import BatchNorm, GroupNorm, LayerNorm, RmsLayerNorm
rng = np.random.default_rng(3)
device = ep.device("cpu:0")
digest = hashlib.sha256()
for shape, axis in (((300, 300), 1), ((3001, 10), 1), ((40, 20001), 1), ((900, 7, 11), 1), ((2, 270000), 1)):
    x = rng.standard_normal(shape, np.float32)
    columns = {name: rng.standard_normal(shape[axis:], np.float32) for name in ("scale", "bias")}
    made = LayerNorm.infer(x, **columns, axis=axis, mean=True, rstd=True)
    outputs = {name: np.empty(spec.shape, np.float32) for name, spec in made.outputs.items()}
    made.on(device)(device.stream(), x=x, **columns, **outputs)
    for array in outputs.values():
        digest.update(array.tobytes())
for shape, groups in (((3, 12, 40, 40), 4), ((3, 12, 7, 6), 12), ((2, 6, 700), 1)):
    x, y = rng.standard_normal(shape, np.float32), np.empty(shape, np.float32)
    scale, bias, mean, variance = rng.random((4, shape[1]), np.float32)
    for made, more in (
        (GroupNorm.infer(x, groups, scale, bias), {"scale": scale, "bias": bias}),
        (BatchNorm.infer(x, mean, variance, scale), {"mean": mean, "variance": variance, "scale": scale}),
        (RmsLayerNorm.infer(x, axis=1), {}),
    ):
        made.on(device)(device.stream(), x=x, y=y, **more)
        digest.update(y.tobytes())
print(digest.hexdigest())
"""


def true(x, columns, axis, epsilon):
    """Return y, mean and rstd in long double, these with extents of 1."""
    along = tuple(range(axis, x.ndim))
    with np.errstate(all="ignore"):
        wide, n = x.astype(np.longdouble), np.longdouble(math.prod(x.shape[axis:]))
        mean = wide.sum(along, keepdims=True) / n
        rstd = 1 / np.sqrt(np.square(wide - mean).sum(along, keepdims=True) / n + epsilon)
        y = (wide - mean) * rstd * columns.get("scale", 1) + columns.get("bias", 0)
    return {"y": y, "mean": mean, "rstd": rstd}


def check(found, wanted, dtype):
    rtol = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-5, "float64": 1e-13}
    for name, array in found.items():
        near = rtol[dtype if name == "y" else "float64" if dtype == "float64" else "float32"]
        expected = wanted[name].reshape(array.shape).astype(np.float64)
        np.testing.assert_allclose(array.astype(np.float64), expected, rtol=near, atol=near, err_msg=name)


def apply(stream, x, *, axis=-1, epsilon=1e-5, **columns):
    """Return all outputs of dense arrays, over memories full of sevens."""
    made = LayerNorm.infer(x, **columns, axis=axis, epsilon=epsilon, mean=True, rstd=True)
    outputs = {name: np.full(spec.shape, 7).astype(array_dtype(spec.dtype)) for name, spec in made.outputs.items()}
    made.on(stream.device)(stream, x=x, **columns, **outputs)
    return outputs


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_every_length_agree_with_long_double(stream, dtype):
    for n in (1, 2, 15, 16, 17, 63, 64, 65, BLOCK - 1, BLOCK, BLOCK + 1, KEPT, KEPT + 1, 3 * KEPT + 5):
        x, scale, bias = (RNG.standard_normal(shape).astype(array_dtype(dtype)) for shape in ((3, n), (n,), (n,)))
        check(apply(stream, x, scale=scale, bias=bias), true(x, {"scale": scale, "bias": bias}, 1, 1e-5), dtype)
        check(apply(stream, x, epsilon=2.0), true(x, {}, 1, 2.0), dtype)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_every_arrangement_agrees_with_long_double(device, data):
    dtype = data.draw(st.sampled_from(DTYPES))
    compute = "float64" if dtype == "float64" else "float32"
    shape = tuple(data.draw(st.lists(st.sampled_from((0, 1, 2, 3, 5, 17)), max_size=4)))
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    row, kept = shape[axis:], shape[:axis] + (1,) * len(shape[axis:])
    shapes = {
        "x": shape,
        "y": shape,
        "scale": row,
        "bias": row,
        "mean": kept,
        "rstd": data.draw(st.sampled_from((kept, shape[:axis]))),
    }
    present = {"x", "y", *(name for name in ("scale", "bias", "mean", "rstd") if data.draw(st.booleans()))}
    views, specs, bases, memories = {}, {}, {}, {}
    for name, its in shapes.items():
        if name in present:
            signs = (1, 1, -1, 0) if name in {"scale", "bias"} else (1, 1, 1, -1)
            form = data.draw(arrangements(len(its), signs=signs))
            kind = compute if name in {"mean", "rstd"} else dtype
            bases[name], views[name], specs[name] = placed(its, *form, kind)
            memories[name] = wrapped(device, bases[name])
    for name in present & {"x", "scale", "bias"}:
        kind = array_dtype(dtype)
        values = np.random.default_rng(data.draw(st.integers(0, 99))).standard_normal(shapes[name]).astype(kind)
        views[name].view(kind)[...] = values
    columns = {name: views[name].view(array_dtype(dtype)).astype(np.longdouble) for name in present & {"scale", "bias"}}
    wanted = true(views["x"].view(array_dtype(dtype)), columns, axis, 0.5)
    with closing(device.stream()) as stream:
        LayerNorm(**specs, axis=axis, epsilon=0.5).on(device)(stream, **memories)
    found = {name: views[name].view(array_dtype(specs[name].dtype)) for name in present & {"y", "mean", "rstd"}}
    check(found, wanted, dtype)
    for name in found:
        views[name][...] = np.zeros((), views[name].dtype)
        assert not any(bases[name].tobytes()), f"a byte outside of {name} was written"


def test_bits_depend_neither_on_threads_nor_on_the_instruction_set(fresh_python, isas):
    runs = [("1", isas[0]), ("2", isas[0]), ("3", "avx2"), ("1", "baseline")]
    assert len({fresh_python(BITS, EP_CPU_THREADS=count, EP_CPU_ISA=isa) for count, isa in runs}) == 1


def test_y_may_be_x_in_rows_of_every_length(stream):
    for n in (5, BLOCK + 1, 2 * KEPT + 3):
        x = RNG.standard_normal((4, n)).astype(np.float32)
        wanted = apply(stream, x)["y"]
        spec = ep.TensorSpec.of(x)
        LayerNorm(x=spec, y=spec).on(stream.device)(stream, x=x, y=x)
        assert np.array_equal(x, wanted)


def test_mean_far_from_zero_leaves_the_variance(stream):
    x = (1e4 + RNG.standard_normal((5, 3001))).astype(np.float32)
    check({"rstd": apply(stream, x)["rstd"]}, true(x, {}, 1, 1e-5), "float32")


def test_graph_runs_it_as_a_command_with_other_inputs(device, stream):
    before = device.degraded["graph"]
    one, other = RNG.standard_normal((2, 30, 70)).astype(np.float32)
    scale = RNG.standard_normal(70).astype(np.float32)
    x, columns, y, rstd = (device.allocate(nbytes) for nbytes in (one.nbytes, scale.nbytes, one.nbytes, 30 * 4))
    stream.upload(columns, scale)
    spec = ep.TensorSpec.of(one)
    with stream.capture() as graph:
        LayerNorm.infer(spec, ep.TensorSpec.of(scale), rstd=True).on(device)(stream, x=x, scale=columns, y=y, rstd=rstd)
    graph.slot("x", x)
    for array in (one, other):
        given = device.allocate(array.nbytes)
        stream.upload(given, array)
        graph.launch(stream, x=given)
        for memory, wanted in zip(
            (y, rstd), (apply(stream, array, scale=scale)[name] for name in ("y", "rstd")), strict=True
        ):
            found = np.empty_like(wanted)
            stream.download(found, memory)
            stream.synchronize()
            assert np.array_equal(found, wanted)
    assert device.degraded["graph"] == before


def test_implementation_is_one_for_all():
    info = ep.device("cpu:0").info
    assert RowNorm().accepts(LayerNorm.infer(ep.TensorSpec("bfloat16", (3, 5))), info)


@pytest.mark.parametrize("dtype", DTYPES)
def test_channels_have_the_same_bits_beside_each_other_and_one_after_the_other(stream, dtype):
    """BatchNorm's rows and the stages that it lowers to, in 16-bit types, too."""
    x = RNG.standard_normal((2, 5, 9, 8)).astype(array_dtype(dtype))
    mean, variance, scale, bias = RNG.random((4, 5)).astype(array_dtype(dtype))
    for columns in ({}, {"scale": scale}, {"bias": bias}, {"scale": scale, "bias": bias}):
        columns |= {"mean": mean, "variance": variance}
        found = []
        for array, axis, kind in ((x, 1, ChannelNorm), (np.ascontiguousarray(x.transpose(0, 2, 3, 1)), -1, None)):
            made, y = BatchNorm.infer(array, **columns, axis=axis), np.empty_like(array)
            primitive = made.on(stream.device)
            assert (type(primitive.implementation) is ChannelNorm) == (kind is ChannelNorm)
            primitive(stream, x=array, y=y, **columns)
            found.append(y)
        assert np.array_equal(found[0].transpose(0, 2, 3, 1), found[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "groups"), [((2, 6, 9, 8), 3), ((2, 4, 5), 2), ((3, 4, 100), 4), ((1, 2, 4100), 1)])
def test_groups_are_rows_of_layer_norm(stream, dtype, shape, groups):
    x = RNG.standard_normal(shape).astype(array_dtype(dtype))
    scale, bias = RNG.standard_normal((2, shape[1])).astype(array_dtype(dtype))
    y = np.empty_like(x)
    made = GroupNorm.infer(x, groups, scale, bias)
    made.on(stream.device)(stream, x=x, scale=scale, bias=bias, y=y)
    channel = (1, groups, -1, *(1,) * (len(shape) - 2))
    rows = x.reshape(shape[0], groups, -1, *shape[2:])
    columns = {
        name: np.longdouble(each.astype(np.float64)).reshape(channel)
        for name, each in (("scale", scale), ("bias", bias))
    }
    check({"y": y}, {"y": true(rows, columns, 2, 1e-5)["y"]}, dtype)
