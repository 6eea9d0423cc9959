"""TopK of a work-item alone: the elements that it lists before it searches, where they are few, many, or apart."""

from __future__ import annotations

import numpy as np
import pytest
from ep_primitives import TopK

import ep

_EXTENT = 6400
_MOST = _EXTENT // 64  # of a row's elements that are listed, where they are few


@pytest.mark.parametrize("k", [1, _MOST, _MOST + 1])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize(
    "values",
    [
        pytest.param(np.random.default_rng(7).permutation(_EXTENT), id="apart"),
        pytest.param(np.arange(_EXTENT), id="rising"),
        pytest.param(np.arange(_EXTENT) // 1500, id="more-equal-ones-than-a-list-holds"),
        pytest.param(np.zeros(_EXTENT), id="equal"),
    ],
)
@pytest.mark.parametrize("op", ["largest", "smallest"])
def test_chosen_are_the_first_of_a_stable_sort(device, stream, op, values, step, k):
    row = np.zeros(_EXTENT * step, np.float32)
    row[::step] = values
    x = ep.TensorSpec("float32", (_EXTENT,), (step,))
    descriptor = TopK.infer(op, x, k)
    found = [device.empty(spec) for spec in descriptor.specs[1:]]
    descriptor.on(device)(stream, x=device.tensor(row).memory, values=found[0], indices=found[1])
    order = np.argsort(-values if op == "largest" else values, kind="stable")[:k]
    np.testing.assert_array_equal(found[1].numpy(stream), order)
    np.testing.assert_array_equal(found[0].numpy(stream), row[::step][order])
