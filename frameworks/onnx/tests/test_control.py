"""Bodies of loops, functions of one name, values that nodes share: wherever a name means more than one thing."""

import numpy as np
import pytest
from ep_onnx.report import report
from made_models import BOOL, FLOAT, INT64, model
from onnx import helper, numpy_helper

node, declared = helper.make_node, helper.make_tensor_value_info


def doubling(rows_shape=(2,), weights=()):
    """Return a body that doubles its state, keeps each, and adds w."""
    nodes = [node("Add", ["s", "s"], ["d"]), node("Add", ["d", "w"], ["t"]), node("Identity", ["t"], ["r"])]
    nodes.append(node("Identity", ["c"], ["more"]))
    inputs = [declared("i", INT64, []), declared("c", BOOL, []), declared("s", FLOAT, None)]
    outputs = [declared("more", BOOL, []), declared("t", FLOAT, None), declared("r", FLOAT, rows_shape)]
    kept = [numpy_helper.from_array(np.asarray(each), name) for name, each in dict(weights).items()]
    return helper.make_graph(nodes, "body", inputs, outputs, kept)


@pytest.mark.parametrize(("declares", "empty"), [((2,), (0, 2)), (("n",), (0, 0)), ((), (0,))])
def test_a_loop_that_never_runs_collects_nothing_of_the_declared_shape(session, declares, empty):
    loop = node("Loop", ["n", "", "x"], ["last", "rows"], body=doubling(declares, {"w": np.zeros(2, np.float32)}))
    made = session(model([loop], {"x": (FLOAT, [2]), "n": (INT64, [])}, {"last": (FLOAT, [2]), "rows": (FLOAT, None)}))
    x = np.array([1, 2], np.float32)
    for count in (0, 2, 0):
        last, rows = made.run([x, np.array(count)])
        np.testing.assert_array_equal(last, x * 2**count)
        assert rows.shape == ((count, 2) if count else empty)
        assert rows.dtype == np.float32


def test_weights_of_a_body_are_uploaded_once(session):
    weights = {"w": np.ones((4, 512), np.float32)}
    loop = node("Loop", ["n", "", "x"], ["last", "rows"], body=doubling(None, weights))
    made = session(model([loop], {"x": (FLOAT, [512]), "n": (INT64, [])}, {"last": (FLOAT, None)}))
    for count in (3, 5):
        (last,) = made.run([np.zeros(512, np.float32), np.array(count)])
        np.testing.assert_array_equal(last, np.full((4, 512), 2**count - 1))
    assert report(made).weights_nbytes == weights["w"].nbytes


def test_functions_of_one_name_differ_by_their_overload(session):
    functions = [
        helper.make_function(
            "own",
            "Scaled",
            ["x"],
            ["y"],
            [node("Constant", [], ["c"], value_float=factor), node("Mul", ["x", "c"], ["y"])],
            [helper.make_opsetid("", 20)],
            overload=overload,
        )
        for overload, factor in (("twice", 2.0), ("five times", 5.0))
    ]
    calls = [
        node("Scaled", ["x"], ["a"], domain="own", overload="twice"),
        node("Scaled", ["a"], ["y"], domain="own", overload="five times"),
    ]
    imports = [helper.make_opsetid("own", 1)]
    made = session(model(calls, {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}, functions=functions, imports=imports))
    np.testing.assert_array_equal(made.run([np.ones(2, np.float32)])[0], [10, 10])


def test_nodes_that_share_their_statistics_keep_their_own_epsilon(session):
    weights = {name: np.full(3, number, np.float32) for name, number in (("s", 1), ("b", 0), ("m", 0), ("v", 1))}
    nodes = [
        node("BatchNormalization", ["x", *weights], ["a"], epsilon=0.0),
        node("BatchNormalization", ["a", *weights], ["y"], epsilon=3.0),
    ]
    made = session(model(nodes, {"x": (FLOAT, [1, 3])}, {"y": (FLOAT, [1, 3])}, weights, 15))
    np.testing.assert_allclose(made.run([np.ones((1, 3), np.float32)])[0], np.full((1, 3), 0.5), rtol=1e-6)


def test_networks_that_share_their_bias_add_it_each_in_its_own_place(session):
    draw = np.random.default_rng(3)
    weights = {"w": (1, 9, 2), "r": (1, 9, 3), "b": (1, 18)}
    weights = {name: draw.standard_normal(shape).astype(np.float32) for name, shape in weights.items()}
    x = draw.standard_normal((4, 2, 2)).astype(np.float32)

    def results(modes):
        nodes = [
            node("GRU", ["x", "w", "r", "b"], ["", f"h{mode}"], hidden_size=3, linear_before_reset=mode)
            for mode in modes
        ]
        outputs = {f"h{mode}": (FLOAT, [1, 2, 3]) for mode in modes}
        return session(model(nodes, {"x": (FLOAT, x.shape)}, outputs, weights, 14)).run([x])

    np.testing.assert_allclose(results([0, 1]), [*results([0]), *results([1])], rtol=1e-5, atol=1e-6)
