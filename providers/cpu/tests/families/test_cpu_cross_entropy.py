"""CrossEntropy by measured rows: values beside long double on each way through the kernel, and bits that threads leave alone."""

import numpy as np
import pytest
from ep_cpu.families.cross_entropy import MeasuredRows
from ep_primitives import CrossEntropy, LogSoftmax
from ep_primitives.judging.reference import array_dtype

import ep

RNG = np.random.default_rng(17)
SHAPES = {
    "rows of a few": (700, 10),
    "rows of a block": (300, 500),
    "rows of a piece": (40, 4096),
    "long rows, shared by threads": (2, 200_003),
    "columns": (3, 21, 33, 9),
    "long columns, shared by threads": (1, 30_011, 7),
    "one row": (1, 7),
}

BITS = """
import hashlib
import numpy as np
import ep
from ep_primitives import CrossEntropy
rng = np.random.default_rng(3)
device = ep.device("cpu:0")
digest = hashlib.sha256()
for shape in ((9000, 130), (2, 200003), (3, 21, 70, 90), (1, 30011, 7)):
    x, labels = rng.standard_normal(shape, np.float32), rng.integers(0, shape[1], (shape[0], *shape[2:]))
    for reduction in ("none", "mean"):
        loss = CrossEntropy.infer(x, labels, reduction=reduction)
        out = np.empty(loss.out.shape, np.float32)
        loss.on(device)(device.stream(), x=x, labels=labels, out=out)
        digest.update(out.tobytes())
print(digest.hexdigest())
"""


def drawn(shape, dtype):
    """Return scores, labels of which some are no class, and weights."""
    x = (4 * RNG.standard_normal(shape)).astype(array_dtype(dtype))
    labels = RNG.integers(-1, shape[1] + 1, (shape[0], *shape[2:]))
    return x, labels, RNG.uniform(0.5, 2, shape[1]).astype(array_dtype(dtype))


def true(x, labels, weights, reduction, ignored=None, *, is_log=False):
    """Return the definition in long double."""
    rows, weights = np.moveaxis(x.astype(np.longdouble), 1, -1), weights.astype(np.longdouble)
    if not is_log:
        rows = rows - rows.max(-1, keepdims=True)
        rows = rows - np.log(np.exp(rows).sum(-1, keepdims=True))
    counts = (labels >= 0) & (labels < x.shape[1]) & (labels != ignored)
    labels = np.where(counts, labels, 0)
    weight = np.where(counts, weights[labels], 0)
    loss = -np.take_along_axis(rows, labels[..., None], -1)[..., 0] * weight
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / weight.sum()}[reduction]


@pytest.mark.parametrize("reduction", ["none", "mean"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_losses_agree_with_long_double(isa, launch_on, shape, dtype, reduction):
    x, labels, weights = drawn(shape, dtype)
    labels[0, ...] = 1
    for is_log in (False, True):
        loss = CrossEntropy.infer(x, labels, weights, reduction=reduction, ignore_index=2, is_log=is_log)
        out = np.full(loss.out.shape, 7).astype(array_dtype(dtype))
        scratch = np.empty(2 * labels.size, loss.compute)
        operands = (x, labels, weights, out, *(() if reduction == "none" else (scratch,)))
        launch_on(isa, MeasuredRows(), loss, operands)
        eps = {"bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
        wanted = true(x, labels, weights, reduction, 2, is_log=is_log)
        np.testing.assert_allclose(out.astype(np.longdouble), wanted, rtol=eps, atol=4 * eps)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_bits_are_those_of_log_softmax(stream, shape):
    x, labels, _ = drawn(shape, "float32")
    labels = labels.clip(0, shape[1] - 1)
    loss, out, logarithms = (
        CrossEntropy.infer(x, labels, reduction="none"),
        np.empty(labels.shape, x.dtype),
        np.empty_like(x),
    )
    loss.on(stream.device)(stream, x=x, labels=labels, out=out)
    LogSoftmax.infer(x, 1).on(stream.device)(stream, x=x, out=logarithms)
    assert (out == -np.take_along_axis(logarithms, labels[:, None], 1)[:, 0]).all()


def test_threads_change_no_bit(fresh_python):
    assert len({fresh_python(BITS, EP_CPU_THREADS=count) for count in "1237"}) == 1


def test_scratch_is_two_numbers_a_row(stream):
    x, labels = ep.TensorSpec("bfloat16", (512, 50_257)), ep.TensorSpec("int64", (512,))
    assert CrossEntropy.infer(x, labels).on(stream.device).scratch_nbytes == 2 * 512 * 4
    assert CrossEntropy.infer(x, labels, reduction="none").on(stream.device).scratch_nbytes == 0


def test_labels_of_a_type_that_does_not_hold_the_ignored_one_all_count(stream):
    x = np.zeros((3, 2), np.float32)
    labels = np.array([0, 1, 0], np.int32)
    loss = CrossEntropy.infer(x, labels, reduction="sum", ignore_index=2**63)
    out = np.empty((), np.float32)
    loss.on(stream.device)(stream, x=x, labels=labels, out=out)
    assert out == pytest.approx(3 * np.log(2))
