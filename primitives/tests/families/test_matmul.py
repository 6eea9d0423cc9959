import itertools
import pickle
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from ep_primitives import Conditioned, Matmul
from ep_primitives.families.elementwise_unary.rows import UNARY_OPS
from ep_primitives.families.matmul.descriptor import ACTIVATIONS, MATMUL_DTYPES
from ep_primitives.families.matmul.family import MatmulFamily

from ep import TensorSpec

FAMILY = MatmulFamily()
RNG = np.random.default_rng(5)


def spec(*shape, dtype="float32", strides=None, offset=0):
    return TensorSpec(dtype, shape, strides, offset)


def value(descriptor, **inputs):
    return FAMILY.reference(descriptor, {"alpha": 1, "beta": 0, **inputs}).value


def draw(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_reference_is_the_exact_product_rounded_once(dtype):
    descriptor = Matmul.infer(spec(3, 65, dtype=dtype), spec(65, 4, dtype=dtype))
    a, b = (RNG.standard_normal(s.shape).astype(getattr(ml_dtypes, dtype, dtype)) for s in descriptor.specs[:2])
    result = value(descriptor, a=a, b=b, alpha=0.75)
    for i, j in itertools.product(range(3), range(4)):
        terms = zip(a[i].tolist(), b[:, j].tolist(), strict=True)
        products = [Fraction(3, 4) * Fraction(x) * Fraction(y) for x, y in terms]
        exact, size = sum(products), sum(map(abs, products))
        eps = Fraction(2) ** (-60 if dtype == "float64" else -50)
        assert abs(Fraction(float(result[i, j])) - exact) <= abs(exact) / 2**53 + size * eps


def test_reference_of_complex_factors_conjugates_what_is_flagged():
    a, b = draw(2, 5) + 1j * draw(2, 5), draw(5, 3) + 1j * draw(5, 3)
    a, b = a.astype(np.complex64), b.astype(np.complex64)
    specs = TensorSpec.of(a), TensorSpec.of(b)
    for left, right in itertools.product((False, True), repeat=2):
        descriptor = Matmul.infer(*specs, conjugate_a=left, conjugate_b=right)
        wanted = (a.conj() if left else a).astype(np.complex128) @ (b.conj() if right else b)
        np.testing.assert_allclose(value(descriptor, a=a, b=b, alpha=2j), 2j * wanted, rtol=1e-6)


def test_reference_of_integers_wraps():
    descriptor = Matmul.infer(spec(2, 3, dtype="int8"), spec(3, 2, dtype="int8"))
    a, b = np.full((2, 3), -128, np.int8), np.full((3, 2), -128, np.int8)
    out = np.full((2, 2), 2**31 - 1, np.int32)
    result = value(descriptor, a=a, b=b, out=out, alpha=50_000, beta=2)
    assert result.dtype == np.int32
    assert (result == (3 * 16384 * 50_000 + 2 * (2**31 - 1) + 2**31) % 2**32 - 2**31).all()


def test_batches_broadcast_and_an_output_of_extent_one_is_their_sum():
    a, b = draw(3, 1, 4, 6), draw(5, 6, 7)
    for out, subscripts in {
        (3, 5, 4, 7): "xyik,ykj->xyij",
        (1, 5, 4, 7): "xyik,ykj->yij",
        (3, 1, 4, 7): "xyik,ykj->xij",
        (4, 7): "xyik,ykj->ij",
    }.items():
        descriptor = Matmul(a=spec(3, 1, 4, 6), b=spec(5, 6, 7), out=spec(*out))
        whole = np.broadcast_to(a, (3, 5, 4, 6)).astype(np.float64)
        np.testing.assert_allclose(
            value(descriptor, a=a, b=b), np.einsum(subscripts, whole, b.astype(np.float64)).reshape(out), atol=1e-12
        )


def test_output_with_more_batches_repeats_the_product():
    a, b = draw(4, 6), draw(6, 7)
    repeated = value(Matmul(a=spec(4, 6), b=spec(6, 7), out=spec(3, 4, 7)), a=a, b=b)
    assert (repeated == value(Matmul.infer(spec(4, 6), spec(6, 7)), a=a, b=b)).all()


def test_beta_counts_once_in_a_sum_over_batches():
    descriptor = Matmul(a=spec(5, 2, 3), b=spec(5, 3, 2), out=spec(2, 2))
    out = draw(2, 2)
    zeros = {"a": np.zeros((5, 2, 3), np.float32), "b": np.zeros((5, 3, 2), np.float32)}
    assert (value(descriptor, **zeros, beta=-0.5, out=out) == -0.5 * out.astype(np.float64)).all()


def test_factors_of_zero_hide_nan_and_a_sum_over_nothing_is_zero():
    nan = np.full((2, 2), np.nan, np.float32)
    descriptor = Matmul.infer(spec(2, 2), spec(2, 2), bias=spec(2))
    assert (value(descriptor, a=nan, b=nan, bias=np.array([1, 2], np.float32), alpha=0) == [1, 2]).all()
    assert (value(descriptor, a=np.eye(2, dtype=np.float32), b=draw(2, 2), bias=draw(2), out=nan) < 9).all()
    assert np.isnan(value(descriptor, a=nan, b=nan, bias=draw(2))).all()
    nothing = Matmul.infer(spec(2, 0), spec(0, 3))
    assert (value(nothing, a=draw(2, 0), b=draw(0, 3)) == 0).all()
    assert nothing.depth == 0
    no_batch = Matmul(a=spec(0, 2, 2), b=spec(2, 3), out=spec(1, 2, 3))
    assert (value(no_batch, a=draw(0, 2, 2), b=draw(2, 3)) == 0).all()
    assert (no_batch.depth, no_batch.geometry.size) == (0, 1)


@pytest.mark.parametrize("activation", [name for name in ACTIVATIONS if name != "none"])
def test_activation_is_the_row_of_the_sum_with_the_bias(activation):
    descriptor = Matmul.infer(spec(3, 4), spec(4, 5), bias=spec(5), activation=activation)
    inputs = {"a": draw(3, 4), "b": draw(4, 5), "bias": draw(5)}
    plain = Matmul.infer(spec(3, 4), spec(4, 5), bias=spec(5))
    assert descriptor.activation == activation
    assert (value(descriptor, **inputs) == UNARY_OPS[activation].reference(value(plain, **inputs))).all()


def excess(descriptor, inputs, result):
    """Return the largest error over its bound."""
    reference = FAMILY.reference(descriptor, inputs)
    bound = FAMILY.accuracy(descriptor)
    assert isinstance(bound, Conditioned)
    allowed = bound.k * 2.0**-23 * reference.scale + 2.0**-24 * np.abs(reference.value)
    return float((np.abs(result.astype(np.float64) - reference.value) / allowed).max())


@pytest.mark.parametrize("depth", [1, 7, 64, 1024])
def test_bound_takes_every_order_of_float32_sums_and_refuses_narrower_ones(depth):
    descriptor = Matmul.infer(spec(16, depth), spec(depth, 16))
    a, b = (RNG.uniform(0.5, 2, s.shape).astype(np.float32) for s in descriptor.specs[:2])
    inputs = {"a": a, "b": b, "alpha": 1, "beta": 0}
    one_by_one = np.zeros((16, 16), np.float32)
    coarse = np.zeros((16, 16), np.float32)
    for k in range(depth):
        one_by_one += a[:, k, None] * b[k]
        coarse = (coarse + a[:, k, None] * b[k]).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert excess(descriptor, inputs, one_by_one) <= 1
    assert excess(descriptor, inputs, a @ b) <= 1
    assert excess(descriptor, inputs, coarse) > 4


def test_bound_grows_with_the_depth_and_knows_batches():
    bounds = [FAMILY.accuracy(Matmul.infer(spec(2, k), spec(k, 2))).k for k in (1, 13, 61, 4093)]
    assert bounds == [2, 8, 32, 256]
    summed = Matmul(a=spec(13, 2, 1), b=spec(13, 1, 2), out=spec(2, 2))
    assert FAMILY.accuracy(summed) == Conditioned(8)
    assert FAMILY.accuracy(Matmul.infer(spec(2, 1, dtype="complex64"), spec(1, 2, dtype="complex64"))).k > 2


@pytest.mark.parametrize(
    ("operands", "options", "parts"),
    [
        ({"a": spec(3), "b": spec(3, 4), "out": spec(3, 4)}, {}, ["a", "(3,)", "two dimensions"]),
        ({"a": spec(2, 3), "b": spec(4, 5), "out": spec(2, 5)}, {}, ["(2, 3)", "(4, 5)", "swap"]),
        ({"a": spec(2, 3), "b": spec(3, 5), "out": spec(5, 2)}, {}, ["out (5, 2)", "(..., m, n)"]),
        ({"a": spec(2, 2, 3), "b": spec(3, 3, 5), "out": spec(2, 2, 5)}, {}, ["batches (2,) of a and (3,) of b"]),
        ({"a": spec(2, 2, 3), "b": spec(3, 5), "out": spec(4, 2, 5)}, {}, ["batches (2,) of a @ b and (4,) of out"]),
        ({"a": spec(2, 3), "b": spec(3, 5, dtype="float64"), "out": spec(2, 5)}, {}, ["b", "float64", "needs float32"]),
        ({"a": spec(2, 3), "b": spec(3, 5), "out": spec(2, 5, dtype="float16")}, {}, ["out", "needs float32"]),
        ({"a": spec(2, 3, dtype="bool"), "b": spec(3, 5), "out": spec(2, 5)}, {}, ["a has dtype bool"]),
        ({"a": spec(2, 3), "b": spec(3, 5), "out": spec(2, 5, strides=(0, 1))}, {}, ["out", "overlaps itself"]),
        ({"a": spec(2, 3), "b": spec(3, 5), "out": spec(2, 5)}, {"bias": spec(2)}, ["bias", "(2,)", "broadcast"]),
        ({"a": spec(2, 3), "b": spec(3, 5), "out": spec(2, 5)}, {"activation": "swish"}, ["'swish'", "silu"]),
    ],
)
def test_wrong_operands_are_named(operands, options, parts):
    with pytest.raises(ValueError, match=r"^matmul: ") as raised:
        Matmul(**operands, **options)
    for part in parts:
        assert part in str(raised.value)


def test_integers_have_no_gelu_and_no_array_is_a_spec():
    with pytest.raises(ValueError, match="int8 does not have; needs one of none, relu"):
        Matmul.infer(spec(2, 2, dtype="int8"), spec(2, 2, dtype="int8"), activation="gelu")
    with pytest.raises(TypeError, match=r"b is array.*not a TensorSpec"):
        Matmul(a=spec(2, 2), b=np.zeros(2), out=spec(2, 2))


def test_text_of_a_descriptor_makes_it_again():
    plain = Matmul.infer(spec(2, 3), spec(3, 4))
    full = Matmul.infer(
        spec(2, 3, dtype="complex64"), spec(3, 4, dtype="complex64"), bias=spec(4, dtype="complex64"), conjugate_b=True
    )
    active = Matmul.infer(spec(2, 3), spec(3, 4), activation="gelu")
    for descriptor in (plain, full, active):
        assert eval(repr(descriptor), {"Matmul": Matmul, "TensorSpec": TensorSpec}) == descriptor


@pytest.mark.parametrize("flag", ["no", None, 2, np.zeros(2)])
def test_conjugation_is_true_or_false(flag):
    with pytest.raises(TypeError, match=r"^matmul: conjugate_b is .* needs a truth value; give True or False$"):
        Matmul.infer(spec(2, 2), spec(2, 2), conjugate_b=flag)


def test_infer_names_what_is_no_spec_and_types_that_have_no_product():
    with pytest.raises(TypeError, match=r"^matmul: b is None, of type NoneType, needs a TensorSpec or an array"):
        Matmul.infer(spec(2, 2), None)
    with pytest.raises(ValueError, match=r"^matmul: a has dtype int16, needs one of float16"):
        Matmul.infer(spec(2, 2, dtype="int16"), spec(2, 2, dtype="int16"))
    with pytest.raises(ValueError, match=r"^matmul: activation is \['relu'\], which float32 does not have"):
        Matmul.infer(spec(2, 2), spec(2, 2), activation=["relu"])


def test_bias_keeps_its_place_where_there_is_none():
    plain = Matmul.infer(spec(2, 3), spec(3, 4))
    biased = Matmul.infer(spec(2, 3), spec(3, 4), bias=spec(4))
    assert plain.operands == biased.operands == ("a", "b", "bias", "alpha", "beta", "out")
    assert biased.present.keys() - plain.present.keys() == {"bias"}
    assert plain.specs[2] is plain.bias is None
    assert biased.bias == spec(4)
    assert plain != biased
    assert pickle.loads(pickle.dumps(biased)) == biased


def test_conjugation_of_real_numbers_is_nothing():
    assert Matmul.infer(spec(2, 3), spec(3, 4), conjugate_a=True) == Matmul.infer(spec(2, 3), spec(3, 4))
    flagged = Matmul.infer(spec(2, 3, dtype="complex64"), spec(3, 4, dtype="complex64"), conjugate_b=True)
    assert flagged.conjugates == (False, True)


def test_geometry_merges_batches_and_marks_sums_by_a_zero_stride():
    merged = Matmul.infer(spec(3, 5, 4, 6), spec(3, 5, 6, 7)).geometry
    assert merged.shape == (15,)
    assert merged.strides[0] == (24,)
    summed = Matmul(a=spec(3, 5, 4, 6), b=spec(5, 6, 7), out=spec(3, 1, 4, 7)).geometry
    assert summed.shape == (3, 5)
    assert summed.strides == ((120, 24), (0, 42), (), (), (28, 0)) or summed.strides[-1] == (28, 0)
    assert Matmul(a=spec(3, 4, 6), b=spec(6, 7), out=spec(3, 4, 7), bias=spec(7)).geometry.strides[2] == (0,)


def test_layout_does_not_look_at_the_bias():
    assert Matmul.infer(spec(2, 3), spec(3, 4), bias=spec(4)).cell == "matmul/-/float32/dense"
    assert Matmul.infer(spec(2, 3, strides=(1, 2)), spec(3, 4)).layout == "strided"
    assert Matmul.infer(spec(5, 2, 3), spec(3, 4)).layout == "broadcast"
    assert Matmul.infer(spec(2, 3, offset=1), spec(3, 4)).layout == "offset"
    assert Matmul.infer(spec(0, 3), spec(3, 4)).layout == "empty"
    mixed = Matmul(a=spec(2, 3, dtype="float16"), b=spec(3, 4, dtype="float16"), out=spec(2, 4))
    assert mixed.cell == "matmul/-/float16->float32/dense"
    assert mixed.compute == "float32"


def test_key_knows_widths_but_no_sizes():
    assert Matmul.infer(spec(64, 64), spec(64, 64)).key == Matmul.infer(spec(96, 128), spec(128, 64)).key
    assert Matmul.infer(spec(2, 3, strides=(2**31, 1)), spec(3, 4)).key.wide
    assert Matmul.infer(spec(2, 4), spec(4, 4)).key.alignment == 16
    assert Matmul.infer(spec(2, 5), spec(5, 4)).key.alignment == 4


def test_work_is_counted():
    assert Matmul.infer(spec(10, 2, 3), spec(3, 4)).flops == 2 * 10 * 2 * 3 * 4
    assert Matmul(a=spec(10, 2, 3), b=spec(10, 3, 4), out=spec(2, 4)).flops == 2 * 10 * 2 * 3 * 4
    assert Matmul.infer(spec(2, 3, dtype="complex64"), spec(3, 4, dtype="complex64")).flops == 8 * 2 * 3 * 4


def test_cells_are_every_pair_of_types_in_every_layout():
    cells = [*FAMILY.cells()]
    assert len(cells) == len(set(cells)) == 5 * sum(map(len, MATMUL_DTYPES.values()))
    assert {cell.dtypes for cell in cells} >= {"float32", "float16->float32", "int8->int32"}


def test_cases_show_what_the_family_promises():
    cases = [case for cell in FAMILY.cells() if cell.dtypes == "complex64" for case in FAMILY.cases(cell)]
    descriptors = [case.descriptor for case in cases]
    assert any(d.conjugates[0] and d.a.strides[-2] == 1 for d in descriptors)
    assert any(d.depth > d.a.shape[-1] for d in descriptors)
    assert any(d.depth == 0 and d.out.size for d in descriptors)
    assert any(min(d.a.strides) < 0 for d in descriptors)
    assert any(0 in d.b.strides for d in descriptors)
    given = [case.data(np.random.default_rng(1)) for case in cases]
    assert any(np.isnan(inputs["out"]).all() and inputs["beta"] == 0 for inputs in given if "out" in inputs)
    assert all("out" in inputs for inputs in given if inputs["beta"] != 0)
