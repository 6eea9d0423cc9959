"""CrossEntropy: its descriptors, messages, stages, and its definition against sums one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import CrossEntropy
from ep_primitives.families.cross_entropy.family import CrossEntropyFamily

from ep import TensorSpec

FAMILY = CrossEntropyFamily()
X = TensorSpec("float32", (4, 3, 5))
LABELS = TensorSpec("int64", (4, 5))
C = TensorSpec("float32", (3,))


def value(x, labels, weights=None, **words):
    """Return the reference's result for float64 arrays."""
    inputs = {"x": np.array(x), "labels": np.array(labels)}
    inputs |= {} if weights is None else {"weights": np.array(weights)}
    return FAMILY.reference(CrossEntropy.infer(**inputs, **words), inputs).value.tolist()


def test_definition_is_that_of_sums_one_by_one():
    x, labels, weights = [[1.0, 2.0, -1.0], [0.5, 0.25, 3.0]], [1, 2], [1.0, 2.0, 0.5]
    losses = [-(row[label] - math.log(math.fsum(map(math.exp, row)))) for row, label in zip(x, labels, strict=True)]
    assert value(x, labels, reduction="none") == pytest.approx(losses, rel=1e-14)
    weighted = [2 * losses[0], 0.5 * losses[1]]
    assert value(x, labels, weights, reduction="none") == pytest.approx(weighted, rel=1e-14)
    assert value(x, labels, weights, reduction="sum") == pytest.approx(sum(weighted), rel=1e-14)
    assert value(x, labels, weights) == pytest.approx(sum(weighted) / 2.5, rel=1e-14)
    assert value(x, labels) == pytest.approx(sum(losses) / 2, rel=1e-14)


@pytest.mark.parametrize(
    ("labels", "words", "wanted"),
    [
        ([0, 1], {"reduction": "none"}, [1.0, 5.0]),
        ([0, 7], {"reduction": "none"}, [1.0, 0.0]),
        ([0, -1], {"reduction": "mean"}, 1.0),
        ([0, 1], {"reduction": "mean", "ignore_index": 0}, 5.0),
        ([0, 1], {"reduction": "sum", "ignore_index": 1, "weights": [3.0, 9.0]}, 3.0),
        ([0, 1], {"reduction": "mean", "weights": [3.0, 1.0]}, 2.0),
        ([-7, 7], {"reduction": "sum"}, 0.0),
    ],
)
def test_what_does_not_count_is_0_and_has_no_weight(labels, words, wanted):
    assert value([[-1.0, -2.0], [-4.0, -5.0]], labels, is_log=True, **words) == wanted


def test_nan_of_what_does_not_count_does_not_show():
    x = [[math.nan, -2.0], [-4.0, -math.inf]]
    assert value(x, [9, 0], is_log=True) == 4.0
    assert value(x, [9, 1], ignore_index=1, is_log=True, reduction="sum") == 0.0
    assert math.isnan(value(x, [0, 0], is_log=True))
    assert math.isnan(value(x, [9, 9], is_log=True))


def test_operands_keep_their_places():
    made = CrossEntropy.infer(X, LABELS, C, ignore_index=-100)
    assert made.specs == (X, LABELS, C, TensorSpec("float32", ()))
    assert (made.attributes, made.reduction, made.ignore_index, made.is_log) == ((2, 0, 1, -100), "mean", -100, False)
    assert made.cell == "cross_entropy/-/float32,int64->float32/dense"
    assert CrossEntropy.infer(X, LABELS, reduction="none").out == TensorSpec("float32", (4, 5))
    assert CrossEntropy.infer(X, LABELS).ignore_index is None
    assert pickle.loads(pickle.dumps(made)) == made
    assert eval(repr(made), {"CrossEntropy": CrossEntropy, "TensorSpec": TensorSpec}) == made


def families(descriptor):
    return [stage.descriptor.family for stage in descriptor.lower()]


def test_stages_are_few_and_classes_are_gathered_where_they_lie():
    plain = CrossEntropy.infer(X, LABELS, reduction="none", is_log=True)
    assert families(plain) == ["gather", "elementwise_unary"]
    gather = plain.lower()[0].descriptor
    assert gather.x == TensorSpec("float32", (4, 5, 3), (15, 1, 5))
    assert (gather.indices.shape, gather.axis, gather.batch_dims) == ((4, 5, 1), 2, 2)
    assert families(CrossEntropy.infer(X, LABELS, reduction="sum")) == [
        "log_softmax",
        "gather",
        "elementwise_unary",
        "reduce",
    ]
    narrow = CrossEntropy.infer(TensorSpec("float16", X.shape), LABELS, reduction="none", is_log=True)
    assert families(narrow) == ["gather", "cast", "elementwise_unary", "cast"]
    small = CrossEntropy.infer(X, TensorSpec("int32", (4, 5)), reduction="sum", ignore_index=2**40)
    assert "where" not in families(small)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"x": TensorSpec("int32", X.shape)}, ValueError, "cross_entropy: x has dtype int32, needs one of float16"),
        ({"x": TensorSpec("float32", (4,))}, ValueError, "cross_entropy: x has rank 1, needs at least 2"),
        ({"labels": TensorSpec("int64", (4, 3))}, ValueError, r"cross_entropy: labels has shape \(4, 3\), needs \(4, 5\)"),
        ({"labels": TensorSpec("int8", (4, 5))}, ValueError, "cross_entropy: labels has dtype int8, needs one of int32, int64"),
        ({"weights": TensorSpec("float32", (5,))}, ValueError, r"cross_entropy: weights has shape \(5,\), needs \(3,\)"),
        ({"weights": TensorSpec("float64", (3,))}, ValueError, "cross_entropy: weights has dtype float64, needs float32"),
        ({"reduction": "all"}, ValueError, "cross_entropy: reduction is 'all', which is not one of none, sum, mean"),
        ({"ignore_index": 1.5}, TypeError, "cross_entropy: ignore_index is 1.5"),
        ({"is_log": 2}, TypeError, "cross_entropy: is_log is 2, needs a truth value"),
        ({"out": LABELS}, ValueError, "cross_entropy: out has dtype int64, needs float32"),
        ({"out": C}, ValueError, r"cross_entropy: out has shape \(3,\), needs \(\) for the reduction 'mean'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(given, error, words):
    with pytest.raises(error, match=f"^{words}"):
        CrossEntropy.infer(**{"x": X, "labels": LABELS, **given})


def test_parts_are_places_of_losses_that_stay_apart():
    first, last, rest = FAMILY.parts(CrossEntropy.infer(X, LABELS, C, reduction="none"))
    assert (first.x.shape, last.x.offset, last.labels.offset) == ((1, 3, 1), 49, 19)
    assert rest.x == TensorSpec("float32", (4, 3, 4), (15, 5, 1), 1)
    assert not [*FAMILY.parts(CrossEntropy.infer(X, LABELS))]
