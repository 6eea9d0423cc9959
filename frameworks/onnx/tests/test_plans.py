"""Planned once: launches, memory, plans by shape, contents that cut a plan."""

import gc
import sys
import threading

import numpy as np
import pytest
from ep_onnx.report import report
from ep_onnx.segment import Segment
from made_models import BOOL, FLOAT, INT64, model
from onnx import helper

node = helper.make_node


def random(*shape):
    return np.random.default_rng(7).random(shape, np.float32)


def chain(count, shape=("n", 64)):
    nodes = [node("Tanh" if each % 2 else "Abs", [f"x{each}"], [f"x{each + 1}"]) for each in range(count)]
    return model(nodes, {"x0": (FLOAT, shape)}, {f"x{count}": (FLOAT, shape)})


def test_chain_runs_in_place_in_one_graph(session):
    made = session(chain(20))
    x = random(8, 64)
    (y,) = made.run([x])
    wanted = x
    for each in range(20):
        wanted = np.tanh(wanted) if each % 2 else np.abs(wanted)
    np.testing.assert_allclose(y, wanted, rtol=1e-5)
    found = report(made)
    assert (found.plans, found.segments, found.launches) == (1, 1, 20)
    assert found.arena_nbytes <= 8 * 64 * 4
    assert found.waits == []


def test_every_shape_has_its_plan_and_the_latest_are_kept(session):
    made = session(chain(2))
    for rows in (1, 2, 3, 2, 1, 3):
        assert made.run([random(rows, 64)])[0].shape == (rows, 64)
    assert len(made.plans) == 3
    for rows in range(1, 40):
        made.run([random(rows, 64)])
    assert len(made.plans) == 16


def test_threads_share_a_session(session):
    made, wrong = session(chain(3)), []
    switch = sys.getswitchinterval()

    def work(number):
        x = random(256, 64) * np.float32(number)
        wanted = np.abs(np.tanh(np.abs(x)))
        wrong.extend([number for _ in range(10) if not np.allclose(made.run([x])[0], wanted, rtol=1e-5)])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    sys.setswitchinterval(1e-5)
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(switch)
    assert not wrong


def test_branches_that_live_side_by_side_share_no_byte(session):
    nodes = [
        node("Abs", ["x"], ["a"]),
        node("Neg", ["x"], ["b"]),
        node("Exp", ["a"], ["c"]),
        node("Exp", ["b"], ["d"]),
        node("Sub", ["c", "d"], ["e"]),
        node("Mul", ["e", "a"], ["y"]),
    ]
    made = session(model(nodes, {"x": (FLOAT, [33])}, {"y": (FLOAT, [33])}))
    x = random(33) - np.float32(0.5)
    for _ in range(3):
        (y,) = made.run([x])
    np.testing.assert_allclose(y, (np.exp(np.abs(x)) - np.exp(-x)) * np.abs(x), rtol=1e-5)


def test_an_operand_that_is_read_later_is_not_written(session):
    nodes = [node("Abs", ["x"], ["a"]), node("Neg", ["a"], ["b"]), node("Add", ["a", "b"], ["y"])]
    made = session(model(nodes, {"x": (FLOAT, [5])}, {"y": (FLOAT, [5])}))
    np.testing.assert_array_equal(made.run([random(5)])[0], np.zeros(5, np.float32))


def test_a_tensor_and_its_transpose_are_no_operand_in_place(session):
    nodes = [node("Abs", ["x"], ["a"]), node("Transpose", ["a"], ["t"]), node("Sub", ["a", "t"], ["y"])]
    made = session(model(nodes, {"x": (FLOAT, [17, 17])}, {"y": (FLOAT, [17, 17])}))
    x = random(17, 17)
    np.testing.assert_array_equal(made.run([x])[0], x - x.T)


def test_views_launch_nothing(session):
    nodes = [
        node("Transpose", ["x"], ["t"], perm=[1, 0]),
        node("Reshape", ["t", "shape"], ["r"]),
        node("Slice", ["r", "zero", "two", "zero"], ["s"]),
        node("Exp", ["s"], ["y"]),
    ]
    weights = {"shape": np.array([4, 1, 3]), "zero": np.array([0]), "two": np.array([2])}
    made = session(model(nodes, {"x": (FLOAT, [3, 4])}, {"y": (FLOAT, [2, 1, 3])}, weights))
    x = random(3, 4)
    np.testing.assert_allclose(made.run([x])[0], np.exp(x.T.reshape(4, 1, 3)[:2]), rtol=1e-6)
    assert report(made).launches == 1


def test_constants_are_folded(session):
    nodes = [node("Add", ["w", "w"], ["v"]), node("Transpose", ["v"], ["t"]), node("MatMul", ["x", "t"], ["y"])]
    w = random(3, 4)
    made = session(model(nodes, {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 3])}, {"w": w}))
    for rows in (2, 5):
        x = random(rows, 4)
        np.testing.assert_allclose(made.run([x])[0], x @ (w + w).T, rtol=1e-5)
    found = report(made)
    assert found.launches == 2
    assert found.weights_nbytes == w.nbytes  # once for both plans


def test_bias_and_activation_join_their_product(session):
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Add", ["b", "p"], ["q"]), node("Relu", ["q"], ["y"])]
    w, b = random(4, 3), -random(3)
    made = session(model(nodes, {"x": (FLOAT, [2, 4])}, {"y": (FLOAT, [2, 3])}, {"w": w, "b": b}))
    x = random(2, 4)
    np.testing.assert_allclose(made.run([x])[0], np.maximum(x @ w + b, 0), rtol=1e-5, atol=1e-6)
    assert report(made).launches == 1


def test_a_product_that_is_read_twice_is_not_changed(session):
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Relu", ["p"], ["r"]), node("Add", ["p", "r"], ["y"])]
    w = random(4, 3) - np.float32(0.5)
    made = session(model(nodes, {"x": (FLOAT, [2, 4])}, {"y": (FLOAT, [2, 3])}, {"w": w}))
    x = random(2, 4)
    np.testing.assert_allclose(made.run([x])[0], x @ w + np.maximum(x @ w, 0), rtol=1e-5, atol=1e-6)


def test_batch_normalisation_is_folded_into_the_convolution(session):
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c", "s", "b", "m", "v"], ["y"]),
    ]
    weights = {"w": random(5, 3, 3, 3), "s": random(5), "b": random(5), "m": random(5), "v": random(5)}
    proto = model(nodes, {"x": (FLOAT, [2, 3, 6, 7])}, {"y": (FLOAT, [2, 5, 6, 7])}, weights)
    made = session(proto)
    x = random(2, 3, 6, 7)
    from onnx.reference import ReferenceEvaluator

    np.testing.assert_allclose(made.run([x])[0], ReferenceEvaluator(proto).run(None, {"x": x})[0], rtol=1e-3, atol=1e-5)
    assert report(made).families == {"convolution": 1}


@pytest.mark.parametrize("channels", [(5, 1, 1), (1, 5, 1, 1), (1,), ()])
@pytest.mark.parametrize("is_convolved", [False, True])
def test_factors_and_offsets_of_channels_are_folded_into_what_made_them(session, channels, is_convolved):
    """Into a convolution, and into a batch normalisation that has none before it; whichever side they stand on."""
    weights = {name: random(5) for name in "sbmv"} | {"f": random(*channels), "o": random(*channels)}
    nodes = [
        node("BatchNormalization", ["c" if is_convolved else "x", *"sbmv"], ["n"]),
        node("Mul", ["f", "n"], ["p"]),
        node("Add", ["p", "o"], ["y"]),
    ]
    if is_convolved:
        nodes.insert(0, node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]))
        weights["w"] = random(5, 3, 3, 3)
    x = random(2, 3 if is_convolved else 5, 6, 7)
    proto = model(nodes, {"x": (FLOAT, x.shape)}, {"y": (FLOAT, [2, 5, 6, 7])}, weights)
    made = session(proto)
    from onnx.reference import ReferenceEvaluator

    np.testing.assert_allclose(made.run([x])[0], ReferenceEvaluator(proto).run(None, {"x": x})[0], rtol=1e-3, atol=1e-5)
    assert report(made).families == ({"convolution": 1} if is_convolved else {"batch_norm": 1})


def test_parts_are_made_where_they_are_joined(session):
    """A part that something else reads as well is copied; so is an input."""
    x, w = random(2, 3, 4, 5), random(6, 3, 3, 3)
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        node("Exp", ["x"], ["e"]),
        node("Sqrt", ["x"], ["r"]),
        node("Concat", ["r", "e", "x", "c"], ["y"], axis=1),
        node("Abs", ["e"], ["z"]),
    ]
    outputs = {"y": (FLOAT, [2, 15, 4, 5]), "z": (FLOAT, list(x.shape))}
    proto = model(nodes, {"x": (FLOAT, x.shape)}, outputs, {"w": w})
    made = session(proto)
    from onnx.reference import ReferenceEvaluator

    for found, wanted in zip(made.run([x]), ReferenceEvaluator(proto).run(None, {"x": x}), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert report(made).families == {"convolution": 1, "elementwise_unary": 3, "copy": 2}


def test_factors_that_are_no_channels_stay_apart(session):
    """A row has one for each place, and a larger one makes the result larger; so does a convolution that is read twice."""
    w, x = random(5, 3, 1, 1), random(1, 3, 6, 5)
    for other in (random(5), random(2, 5, 1, 1), random(1, 1, 6, 1)):
        nodes = [node("Conv", ["x", "w"], ["c"]), node("Mul", ["c", "f"], ["y"])]
        made = session(model(nodes, {"x": (FLOAT, x.shape)}, {"y": (FLOAT, None)}, {"w": w, "f": other}))
        conv = np.einsum("oc,nchw->nohw", w[..., 0, 0], x)
        np.testing.assert_allclose(made.run([x])[0], conv * other, rtol=1e-4, atol=1e-6)
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Mul", ["c", "f"], ["p"]), node("Add", ["p", "c"], ["y"])]
    made = session(model(nodes, {"x": (FLOAT, x.shape)}, {"y": (FLOAT, None)}, {"w": w, "f": random(5, 1, 1)}))
    np.testing.assert_allclose(made.run([x])[0], conv * (1 + random(5, 1, 1)), rtol=1e-4, atol=1e-6)
    assert report(made).families == {"convolution": 1, "broadcast_binary": 2}


def test_shape_of_an_input_follows_content_of_another_without_a_wait(session):
    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("Exp", ["r"], ["y"])]
    made = session(model(nodes, {"x": (FLOAT, [6]), "shape": (INT64, ["k"])}, {"y": (FLOAT, None)}))
    x = random(6)
    for shape in ([2, 3], [3, 2], [2, 3], [6, 1]):
        (y,) = made.run([x, np.array(shape)])
        np.testing.assert_allclose(y, np.exp(x.reshape(shape)), rtol=1e-6)
    assert report(made).waits == []
    assert len(made.plans) == 1
    assert report(made).segments == 3


def test_content_of_the_device_cuts_the_plan_and_is_reported(session):
    nodes = [
        node("Greater", ["x", "half"], ["is_large"]),
        node("Compress", ["x", "is_large"], ["large"], axis=0),
        node("Exp", ["large"], ["y"]),
        node("Abs", ["x"], ["a"]),
        node("ReduceSum", ["a"], ["z"], keepdims=0),
    ]
    made = session(model(nodes, {"x": (FLOAT, [9])}, {"y": (FLOAT, None), "z": (FLOAT, [])}, {"half": np.float32(0.5)}))
    for seed in (1, 2, 1, 3):
        x = np.random.default_rng(seed).random(9, np.float32)
        y, z = made.run([x])
        np.testing.assert_allclose(y, np.exp(x[x > 0.5]), rtol=1e-6)
        np.testing.assert_allclose(z, x.sum(), rtol=1e-6)
    waits = report(made).waits
    assert len(waits) == 1
    assert "Compress" in waits[0]


def test_tensors_of_a_sequence_are_computed_on_the_device(session, monkeypatch):
    launched, launch = [], Segment.launch
    monkeypatch.setattr(Segment, "launch", lambda self: launched.extend(self.steps) or launch(self))
    proto = model(
        [node("SequenceAt", ["s", "one"], ["a"]), node("MatMul", ["a", "w"], ["y"])],
        {},
        {"y": (FLOAT, None)},
        {"one": np.array(1), "w": random(3, 3)},
    )
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, None))
    proto.graph.input.append(helper.make_value_info("s", kind))
    for rows in (2, 4):
        (y,) = session(proto).run([[random(1, 3), random(rows, 3)]])
        np.testing.assert_allclose(y, random(rows, 3) @ random(3, 3), rtol=1e-5)
    assert [step.primitive.asked.family for step in launched] == ["matmul"] * 2


def test_a_body_of_an_operation_is_kept_once_for_all_shapes(session):
    """One that depends on types: a past makes the rule of attention give way to it."""
    inputs = {name: (FLOAT, [1, 1, f"n{name}", 4]) for name in ("q", "k", "v", "pk", "pv")}
    attention = node("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "nk", "nv"])
    made = session(model([attention], inputs, {"y": (FLOAT, None)}))
    sizes = []
    for rows in (2, 3, 4):
        made.run([random(1, 1, each, 4) for each in (1, 1, 1, rows, rows)])
        sizes.append((len(made._interpreter._bodies), len(made._interpreter._folded)))
    assert len(set(sizes)) == 1


def test_the_latest_contents_are_kept(session):
    nodes = [node("NonZero", ["x"], ["p"]), node("Gather", ["v", "p"], ["q"]), node("Exp", ["q"], ["y"])]
    made = session(model(nodes, {"x": (FLOAT, [6]), "v": (FLOAT, [6])}, {"y": (FLOAT, None)}))
    contents = [np.array([place >> bit & 1 for bit in range(6)], np.float32) for place in range(1, 24)]
    for x in [*contents, *contents[:3]]:
        np.testing.assert_allclose(made.run([x, random(6)])[0], np.exp(random(6)[None, x != 0]), rtol=1e-6)
    assert report(made).segments == 16
    gc.collect()
    assert len(made._uploaded) <= 16


def test_what_the_host_has_read_is_computed_on_the_device_all_the_same(session):
    nodes = [
        node("NonZero", ["x"], ["p"]),
        node("Shape", ["p"], ["n"]),
        node("Transpose", ["x"], ["t"], perm=[1, 0]),
        node("MatMul", ["t", "w"], ["m"]),
        node("Relu", ["m"], ["y"]),
    ]
    made = session(model(nodes, {"x": (FLOAT, [5, 4])}, {"y": (FLOAT, None), "n": (INT64, [2])}, {"w": random(5, 3)}))
    x = random(5, 4) - np.float32(0.5)
    y, count = made.run([x])
    np.testing.assert_allclose(y, np.maximum(x.T @ random(5, 3), 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(count, [2, 20])
    assert report(made).families == {"matmul": 1}
    assert report(made).waits == []


def test_loop_with_a_condition_of_the_device_runs_as_long_as_it_says(session):
    body = helper.make_graph(
        [
            node("Add", ["s", "one"], ["t"]),
            node("Less", ["t", "limit"], ["more"]),
            node("Identity", ["t"], ["row"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT64, []),
            helper.make_tensor_value_info("c", BOOL, []),
            helper.make_tensor_value_info("s", FLOAT, []),
        ],
        [
            helper.make_tensor_value_info("more", BOOL, []),
            helper.make_tensor_value_info("t", FLOAT, []),
            helper.make_tensor_value_info("row", FLOAT, []),
        ],
    )
    nodes = [node("Loop", ["", "yes", "start"], ["last", "rows"], body=body)]
    weights = {"yes": np.array(True), "one": np.float32(1)}
    inputs = {"start": (FLOAT, []), "limit": (FLOAT, [])}
    made = session(model(nodes, inputs, {"last": (FLOAT, []), "rows": (FLOAT, None)}, weights))
    for start, limit in ((0, 3), (0, 5), (2, 3), (0, 5), (0, 3)):
        last, rows = made.run([np.float32(start), np.float32(limit)])
        count = max(1, limit - start)
        assert last == start + count
        np.testing.assert_array_equal(rows, start + 1 + np.arange(count))


@pytest.mark.parametrize("device", ["cpu:0", "sim:0"])
def test_outputs_may_be_inputs_constants_and_the_same_twice(session, device):
    nodes = [
        node("Identity", ["x"], ["y"]),
        node("Add", ["w", "w"], ["v"]),
        node("Exp", ["x"], ["e"]),
        node("Identity", ["e"], ["f"]),
    ]
    outputs = {name: (FLOAT, [3]) for name in ("y", "v", "e", "f")}
    made = session(model(nodes, {"x": (FLOAT, [3])}, outputs, {"w": random(3)}), device)
    x = random(3)
    for _ in range(2):
        y, v, e, f = made.run({"x": x})
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(v, 2 * random(3))
        np.testing.assert_allclose(e, np.exp(x), rtol=1e-6)
        np.testing.assert_array_equal(e, f)
