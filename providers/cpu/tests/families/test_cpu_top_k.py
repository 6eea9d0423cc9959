"""TopK's kernel against NumPy's stable sort, in every arrangement; its scratch is EP's, and one for each part of the rows."""

import math
from contextlib import closing

import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_primitives import TopK
from ep_primitives.families.top_k.descriptor import TOP_K_DTYPES
from ep_primitives.families.top_k.family import TopKFamily
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

FAMILY = TopKFamily()
RNG = np.random.default_rng(19)
CANDIDATE, FEW, SIEVED = 16, 8, 128


def wanted(descriptor, x):
    """Return the family's definition of the result: values bit for bit, and indices."""
    values = FAMILY.moved(descriptor, {"x": x})["values"]
    return values, FAMILY.reference(descriptor, {"x": x})["indices"].value


def apply(stream, op, x, k, **more):
    """Return values and indices of a dense array, over memories full of sevens."""
    descriptor = TopK.infer(op, x, k, **more)
    outputs = {
        name: np.full(spec.shape, 7).astype(array_dtype(spec.dtype)) for name, spec in descriptor.outputs.items()
    }
    descriptor.on(stream.device)(stream, x=x, **outputs)
    return outputs["values"], outputs["indices"]


def drawn(rng, dtype, shape):
    """Return elements of which many are equal, of floats NaN, zeros and infinities among them."""
    rows = rng.integers(0, 9, shape)
    if array_dtype(dtype).kind in "fV":
        rows = rng.choice([math.nan, -math.nan, 0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, 2.5], shape)
    return rows.astype(array_dtype(dtype))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data(), op=st.sampled_from(["largest", "smallest"]), is_sorted=st.booleans())
def test_every_arrangement_is_numpys(device, data, op, is_sorted):
    dtype = data.draw(st.sampled_from(TOP_K_DTYPES))
    shape = tuple(data.draw(st.lists(st.sampled_from((0, 1, 2, 3, 7, 40)), max_size=3)))
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    k = data.draw(st.integers(0, shape[axis])) if shape else 1
    made = (*shape[:axis], k, *shape[axis + 1 :]) if shape else ()
    bases, views, specs = {}, {}, {}
    for name, its, kind in (("x", shape, dtype), ("values", made, dtype), ("indices", made, "int64")):
        bases[name], views[name], specs[name] = placed(its, *data.draw(arrangements(len(its))), kind)
    x = views["x"].view(array_dtype(dtype))
    x[...] = drawn(np.random.default_rng(data.draw(st.integers(0, 99))), dtype, shape)
    descriptor = TopK(op, **specs, axis=axis, sorted=is_sorted)
    memories = {name: wrapped(device, base) for name, base in bases.items()}
    with closing(device.stream()) as stream:
        descriptor.on(device)(stream, **memories)
    for name, right in zip(("values", "indices"), wanted(descriptor, x.copy()), strict=True):
        assert np.ascontiguousarray(views[name]).tobytes() == np.ascontiguousarray(right).tobytes(), name
        views[name][...] = np.zeros((), views[name].dtype)
        assert not any(bases[name].tobytes()), f"a byte outside of {name} was written"


@pytest.mark.parametrize("dtype", TOP_K_DTYPES)
@pytest.mark.parametrize("op", ["largest", "smallest"])
def test_heaps_and_whole_rows_choose_alike(stream, op, dtype):
    for n, ks in ((1, (1,)), (80, (1, 9, 10, 11, 79, 80)), (4099, (1, 17, 512, 513, 4099))):
        x = drawn(RNG, dtype, (3, n))
        for k in ks:
            for is_sorted in (True, False):
                descriptor = TopK.infer(op, ep.TensorSpec(dtype, x.shape), k, sorted=is_sorted)
                found, right = apply(stream, op, x, k, sorted=is_sorted), wanted(descriptor, x)
                assert [array.tobytes() for array in found] == [array.tobytes() for array in right], (n, k)


@pytest.mark.parametrize("dtype", TOP_K_DTYPES)
@pytest.mark.parametrize("op", ["largest", "smallest"])
def test_sieves_and_heaps_choose_alike(stream, op, dtype):
    for n, ks in ((255, (8, 16)), (256, (8, 16, 17)), (1031, (1, 2, 16, 17, 64)), (4099, (40, 255, 256, 257))):
        ordered = np.arange(n) - n // 2
        in_one_lane = np.where(np.arange(n) % 64 == 0, ordered + n, ordered - n)
        x = np.stack([ordered, ordered[::-1], RNG.permutation(ordered), in_one_lane]).astype(array_dtype(dtype))
        for k in ks:
            descriptor = TopK.infer(op, ep.TensorSpec(dtype, x.shape), k)
            found, right = apply(stream, op, x, k), wanted(descriptor, x)
            assert [array.tobytes() for array in found] == [array.tobytes() for array in right], (n, k)


def test_integers_at_the_ends_of_their_type_are_ordered(stream):
    for dtype in ("int64", "uint64", "int8", "uint8"):
        info = np.iinfo(dtype)
        x = np.array([[0, info.max, info.min, info.max - 1, info.min + 1, 1]], dtype)
        assert np.array_equal(apply(stream, "largest", x, 6)[0], -np.sort(-x.astype(object)))
        assert np.array_equal(apply(stream, "smallest", x, 6)[0], np.sort(x))


def test_scratch_holds_the_candidates_of_every_part(device):
    few = TopK.infer("largest", ep.TensorSpec("float32", (3, 200)), 5).on(device)
    assert few.scratch_nbytes == 5 * CANDIDATE
    sieved = TopK.infer("largest", ep.TensorSpec("float32", (3, 800)), 5).on(device)
    assert sieved.scratch_nbytes == SIEVED * CANDIDATE
    many = TopK.infer("largest", ep.TensorSpec("float32", (3, 800)), 800 // FEW + 1).on(device)
    assert many.scratch_nbytes == 800 * CANDIDATE
    shared = TopK.infer("largest", ep.TensorSpec("float32", (3000, 800)), 5).on(device)
    assert shared.scratch_nbytes % (SIEVED * CANDIDATE) == 0
    assert TopK.infer("largest", ep.TensorSpec("float32", (3, 800)), 0).on(device).scratch_nbytes == 0


def test_graph_runs_it_as_a_command_with_other_inputs(device, stream):
    before = device.degraded["graph"]
    one, other = RNG.standard_normal((2, 30, 70)).astype(np.float32)
    x, values, indices = (device.allocate(nbytes) for nbytes in (one.nbytes, 30 * 4 * 4, 30 * 4 * 8))
    with stream.capture() as graph:
        TopK.infer("smallest", ep.TensorSpec.of(one), 4).on(device)(stream, x=x, values=values, indices=indices)
    graph.slot("x", x)
    for array in (one, other):
        given = device.allocate(array.nbytes)
        stream.upload(given, array)
        graph.launch(stream, x=given)
        for memory, right in zip((values, indices), apply(stream, "smallest", array, 4), strict=True):
            found = np.empty_like(right)
            stream.download(found, memory)
            stream.synchronize()
            assert np.array_equal(found, right)
    assert device.degraded["graph"] == before
