"""The launch of GroupNorm: one, whatever the groups and the layout, whose channels lie in runs where x and y do."""

from __future__ import annotations

import ep_simt
import pytest
from ep_primitives import GroupNorm

import ep

SHAPE = (8, 64, 7, 9)


def launched(groups, dtype="float32", *, strides=None, factors=True, target=ep_simt.GPU):
    """Return whether the only launch of a norm takes its rows as runs."""
    x, y = ep.TensorSpec(dtype, SHAPE, strides=strides), ep.TensorSpec(dtype, SHAPE)
    channels = [ep.TensorSpec(dtype, SHAPE[1:2])] * 2 if factors else []
    norm = GroupNorm.infer(x, groups, *channels, y=y)
    (launch,) = ep_simt.bodies()["group_norm"].plan(norm, target).launches
    *_, is_plain, _, _ = launch.arguments
    return bool(is_plain)


@pytest.mark.parametrize("target", [ep_simt.CPU, ep_simt.GPU])
@pytest.mark.parametrize("dtype", ["bfloat16", "float64"])
@pytest.mark.parametrize("groups", [1, 16, 64])
def test_groups_of_neighbours_are_runs(groups, dtype, target):
    assert launched(groups, dtype, target=target)
    assert launched(groups, dtype, target=target, factors=False)


def test_groups_across_memory_are_none():
    channels_last = (64 * 63, 1, 9 * 64, 64)
    assert not launched(16, strides=channels_last)
    assert not launched(16, strides=channels_last, factors=False)


def test_channels_of_one_element_each_have_no_runs():
    x, channels = ep.TensorSpec("float32", (8, 64)), ep.TensorSpec("float32", (64,))
    (launch,) = ep_simt.bodies()["group_norm"].plan(GroupNorm.infer(x, 4, channels), ep_simt.GPU).launches
    assert launch.arguments[-3] == 0
