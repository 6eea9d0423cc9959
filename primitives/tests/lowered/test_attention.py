"""Attention: its descriptors, messages, its stages, and its definition against sums one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import Attention
from ep_primitives.families.attention.family import AttentionFamily

from ep import TensorSpec

FAMILY = AttentionFamily()
Q = TensorSpec("float32", (2, 6, 5, 4))
K = TensorSpec("float32", (2, 3, 7, 4))
V = TensorSpec("float32", (2, 3, 7, 9))


def value(q, k, v, mask=None, **words):
    """Return the reference's result for float64 arrays."""
    inputs = {"q": np.array(q), "k": np.array(k), "v": np.array(v)} | ({} if mask is None else {"mask": np.array(mask)})
    return FAMILY.reference(Attention.infer(**inputs, **words), inputs).value


def test_definition_is_that_of_sums_one_by_one():
    q, k, v = [[1.0, 2.0]], [[0.5, 1.0], [-1.0, 0.25], [2.0, -1.0]], [[1.0], [10.0], [100.0]]
    scores = [math.fsum(a * b for a, b in zip(q[0], row, strict=True)) / math.sqrt(2) for row in k]
    shares = [math.exp(score) for score in scores]
    wanted = math.fsum(share * row[0] for share, row in zip(shares, v, strict=True)) / math.fsum(shares)
    assert value(q, k, v).item() == pytest.approx(wanted, rel=1e-15)
    capped = [math.exp(2 * math.tanh(score / 2) + 0.5 * place) for place, score in enumerate(scores)]
    wanted = math.fsum(share * row[0] for share, row in zip(capped, v, strict=True)) / math.fsum(capped)
    assert value(q, k, v, [0.0, 0.5, 1.0], softcap=2.0).item() == pytest.approx(wanted, rel=1e-15)


def test_heads_of_q_meet_those_of_k_in_blocks():
    v = np.arange(3.0).reshape(3, 1, 1)
    found = value(np.ones((6, 1, 2)), np.ones((3, 1, 2)), v)
    assert found.ravel().tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ({"is_causal": True}, [1, 1.5, 2]),
        ({"is_causal": True, "offset": 1}, [1.5, 2, 2]),
        ({"is_causal": True, "offset": -2}, [0, 0, 1]),
        ({"mask": [[True, False, True]]}, [2, 2, 2]),
        ({"mask": [[True], [False], [True]], "is_causal": True}, [1, 0, 2]),
        ({"mask": [0.0, -math.inf, 0.0]}, [2, 2, 2]),
        ({"mask": np.full((3, 3), -math.inf)}, [0, 0, 0]),
    ],
)
def test_what_is_left_out_does_not_count(words, wanted):
    zeros = np.zeros((3, 2))
    assert value(zeros, zeros, [[1.0], [2.0], [3.0]], **words).ravel().tolist() == pytest.approx(wanted)


def test_without_keys_out_is_0_and_without_columns_the_mean():
    assert value(np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 4))).tolist() == [[0] * 4] * 2
    assert value(np.ones((2, 0)), np.ones((2, 0)), [[1.0], [3.0]]).tolist() == [[2], [2]]


def test_operands_keep_their_places():
    made = Attention.infer(Q, K, V, is_causal=True, offset=-1)
    assert made.operands == ("q", "k", "v", "mask", "out")
    assert made.out == TensorSpec("float32", (2, 6, 5, 9))
    assert made.attributes == (0.5, 0.0, True, -1)
    assert (made.scores, made.groups, made.leaves_out_rows) == ((2, 6, 5, 7), 2, True)
    assert made.cell == "attention/-/float32/dense"
    assert pickle.loads(pickle.dumps(made)) == made
    assert eval(repr(made), {"Attention": Attention, "TensorSpec": TensorSpec}) == made
    masked = Attention.infer(Q, K, V, TensorSpec("bool", (7,)))
    assert masked.cell == "attention/-/float32,bool->float32/dense"


def test_heads_are_not_copied_and_scores_are_the_largest_temporary():
    stages = Attention.infer(Q, K, V, is_causal=True).lower()
    assert stages[0].descriptor.b == TensorSpec("float32", (2, 3, 1, 4, 7), (84, 28, 28, 1, 4))
    assert [stage.descriptor.family for stage in stages] == ["matmul", "fill", "fill", "where", "softmax", "matmul"]
    window = stages[3].descriptor.specs[0]
    assert (window.shape, window.strides, window.offset) == ((5, 7), (-1, 1), 4)
    narrow = Attention.infer(*(TensorSpec("float16", spec.shape) for spec in (Q, K, V))).lower()
    assert [stage.descriptor.family for stage in narrow] == ["matmul", "softmax", "cast", "matmul", "cast"]
    assert [stage.descriptor.out.dtype for stage in narrow] == ["float32"] * 4 + ["float16"]
    none = Attention.infer(Q, K, V, is_causal=True, offset=6).lower()
    assert [stage.descriptor.family for stage in none] == ["matmul", "softmax", "matmul"]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"q": TensorSpec("int32", (5, 4))}, ValueError, "attention: q has dtype int32, needs one of float16"),
        ({"q": TensorSpec("float32", (4,))}, ValueError, "attention: q has rank 1, needs at least 2"),
        ({"k": TensorSpec("float64", K.shape)}, ValueError, "attention: k has dtype float64, needs float32; cast it"),
        ({"k": TensorSpec("float32", (2, 4, 7, 4))}, ValueError, r"attention: k has shape \(2, 4, 7, 4\), needs \(2, 6, 7, 4\)"),
        ({"k": TensorSpec("float32", (2, 3, 7, 5))}, ValueError, r"attention: k has shape .* needs \(2, 3, 7, 4\) beside this q"),
        ({"v": TensorSpec("float32", (2, 6, 7, 9))}, ValueError, r"attention: v has shape .* needs \(2, 3, 7, 9\) beside this k"),
        ({"v": TensorSpec("float32", (2, 3, 8, 9))}, ValueError, r"attention: v has shape .* needs \(2, 3, 7, 9\)"),
        ({"out": Q}, ValueError, r"attention: out has shape .* needs \(2, 6, 5, 9\)"),
        ({"mask": TensorSpec("int32", (7,))}, ValueError, "attention: mask has dtype int32, needs one of float32, bool"),
        ({"mask": TensorSpec("bool", (5, 6))}, ValueError, r"attention: mask has shape \(5, 6\), which does not broadcast"),
        ({"mask": TensorSpec("bool", (1, 2, 6, 5, 7))}, ValueError, "attention: mask has shape"),
        ({"scale": math.inf}, ValueError, "attention: scale is inf, needs a finite number"),
        ({"softcap": -1.0}, ValueError, "attention: softcap is -1.0, needs a finite number of at least 0"),
        ({"is_causal": 2}, TypeError, "attention: is_causal is 2, needs a truth value"),
        ({"offset": 1}, ValueError, "attention: offset is 1, needs 0 where is_causal is False; pass is_causal=True"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(given, error, words):
    with pytest.raises(error, match=f"^{words}"):
        Attention.infer(**{"q": Q, "k": K, "v": V, **given})


def test_heads_in_groups_need_a_dimension_more():
    lead = (1,) * 13
    shapes = [(*lead, heads, 5, 4) for heads in (6, 2, 2)]
    with pytest.raises(ValueError, match=r"^attention: k has 2 heads and q 6, which needs rank 15 at most; merge"):
        Attention.infer(*(TensorSpec("float32", shape) for shape in shapes))
    assert Attention.infer(*(TensorSpec("float32", (*lead, heads, 5, 4)) for heads in (6, 1, 1))).groups == 6
