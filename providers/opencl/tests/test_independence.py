"""Loops that are said to be independent give the same results one iteration after another, also where out is x."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep.work.cache import LRU
from ep_opencl.compiler import program
from ep_primitives import AddN, BroadcastBinary, ElementwiseUnary, Scan, Softmax

SAID = '_Pragma("clang loop vectorize(assume_safety)")'
HERE = '_Pragma("clang loop vectorize(disable)")'
X = np.random.default_rng(0).integers(1, 4, (7, 3, 45)).astype(np.float32)
CASES = {
    "scan": (Scan.infer("sum", X, axis=2), lambda x: np.cumsum(x, 2)),
    "scan of columns": (Scan.infer("prod", X, axis=0, reverse=True), lambda x: np.cumprod(x[::-1], 0)[::-1]),
    "scan, exclusive": (
        Scan.infer("max", X, axis=1, exclusive=True),
        lambda x: np.maximum.accumulate(np.concatenate([np.full_like(x[:, :1], -np.inf), x[:, :-1]], 1), 1),
    ),
    "softmax": (Softmax.infer(X, axis=2), lambda x: np.exp(x) / np.exp(x).sum(2, keepdims=True)),
    "elementwise": (ElementwiseUnary.infer("square", X), lambda x: x * x),
    "broadcast": (BroadcastBinary.infer("mul", X, X[:1]), lambda x: x * X[:1]),
    "sum of terms": (AddN.infer(X, X), lambda x: x + X),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("pragma", [SAID, HERE], ids=["as they are said", "one after another"])
def test_in_place(device, stream, put, get, monkeypatch, name, pragma):
    assert SAID in program.PRELUDE
    monkeypatch.setattr(program, "PRELUDE", program.PRELUDE.replace(SAID, pragma))
    monkeypatch.setattr(device.twin, "_programs", LRU())  # the device's own was compiled after another prelude
    descriptor, want = CASES[name]
    portable = ep_simt.Portable()
    kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
    x = put(X)
    others = [put(spec_of) for spec_of in ([X[:1]] if name == "broadcast" else [X] if name == "sum of terms" else [])]
    kernel.launch(stream.twin, (x, *others, x), ())
    np.testing.assert_allclose(get(x, np.float32).reshape(X.shape), want(X), rtol=1e-5)
