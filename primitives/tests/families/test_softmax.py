import math
import pickle

import numpy as np
import pytest
from ep_primitives import LogSoftmax, LogSoftmaxBackward, Softmax, SoftmaxBackward
from ep_primitives.families.softmax.family import (
    LogSoftmaxBackwardFamily,
    LogSoftmaxFamily,
    SoftmaxBackwardFamily,
    SoftmaxFamily,
)

import ep
from ep import TensorSpec

FAMILIES = {family.name: family for family in (SoftmaxFamily(), LogSoftmaxFamily())}
BACKWARD = {family.name: family for family in (SoftmaxBackwardFamily(), LogSoftmaxBackwardFamily())}
RNG = np.random.default_rng(7)
INF = math.inf


def value(kind, *arrays, axis=-1):
    """Return the reference's result for float64 arrays."""
    arrays = [np.asarray(array, np.float64) for array in arrays]
    descriptor = kind.infer(*arrays, axis=axis)
    family = (FAMILIES | BACKWARD)[kind.family]
    return family.reference(descriptor, dict(zip(descriptor.operands, arrays, strict=False))).value


def test_rows_are_probabilities_along_the_axis():
    x = RNG.standard_normal((3, 5, 7))
    for axis in (0, 1, 2, -1, -3):
        result = value(Softmax, x, axis=axis)
        np.testing.assert_allclose(result.sum(axis), 1, rtol=1e-14)
        wanted = np.exp(x) / np.exp(x).sum(axis, keepdims=True)
        np.testing.assert_allclose(result, wanted, rtol=1e-14)
        np.testing.assert_allclose(value(LogSoftmax, x, axis=axis), np.log(wanted), rtol=1e-13)


@pytest.mark.parametrize(
    ("row", "soft", "log"),
    [
        ([0.0], [1.0], [0.0]),
        ([5.0, 5.0], [0.5, 0.5], [-math.log(2)] * 2),
        ([-INF, 3.0, -INF], [0.0, 1.0, 0.0], [-INF, 0.0, -INF]),
        ([-INF, -INF], [math.nan] * 2, [math.nan] * 2),
        ([INF, 0.0], [math.nan] * 2, [math.nan] * 2),
        ([0.0, math.nan, 1.0], [math.nan] * 3, [math.nan] * 3),
        ([1e30, -1e30], [1.0, 0.0], [0.0, -2e30]),
        ([1e300] * 4, [0.25] * 4, [-math.log(4)] * 4),
    ],
)
def test_special_rows_are_as_documented(row, soft, log):
    np.testing.assert_array_equal(value(Softmax, row), soft)
    np.testing.assert_array_equal(value(LogSoftmax, row), log)


def jacobian(function, x):
    """Return d out / d x of a row by central differences in long double."""
    x = np.asarray(x, np.longdouble)
    step = np.longdouble(2) ** -20
    columns = [(function(x + step * unit) - function(x - step * unit)) / (2 * step) for unit in np.eye(x.size)]
    return np.stack(columns, -1).astype(np.float64)


def softmax_of(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def test_backward_forms_are_the_transposed_jacobian():
    x, dy = RNG.standard_normal(9), RNG.standard_normal(9)
    soft = jacobian(softmax_of, x).T @ dy
    log = jacobian(lambda given: np.log(softmax_of(given)), x).T @ dy
    np.testing.assert_allclose(value(SoftmaxBackward, dy, value(Softmax, x)), soft, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(value(LogSoftmaxBackward, dy, value(LogSoftmax, x)), log, rtol=1e-8, atol=1e-10)


def test_backward_of_rows_that_are_not_finite():
    nan = math.nan
    np.testing.assert_array_equal(value(SoftmaxBackward, [1.0, nan], [0.5, 0.5]), [nan, nan])
    np.testing.assert_array_equal(value(SoftmaxBackward, [1.0, 2.0], [0.5, nan]), [nan, nan])
    np.testing.assert_array_equal(value(LogSoftmaxBackward, [1.0, 2.0], [nan, -INF]), [nan, 2.0])
    np.testing.assert_array_equal(value(LogSoftmaxBackward, [INF, 2.0], [-1.0, -1.0]), [nan, -INF])


def test_axis_is_stored_from_the_front_and_equal_descriptors_are_one():
    x = TensorSpec("float32", (3, 5))
    assert Softmax.infer(x) == Softmax.infer(x, axis=1) == Softmax(x=x, out=x, axis=np.int64(-1))
    assert Softmax.infer(x).attributes == (1,)
    assert Softmax.infer(x) != Softmax.infer(x, axis=0)
    assert Softmax.infer(x) != LogSoftmax.infer(x)
    again = pickle.loads(pickle.dumps(SoftmaxBackward.infer(x, x, axis=0)))
    assert (again, again.axis, again.extent) == (SoftmaxBackward.infer(x, x, axis=0), 0, 3)
    assert Softmax.infer(TensorSpec("float16", ()), axis=0) == Softmax.infer(TensorSpec("float16", ()))


def test_infer_takes_arrays_of_any_strides():
    x = np.zeros((4, 6), np.float32).T
    assert Softmax.infer(x, axis=0).specs == (TensorSpec("float32", (6, 4), (1, 6)), TensorSpec("float32", (6, 4)))
    assert LogSoftmaxBackward.infer(x, TensorSpec("float32", (6, 4))).out == TensorSpec("float32", (6, 4))


F32 = TensorSpec("float32", (4, 3))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Softmax.infer(F32, axis=2), ValueError, "softmax: axis is 2, needs an integer from -2 to 1 for out"),
        (
            lambda: Softmax.infer(TensorSpec("float32", ()), axis=1),
            ValueError,
            "axis is 1, needs an integer from -1 to 0",
        ),
        (lambda: Softmax.infer(F32, axis="x"), TypeError, "softmax: axis is 'x', needs an integer"),
        (lambda: LogSoftmax.infer(3), TypeError, "log_softmax: x is 3, of type int, needs a TensorSpec"),
        (lambda: Softmax(x=3, out=F32), TypeError, "softmax: x is 3, not a TensorSpec"),
        (
            lambda: Softmax.infer(TensorSpec("int32", (3,))),
            ValueError,
            "softmax: x has dtype int32, needs one of float16",
        ),
        (
            lambda: Softmax(x=F32, out=TensorSpec("float64", (4, 3))),
            ValueError,
            "softmax: out has dtype float64, needs float32; describe out so",
        ),
        (
            lambda: Softmax(x=TensorSpec("float32", (3,)), out=F32),
            ValueError,
            r"softmax: x has shape \(3,\), needs \(4, 3\), the shape of out; repeat a tensor by strides of 0",
        ),
        (
            lambda: SoftmaxBackward.infer(F32, TensorSpec("float16", (4, 3))),
            ValueError,
            "softmax_backward: y has dtype float16, needs float32; cast it first",
        ),
        (
            lambda: LogSoftmaxBackward.infer(F32, TensorSpec("float32", (3, 4))),
            ValueError,
            r"log_softmax_backward: y has shape \(3, 4\), needs \(4, 3\)",
        ),
        (
            lambda: Softmax(x=F32, out=TensorSpec("float32", (4, 3), (0, 1))),
            ValueError,
            "softmax: out .* overlaps itself",
        ),
    ],
)
def test_messages_say_what_is_wrong_and_what_helps(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_geometry_is_the_merged_dimensions_across_rows_and_then_the_row():
    def of(shape, strides=None, axis=-1, out=None):
        x = TensorSpec("float32", shape, strides)
        return Softmax(x=x, out=TensorSpec("float32", shape, out), axis=axis).geometry

    dense = of((3, 4, 5))
    assert (dense.shape, dense.strides, dense.is_dense) == ((12, 5), ((5, 1), (5, 1)), True)
    middle = of((3, 4, 5), axis=1)
    assert (middle.shape, middle.strides[0], middle.is_dense) == ((3, 5, 4), (20, 1, 5), False)
    assert of((3, 4, 5), axis=0).shape == (20, 3)
    assert of((4, 1), axis=1).shape == (4, 1)
    assert of(()).shape == (1,)
    assert of((3, 0)).size == 0
    padded = of((3, 4, 5), (40, 8, 1))
    assert (padded.shape, padded.strides) == ((3, 4, 5), ((40, 8, 1), (20, 5, 1)))


def test_key_does_not_know_sizes_but_knows_layout_and_family():
    keys = {Softmax.infer(TensorSpec("float32", (n, 128 + n))).key for n in range(2, 60)}
    assert len(keys) <= 5  # the alignment of rows
    assert Softmax.infer(F32).key.layout == "dense"
    assert Softmax.infer(F32, axis=0).key.layout == "strided"
    assert Softmax.infer(F32).key != LogSoftmax.infer(F32).key


@pytest.mark.parametrize("family", [*FAMILIES.values(), *BACKWARD.values()], ids=lambda family: family.name)
def test_cells_are_every_floating_type_in_every_layout(family):
    cells = [*family.cells()]
    assert len(cells) == 4 * 6
    assert all(family.sample(cell).cell == str(cell) for cell in cells if cell.layout != "inplace")
    quick = sum(case.profile == "quick" for cell in cells for case in family.cases(cell))
    assert quick <= 400


def test_bound_grows_with_the_distance_from_the_maximum_and_knows_exact_zeros():
    family = FAMILIES["softmax"]
    x = np.array([0.0, -1.0, -50.0, -INF], np.float32)
    reference = family.reference(Softmax.infer(x), {"x": x})
    relative = reference.scale[:3] / reference.value[:3]
    assert relative[0] < relative[1] < relative[2] < 60
    assert reference.scale[3] == 0


def test_data_is_not_constant_where_the_result_is_not():
    x = TensorSpec("float32", (7, 65), (1, 0))
    assert FAMILIES["softmax"].is_constant(Softmax.infer(x))
    assert not FAMILIES["softmax"].is_constant(Softmax.infer(x, axis=0))
    assert FAMILIES["log_softmax"].is_constant(LogSoftmax.infer(TensorSpec("float32", (7, 1))))


def test_flops_and_bytes_count_each_operand():
    x = TensorSpec("float32", (8, 16))
    assert Softmax.infer(x).nbytes_moved == 2 * 4 * 128
    assert SoftmaxBackward.infer(x, x).nbytes_moved == 3 * 4 * 128
    assert Softmax.infer(x).flops == 5 * 128
    assert ep.families()["softmax"].descriptor is Softmax
