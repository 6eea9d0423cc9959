"""What ONNX means, where its own tests of nodes do not look: integers, narrow elements, constants, and what the host computes."""

import ml_dtypes
import numpy as np
import pytest
from made_models import FLOAT, model
from onnx import TensorProto, helper

X = np.array([[1, -2, 3], [4, 5, -7]])


def node_model(op, arrays, *, constant=(), version=22, **attributes):
    """Return a model of one node and its inputs; those of the places `constant` are initializers."""
    names = [f"i{place}" for place in range(len(arrays))]
    node = helper.make_node(op, names, ["y"], **attributes)
    given = {
        name: array for place, (name, array) in enumerate(zip(names, arrays, strict=True)) if place not in constant
    }
    weights = {name: array for name, array in zip(names, arrays, strict=True) if name not in given}
    types = {name: (helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in given.items()}
    return model([node], types, {"y": (TensorProto.UNDEFINED, None)}, weights, version), given


@pytest.fixture
def result(session):
    """Return a function that runs a model of one node, with its inputs as inputs or as constants."""

    def run(op, *arrays, **given):
        proto, inputs = node_model(op, arrays, **given)
        return session(proto).run(inputs)[0]

    return run


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("constant", [(), (0, 1)])
@pytest.mark.parametrize(
    ("op", "meaning"),
    [
        ("ReduceSum", lambda x: x.sum(1)),
        ("ReduceProd", lambda x: x.prod(1)),
        ("ReduceMean", lambda x: np.trunc(x.mean(1))),
        ("ReduceL1", lambda x: np.abs(x).sum(1)),
        ("ReduceSumSquare", lambda x: (x * x).sum(1)),
        ("ReduceMax", lambda x: x.max(1)),
    ],
)
def test_reductions_of_integers_keep_their_type(result, op, meaning, dtype, constant):
    x = np.abs(X) if dtype in {np.uint32, np.uint64} else X
    have = result(op, x.astype(dtype), np.array([1]), constant=constant, version=20, keepdims=0)
    assert have.dtype == dtype
    np.testing.assert_array_equal(have, meaning(x))


@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
def test_products_of_integers_keep_their_type(result, dtype):
    a, b, c = (np.arange(start, start + 4, dtype=dtype).reshape(2, 2) for start in (1, 3, 7))
    for have, want in (
        (result("MatMul", a, b), a @ b),
        (result("Einsum", a, b, equation="ij,kj->ik"), a @ b.T),
        (result("Einsum", a, equation="ij->j"), a.sum(0, dtype=dtype)),
        (result("Gemm", a, b, c), a @ b + c),
        (result("Gemm", a, b, c, alpha=2.0, beta=3.0), 2 * (a @ b) + 3 * c),
        (result("Gemm", a, b, c, alpha=1.5, beta=0.5), np.trunc(1.5 * (a @ b) + 0.5 * c)),
    ):
        assert have.dtype == dtype
        np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32])
def test_images_of_integers_are_resized_to_the_nearest(result, dtype):
    x, scales = (
        np.array([[[[0, 100], [40, 250 if dtype == np.uint8 else -60]]]], dtype),
        np.array([1, 1, 1, 2], np.float32),
    )
    have = result("Resize", x, np.empty(0, np.float32), scales, constant=(1, 2), version=19, mode="linear")
    assert have.dtype == dtype
    wide = x.astype(np.float64)[0, 0]
    want = [[row[0], 0.75 * row[0] + 0.25 * row[1], 0.25 * row[0] + 0.75 * row[1], row[1]] for row in wide]
    np.testing.assert_array_equal(have[0, 0], np.rint(want))
    over = result("Resize", x, np.empty(0, np.float32), scales, constant=(1, 2), version=19, mode="cubic")
    real = result(
        "Resize", wide[None, None], np.empty(0, np.float32), scales, constant=(1, 2), version=19, mode="cubic"
    )
    np.testing.assert_array_equal(over, np.clip(np.rint(real), np.iinfo(dtype).min, np.iinfo(dtype).max))


@pytest.mark.parametrize(
    ("op", "x", "attributes", "version", "want"),
    [
        ("LpNormalization", [[3, -4]], {"p": 1}, 22, [[3 / 7, -4 / 7]]),
        ("Softmax", [[[0, 0], [0, 0]]], {"axis": 1}, 11, [[[0.25, 0.25], [0.25, 0.25]]]),
        ("LogSoftmax", [[[0, 0], [0, 0]]], {"axis": 1}, 11, [[[-np.log(4)] * 2] * 2]),
        ("Hardmax", [[[1, 2], [3, 0]]], {"axis": 1}, 11, [[[0, 0], [1, 0]]]),
        ("LRN", [[[[2]], [[2]]]], {"size": 1, "alpha": 1.0, "beta": 0.5}, 13, [[[[2 / 5**0.5]], [[2 / 5**0.5]]]]),
    ],
)
def test_a_constant_has_the_results_of_an_input(result, op, x, attributes, version, want):
    for constant in ((), (0,)):
        have = result(op, np.array(x, np.float32), constant=constant, version=version, **attributes)
        np.testing.assert_allclose(have, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("op", "arrays", "attributes", "version", "want"),
    [
        ("Slice", [X[0], [-9], [-99], [0], [-1]], {}, 13, [1]),
        ("Shape", [X], {"end": -3}, 15, []),
        (
            "BatchNormalization",
            [np.array(each, np.float32) for each in ([[3]], [2], [1], [1], [3])],
            {"epsilon": 1.0},
            9,
            [[3]],
        ),
    ],
)
def test_a_node_of_constants_alone_has_the_results_of_inputs(result, op, arrays, attributes, version, want):
    for constant in ((), range(len(arrays))):
        have = result(op, *map(np.array, arrays), constant=constant, version=version, **attributes)
        np.testing.assert_array_equal(have, want)


def test_numbers_beyond_a_float8_saturate_unless_told_otherwise(result):
    x, one = np.array([1e4, -1e9, 3.3], np.float32), np.float32(1)
    zero = np.array(0, ml_dtypes.float8_e4m3fn)
    for saturate, want in ((1, [448, -448, 3.25]), (0, [np.nan, np.nan, 3.25])):
        have = result("QuantizeLinear", x, np.asarray(one), zero, version=21, saturate=saturate)
        np.testing.assert_array_equal(have.astype(np.float32), want)


@pytest.mark.parametrize("version", [9, 20])
def test_what_lies_between_the_limits_becomes_zero(result, version):
    x = np.array([-5, -1, 0, 1.25, 3, np.nan, np.inf], np.float32)
    for lambd, bias in ((1.0, 0.5), (1.0, 1.0), (0.5, 0.0)):
        have = result("Shrink", x, version=version, lambd=lambd, bias=bias)
        want = np.where(x < -lambd, x + np.float32(bias), np.where(x > lambd, x - np.float32(bias), 0))
        np.testing.assert_array_equal(have, want)
        whole = result("Shrink", X, version=version, lambd=lambd, bias=bias)
        want = np.where(lambd < -X, X + bias, np.where(lambd < X, X - bias, 0)).astype(X.dtype)
        np.testing.assert_array_equal(whole, want)
    np.testing.assert_array_equal(result("ThresholdedRelu", x, alpha=1.25), [0, 0, 0, 0, 3, 0, np.inf])


def test_pads_wrap_around_more_than_once(result):
    have = result("Pad", X[:, :2], np.array([1, 3, 5, 0]), constant=(1,), mode="wrap")
    np.testing.assert_array_equal(have, np.pad(X[:, :2], [(1, 5), (3, 0)], mode="wrap"))


def test_the_first_resizes_take_the_next_element_of_a_larger_image(result):
    x, scales = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4), np.array([1, 1, 0.6, 0.6], np.float32)
    np.testing.assert_array_equal(result("Resize", x, scales, constant=(1,), version=10), [[[[1, 3]]]])


def test_the_host_reads_an_input_as_the_type_that_its_bits_are_cast_to(session):
    nodes = [helper.make_node("BitCast", ["x"], ["f"], to=FLOAT), helper.make_node("NonZero", ["f"], ["y"])]
    made = session(model(nodes, {"x": (TensorProto.INT32, [3])}, {"y": (TensorProto.INT64, None)}, version=26))
    np.testing.assert_array_equal(made.run([np.array([0, -(2**31), 5], np.int32)])[0], [[2]])


@pytest.mark.parametrize("constant", [(), (0,), (0, 1)])
def test_elements_narrower_than_a_byte_stay_so(result, constant):
    x = np.array([[1, -3], [5, 7]], ml_dtypes.int4)
    for op, more, want in (
        ("Transpose", (), x.T),
        ("Reshape", (np.array([4]),), x.reshape(4)),
        ("Pad", (np.array([0, 1, 0, 0]),), np.pad(x.astype(np.int8), [(0, 0), (1, 0)])),
    ):
        have = result(op, x, *more, constant=[place for place in constant if place <= len(more)])
        assert have.dtype == ml_dtypes.int4
        np.testing.assert_array_equal(have.astype(np.int8), want.astype(np.int8))


def test_products_of_bytes_have_a_scale_for_each_row(result):
    a, b = np.array([[1, 2], [3, 4]], np.uint8), np.array([[1, 2], [3, 4]], np.uint8)
    rows, one, zero = np.array([1, 10], np.float32), np.float32(1), np.uint8(0)
    numbers = [np.asarray(each) for each in (one, zero)]
    have = result("QLinearMatMul", a, rows, np.zeros(2, np.uint8), b, *numbers, *numbers)
    np.testing.assert_array_equal(have, [[7, 10], [150, 220]])


def test_places_that_are_not_there_are_refused(session):
    x, rows = np.zeros((4, 2), np.float32), np.ones((1, 2), np.float32)
    for op, arrays in (
        ("Gather", (x, np.array([5, 1]))),
        ("GatherND", (x, np.array([[5], [1]]))),
        ("ScatterND", (x, np.array([[5]]), rows)),
    ):
        proto, inputs = node_model(op, arrays, constant=(1,))
        with pytest.raises(ValueError, match=rf"{op} 'y': indices reach from \d to 5 in extents"):
            session(proto).run(inputs)


def test_parts_without_elements_are_joined_all_the_same(result):
    assert result("Concat", np.empty((0, 3), np.float32), np.empty((0, 2), np.float32), axis=1).shape == (0, 5)


def test_diagonals_of_constants_are_multiplied(result):
    x, y = np.array([2, 3], np.float32), np.arange(9, dtype=np.float32).reshape(3, 3)
    np.testing.assert_array_equal(result("Einsum", x, y, constant=(1,), equation="j,ii->ij"), np.outer([0, 4, 8], x))


@pytest.mark.parametrize("shapes", [((1, 2, 3), (4, 3, 2)), ((5, 1, 2, 3), (4, 3, 2)), ((2, 3), (4, 3, 2))])
def test_hidden_dimensions_of_one_are_repeated(result, shapes):
    a, b = (np.arange(np.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes)
    equation = "...ij,...jk->...ik"
    np.testing.assert_array_equal(result("Einsum", a, b, equation=equation), np.einsum(equation, a, b))


def test_models_of_whose_steps_none_is_needed_run(session):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Shape", ["r"], ["y"])]
    made = session(model(nodes, {"x": (FLOAT, ["n", 3])}, {"y": (TensorProto.INT64, [2])}))
    for rows in (2, 5):
        np.testing.assert_array_equal(made.run([np.ones((rows, 3), np.float32)])[0], [rows, 3])


def test_results_are_the_callers_own(session):
    proto, inputs = node_model("NonZero", [np.array([0, 1, 0, 2], np.float32)])
    made = session(proto)
    for _ in range(2):
        have = made.run(inputs)[0]
        np.testing.assert_array_equal(have, [[1, 3]])
        have += 100


def test_an_initializer_may_stand_for_an_input(session):
    add = [helper.make_node("Add", ["x", "w"], ["y"])]
    made = session(
        model(add, {"x": (FLOAT, [2]), "w": (FLOAT, [2])}, {"y": (FLOAT, [2])}, {"w": np.ones(2, np.float32)})
    )
    x = np.zeros(2, np.float32)
    np.testing.assert_array_equal(made.run([x])[0], [1, 1])
    np.testing.assert_array_equal(made.run({"x": x, "w": x + 5})[0], [5, 5])
    np.testing.assert_array_equal(made.run([x])[0], [1, 1])
    with pytest.raises(ValueError, match=r"input 'w' has shape \(3,\)"):
        made.run({"x": x, "w": np.zeros(3, np.float32)})
