import math
from contextlib import closing

import numpy as np
import pytest
from ep_cpu.families.softmax import ChunkedRows
from ep_cpu.native import open_native
from ep_primitives import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

RNG = np.random.default_rng(13)
KINDS = (Softmax, LogSoftmax, SoftmaxBackward, LogSoftmaxBackward)
CHUNK, BLOCK = 4096, 512
DTYPES = ("float16", "bfloat16", "float32", "float64")

BITS_OF_ROWS = """
import hashlib
import numpy as np
import ep
from ep_primitives import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward
rng = np.random.default_rng(3)
device = ep.device("cpu:0")
digest = hashlib.sha256()
for shape, axis in (((300, 300), 1), ((300, 10), 1), ((3, 20001), 1), ((20001, 3), 0), ((9001, 20), 0), ((1, 270000), 1), ((900, 70), 0)):
    x, y = rng.standard_normal(shape, np.float32), rng.random(shape, np.float32)
    for kind in (Softmax, LogSoftmax):
        out = np.empty(shape, np.float32)
        kind.infer(x, axis=axis).on(device)(device.stream(), x=x, out=out)
        digest.update(out.tobytes())
    for kind in (SoftmaxBackward, LogSoftmaxBackward):
        out = np.empty(shape, np.float32)
        kind.infer(x, y, axis=axis).on(device)(device.stream(), dy=x, y=y, out=out)
        digest.update(out.tobytes())
print(digest.hexdigest())
"""


def apply(stream, kind, *inputs, axis=-1, out=None):
    """Return a softmax of arrays, over an output full of sevens."""
    if out is None:
        out = np.full(inputs[0].shape, 7).astype(inputs[0].dtype)
    names = kind.roles.read
    specs = {name: ep.TensorSpec.of(array) for name, array in zip(names, inputs, strict=True)}
    descriptor = kind(**specs, out=ep.TensorSpec.of(out), axis=axis)
    descriptor.on(stream.device)(stream, **dict(zip(names, inputs, strict=True)), out=out)
    return out


def true(kind, *inputs, axis=-1):
    """Return the definition in long double."""
    arrays = [np.asarray(array).astype(np.longdouble) for array in inputs]
    if kind in {Softmax, LogSoftmax}:
        d = arrays[0] - arrays[0].max(axis, keepdims=True, initial=-math.inf)
        sums = np.exp(d).sum(axis, keepdims=True)
        return np.exp(d) / sums if kind is Softmax else d - np.log(sums)
    dy, y = arrays
    if kind is SoftmaxBackward:
        return y * (dy - (y * dy).sum(axis, keepdims=True))
    return dy - np.exp(y) * dy.sum(axis, keepdims=True)


def draw(kind, shape, dtype="float32"):
    """Return inputs for a softmax, of which the second one is such as softmax gives."""
    x = (2 * RNG.standard_normal(shape)).astype(array_dtype(dtype))
    if kind in {Softmax, LogSoftmax}:
        return (x,)
    y = true(Softmax if kind is SoftmaxBackward else LogSoftmax, 2 * RNG.standard_normal(shape))
    return x, y.astype(array_dtype(dtype))


def check(kind, result, *inputs, axis=-1):
    stored = {"float16": 1e-3, "bfloat16": 8e-3}.get(str(result.dtype), 0.0)
    eps = 1e-14 if result.dtype == np.float64 else 4e-6
    with np.errstate(invalid="ignore", divide="ignore"):
        wanted = true(kind, *inputs, axis=axis)
    scale = max(1.0, float(np.abs(wanted).max(initial=0, where=np.isfinite(wanted))))
    if kind is Softmax:
        # A share is as good as its distance from the maximum is small.
        np.testing.assert_allclose(
            result.astype(np.longdouble), wanted, rtol=stored + 8 * eps, atol=1e-7 * bool(stored)
        )
    else:
        np.testing.assert_allclose(result.astype(np.longdouble), wanted, rtol=stored, atol=(stored + eps) * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_length_agree_with_long_double(stream, kind, dtype):
    for extent in (1, 2, 15, 16, 17, 63, 64, 65, 255, BLOCK, BLOCK + 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5):
        inputs = draw(kind, (3, extent), dtype)
        check(kind, apply(stream, kind, *inputs), *inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_many_pieces_agree_with_long_double(stream, kind):
    inputs = draw(kind, (2, 64 * CHUNK + 4099))
    check(kind, apply(stream, kind, *inputs), *inputs)


def bits(array):
    """Return the bits of an array, with one pattern for every NaN."""
    return np.where(np.isnan(array), array.dtype.type(math.nan), array).tobytes()


def lying(data, array, *, repeats=False):
    """Return an equal array in any order, backwards, one dimension with gaps; where it repeats, with strides of 0."""
    alike = [repeats and array.size > 0 and bool((array == array.take([0], d)).all()) for d in range(array.ndim)]
    held = array[(..., *(slice(0, 1 if same else None) for same in alike))]
    order = data.draw(st.permutations(range(array.ndim)))
    gapped = data.draw(st.integers(0, array.ndim))
    gaps = [3 if d == gapped else 1 for d in range(array.ndim)]
    signs = [data.draw(st.sampled_from((1, -1))) for _ in order]
    room = np.full([gaps[d] * held.shape[d] for d in order], 7).astype(array.dtype)
    view = room.transpose(np.argsort(order).astype(int))[(..., *(slice(gap - 1, None, gap) for gap in gaps))]
    view = view[(..., *(slice(None, None, sign) for sign in signs))]
    view[...] = held
    return np.broadcast_to(view, array.shape) if any(alike) else view


@st.composite
def rows(draw_one):
    """Draw a softmax, its inputs and an axis: rank 0 to 16, empty ones, rows that are not finite or that repeat."""
    kind = draw_one(st.sampled_from(KINDS))
    shape = draw_one(st.lists(st.sampled_from((1, 1, 1, 2, 3, 7, 0)), max_size=16))
    while math.prod(filter(None, shape)) > 2000:
        shape[shape.index(max(shape))] = 1
    rank = max(len(shape), 1)
    inputs = draw(kind, (*shape, 1), draw_one(st.sampled_from(DTYPES)))
    for array in inputs:
        if array.size and draw_one(st.booleans()):
            special = draw_one(st.sampled_from((math.inf, -math.inf, math.nan)))
            array.flat[draw_one(st.integers(0, array.size - 1))] = special
        if array.size and draw_one(st.booleans()):
            array[...] = array.take([0], draw_one(st.integers(0, len(shape))))
    return kind, tuple(array.reshape(shape) for array in inputs), draw_one(st.integers(-rank, rank - 1))


@settings(max_examples=60, deadline=None)
@given(rows(), st.data())
def test_any_shape_strides_and_axis_agree_with_long_double(device, drawn, data):
    kind, inputs, axis = drawn
    out = lying(data, np.full_like(inputs[0], 7))
    with closing(device.stream()) as stream:
        apply(stream, kind, *(lying(data, array, repeats=True) for array in inputs), axis=axis, out=out)
        dense = apply(stream, kind, *inputs, axis=axis)
    check(kind, dense, *inputs, axis=axis)
    assert bits(out) == bits(dense)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extent", [3, 40, 700, CHUNK + 70, 64 * CHUNK + 70])
def test_value_depends_neither_on_other_rows_nor_on_how_rows_lie(stream, kind, extent):
    inputs = draw(kind, (6 if extent < CHUNK else 3, extent))
    whole = apply(stream, kind, *inputs)
    for row in (0, 2):
        alone = apply(stream, kind, *(array[row : row + 1] for array in inputs))
        assert alone.tobytes() == whole[row : row + 1].tobytes()
    columns = tuple(np.asfortranarray(array) for array in inputs)
    assert apply(stream, kind, *columns, out=np.empty_like(columns[0])).tobytes() == whole.tobytes()
    assert (apply(stream, kind, *columns) == whole).all()
    times = 50 if extent < CHUNK else 2
    wide = tuple(np.ascontiguousarray(np.tile(array, (times, 1)).T) for array in inputs)
    across = apply(stream, kind, *wide, axis=0)
    assert (np.tile(whole, (times, 1)) == across.T).all()
    backwards = tuple(np.ascontiguousarray(array[::-1])[::-1] for array in inputs)
    assert (apply(stream, kind, *backwards) == whole).all()


def test_neither_threads_nor_vectors_of_one_arithmetic_change_a_bit(fresh_python):
    native = open_native()
    runs = {"baseline": ("1", "3")}
    if native.isa != "baseline":
        runs |= {"avx2": ("3",), native.isa: ("1", "2")}
    found = [
        {fresh_python(BITS_OF_ROWS, EP_CPU_THREADS=count, EP_CPU_ISA=isa) for isa in isas for count in runs[isa]}
        for isas in (runs.keys() - {"baseline"}, {"baseline"})
    ]
    assert [len(each) for each in found if each] == [1] * (len(runs) > 1) + [1]


@pytest.mark.parametrize("kind", KINDS)
def test_every_instruction_set_agrees_with_long_double(isa, kind, launch_on):
    for shape, axis in (((5, 1000), -1), ((1000, 70), 0), ((2, 3 * CHUNK + 7), -1), ((9, 3), 0)):
        inputs = draw(kind, shape)
        out = np.empty(shape, np.float32)
        launch_on(isa, ChunkedRows(), kind.infer(*inputs, axis=axis), (*inputs, out))
        check(kind, out, *inputs, axis=axis)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("shape", "axis"), [((5, 131), -1), ((131, 70), 0), ((3, 2 * CHUNK + 3), -1), ((40, 131), 0)])
def test_in_place_gives_the_same(stream, kind, shape, axis):
    inputs = draw(kind, shape)
    wanted = apply(stream, kind, *inputs, axis=axis)
    for place in range(len(inputs)):
        copies = [array.copy() for array in inputs]
        assert (apply(stream, kind, *copies, axis=axis, out=copies[place]) == wanted).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(8,), (300,), (CHUNK + 300,)])
def test_special_rows_are_as_documented_at_any_place(stream, dtype, shape):
    kind = array_dtype(dtype)
    n = shape[0]
    for place in (0, n // 2, n - 1):
        for special in (math.nan, math.inf):
            row = RNG.standard_normal(n).astype(kind)
            row[place] = special
            assert np.isnan(apply(stream, Softmax, row)).all()
            assert np.isnan(apply(stream, LogSoftmax, row)).all()
        alone = np.full(n, -math.inf).astype(kind)
        assert np.isnan(apply(stream, Softmax, alone)).all()
        assert np.isnan(apply(stream, LogSoftmax, alone)).all()
        alone[place] = 3
        share = apply(stream, Softmax, alone).astype(np.float64)
        assert share[place] == 1
        assert share.sum() == 1
        assert not np.signbit(share).any()
        log = apply(stream, LogSoftmax, alone).astype(np.float64)
        assert log[place] == 0
        assert np.isneginf(np.delete(log, place)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extent", [3, 40])
def test_rows_that_are_not_finite_leave_their_neighbours_alone(stream, kind, extent):
    inputs = draw(kind, (300, extent))
    wanted = apply(stream, kind, *inputs)
    spoilt = [0, 15, 17, 37, 255, 256, 299]
    for special in (math.nan, math.inf, -math.inf):
        for place in range(len(inputs)):
            copies = [array.copy() for array in inputs]
            copies[place][spoilt] = special
            result = apply(stream, kind, *copies)
            assert not np.isfinite(result[spoilt]).all(axis=1).any() or kind is LogSoftmaxBackward
            assert np.delete(result, spoilt, 0).tobytes() == np.delete(wanted, spoilt, 0).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_results_written_past_the_caches_are_those_of_few_rows(stream, kind):
    few = draw(kind, (1000, 67))
    times = 70 if len(few) == 1 else 50
    room = np.full(times * few[0].size + 16, 7, np.float32)
    line = -room.ctypes.data % 64 // 4
    out = room[line:][: times * few[0].size].reshape(-1, 67)
    apply(stream, kind, *(np.tile(array, (times, 1)) for array in few), out=out)
    assert (out.reshape(times, 1000, 67) == apply(stream, kind, *few)).all()


def test_rows_far_apart_neither_overflow_nor_lose_their_largest(stream):
    largest = np.finfo(np.float32).max
    rows = np.array([[largest, -largest, 0, 1], [1e30, -1e30, 1e30, 0], [-largest] * 4, [90, 89, 88, -104]], np.float32)
    result = apply(stream, Softmax, rows)
    assert result[0].tolist() == [1, 0, 0, 0]
    assert result[1].tolist() == [0.5, 0, 0.5, 0]
    assert result[2].tolist() == [0.25] * 4
    check(Softmax, result[3:, :3], rows[3:, :3])
    assert apply(stream, LogSoftmax, rows)[0].tolist() == [0, -math.inf, -largest, -largest]


def test_shares_go_down_to_the_smallest_subnormal(stream):
    row = np.concatenate([[0.0], -np.linspace(80, 110, 400)]).astype(np.float32)
    result = apply(stream, Softmax, row).astype(np.float64)
    wanted = true(Softmax, row).astype(np.float64)
    assert np.abs(result - wanted).max() <= np.spacing(np.float32(0)) + 1e-6 * wanted.max()
    assert (np.abs(result - wanted)[1:] <= 2.0**-149 + 1e-5 * wanted[1:]).all()
    assert (result[1:] > 0).sum() > 250


def test_long_sums_of_equal_terms_have_no_bias(stream):
    for n in (5000, 300001):
        row = np.full(n, -1.1875, np.float32)
        row[n // 3] = 0
        result, wanted = apply(stream, Softmax, row).astype(np.float64), true(Softmax, row).astype(np.float64)
        assert np.abs(result / wanted - 1).max() < 16 * 2.0**-23


def test_backward_agrees_with_the_jacobian(stream):
    x, dy = RNG.standard_normal(40), RNG.standard_normal(40)
    step = 1e-6
    for forward, backward in ((Softmax, SoftmaxBackward), (LogSoftmax, LogSoftmaxBackward)):
        y = apply(stream, forward, x)
        columns = [(true(forward, x + step * e) - true(forward, x - step * e)) / (2 * step) for e in np.eye(40)]
        wanted = np.stack(columns).astype(np.float64) @ dy
        np.testing.assert_allclose(apply(stream, backward, dy, y), wanted, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_bound_step_and_graph_give_what_a_launch_gives(device, stream, kind):
    inputs = draw(kind, (9, 200))
    descriptor = kind.infer(*inputs)
    wanted = apply(stream, kind, *inputs)
    names = kind.roles.read
    memories = {name: device.allocate(array.nbytes) for name, array in zip(names, inputs, strict=True)}
    out = device.allocate(wanted.nbytes)
    for memory, array in zip(memories.values(), inputs, strict=True):
        stream.upload(memory, array)
    primitive = descriptor.on(device)
    result = np.empty_like(wanted)
    primitive.bind(**memories, out=out)(stream)
    stream.download(result, out)
    stream.synchronize()
    assert (result == wanted).all()
    other = device.allocate(wanted.nbytes)
    with stream.capture() as graph:
        primitive(stream, **memories, out=out)
    graph.slot("out", out)
    graph.launch(stream, out=other)
    stream.download(result, other)
    stream.synchronize()
    assert (result == wanted).all()


def test_what_lies_between_rows_is_left_alone(stream):
    x, big = RNG.standard_normal((5, 70)).astype(np.float32), np.full((5, 100), 7, np.float32)
    apply(stream, Softmax, x, out=big[:, 3:73])
    assert (big[:, :3] == 7).all()
    assert (big[:, 73:] == 7).all()
    apply(stream, Softmax, np.ascontiguousarray(x.T), axis=0, out=big.T[3:73])
    assert (big[:, :3] == 7).all()
    assert (big[:, 73:] == 7).all()


def test_columns_are_worked_on_across_and_rows_along(device):
    native = open_native()

    def is_across(shape, axis, strides=None):
        x = ep.TensorSpec("float32", shape, strides)
        descriptor = Softmax(x=x, out=ep.TensorSpec("float32", shape), axis=axis)
        return ChunkedRows().plan(descriptor, native).fields["columns"]

    assert not is_across((30, 40), 1)
    assert is_across((30, 40), 0)
    assert is_across((2, 30, 40), 1)
    assert not is_across((30, 3), 0)
    assert not is_across((30, 40), 0, (1, 30))
    assert isinstance(Softmax.infer(ep.TensorSpec("float32", (3,))).on(device).implementation, ChunkedRows)
