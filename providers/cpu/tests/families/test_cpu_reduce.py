import itertools

import numpy as np
import pytest
from ep_primitives import Reduce
from ep_primitives.judging.reference import array_dtype

import ep

RNG = np.random.default_rng(7)
SHAPES = [(), (5,), (129,), (70000,), (3, 4), (300, 5), (5, 300), (40, 31, 60), (2, 3, 1, 4, 2)]
EXACT = {"sum": np.sum, "max": np.max, "min": np.min, "any": np.any, "all": np.all}


def reduced(stream, op, x, axes=None, **more):
    """Return Reduce of an array, over an output full of sevens."""
    descriptor = Reduce.infer(op, x, axes, **more)
    out = np.full(descriptor.out.shape, 7).astype(array_dtype(descriptor.out.dtype))
    descriptor.on(stream.device)(stream, x=x, out=out)
    return out


@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("shape", SHAPES)
def test_small_integers_are_reduced_exactly_over_any_axes(stream, shape, op):
    x = RNG.integers(-3, 4, shape).astype(np.float32)
    for count in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            assert np.array_equal(reduced(stream, op, x, axes), EXACT[op](x, axis=axes)), axes


@pytest.mark.parametrize("op", ["max", "min", "norm_inf", "any", "all"])
@pytest.mark.parametrize("step", [1, 2, 3, -2])
@pytest.mark.parametrize("window", [(2, 2), (3, 3), (1, 2), (2, 5, 6), (8, 8)])
def test_windows_are_reduced_exactly(stream, op, step, window):
    x = RNG.integers(-3, 4, (7, 9, 8, 90)).astype(np.float32)
    x.ravel()[::97] = np.nan if op in {"max", "min"} else 0
    views = np.lib.stride_tricks.sliding_window_view(x, window, axis=range(-len(window), 0))
    views = views[(..., slice(None, None, step), *(slice(None),) * len(window))]
    axes = tuple(range(views.ndim - len(window), views.ndim))
    expected = np.abs(views).max(axis=axes) if op == "norm_inf" else EXACT[op](views, axis=axes)
    assert np.array_equal(reduced(stream, op, views, axes), expected, equal_nan=op in {"max", "min"})


BITS_OF_ROWS = """
import hashlib
import numpy as np
import ep
from ep_primitives import Reduce
rng = np.random.default_rng(3)
x = rng.standard_normal((700, 1500), np.float32)
device, digest = ep.device("cpu:0"), hashlib.sha256()
for op in ("sum", "mean", "prod", "norm_1", "norm_2", "max"):
    for given in (x, x.T, x[:, ::3], x[:1], x[:, :1]):
        for axes in (0, 1, None):
            descriptor = Reduce.infer(op, given, axes)
            out = np.empty(descriptor.out.shape, np.float32)
            descriptor.on(device)(device.stream(), x=given, out=out)
            digest.update(out.tobytes())
print(digest.hexdigest())
"""


def test_bits_depend_neither_on_threads_nor_on_the_instruction_set(fresh_python):
    """Exponentials and complex numbers aside, no formula has a fused multiply-add."""
    settings = [{"EP_CPU_THREADS": "1"}, {"EP_CPU_THREADS": "2"}, {"EP_CPU_THREADS": "3"}]
    settings += [{"EP_CPU_ISA": "avx2"}, {"EP_CPU_ISA": "baseline"}]
    assert len({fresh_python(BITS_OF_ROWS, **setting) for setting in settings}) == 1


@pytest.mark.parametrize("op", ["sum", "mean", "norm_2", "log_sum_exp"])
@pytest.mark.parametrize("extent", [3, 63, 64, 300, 9001])
def test_row_alone_has_the_bits_that_it_has_among_others(stream, op, extent):
    x = RNG.standard_normal((70, extent)).astype(np.float32)
    for array, axis, parts in ((x, 1, (x[9:10], x[69:], x[1:])), (x.T, 0, (x.T[:, 9:10], x.T[:, 69:], x.T[:, 1:]))):
        whole = reduced(stream, op, array, axis)
        for part, rows in zip(parts, (whole[9:10], whole[69:], whole[1:]), strict=True):
            assert np.array_equal(reduced(stream, op, part, axis), rows)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float16", "bfloat16", "complex64"])
def test_lone_row_with_gaps_has_the_bits_that_it_has_among_others(stream, dtype):
    """Rows side by side are read element by element, a lone one in blocks."""
    for extent in (1, 3, 66, 1031):
        x = (RNG.standard_normal((3 * extent, 5)) * 9).astype(array_dtype(dtype))[::3]
        whole = reduced(stream, "sum", x, 0)
        for column in range(5):
            assert reduced(stream, "sum", x[:, column]).tobytes() == whole[column].tobytes()
        assert reduced(stream, "sum", x.copy(), 0).tobytes() == whole.tobytes()  # lines that follow one another
        assert dtype not in {"bool", "int32"} or np.array_equal(whole, x.sum(0))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("op", ["sum", "max"])
def test_rows_from_beyond_the_caches_have_the_bits_that_they_have_alone(stream, dtype, op):
    """Memory is read in another order than caches are, and columns side by side are more."""
    length = 8192 + 3 * 128 + 5
    x = RNG.standard_normal((1 + (36 << 20) // (length * array_dtype(dtype).itemsize), length), np.float32)
    x = x.astype(array_dtype(dtype))
    rows, columns = reduced(stream, op, x, 1), reduced(stream, op, x, 0)
    for row in (0, 17, len(x) - 1):
        assert reduced(stream, op, x[row], 0).tobytes() == rows[row].tobytes()
    for some in (slice(0, 64), slice(2040, 2120), slice(length - 70, length)):
        assert reduced(stream, op, x[:, some], 0).tobytes() == columns[some].tobytes()


@pytest.mark.parametrize("length", [1 << 22, (1 << 22) - 2049])
def test_long_rows_from_beyond_the_caches_have_the_bits_that_they_have_alone(stream, length):
    """Of three rows two are read side by side, and the halves of the last where its tree has two."""
    x = RNG.standard_normal((3, length), np.float32)
    rows = reduced(stream, "sum", x, 1)
    for row in range(3):
        assert reduced(stream, "sum", x[row], 0).tobytes() == rows[row].tobytes()


@pytest.mark.parametrize("value", [1e-200, 1e200, 3e-300])
def test_norm_2_is_right_where_squares_are_not(stream, value):
    x = np.full((2, 3000), value)
    x[1] = 1
    for axes in (1, None):
        wanted = [value * np.sqrt(3000), np.sqrt(3000)] if axes == 1 else np.hypot(value * np.sqrt(3000), np.sqrt(3000))
        np.testing.assert_allclose(reduced(stream, "norm_2", x, axes), wanted, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_wins_and_zeros_have_an_order(stream, dtype):
    for nan in (np.nan, -np.nan):
        x = np.array([[1, nan, np.inf], [-0.0, 0.0, -0.0], [-np.inf, -1, -2]], dtype)
        for op, zero in (("max", 0.0), ("min", -0.0)):
            low = reduced(stream, op, x, 1)
            assert np.isnan(low[0])
            assert low[1] == 0
            assert np.signbit(low[1]) == np.signbit(zero)
            assert low[2] == EXACT[op](x[2])


def test_integers_wrap_in_the_type_of_the_output(stream):
    x = RNG.integers(-128, 128, (5, 3001)).astype(np.int8)
    for op, make in (("sum", np.sum), ("prod", np.prod)):
        for dtype in ("int8", "int64"):
            assert np.array_equal(reduced(stream, op, x, 1, dtype=dtype), make(x, axis=1, dtype=dtype))


def test_bound_step_reads_its_row_each_time(device, stream):
    x, out = np.ones(1000, np.float32), np.zeros((), np.float32)
    step = Reduce.infer("sum", x).on(device).bind(x=x, out=out)
    for factor in (1, 2, 3):
        x[:] = factor
        step(stream)
        assert out == 1000 * factor


def test_rows_of_nothing_have_the_identity(stream):
    x = np.empty((3, 0), np.float32)
    wanted = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf, "norm_inf": 0, "log_sum_exp": -np.inf, "mean": np.nan}
    for op, value in wanted.items():
        assert np.array_equal(reduced(stream, op, x, 1), np.full(3, value, np.float32), equal_nan=True), op


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
@pytest.mark.parametrize("shape", [(3, 1), (5, 31), (40, 257), (300, 1000)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_sums_of_narrow_whole_numbers_are_of_64_bits(stream, dtype, shape, axis):
    """Numbers of either sign whose sums leave the input's type, in rows, columns and rests of vectors."""
    rng = np.random.default_rng(5)
    if dtype == "bool":
        x = rng.integers(0, 2, shape).astype(bool)
    else:
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        x[0] = info.min
    result = "uint64" if dtype.startswith("u") else "int64"
    wide = ep.TensorSpec(result, np.sum(x, axis).shape)
    descriptor = Reduce("sum", x=ep.TensorSpec.of(x), out=wide, axis=axis)
    out = np.zeros(wide.shape, result)
    descriptor.on(stream.device)(stream, x=x, out=out)
    assert np.array_equal(out, np.sum(x, axis, result))
