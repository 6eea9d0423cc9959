"""GruCell: its descriptors, messages, its stages, and its definition against numbers one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import GruCell
from ep_primitives.families.recurrent_cell.family import GruCellFamily
from ep_primitives.families.recurrent_cell.stages.gates import Gates

from ep import TensorSpec

FAMILY = GruCellFamily()
GATES = TensorSpec("float32", (4, 9))
STATE = TensorSpec("float32", (4, 3))
R = TensorSpec("float32", (9, 3))
BIAS = TensorSpec("float32", (9,))
WHOLE = {"gates": GATES, "h": STATE, "r": R}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def value(gates, h, r, bias=None, **words):
    """Return the reference's result for float64 arrays."""
    inputs = {"gates": gates, "h": h, "r": r} | ({} if bias is None else {"bias": bias})
    inputs = {name: np.array(each, np.float64) for name, each in inputs.items()}
    return FAMILY.reference(GruCell.infer(**inputs, **words), inputs).value.ravel().tolist()


def test_definition_is_that_of_numbers_one_by_one():
    gates, h, r, b = [0.5, -1.0, 2.0], 0.75, [1.0, 0.5, -0.25], [0.3, -0.4, 0.1]
    column = [[each] for each in r]
    z, s = sigmoid(gates[0] + h * r[0]), sigmoid(gates[1] + h * r[1])
    for is_linear, n in ((False, math.tanh(gates[2] + s * h * r[2])), (True, math.tanh(gates[2] + s * (h * r[2])))):
        found = value([gates], [[h]], column, linear_before_reset=is_linear)
        assert found == [pytest.approx((1 - z) * n + z * h, rel=1e-15)]
    z, s = sigmoid(gates[0] + h * r[0] + b[0]), sigmoid(gates[1] + h * r[1] + b[1])
    n = math.tanh(gates[2] + s * (h * r[2] + b[2]))
    found = value([gates], [[h]], column, b, linear_before_reset=True)
    assert found == [pytest.approx((1 - z) * n + z * h, rel=1e-15)]


def test_the_reset_is_a_factor_of_h_or_of_its_product():
    gates, r = [[0, 0, 1, 0, 0, 0]], np.zeros((6, 2))
    r[4:] = [[0, 1], [1, 0]]
    words: dict = {"gate_activation": "relu", "candidate_activation": "relu"}
    assert value(gates, [[5, 7]], r, **words) == [0, 5]
    assert value(gates, [[5, 7]], r, **words, linear_before_reset=True) == [7, 0]


def test_operands_keep_their_places():
    made = GruCell.infer(GATES, STATE, R, BIAS, linear_before_reset=True, gate_activation="tanh")
    assert made.operands == ("gates", "h", "r", "bias", "h_next")
    assert (made.out, made.attributes, made.flops) == (STATE, (True, 1, 1), 4 * 9 * 11)
    assert (made.gate_activation, made.candidate_activation) == ("tanh", "tanh")
    assert made.cell == "gru_cell/-/float32/dense"
    assert pickle.loads(pickle.dumps(made)) == made
    assert eval(repr(made), {"GruCell": GruCell, "TensorSpec": TensorSpec}) == made


def flat(descriptor):
    """Return the stages, with those of operations that have stages in their place."""
    of = [
        (stage, stage.descriptor.lower() if isinstance(stage.descriptor, Gates) else ()) for stage in descriptor.lower()
    ]
    return [each.descriptor for stage, own in of for each in own or (stage,)]


def test_stages():
    made = GruCell.infer(**WHOLE)
    assert [stage.descriptor.title for stage in made.lower()] == ["matmul", "gru_reset", "matmul", "gru_gates"]
    ends = ["tanh", "sub", "mul", "add"]
    assert [each.title for each in flat(made)] == ["matmul", "sigmoid", "mul", "matmul", "sigmoid", *ends]
    linear = GruCell.infer(**WHOLE, linear_before_reset=True)
    assert [stage.descriptor.title for stage in linear.lower()] == ["matmul", "gru_gates"]
    assert [each.title for each in flat(linear)] == ["matmul", "add", "sigmoid", "mul", "add", *ends]
    narrow = flat(GruCell.infer(*(TensorSpec("bfloat16", spec.shape) for spec in WHOLE.values())))
    assert [each.out.dtype for each in narrow] == ["float32"] * (len(narrow) - 1) + ["bfloat16"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gates": TensorSpec("int32", (4, 9))}, "gru_cell: gates has dtype int32, needs one of float16"),
        ({"gates": TensorSpec("float32", (4, 12))}, r"gru_cell: gates has shape \(4, 12\), needs \(4, 9\) beside h \(4, 3\)"),
        ({"h": TensorSpec("float32", (1, 4, 3))}, r"gru_cell: h has shape \(1, 4, 3\), needs \(N, H\), a state in each row"),
        ({"r": TensorSpec("float64", (9, 3))}, "gru_cell: r has dtype float64, needs float32; cast it"),
        ({"bias": BIAS}, "gru_cell: bias is given and linear_before_reset is False, needs None; add it to gates"),
        ({"bias": STATE, "linear_before_reset": True}, r"gru_cell: bias has shape \(4, 3\), needs \(9,\) beside h"),
        ({"h_next": R}, r"gru_cell: h_next has shape \(9, 3\), needs \(4, 3\) beside h"),
        ({"candidate_activation": "elu"}, "gru_cell: candidate_activation is 'elu', needs one of sigmoid, tanh, relu"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(given, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        GruCell.infer(**{**WHOLE, **given})


def test_an_element_has_the_reset_of_its_whole_row_where_that_comes_first():
    every, each = slice(None), slice(1, None, 3)
    inputs = dict.fromkeys(WHOLE)
    made = FAMILY.origin(GruCell.infer(**WHOLE), inputs, "h_next", (2, 1))
    assert made == {"gates": (2, every), "h": (2, every), "r": (every, every)}
    made = FAMILY.origin(GruCell.infer(**WHOLE, linear_before_reset=True), inputs, "h_next", (2, 1))
    assert made == {"gates": (2, each), "h": (2, every), "r": (each, every)}
