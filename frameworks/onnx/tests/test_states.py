"""States: inputs that stay on the device from run to run, written in place where the model allows."""

import numpy as np
import pytest
from ep_onnx import ModelError, Session
from ep_onnx.report import report
from made_models import FLOAT, INT64, model
from onnx import helper

import ep

node = helper.make_node


def cache(extent=8):
    """A cache of rows: each run writes new ones from `begin` on, and sums up all."""
    nodes = [
        node("TensorScatter", ["past", "row", "begin"], ["next"], axis=1),
        node("ReduceSum", ["next"], ["sum"], keepdims=0),
    ]
    inputs = {"past": (FLOAT, [1, extent, 2]), "row": (FLOAT, [1, "n", 2]), "begin": (INT64, [1])}
    return model(nodes, inputs, {"next": (FLOAT, [1, extent, 2]), "sum": (FLOAT, [])}, version=24)


@pytest.mark.parametrize("device", ["cpu:0", "sim:0"])
def test_a_cache_is_written_in_place_by_one_plan_for_each_number_of_rows(device):
    session = Session(cache(), ep.device(device), {"past": "next"})
    wanted = np.zeros((1, 8, 2), np.float32)
    for begin, count in ((0, 3), (3, 1), (4, 1), (5, 1), (6, 2)):
        row = np.full((1, count, 2), begin + 1, np.float32)
        _, total = session.run({"row": row, "begin": np.array([begin])})
        wanted[:, begin : begin + count] = begin + 1
        assert total == wanted.sum()
        np.testing.assert_array_equal(session.state("past"), wanted)
    assert len(session.plans) == 3
    for plan in session.plans.values():
        assert plan.first.carried == []  # nothing is copied
    session.reset()
    assert not session.state("past").any()
    session.close()


def test_a_state_that_is_read_later_is_copied():
    nodes = [node("Add", ["s", "x"], ["t"]), node("Add", ["t", "s"], ["y"])]
    proto = model(nodes, {"s": (FLOAT, [2]), "x": (FLOAT, [2])}, {"t": (FLOAT, [2]), "y": (FLOAT, [2])})
    session = Session(proto, ep.device("cpu:0"), {"s": "t"})
    x, old = np.array([1, 2], np.float32), np.zeros(2, np.float32)
    for _ in range(4):
        _, y = session.run([x])
        np.testing.assert_array_equal(y, old + x + old)
        old = old + x
    assert report(session).plans == 1


def test_states_that_change_places_do():
    nodes = [node("Identity", ["a"], ["c"]), node("Add", ["b", "one"], ["d"])]
    inputs = {"a": (FLOAT, [1]), "b": (FLOAT, [1])}
    proto = model(nodes, inputs, {"c": (FLOAT, [1]), "d": (FLOAT, [1])}, {"one": np.ones(1, np.float32)})
    session = Session(proto, ep.device("cpu:0"), {"a": "d", "b": "c"})
    for a, b in ((1, 0), (1, 1), (2, 1), (2, 2)):
        session.run([])
        assert (session.state("a"), session.state("b")) == (a, b)


@pytest.mark.parametrize(
    ("states", "match"),
    [
        ({"none": "next"}, "no input 'none'"),
        ({"past": "none"}, "no output 'none'"),
        ({"row": "next"}, "needs a fixed one"),
    ],
)
def test_states_that_the_model_has_not_are_refused(states, match):
    with pytest.raises(ModelError, match=match):
        Session(cache(), ep.device("cpu:0"), states)


def test_a_state_that_changes_its_shape_is_refused():
    session = Session(cache(), ep.device("cpu:0"), {"past": "sum"})
    with pytest.raises(ModelError, match="keep their shape"):
        session.run({"row": np.zeros((1, 1, 2), np.float32), "begin": np.array([0])})


@pytest.mark.parametrize("view", [node("Identity", ["past"], ["y"]), node("Transpose", ["past"], ["y"], perm=[1, 0])])
@pytest.mark.parametrize("op", ["Add", "MatMul"])  # written in place, and copied after the run
def test_an_output_that_sees_a_state_has_what_was_there_before(op, view):
    proto = model(
        [node(op, ["past", "x"], ["present"]), view],
        {"past": (FLOAT, [2, 2]), "x": (FLOAT, [2, 2])},
        {"present": (FLOAT, None), "y": (FLOAT, None)},
    )
    session = Session(proto, ep.device("cpu:0"), {"past": "present"})
    session._stream.upload(session._states["past"][0].memory, np.eye(2, dtype=np.float32))
    before = np.eye(2, dtype=np.float32)
    for turn in range(3):
        _, y = session.run([np.array([[1, 2], [turn, 4]], np.float32)])
        np.testing.assert_array_equal(y, before.T if view.op_type == "Transpose" else before)
        before = session.state("past")
    session.close()
