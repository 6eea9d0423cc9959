"""GroupNorm and BatchNorm: their descriptors, messages, stages, and their definitions against others."""

import pickle

import numpy as np
import pytest
from ep_primitives import BatchNorm, GroupNorm, LayerNorm
from ep_primitives.families.batch_norm.family import BatchNormFamily
from ep_primitives.families.group_norm.family import GroupNormFamily
from ep_primitives.families.layer_norm.family import LayerNormFamily

from ep import TensorSpec

GROUP, BATCH = GroupNormFamily(), BatchNormFamily()
X = TensorSpec("float32", (4, 6, 5))
C = TensorSpec("float32", (6,))


def drawn(*shapes):
    rng = np.random.default_rng(11)
    return [rng.normal(2, 3, shape) for shape in shapes]


def test_groups_are_those_of_layer_norms():
    x, scale, bias = drawn((4, 6, 5), 6, 6)
    found = GROUP.reference(GroupNorm.infer(x, 2, scale, bias), {"x": x, "scale": scale, "bias": bias}).value
    rows = x.reshape(8, 15)
    alone = LayerNormFamily().reference(LayerNorm.infer(rows), {"x": rows})["y"].value
    np.testing.assert_allclose(found, alone.reshape(4, 6, 5) * scale[:, None] + bias[:, None], rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_each_group_has_mean_0_and_variance_1(groups):
    (x,) = drawn((4, 6, 5))
    found = GROUP.reference(GroupNorm.infer(x, groups, epsilon=1e-14), {"x": x}).value.reshape(4 * groups, -1)
    np.testing.assert_allclose(found.mean(1), 0, atol=1e-13)
    np.testing.assert_allclose(found.var(1), 1, rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_batch_norm_is_its_definition(axis):
    (x,) = drawn((4, 6, 5))
    mean, variance, scale, bias = np.abs(drawn(*[x.shape[axis]] * 4))
    given = {"x": x, "mean": mean, "variance": variance, "scale": scale, "bias": bias}
    found = BATCH.reference(BatchNorm.infer(**given, axis=axis, epsilon=0.5), given).value
    moved = np.moveaxis(x, axis, -1)
    wanted = (moved - mean) / np.sqrt(variance + 0.5) * scale + bias
    np.testing.assert_allclose(np.moveaxis(found, axis, -1), wanted, rtol=1e-13)


def test_operands_keep_their_places():
    group = GroupNorm.infer(X, 3, bias=C)
    assert group.specs == (X, None, C, X)
    assert (group.attributes, group.cell) == ((3, 1e-5), "group_norm/-/float32/dense")
    batch = BatchNorm.infer(X, C, C, C, axis=-2)
    assert batch.specs == (X, C, C, C, None, X)
    assert (batch.attributes, batch.axis, batch.cell) == ((1, 1e-5), 1, "batch_norm/-/float32/dense")
    for made in (group, batch):
        assert pickle.loads(pickle.dumps(made)) == made
        assert eval(repr(made), {type(made).__name__: type(made), "TensorSpec": TensorSpec}) == made


def families(descriptor):
    return [stage.descriptor.family for stage in descriptor.lower()]


def test_stages_are_few():
    assert families(GroupNorm.infer(X, 1, C, C)) == ["layer_norm"]
    assert families(GroupNorm.infer(X, 6, C, C)) == ["layer_norm", "broadcast_binary", "broadcast_binary"]
    narrow, column = TensorSpec("float16", X.shape), TensorSpec("float16", (6,))
    assert families(GroupNorm.infer(narrow, 1, column)) == families(GroupNorm.infer(narrow, 3)) == ["layer_norm"]
    assert families(GroupNorm.infer(narrow, 3, column)) == ["cast", "layer_norm", "cast", "broadcast_binary", "cast"]
    large = [stage for stage in BatchNorm.infer(X, C, C, C, C).lower() if stage.descriptor.out.size > 6]
    assert [stage.descriptor.op for stage in large] == ["mul", "sub"]


def test_rows_of_groups_are_views():
    turned = TensorSpec("float32", (4, 6, 5), (30, 1, 6))
    (stage, *_) = GroupNorm.infer(turned, 3, C).lower()
    assert stage.descriptor.x == TensorSpec("float32", (4, 3, 2, 5), (30, 2, 1, 6))
    assert stage.descriptor.axis == 2
    alone = GroupNorm.infer(TensorSpec("float32", (4, 6)), 6).lower()[0].descriptor
    assert (alone.x.shape, alone.terms) == ((4, 6, 1), 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GroupNorm.infer(X, 4), "group_norm: groups is 4, needs a divisor of the 6 channels of x"),
        (lambda: GroupNorm.infer(X, 0), "group_norm: groups is 0, needs a divisor"),
        (lambda: GroupNorm.infer(TensorSpec("float32", (6,)), 1), "group_norm: x has shape .* needs the channels along dimension 1"),
        (lambda: GroupNorm.infer(X, 2, TensorSpec("float32", (5,))), r"group_norm: scale has shape \(5,\), needs \(6,\), one number"),
        (lambda: GroupNorm.infer(X, 2, epsilon=0.0), "group_norm: epsilon is 0.0, needs a finite number above 0"),
        (lambda: GroupNorm.infer(X, 2, y=C), r"group_norm: y has shape \(6,\), needs x's shape \(4, 6, 5\); describe y so"),
        (lambda: GroupNorm.infer(TensorSpec("float32", (2, 4) + (1,) * 14), 2), "group_norm: x has rank 16, needs 15 at most"),
        (lambda: BatchNorm.infer(X, C, TensorSpec("float64", (6,))), "batch_norm: variance has dtype float64, needs float32"),
        (lambda: BatchNorm.infer(X, C, C, axis=0), r"batch_norm: mean has shape \(6,\), needs \(4,\), one number a channel"),
        (lambda: BatchNorm.infer(X, C, C, axis=3), "batch_norm: axis is 3, needs an integer from -3 to 2"),
        (lambda: BatchNorm.infer(TensorSpec("float32", ()), C, C, axis=0), "batch_norm: x has shape .* needs the channels"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        make()


def test_parts_are_samples_and_places():
    first, last, rest = GROUP.parts(GroupNorm.infer(X, 3, C))
    assert (first.x.shape, last.x.offset, rest.x.shape, rest.groups) == ((1, 6, 5), 90, (3, 6, 5), 3)
    first, last, _ = BATCH.parts(BatchNorm.infer(X, C, C))
    assert (first.x.shape, last.x.offset) == ((1, 6, 1), 94)
    assert GROUP.is_constant(GroupNorm.infer(TensorSpec("float32", (12, 3)), 3))
    assert not GROUP.is_constant(GroupNorm.infer(X, 6))
