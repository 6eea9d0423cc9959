"""Run every row of the portable elementwise kernels, and normal numbers, for one element type on a device; keep the bits.

python providers/opencl/tests/row_bits.py cpu:0 float32 FILE.npz
"""

from __future__ import annotations

import sys

import numpy as np
from ep_primitives import BINARY_OPS, UNARY_OPS, BroadcastBinary, ElementwiseUnary, RandomFill
from ep_primitives.judging.reference import array_dtype
from ep_simt.elements import ELEMENTS
from ep_simt.elementwise.rows import row_of, rows

import ep

_PLACES = {ElementwiseUnary: ("x",), BroadcastBinary: ("a", "b")}
_OPS = {ElementwiseUnary: UNARY_OPS, BroadcastBinary: BINARY_OPS}
_SPECIAL = (0, -0.0, 1, -1, 0.5, -0.5, 2, 3, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 100, -100)


def arguments(dtype: str, seed: int) -> np.ndarray:
    """Return any bits, numbers of some size, and special ones; of integers and bools any."""
    kind, rng = array_dtype(dtype), np.random.default_rng(seed)
    if ep.dtype(dtype).kind != "f":
        return (
            rng.integers(0, 256, 4096 * kind.itemsize, np.uint8).view(kind)
            if dtype != "bool"
            else rng.random(4096) < 0.5
        )
    any_bits = rng.integers(0, 256, 4096 * kind.itemsize, np.uint8).view(kind)
    sized = (rng.standard_normal(4096) * np.exp(rng.uniform(-6, 4, 4096))).astype(kind)
    return np.concatenate([any_bits, sized, np.array(_SPECIAL).astype(kind)])


def bits(device: ep.Device, dtype: str) -> dict[str, np.ndarray]:
    """Return the results of each row, as unsigned integers; each NaN is 1. Raises UnsupportedError for a row that is refused."""
    stream, found = device.stream(), {}
    for descriptor, places in _PLACES.items():
        given = {place: device.tensor(arguments(dtype, seed)) for seed, place in enumerate(places)}
        for op in sorted({row.op for row in rows(descriptor.family)}):
            if row_of(descriptor.family, op, ELEMENTS[dtype]) is None:
                continue
            attributes = {each.name: each.samples[0] for each in _OPS[descriptor][op].attributes}
            described = descriptor.infer(op, *given.values(), **attributes)
            out = device.empty(described.out)
            described.on(device)(stream, **given, out=out)
            found[f"{descriptor.family}/{op}"] = _words(out.numpy(stream))
    if ep.dtype(dtype).kind == "f":
        normal = RandomFill.infer("normal", ep.TensorSpec(dtype, (20_001,)))
        out, state = device.empty(normal.out), device.tensor(np.array([7, 0], np.uint64))
        normal.on(device)(stream, state=state, out=out)
        found["random_fill/normal"] = _words(out.numpy(stream))
    stream.close()
    return found


def _words(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.where(values != values, 1, values.view(f"u{values.itemsize}"))  # noqa: PLR0124 - NaN


if __name__ == "__main__":
    name, dtype, file = sys.argv[1:]
    np.savez(file, **bits(ep.device(name), dtype))
