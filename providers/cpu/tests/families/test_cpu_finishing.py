"""What becomes of the sums of products: biases join them where they go, with the bits of a sum and an addition."""

import ml_dtypes
import numpy as np
import pytest
from ep_cpu.families.matmul import PanelMatmul
from ep_primitives import Matmul

import ep

RNG = np.random.default_rng(31)


def draw(shape, dtype):
    if np.dtype(dtype).kind == "i":
        return RNG.integers(-100, 100, shape).astype(dtype)
    return RNG.standard_normal(shape).astype(dtype)


@pytest.fixture
def product(isa, launch_on):
    """Return a product by the kernels of one instruction set: product(a, b, bias=None, numbers, ...) -> out."""

    def run(a, b, bias=None, numbers=(1, 0), out=None, **more):
        specs = {"a": a, "b": b} | ({} if bias is None else {"bias": bias})
        descriptor = Matmul.infer(**{name: ep.TensorSpec.of(each) for name, each in specs.items()}, **more)
        out = np.zeros(descriptor.out.shape, "int32" if a.dtype.kind == "i" else a.dtype) if out is None else out
        launch_on(isa, PanelMatmul(), descriptor, (a, b, bias, out), numbers)
        return out

    return run


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("k", [16, 200, 700])
@pytest.mark.parametrize(("m", "n"), [(1, 64), (2, 160), (5, 37), (61, 224), (96, 64), (400, 1024)])
def test_biases_are_added_to_sums(product, dtype, m, n, k):
    """Of a column, a row, every element, one: where sums are written at once, panel by panel, and where they are kept."""
    a, b = draw((m, k), dtype), draw((k, n), dtype)
    sums = product(a, b)
    for shape in ((m, 1), (n,), (m, n), (1, 1)):
        bias = draw(shape, sums.dtype)
        assert (product(a, b, bias) == sums + bias).all(), shape


def test_biases_of_a_large_product_of_one_depth(product):
    a, b, bias = draw((2101, 256), "float32"), draw((256, 1056), "float32"), draw((1056,), "float32")
    for given in (bias, bias[:1], draw((2101, 1), "float32")):
        assert (product(a, b, given) == product(a, b) + given).all()


def test_biases_of_batches(product):
    a, b = draw((3, 61, 40), "float32"), draw((3, 40, 160), "float32")
    sums = product(a, b)
    for shape in ((3, 61, 1), (61, 1), (3, 1, 160), (160,)):
        bias = draw(shape, "float32")
        assert (product(a, b, bias) == sums + bias).all(), shape


def test_biases_whose_elements_lie_apart(product):
    a, b, bias = draw((61, 40), "float32"), draw((40, 160), "float32"), draw((61, 320), "float32")[:, ::2]
    assert (product(a, b, bias) == product(a, b) + bias).all()


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_biases_of_numbers_that_are_rounded(product, dtype):
    a, b, bias = draw((61, 40), dtype), draw((40, 160), dtype), draw((160,), dtype)
    wanted = a.astype(np.float64) @ b.astype(np.float64) + bias.astype(np.float64)
    eps = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(product(a, b, bias).astype(np.float64), wanted, rtol=eps, atol=eps)


@pytest.mark.parametrize("k", [16, 700])
def test_scaled_sums_old_outputs_biases_and_activations_come_in_this_order(product, k):
    a, b, bias, was = (draw(shape, "float32") for shape in ((61, k), (k, 160), (61, 1), (61, 160)))
    sums, scale, kept = product(a, b), np.float32(0.5), np.float32(-3)
    wanted = np.maximum(scale * sums + kept * was + bias, np.float32(0))
    assert (product(a, b, bias, (0.5, -3), was.copy(), activation="relu") == wanted).all()


@pytest.mark.parametrize(("numbers", "more"), [((1, 0), {}), ((0.5, -2), {"activation": "relu"})])
def test_parts_of_a_small_product_are_finished_where_they_belong(product, numbers, more):
    """Rows of b share places of a cache, so that threads take columns of it, which by columns they do not."""
    a, b, was, bias = (draw(shape, "float32") for shape in ((100, 200), (200, 256), (100, 250), (250,)))
    b = b[:, :250]
    whole = product(a, np.asfortranarray(b), bias, numbers, was.copy(), **more)
    assert (product(a, b, bias, numbers, was.copy(), **more) == whole).all()


def test_infinite_complex_biases_stay_so(product):
    a, b = draw((13, 20), "complex64"), draw((20, 40), "complex64")
    bias = np.array([complex(np.inf, 1), complex(2, -np.inf)] * 20, np.complex64)
    made = product(a, b, bias)
    assert (np.isinf(made.real) == np.isinf(bias.real)).all()
    assert (np.isinf(made.imag) == np.isinf(bias.imag)).all()
    assert not np.isnan(made.view(np.float32)).any()
