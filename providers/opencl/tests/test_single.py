"""A device without float64 has formulas of its own for what others compute in double, as right as theirs."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest
from ep_opencl.device import ClDevice
from ep_primitives import BroadcastBinary, ElementwiseUnary

import ep

_FAR = np.float32([0.0, -0.0, 0.75, 4096.0, 4097.0, -1e10, 2.0**120, 3.4e38, -3.4e38])
_CASES = {
    "sin": (ElementwiseUnary, np.sin, 4),
    "cos": (ElementwiseUnary, np.cos, 4),
    "tan": (ElementwiseUnary, np.tan, 5),
    "pow": (BroadcastBinary, np.power, 4),
    "hypot": (BroadcastBinary, np.hypot, 4),
}
"""By op: its family, a function of float64, and ulps: of OpenCL's full profile, of pow a quarter."""


@pytest.fixture(scope="module")
def single(device):
    """Return the same device, as if it had no float64."""
    own = ClDevice(cl.get_platforms()[0].get_devices()[0])
    own.info = own.info._replace(
        dtypes=own.info.dtypes - {"float64", "complex128"}, features=own.info.features - {"fp64"}
    )
    return ep.Device(ep.provider("opencl"), 98, own)


def _numbers(op, rng):
    near, wide = rng.standard_normal(20_000) * 3, rng.standard_normal(20_000) * np.exp(rng.uniform(-60, 60, 20_000))
    first = np.concatenate([near, wide, _FAR]).astype(np.float32)
    return [first] if op in {"sin", "cos", "tan"} else [np.abs(first), rng.permutation(first) % 40]


@pytest.mark.parametrize("op", _CASES)
def test_formulas_without_double_are_as_right(single, op):
    kind, function, ulps = _CASES[op]
    given = _numbers(op, np.random.default_rng(19))
    tensors = [single.tensor(array) for array in given]
    descriptor = kind.infer(op, *tensors)
    out, stream = single.empty(descriptor.out), single.stream()
    names = ("x", "out") if len(given) == 1 else ("a", "b", "out")
    descriptor.on(single)(stream, **dict(zip(names, (*tensors, out), strict=True)))
    found = out.numpy(stream)
    stream.synchronize()
    stream.close()
    with np.errstate(over="ignore"):
        exact = function(*(array.astype(np.float64) for array in given))
        needed = exact.astype(np.float32)
    normal = np.isfinite(needed) & (np.abs(needed) >= np.finfo(np.float32).tiny)
    apart = np.abs(found[normal].astype(np.float64) - exact[normal]) / np.spacing(np.abs(needed[normal]))
    assert apart.max() <= ulps
    assert np.array_equal(found[np.isinf(needed)], needed[np.isinf(needed)])


def test_what_has_no_other_way_is_refused(single):
    with pytest.raises(ep.UnsupportedError, match="has no float64"):
        ElementwiseUnary.infer("lgamma", ep.TensorSpec("float32", (3,))).on(single)
