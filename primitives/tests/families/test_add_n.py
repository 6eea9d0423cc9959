"""The family AddN: its sums against exact fractions, its bound, and its descriptor's refusals."""

import pickle
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from ep_primitives import AddN, Conditioned, Exact
from ep_primitives.families.add_n.family import AddNFamily
from ep_primitives.judging.reference import array_dtype

from ep import Scalar, TensorSpec

FAMILY = AddNFamily()
RNG = np.random.default_rng(5)
F32 = TensorSpec("float32", (4, 3))


def described(dtype, count, size=64):
    return AddN(*[TensorSpec(dtype, (size,))] * count, out=TensorSpec(dtype, (size,)))


def named(arrays):
    return {f"x{place}": array for place, array in enumerate(arrays)}


def test_operands_are_as_many_as_terms():
    total = described("float32", 3)
    assert total.operands == ("x0", "x1", "x2", "out")
    assert [role.shares for role in total.roles] == [("out",)] * 3 + [()]
    assert total.cell == "add_n/-/float32/dense"
    assert total.flops == 128
    assert described("complex64", 3).flops == 256
    assert pickle.loads(pickle.dumps(total)) == total
    assert hash(total) != hash(described("float32", 4))


def test_infer_broadcasts_specs_and_arrays():
    total = AddN.infer(np.zeros((5, 1, 4), np.int16), TensorSpec("int16", (3, 1)), np.zeros(4, np.int16))
    assert total.out == TensorSpec("int16", (5, 3, 4))
    assert AddN.infer(F32).out == F32


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: AddN(out=F32), ValueError, ("add_n: 0 terms", "needs 1 to 64", "in order")),
        (lambda: AddN(*[F32] * 65, out=F32), ValueError, ("add_n: 65 terms", "needs 1 to 64")),
        (AddN.infer, ValueError, ("add_n: 0 terms",)),
        (lambda: AddN.infer(F32, 3), TypeError, ("add_n: x1 is 3", "needs a TensorSpec or an array")),
        (lambda: AddN(F32, Scalar("float32"), out=F32), TypeError, ("add_n: x1 is Scalar", "TensorSpec")),
        (
            lambda: AddN(F32, F32, TensorSpec("float64", (4, 3)), out=F32),
            ValueError,
            ("add_n: x2 has dtype float64", "needs float32", "cast it first"),
        ),
        (
            lambda: AddN(F32, out=TensorSpec("float64", (4, 3))),
            ValueError,
            ("add_n: out has dtype float64", "needs float32", "describe out so"),
        ),
        (
            lambda: AddN.infer(TensorSpec("float8_e5m2", (3,))),
            ValueError,
            ("add_n: x0 has dtype float8_e5m2", "needs one of bool"),
        ),
        (
            lambda: AddN(F32, TensorSpec("float32", (2, 3)), out=F32),
            ValueError,
            ("add_n: x1 has shape (2, 3)", "does not broadcast to out (4, 3)"),
        ),
        (
            lambda: AddN.infer(F32, TensorSpec("float32", (4,))),
            ValueError,
            ("add_n: shapes x0 (4, 3) and x1 (4,) do not broadcast",),
        ),
        (
            lambda: AddN(F32, out=TensorSpec("float32", (4, 3), (0, 1))),
            ValueError,
            ("add_n: out", "overlaps itself"),
        ),
    ],
)
def test_descriptor_refuses_with_a_message_that_says_what_is_needed(make, error, parts):
    with pytest.raises(error) as raised:
        make()
    assert all(part in str(raised.value) for part in parts), str(raised.value)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("count", [1, 2, 3, 64])
def test_reference_is_the_exact_sum_rounded_once(dtype, count):
    terms = [RNG.standard_normal(64).astype(getattr(ml_dtypes, dtype, dtype)) for _ in range(count)]
    reference = FAMILY.reference(described(dtype, count), named(terms))
    for column, value, scale in zip(zip(*terms, strict=True), reference.value, reference.scale, strict=True):
        fractions = [Fraction(float(term)) for term in column]
        exact, size = sum(fractions), sum(map(abs, fractions))
        eps = Fraction(2) ** (-60 if dtype == "float64" and count > 2 else -50)
        assert abs(Fraction(value) - exact) <= abs(exact) / 2**53 + size * eps
        assert abs(Fraction(scale) - size) <= size / 2**10


def test_integers_wrap_and_bools_are_joined_by_or():
    terms = [np.full(64, 100, np.int8)] * 3
    assert (FAMILY.reference(described("int8", 3), named(terms)).value == 44).all()
    largest = [np.full(64, 2**64 - 1, np.uint64), np.full(64, 3, np.uint64)]
    assert (FAMILY.reference(described("uint64", 2), named(largest)).value == 2).all()
    truths = [np.resize(np.array(byte, np.uint8), 64).view(np.bool_) for byte in ([0, 2], [0, 0, 255], [0])]
    value = FAMILY.reference(described("bool", 3), named(truths)).value
    assert value[:6].tolist() == [False, True, True, True, False, True]


def sums(dtype, terms, order):
    """Return the sum in the type itself, in an order of the terms, or pairwise."""
    if order == "pairwise":
        while len(terms) > 1:
            terms = [left + right for left, right in zip(terms[::2], terms[1::2], strict=True)]
        return terms[0]
    total = terms[order[0]]
    for place in order[1:]:
        total = (total + terms[place]).astype(array_dtype(dtype))
    return total


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("count", [4, 64])
def test_bound_holds_for_any_order_and_not_for_a_lost_term(dtype, count):
    """Sums of one sign, where every rounding counts; a bound of a tenth would not hold them all."""
    real = {"complex64": np.float32, "complex128": np.float64}.get(dtype, dtype)
    terms = [RNG.uniform(0.5, 2, 4096).astype(real) for _ in range(count)]
    if dtype.startswith("complex"):
        terms = [(term + 1j * np.roll(term, 1)).astype(dtype) for term in terms]
    descriptor = described(dtype, count, 4096)
    reference, bound = FAMILY.reference(descriptor, named(terms)), FAMILY.accuracy(descriptor)
    assert isinstance(bound, Conditioned)
    allowed = bound.k * np.finfo(dtype).eps * reference.scale
    orders = [range(count), range(count - 1, -1, -1), RNG.permutation(count).tolist(), "pairwise"]
    worst = [float((np.abs(sums(dtype, terms, order) - reference.value) / allowed).max()) for order in orders]
    assert 0.02 < max(worst) < 1
    lost = sums(dtype, terms, range(1, count))
    assert (np.abs(lost - reference.value) > 100 * allowed).all()


def test_few_terms_and_integers_are_exact():
    for dtype, count in (("float32", 1), ("bfloat16", 2), ("complex64", 2), ("int8", 64), ("bool", 9)):
        assert FAMILY.accuracy(described(dtype, count)) == Exact()
    assert FAMILY.accuracy(described("float16", 3)) == Conditioned(1.0)


def test_cases_have_one_to_sixty_four_terms_and_share_with_each_kind_of_place():
    cases = [case for cell in FAMILY.cells() for case in FAMILY.cases(cell)]
    assert {1, 2, 3, 8, 64} <= {len(case.descriptor.specs) - 1 for case in cases}
    assert {None, "x0", "x1", "x2", "x5", "x63"} == {case.inplace for case in cases}
    assert sum(case.profile == "quick" for case in cases) < 1500


def test_rounding_each_narrow_term_breaks_the_bound():
    """A kernel that keeps its sum in bfloat16 is outside, one in float32 inside."""
    signature = next(each for each in FAMILY.signatures() if each.out == "bfloat16")
    case = next(case for case in FAMILY.cases_of(signature, "dense") if case.name == "one-sign-of-64")
    inputs = case.data(np.random.default_rng(3))
    terms = list(inputs.values())
    reference = FAMILY.reference(case.descriptor, inputs)
    half_ulp = 2.0 ** (np.floor(np.log2(reference.value)) - 8)
    allowed = FAMILY.accuracy(case.descriptor).k * 2.0**-23 * reference.scale + half_ulp
    wide = sums("float32", [term.astype(np.float32) for term in terms], range(64)).astype(terms[0].dtype)
    narrow = sums("bfloat16", terms, range(64))
    assert (np.abs(wide.astype(float) - reference.value) <= allowed).all()
    assert (np.abs(narrow.astype(float) - reference.value) > allowed).mean() > 0.5
