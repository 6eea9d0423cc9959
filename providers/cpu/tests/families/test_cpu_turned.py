"""Products whose rows and columns are exchanged to fill panels have the bits of the others."""

import ml_dtypes
import numpy as np
import pytest
from ep_cpu.families import matmul
from ep_cpu.families.matmul import PanelMatmul, WindowedMatmul
from ep_primitives import Convolution, Matmul

import ep

RNG = np.random.default_rng(31)
DTYPES = ["float16", ml_dtypes.bfloat16, "float32", "float64", "complex64", "int8"]


def draw(shape, dtype):
    if np.dtype(dtype).kind == "i":
        return RNG.integers(-128, 128, shape).astype(dtype)
    real = RNG.standard_normal(shape)
    return (real + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


@pytest.fixture
def check(device, natives, monkeypatch):
    """Check that a descriptor's kernel writes the same either way: check(isa, implementation, descriptor, arrays, scalars)."""

    def run(isa, implementation, descriptor, arrays, scalars=()):
        def made(turns):
            monkeypatch.setattr(matmul, "_fills_less", lambda *_: turns)
            memories = [None if each is None else device.allocate(each.nbytes) for each in arrays]
            for memory, array in zip(memories, arrays, strict=True):
                if memory is not None:
                    np.frombuffer(memory.host(), np.uint8)[:] = np.frombuffer(array.tobytes(), np.uint8)
            implementation.create(descriptor, device.twin, natives[isa]).bind(tuple(memories), scalars)(
                None, None, None
            )
            return np.frombuffer(bytes(memories[-1].host()), arrays[-1].dtype)

        wanted, given = made(False), made(True)
        assert np.isfinite(wanted).all()
        assert given.tobytes() == wanted.tobytes()

    return run


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(61, 49, 300), (100, 196, 515), (512, 17, 256), (13, 50, 40), (3, 200, 300), (1, 9, 5)],
)
def test_products(check, isa, dtype, m, n, k):
    """With nothing else to do, with a bias a column or a row has, and scaled and added to what was there."""
    a, b, given = draw((2, m, k), dtype), draw((k, n), dtype), np.dtype(dtype)
    out = draw((2, m, n), dtype).astype(np.int32 if given.kind == "i" else dtype)
    specs = {"a": ep.TensorSpec.of(a), "b": ep.TensorSpec.of(b)}
    check(isa, PanelMatmul(), Matmul.infer(**specs), [a, b, None, out], (1, 0))
    check(isa, PanelMatmul(), Matmul.infer(**specs), [a, b, None, out], (3, 2))
    for shape in ((m, 1), (n,)):
        bias = draw(shape, dtype).astype(out.dtype)
        activation = "relu" if given.kind == "f" else "none"
        descriptor = Matmul.infer(**specs, bias=ep.TensorSpec.of(bias), activation=activation)
        check(isa, PanelMatmul(), descriptor, [a, b, bias, out], (1, 0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize(
    ("shape", "weights", "more"),
    [
        ((1, 40, 7, 7), (64, 40, 3, 3), {"pads": 1}),
        ((2, 20, 14, 15), (70, 10, 3, 3), {"pads": (1, 0, 2, 1), "strides": 2, "groups": 2}),
        ((1, 30, 13, 13), (33, 30, 2, 3), {"dilations": 2}),
        ((1, 150, 40), (20, 150, 5), {"pads": 2}),
        ((1, 8, 5, 6, 7), (24, 8, 3, 3, 3), {"pads": 1}),
    ],
)
@pytest.mark.parametrize("is_biased", [False, True])
def test_windows(check, isa, dtype, shape, weights, more, is_biased):
    made = "int32" if dtype == "int8" else dtype
    x, w, bias = draw(shape, dtype), draw(weights, dtype), draw(weights[0], dtype).astype(made) if is_biased else None
    descriptor = Convolution.infer(x, w, bias, **more)
    check(isa, WindowedMatmul(), descriptor, [x, w, bias, np.zeros(descriptor.out.shape, made)])


def test_only_what_fills_panels_better_is_turned(device, natives, isa):
    def exchanges(m, n, k):
        descriptor = Matmul.infer(ep.TensorSpec("float32", (m, k)), ep.TensorSpec("float32", (k, n)))
        return PanelMatmul().plan(descriptor, natives[isa]).fields["m"] != m

    assert exchanges(512, 49, 512)
    assert exchanges(512, 33, 512)
    assert not exchanges(512, 64, 512)
    assert not exchanges(512, 49, 64)
    assert not exchanges(513, 512, 512)
