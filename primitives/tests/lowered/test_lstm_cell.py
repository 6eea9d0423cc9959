"""LstmCell: its descriptors, messages, its stages, and its definition against numbers one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import LstmCell
from ep_primitives.families.recurrent_cell.family import LstmCellFamily

from ep import TensorSpec

FAMILY = LstmCellFamily()
GATES = TensorSpec("float32", (4, 12))
STATE = TensorSpec("float32", (4, 3))
R = TensorSpec("float32", (12, 3))
PEEPHOLE = TensorSpec("float32", (9,))
WHOLE = {"gates": GATES, "h": STATE, "c": STATE, "r": R}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def value(gates, h, c, r, peephole=None, **words):
    """Return the reference's result for float64 arrays: h_next and c_next."""
    inputs = {"gates": gates, "h": h, "c": c, "r": r} | ({} if peephole is None else {"peephole": peephole})
    inputs = {name: np.array(each, np.float64) for name, each in inputs.items()}
    found = FAMILY.reference(LstmCell.infer(**inputs, **words), inputs)
    return [found[name].value.ravel().tolist() for name in ("h_next", "c_next")]


def test_definition_is_that_of_numbers_one_by_one():
    gates, h, c, r, p = [0.5, -1.0, 2.0, 0.25], 0.75, -1.5, [1.0, 0.5, -0.25, 2.0], [0.3, -0.4, 0.1]
    i, o, f, g = (gate + h * weight for gate, weight in zip(gates, r, strict=True))
    kept = sigmoid(f) * c + sigmoid(i) * math.tanh(g)
    found = value([gates], [[h]], [[c]], [[each] for each in r])
    assert found == [[pytest.approx(sigmoid(o) * math.tanh(kept), rel=1e-15)], [pytest.approx(kept, rel=1e-15)]]
    kept = sigmoid(f + p[2] * c) * c + sigmoid(i + p[0] * c) * math.tanh(g)
    found = value([gates], [[h]], [[c]], [[each] for each in r], p)
    out = sigmoid(o + p[1] * kept) * math.tanh(kept)
    assert found == [[pytest.approx(out, rel=1e-15)], [pytest.approx(kept, rel=1e-15)]]


def test_gates_are_columns_and_activations_are_theirs():
    words = dict.fromkeys(LstmCell.words, "relu")
    gates = [[1, 2, 10, 20, 3, 4, 5, -6]]
    assert value(gates, np.zeros((1, 2)), [[7, 8]], np.zeros((8, 2)), **words) == [[10 * 26, 20 * 32], [26, 32]]
    words["candidate_activation"] = "sigmoid"
    wanted = [sigmoid(5), 32 + 2 * sigmoid(-6)]
    assert value(gates, np.zeros((1, 2)), [[0, 8]], np.zeros((8, 2)), **words)[1] == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize(
    ("gate", "wanted"),
    [(0, [True, True]), (1, [True, False]), (2, [True, True]), (3, [True, True])],
)
def test_a_nan_of_the_output_gate_spares_c_next(gate, wanted):
    gates = np.zeros((1, 4))
    gates[0, gate] = math.nan
    found = value(gates, [[1]], [[1]], np.ones((4, 1)))
    assert [math.isnan(each) for (each,) in found] == wanted


def test_operands_keep_their_places():
    made = LstmCell.infer(GATES, STATE, STATE, R, PEEPHOLE, output_activation="relu")
    assert made.operands == ("gates", "h", "c", "r", "peephole", "h_next", "c_next")
    assert dict(made.outputs) == {"h_next": STATE, "c_next": STATE}
    assert (made.attributes, made.width, made.flops) == ((0, 1, 2), 3, 4 * 12 * 11)
    assert (made.gate_activation, made.candidate_activation, made.output_activation) == ("sigmoid", "tanh", "relu")
    assert made.cell == "lstm_cell/-/float32/dense"
    assert pickle.loads(pickle.dumps(made)) == made
    assert eval(repr(made), {"LstmCell": LstmCell, "TensorSpec": TensorSpec}) == made


def operations(cell):
    """Return what a cell does behind its product, one operation after the other."""
    product, gates = cell.lower()
    assert (product.descriptor.title, gates.descriptor.title) == ("matmul", "lstm_gates")
    return [stage.descriptor for stage in gates.descriptor.lower()]


def test_stages_are_as_few_as_gates_side_by_side_allow():
    whole = operations(LstmCell.infer(**WHOLE))
    assert [each.title for each in whole] == ["sigmoid", "tanh", "mul", "mul", "add", "tanh", "mul"]
    peeped = operations(LstmCell.infer(**WHOLE, peephole=PEEPHOLE))
    assert [each.title for each in peeped].count("sigmoid") == 2
    narrow = LstmCell.infer(*(TensorSpec("float16", spec.shape) for spec in WHOLE.values()))
    assert [each.out.dtype for each in operations(narrow)] == ["float32"] * 10 + ["float16"] * 2
    assert LstmCell.infer(**WHOLE).lower()[0].descriptor.b == TensorSpec("float32", (3, 12), (1, 3))
    assert [each.out for each in whole[:2]] == [
        TensorSpec("float32", (4, 9), (12, 1)),
        TensorSpec("float32", (4, 3), (12, 1), 9),
    ]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"gates": TensorSpec("int32", (4, 12))}, ValueError, "lstm_cell: gates has dtype int32, needs one of float16"),
        ({"gates": TensorSpec("float32", (4, 9))}, ValueError, r"lstm_cell: gates has shape \(4, 9\), needs \(4, 12\) beside h \(4, 3\)"),
        ({"h": TensorSpec("float32", (3,))}, ValueError, r"lstm_cell: h has shape \(3,\), needs \(N, H\), a state in each row"),
        ({"c": TensorSpec("float64", (4, 3))}, ValueError, "lstm_cell: c has dtype float64, needs float32; cast it"),
        ({"r": TensorSpec("float32", (3, 12))}, ValueError, r"lstm_cell: r has shape \(3, 12\), needs \(12, 3\) beside h"),
        ({"peephole": STATE}, ValueError, r"lstm_cell: peephole has shape \(4, 3\), needs \(9,\) beside h"),
        ({"c_next": TensorSpec("float32", (4, 3), (0, 1))}, ValueError, "lstm_cell: c_next .* overlaps itself"),
        ({"h_next": R}, ValueError, r"lstm_cell: h_next has shape \(12, 3\), needs \(4, 3\) beside h"),
        ({"gate_activation": "gelu"}, ValueError, "lstm_cell: gate_activation is 'gelu', needs one of sigmoid, tanh, relu"),
        ({"r": 5}, TypeError, "lstm_cell: r is 5"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(given, error, words):
    with pytest.raises(error, match=f"^{words}"):
        LstmCell.infer(**{**WHOLE, **given})


def test_an_element_has_its_gates_and_their_weights():
    made = LstmCell.infer(**WHOLE)
    found = FAMILY.origin(made, dict.fromkeys(WHOLE), "h_next", (2, 1))
    every, each = slice(None), slice(1, None, 3)
    assert found == {"gates": (2, each), "h": (2, every), "c": (2, 1), "r": (each, every)}
