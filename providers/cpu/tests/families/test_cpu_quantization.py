"""Quantize and Dequantize on the CPU: one pass over outputs past the caches, and blocks with and without a rest."""

import numpy as np
import pytest
from ep_cpu.families.quantization import VectorQuantization
from ep_cpu.implementations import IMPLEMENTATIONS
from ep_primitives import Dequantize, Quantize
from ep_primitives.families.quantization.reference import dequantized, quantized
from ep_primitives.judging.reference import array_dtype

import ep

ROWS, COLUMNS = 2531, 5167  # no multiples of a block


@pytest.mark.parametrize(("scaled", "has_zero_point"), [((), False), ((ROWS, 1), True), ((COLUMNS,), True)])
@pytest.mark.parametrize(
    ("family", "given", "made"),
    [(Dequantize, "int8", "float32"), (Dequantize, "uint8", "bfloat16"), (Quantize, "float32", "int8")],
)
def test_outputs_past_the_caches_are_whole(device, stream, family, given, made, scaled, has_zero_point):
    """Streaming stores and several threads; a scale for all, for a row and for a column."""
    random = np.random.default_rng(1)
    integers, floats = (given, made) if family is Dequantize else (made, given)
    x = random.integers(0, 120, (ROWS, COLUMNS), np.uint8).astype(array_dtype(given))
    scale = random.uniform(0.1, 2, scaled).astype(array_dtype(floats))
    zero = random.integers(0, 9, scaled).astype(integers) if has_zero_point else None
    arrays = {"x": x, "scale": scale} | ({} if zero is None else {"zero_point": zero})
    descriptor = family.infer(
        **{name: ep.TensorSpec.of(array) for name, array in arrays.items()}, **_made(family, made)
    )
    out = np.zeros(x.shape, array_dtype(made))
    descriptor.on(device)(stream, **arrays, out=out)
    reference = (dequantized if family is Dequantize else quantized)(descriptor, arrays)
    assert out.tobytes() == np.asarray(reference.value).astype(out.dtype).tobytes()


def test_blocks_are_two_dimensions_unless_they_leave_a_rest(device):
    (implementation,) = IMPLEMENTATIONS[Dequantize]
    assert isinstance(implementation, VectorQuantization)
    x, scale = ep.TensorSpec("int8", (6, 10)), ep.TensorSpec("float32", (6, 2))
    assert implementation.accepts(Dequantize.infer(x, scale, axis=1, block=5), device.info)
    with pytest.raises(ep.UnsupportedError, match=r"blocks of 6 leave a rest along axis 1 of \(6, 10\)"):
        implementation.accepts(Dequantize.infer(x, scale, axis=1, block=6), device.info)
    assert not Dequantize.infer(x, scale, axis=1, block=5).on(device).stages
    assert len(Dequantize.infer(x, scale, axis=1, block=6).on(device).stages) > 1


def _made(family, dtype):
    return {"dtype": dtype} if family is Quantize else {}
