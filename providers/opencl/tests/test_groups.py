"""Groups of every size that a target may ask for give the defined results: trees, counts and sorts in shared memory."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep_primitives import LayerNorm, TopK

import ep

GROUPS = (1, 2, 16, 256)
EXTENTS = (1, 2, 3, 63, 64, 65, 257, 1000)


@pytest.fixture(params=GROUPS)
def launch(request, device, stream, monkeypatch):
    """Return a function that launches a descriptor by a plan for groups of one size, not of the device's own."""
    monkeypatch.setattr(device.twin, "target", device.twin.target._replace(group=request.param))

    def run(descriptor, *memories):
        portable = ep_simt.Portable()
        kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
        assert kernel.scratch_nbytes == 0
        kernel.launch(stream.twin, memories, ())

    return run


@pytest.mark.parametrize("extent", EXTENTS)
def test_mean_and_deviation_of_rows(launch, put, get, extent):
    x = np.random.default_rng(extent).standard_normal((5, extent)).astype(np.float32)
    descriptor = LayerNorm.infer(x, mean=True, rstd=True)
    y, mean, rstd = (put(np.full(shape, 9, np.float32)) for shape in (x.shape, 5, 5))
    launch(descriptor, put(x), None, None, y, mean, rstd)
    wide = x.astype(np.float64)
    middle, shrink = wide.mean(1), 1 / np.sqrt(wide.var(1) + 1e-5)
    np.testing.assert_allclose(get(mean, np.float32), middle, atol=1e-6)
    np.testing.assert_allclose(get(rstd, np.float32), shrink, rtol=1e-5)
    np.testing.assert_allclose(
        get(y, np.float32).reshape(x.shape), (wide - middle[:, None]) * shrink[:, None], atol=2e-5
    )


@pytest.mark.parametrize("extent", EXTENTS)
@pytest.mark.parametrize(
    ("op", "is_sorted"),
    [
        ("largest", True),
        ("smallest", False),
        pytest.param("largest", False, marks=pytest.mark.thorough),
        pytest.param("smallest", True, marks=pytest.mark.thorough),
    ],
)
def test_chosen_elements_and_their_places(launch, put, get, op, is_sorted, extent):
    x = np.random.default_rng(extent).integers(-9, 9, (3, extent)).astype(np.int32)
    for k in {1, extent // 2 or 1, extent}:
        descriptor = TopK.infer(op, x, k, sorted=is_sorted)
        values, indices = put(np.zeros((3, k), np.int32)), put(np.zeros((3, k), np.int64))
        launch(descriptor, put(x), values, indices)
        want = np.argsort(x if op == "smallest" else -x, axis=1, kind="stable")[:, :k]
        want = want if is_sorted else np.sort(want, axis=1)
        assert np.array_equal(get(indices, np.int64).reshape(3, k), want)
        assert np.array_equal(get(values, np.int32).reshape(3, k), np.take_along_axis(x, want, 1))


def test_descriptor_with_a_plan_of_groups_is_bound_and_captured(device, stream, put, get):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    primitive = LayerNorm.infer(x).on(device)
    source, out = put(x), put(np.zeros_like(x))
    primitive(stream, x=source, y=out)
    want = get(out, np.float32)
    for run in (lambda: primitive.bind(x=source, y=out)(stream), lambda: captured(stream, primitive, source, out)):
        stream.fill(out, bytes(4))
        run()
        assert np.array_equal(get(out, np.float32), want)
    assert isinstance(primitive, ep.Primitive)


def captured(stream, primitive, source, out):
    with stream.capture() as graph:
        primitive(stream, x=source, y=out)
    graph.launch(stream)
