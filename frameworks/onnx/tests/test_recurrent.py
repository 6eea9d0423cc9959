"""RNN, LSTM and GRU in every direction and layout, against the definition written step by step in NumPy."""

import numpy as np
import pytest
from ep_onnx import LackingError
from made_models import FLOAT, model
from onnx import TensorProto, helper

STEPS, COUNT, DEPTH, WIDTH = 7, 3, 5, 4
BLOCKS = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
LENGTHS = np.array([7, 2, 4], np.int32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn(gates, h, c, r, b, p, linear):
    return np.tanh(gates + h @ r.T + b), c


def gru(gates, h, c, r, b, p, linear):
    (z, s, n), (rz, rs, rn), (bz, bs, bn) = np.split(gates, 3, 1), np.split(r, 3), np.split(b, 3)
    z, s = sigmoid(z + h @ rz.T + bz), sigmoid(s + h @ rs.T + bs)
    n = np.tanh(n + s * (h @ rn.T + bn)) if linear else np.tanh(n + (s * h) @ rn.T + bn)
    return (1 - z) * n + z * h, c


def lstm(gates, h, c, r, b, p, linear):
    i, o, f, g = np.split(gates + h @ r.T + b, 4, 1)
    pi, po, pf = np.split(p, 3)
    c = sigmoid(f + pf * c) * c + sigmoid(i + pi * c) * np.tanh(g)
    return sigmoid(o + po * c) * np.tanh(c), c


CELLS = {"RNN": rnn, "GRU": gru, "LSTM": lstm}


def network(op, direction, x, weights, linear=False):
    """Return Y, Y_h and Y_c of layout 0."""
    ys, hs, cs = [], [], []
    lengths = weights.get("lengths", np.full(COUNT, STEPS))
    for place, is_reverse in enumerate(DIRECTIONS[direction]):
        zeros = np.zeros((COUNT, WIDTH))
        h, c = (weights[name][place] if name in weights else zeros for name in ("h", "c"))
        w, r, b = (weights[name][place] for name in ("w", "r", "b"))
        p = weights["p"][place] if "p" in weights else np.zeros(3 * WIDTH)
        half = len(b) // 2
        y = np.zeros((STEPS, COUNT, WIDTH))
        for time in reversed(range(STEPS)) if is_reverse else range(STEPS):
            made, kept = CELLS[op](x[time] @ w.T + b[:half], h, c, r, b[half:], p, linear)
            there = (time < lengths)[:, None]
            y[time], h, c = np.where(there, made, 0), np.where(there, made, h), np.where(there, kept, c)
        ys.append(y)
        hs.append(h)
        cs.append(c)
    return np.stack(ys, 1), np.stack(hs), np.stack(cs)


def drawn(op, direction, has_all, rng):
    """Return weights of all directions, and with `has_all` all optional inputs of a node."""
    directions, rows = len(DIRECTIONS[direction]), BLOCKS[op] * WIDTH
    shapes = {"w": (rows, DEPTH), "r": (rows, WIDTH), "b": (2 * rows,)}
    shapes |= {"h": (COUNT, WIDTH)} if has_all else {}
    shapes |= {"c": (COUNT, WIDTH), "p": (3 * WIDTH,)} if has_all and op == "LSTM" else {}
    found = {name: rng.normal(0, 0.7, (directions, *shape)).astype(np.float32) for name, shape in shapes.items()}
    return found | ({"lengths": LENGTHS} if has_all else {})


def made(op, weights, constant, element=FLOAT, **attributes):
    """Return a model of one node; its weights are constants or inputs."""
    names = ["x", "w", "r", "b", *(name if name in weights else "" for name in ("lengths", "h", "c", "p"))]
    while not names[-1]:
        names.pop()
    outputs = ["y", "last", *(["kept"] if op == "LSTM" else [])]
    nodes = [helper.make_node(op, names, outputs, hidden_size=WIDTH, **attributes)]
    inputs = {"x": (element, [None] * 3)}
    if not constant:
        inputs |= {
            name: (TensorProto.INT32 if name == "lengths" else FLOAT, array.shape) for name, array in weights.items()
        }
    return model(nodes, inputs, dict.fromkeys(outputs, (element, None)), weights if constant else ())


@pytest.mark.parametrize("has_all", [False, True])
@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("op", CELLS)
def test_networks_are_what_their_definition_says(session, op, direction, layout, has_all):
    rng = np.random.default_rng(7)
    weights = drawn(op, direction, has_all, rng)
    x = rng.standard_normal((STEPS, COUNT, DEPTH)).astype(np.float32)
    attributes = {"direction": direction, "layout": layout}
    linears = [0, 1] if op == "GRU" else [0]
    for linear in linears:
        wanted = network(op, direction, x, weights, bool(linear))
        given = dict(weights)
        if layout:
            given |= {name: weights[name].swapaxes(0, 1).copy() for name in ("h", "c") if name in weights}
            wanted = [wanted[0].transpose(2, 0, 1, 3), *[each.swapaxes(0, 1) for each in wanted[1:]]]
        words = {**attributes, "linear_before_reset": linear} if op == "GRU" else attributes
        turned = x.swapaxes(0, 1).copy() if layout else x
        for constant in (True, False):
            found = session(made(op, given, constant, **words)).run(
                {"x": turned} if constant else {"x": turned, **given}
            )
            for have, want in zip(found, wanted, strict=False):
                np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "element", "error"),
    [("float16", TensorProto.FLOAT16, 4e-3), ("float64", TensorProto.DOUBLE, 1e-13)],
)
@pytest.mark.parametrize("op", CELLS)
def test_other_element_types(session, op, dtype, element, error):
    """The rounding of each float16 step goes into the next one."""
    rng = np.random.default_rng(11)
    weights = {
        name: each if name == "lengths" else each.astype(dtype)
        for name, each in drawn(op, "bidirectional", True, rng).items()
    }
    x = rng.standard_normal((STEPS, COUNT, DEPTH)).astype(dtype)
    wanted = network(op, "bidirectional", x.astype(float), {name: each.astype(float) for name, each in weights.items()})
    found = session(made(op, weights, True, element, direction="bidirectional")).run({"x": x})
    for have, want in zip(found, wanted, strict=False):
        assert have.dtype == dtype
        np.testing.assert_allclose(have, want, rtol=error, atol=error)


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize(("steps", "count"), [(0, 3), (3, 0), (0, 0)])
def test_no_steps_and_no_sequences(session, layout, steps, count):
    weights = drawn("LSTM", "bidirectional", False, np.random.default_rng(0))
    proto = made("LSTM", weights, True, direction="bidirectional", layout=layout)
    shape = (count, steps, DEPTH) if layout else (steps, count, DEPTH)
    y, last, kept = session(proto).run({"x": np.zeros(shape, np.float32)})
    assert y.shape == ((count, steps, 2, WIDTH) if layout else (steps, 2, count, WIDTH))
    assert last.shape == kept.shape == ((count, 2, WIDTH) if layout else (2, count, WIDTH))
    assert not last.any()


def test_layers_one_behind_the_other_share_nothing(session):
    """Y of one layer is (steps, directions, N, H), and the next one's input has the directions side by side."""
    rng = np.random.default_rng(3)
    first, second = drawn("LSTM", "bidirectional", False, rng), drawn("LSTM", "bidirectional", False, rng)
    second["w"] = rng.normal(0, 0.7, (2, 4 * WIDTH, 2 * WIDTH)).astype(np.float32)
    x = rng.standard_normal((STEPS, COUNT, DEPTH)).astype(np.float32)
    words = {"hidden_size": WIDTH, "direction": "bidirectional"}
    nodes = [
        helper.make_node("LSTM", ["x", "w0", "r0", "b0"], ["y0", "", "c0"], **words),
        helper.make_node("Transpose", ["y0"], ["t"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["t", "shape"], ["beside"]),
        helper.make_node("LSTM", ["beside", "w1", "r1", "b1"], ["", "h1"], **words),
    ]
    weights = {f"{name}{place}": array for place, layer in enumerate((first, second)) for name, array in layer.items()}
    weights["shape"] = np.array([0, 0, -1])
    proto = model(nodes, {"x": (FLOAT, ["t", "n", DEPTH])}, {"h1": (FLOAT, None), "c0": (FLOAT, None)}, weights)
    y, _, kept = network("LSTM", "bidirectional", x, first)
    beside = y.transpose(0, 2, 1, 3).reshape(STEPS, COUNT, 2 * WIDTH)
    wanted = network("LSTM", "bidirectional", beside, second)[1]
    found = session(proto).run([x])
    np.testing.assert_allclose(found[0], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], kept, rtol=1e-5, atol=1e-6)


def test_a_step_is_a_launch_and_the_input_one_product(session):
    weights = drawn("GRU", "forward", False, np.random.default_rng(0))
    run = session(made("GRU", weights, constant=True))
    run.run({"x": np.zeros((STEPS, COUNT, DEPTH), np.float32)})
    (plan,) = run.plans.values()
    families = [step.primitive.asked.family for segment in plan.segments for step in segment.steps]
    assert families.count("gru_cell") == STEPS
    assert families.count("matmul") == 1
    assert len(families) == STEPS + 2  # and the state before


@pytest.mark.parametrize(
    ("op", "attributes", "words"),
    [
        ("LSTM", {"clip": 2.0}, "LSTM 'y': its clip is 2.0, which cells do not have; export it as a Loop"),
        ("LSTM", {"input_forget": 1}, "LSTM 'y': its input_forget is 1"),
        ("GRU", {"activations": ["Sigmoid", "Elu"]}, "GRU 'y': its activation Elu is none of Sigmoid, Tanh, Relu"),
        ("RNN", {"activations": ["Affine"]}, "RNN 'y': its activation Affine is none of"),
    ],
)
def test_what_cells_do_not_have_is_named(session, op, attributes, words):
    proto = made(op, drawn(op, "forward", False, np.random.default_rng(0)), constant=True, **attributes)
    with pytest.raises(LackingError, match=f"^{words}"):
        session(proto).run({"x": np.zeros((STEPS, COUNT, DEPTH), np.float32)})
