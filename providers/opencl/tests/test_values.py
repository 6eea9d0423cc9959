"""Conversions, fills and copies against NumPy's own arithmetic; the conformance suite goes deeper. test_bits.py has the rows."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep.work.cache import LRU
from ep_opencl.compiler import program
from ep_opencl.description import ROUNDED
from ep_opencl.implementations import IMPLEMENTATIONS
from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill

import ep


def _array(dtype, size=4099, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype == "int32":
        return rng.integers(-(2**31), 2**31 - 1, size, np.int32)
    return rng.uniform(-4, 4, size).astype(dtype)


@pytest.mark.parametrize("op", ["sqrt", "reciprocal", "reciprocal_no_nan"])
def test_op_that_must_round_needs_a_device_that_does_or_double(device, op):
    (portable,), info = IMPLEMENTATIONS[ElementwiseUnary], device.info
    descriptor = ElementwiseUnary.infer(op, ep.TensorSpec("float32", (3,)))
    without = info._replace(features=info.features - {ROUNDED}, dtypes=info.dtypes - {"float64"})
    assert portable.accepts(descriptor, without._replace(features=info.features | {ROUNDED}))
    assert portable.accepts(descriptor, without._replace(dtypes=info.dtypes | {"float64"}))
    with pytest.raises(ep.UnsupportedError, match="does not round quotients and roots of float32 correctly, which"):
        portable.accepts(descriptor, without)


@pytest.mark.parametrize("target", ["bool", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("source", ["bool", "int32", "float16", "float32", "float64"])
def test_cast_matches_numpy_where_numpy_is_defined(device, stream, put, get, source, target):
    x = _array(source)
    x = x // 65536 if source == "int32" else x
    descriptor = Cast(x=ep.TensorSpec(source, x.shape), out=ep.TensorSpec(target, x.shape))
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    assert np.array_equal(get(out, target), x.astype(target))


def test_double_rounds_to_half_once(device, stream, put, get):
    # Just above the middle of two halves, by less than a float32 can tell: through float32 it would go down to even.
    x = np.array(
        [1 + 2**-11 + 2**-40, 1 + 2**-11, 1 + 2**-11 - 2**-40, 65520 - 2**-20, 65520, 2**-25 * (1 + 2**-30), 2**-25]
    )
    descriptor = Cast(x=ep.TensorSpec("float64", x.shape), out=ep.TensorSpec("float16", x.shape))
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    with np.errstate(over="ignore"):
        assert np.array_equal(get(out, "float16"), x.astype(np.float16))


def test_floats_saturate_as_integers_and_a_nan_is_zero(device, stream, put, get):
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483520, -2147483648, 1.9, -1.9], np.float32)
    descriptor = Cast(x=ep.TensorSpec("float32", x.shape), out=ep.TensorSpec("int32", x.shape))
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    top, bottom = 2**31 - 1, -(2**31)
    assert get(out, "int32").tolist() == [0, top, bottom, top, bottom, 2147483520, bottom, 1, -1]


def test_fill_and_copy_reach_every_other_element_alone(device, stream, get):
    spec = ep.TensorSpec("int32", (5, 7), (28, 2), 1)
    memory, other = device.allocate(4 * 140), device.allocate(4 * 140)
    for each in (memory, other):
        stream.fill(each, bytes(4))
    Fill(value=ep.Scalar("int32"), out=spec).on(device)(stream, value=-9, out=memory)
    Copy(x=spec, out=spec).on(device)(stream, x=memory, out=other)
    want = np.zeros(140, np.int32)
    want.reshape(5, 28)[:, 1:15:2] = -9
    assert np.array_equal(get(memory, "int32"), want)
    assert np.array_equal(get(other, "int32"), want)


@pytest.mark.parametrize(
    "descriptor",
    [
        ElementwiseUnary.infer("relu", ep.TensorSpec("float32", (4099,))),
        Cast(x=ep.TensorSpec("float32", (4099,)), out=ep.TensorSpec("int8", (4099,))),
        BroadcastBinary.infer("add", ep.TensorSpec("float32", (13, 707)), ep.TensorSpec("float32", (707,))),
    ],
    ids=lambda descriptor: descriptor.family,
)
@pytest.mark.parametrize("foresees", [False, True])
def test_loops_that_ask_for_lines_ahead_and_others_do_the_same(
    device, stream, put, get, monkeypatch, foresees, descriptor
):
    """A processor has one of both; neither is left untried on the other kind."""
    options = program._options(device.twin)
    monkeypatch.setattr(device.twin, "foresees", foresees)
    monkeypatch.setattr(device.twin, "_programs", LRU())
    assert (program._options(device.twin) == options) == (foresees == ("-DEP_FORESEES" in options))
    given = [_array(spec.dtype, spec.size).reshape(spec.shape) for spec in descriptor.specs[:-1]]
    out = put(np.zeros(descriptor.out.shape, descriptor.out.dtype))
    portable = ep_simt.Portable()
    kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
    kernel.launch(stream.twin, (*map(put, given), out), ())
    wanted = {
        "elementwise_unary": lambda x: np.maximum(x, 0),
        "cast": lambda x: x.astype(np.int8),
        "broadcast_binary": np.add,
    }[descriptor.family](*given)
    np.testing.assert_array_equal(get(out, wanted.dtype), wanted.reshape(-1))
