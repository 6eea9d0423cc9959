"""The family Where: the choice, its descriptor's refusals, and data that shows which side's element was taken."""

import pickle

import numpy as np
import pytest
from ep_primitives import Exact, Where
from ep_primitives.families.where.family import WhereFamily
from ep_primitives.judging.reference import array_dtype

import ep
from ep import Scalar, TensorSpec

FAMILY = WhereFamily()
RNG = np.random.default_rng(5)
F32 = TensorSpec("float32", (4, 3))
TRUTH = TensorSpec("bool", (4, 3))


def test_infer_broadcasts_specs_arrays_and_numbers():
    choice = Where.infer(np.zeros((5, 1, 4), np.int64), TensorSpec("float16", (3, 1)), Scalar("float16"))
    assert choice.out == TensorSpec("float16", (5, 3, 4))
    assert choice == Where(
        condition=TensorSpec("int64", (5, 1, 4)),
        a=TensorSpec("float16", (3, 1)),
        b=Scalar("float16"),
        out=TensorSpec("float16", (5, 3, 4)),
    )
    assert pickle.loads(pickle.dumps(choice)) == choice
    assert Where.infer(TRUTH, Scalar("int8"), Scalar("int8")).out == TensorSpec("int8", (4, 3))


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: Where.infer(3, F32, F32), TypeError, ("where: condition is 3", "needs a TensorSpec or an array")),
        (lambda: Where.infer(TRUTH, 1.5, F32), TypeError, ("where: a is the number 1.5", "Scalar", "at launch")),
        (
            lambda: Where.infer(TRUTH, F32, TensorSpec("float32", (4,))),
            ValueError,
            ("where: shapes condition (4, 3), a (4, 3) and b (4,) do not broadcast", "must be 1 or equal"),
        ),
        (
            lambda: Where.infer(TensorSpec("uint8", (4, 3)), F32, F32),
            ValueError,
            ("where: condition has dtype uint8", "needs one of bool, int32, int64", "cast it first"),
        ),
        (
            lambda: Where.infer(TRUTH, F32, Scalar("float64")),
            ValueError,
            ("where: b has dtype float64", "needs float32", "make it Scalar('float32')"),
        ),
        (
            lambda: Where(condition=TRUTH, a=F32, b=TensorSpec("int32", (4, 3)), out=F32),
            ValueError,
            ("where: b has dtype int32", "needs float32", "cast it first"),
        ),
        (
            lambda: Where(condition=TRUTH, a=F32, b=F32, out=TensorSpec("float32", (4, 3), (0, 1))),
            ValueError,
            ("where: out", "overlaps itself", "distinct elements"),
        ),
        (
            lambda: Where(condition=TensorSpec("bool", (2, 3)), a=F32, b=F32, out=F32),
            ValueError,
            ("where: condition has shape (2, 3)", "does not broadcast to out (4, 3)"),
        ),
        (lambda: Where(condition=Scalar("bool"), a=F32, b=F32, out=F32), TypeError, ("where: condition is Scalar",)),
        (lambda: Where(condition=TRUTH, a=None, b=F32, out=F32), TypeError, ("where: a is None",)),
        (lambda: Where(condition=TRUTH, a=F32, b=F32, out=Scalar("float32")), TypeError, ("where: out is Scalar",)),
    ],
)
def test_descriptor_refuses_with_a_message_that_says_what_is_needed(make, error, parts):
    with pytest.raises(error) as raised:
        make()
    assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_condition_shares_the_output_only_where_both_are_bools():
    for condition, dtype, shared in (("bool", "bool", 3), ("bool", "int8", 2), ("int32", "int32", 2)):
        spec = TensorSpec(dtype, (4,))
        roles = Where.infer(TensorSpec(condition, (4,)), spec, spec).roles
        assert sum(role.shares == ("out",) for role in roles) == shared


def test_cell_names_the_condition_and_where_numbers_are():
    assert Where.infer(TRUTH, F32, F32).cell == "where/-/bool,float32->float32/dense"
    assert Where.infer(TRUTH, TRUTH, TRUTH).cell == "where/-/bool/dense"
    assert Where.infer(TRUTH, Scalar("float32"), F32).layout == "scalar-left"
    assert Where.infer(TRUTH, F32, Scalar("float32")).layout == "scalar-right"
    assert Where.infer(TRUTH, Scalar("float32"), Scalar("float32")).layout == "scalar-left"
    assert Where.infer(TensorSpec("bool", (3,)), F32, F32).layout == "broadcast"


@pytest.mark.parametrize("dtype", ["bool", "float8_e5m2", "bfloat16", "float32", "complex128"])
def test_moved_keeps_every_bit_of_the_chosen_element(dtype):
    size = array_dtype(dtype).itemsize
    a, b = (RNG.integers(0, 256, 64 * size, np.uint8).view(array_dtype(dtype)) for _ in range(2))
    truth = np.resize(np.array([0, 1, 2, 0, 255, 128], np.uint8), 64)
    choice = Where.infer(*(TensorSpec(kind, (64,)) for kind in ("bool", dtype, dtype)))
    moved = FAMILY.moved(choice, {"condition": truth.view(np.bool_), "a": a, "b": b})
    words = [array.view(f"V{size}").tolist() for array in (a, b, moved)]
    assert words[2] == [left if true else right for true, left, right in zip(truth, words[0], words[1], strict=True)]


def test_integers_are_true_by_all_their_bits():
    choice = Where.infer(TensorSpec("int64", (4,)), Scalar("int8"), Scalar("int8"))
    condition = np.array([2**32, 0, -(2**63), 1])
    inputs = {"condition": condition, "a": 5, "b": -7}
    assert FAMILY.moved(choice, inputs).tolist() == [5, -7, 5, 5]
    assert FAMILY.reference(choice, inputs).value.tolist() == [5, -7, 5, 5]


def test_number_is_rounded_once_to_the_element_type_and_a_nan_is_open():
    choice = Where.infer(TensorSpec("bool", (2,)), Scalar("bfloat16"), TensorSpec("bfloat16", (2,)))
    b = np.zeros(2, array_dtype("bfloat16"))
    condition = np.array([True, False])
    moved = FAMILY.moved(choice, {"condition": condition, "a": 1.00390625 + 2**-20, "b": b})
    assert moved.astype(float).tolist() == [1.0078125, 0.0]
    assert FAMILY.moved(choice, {"condition": condition, "a": float("nan"), "b": b}) is None


def cases(cell):
    condition, dtype = cell
    wanted = next(each for each in FAMILY.signatures() if each.inputs == (condition, dtype))
    return [case for layout in FAMILY.layouts for case in FAMILY.cases_of(wanted, layout)]


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_conditions_of_cases_are_true_by_each_single_bit_and_half_false(dtype):
    seen = np.concatenate(
        [
            np.asarray(case.data(np.random.default_rng(1))["condition"]).reshape(-1)
            for case in cases((dtype, "float32"))
            if case.name in {"conditions", "values", "rank-4"}
        ]
    )
    words = seen.view(f"u{seen.itemsize}")
    assert {1 << bit for bit in range(8 * seen.itemsize)} <= set(words.tolist())
    assert 0.4 < (words == 0).mean() < 0.6
    if dtype == "int64":
        assert ((words != 0) & (words % 2**32 == 0)).sum() > 20


def test_cases_stay_within_what_the_quick_profile_may_hold():
    quick = [case for cell in FAMILY.cells() for case in FAMILY.cases(cell) if case.profile == "quick"]
    assert len(quick) < 3000
    assert {case.inplace for case in quick} == {None, "condition", "a", "b"}


def test_ignored_conditions_and_exchanged_elements_show_in_every_quick_case():
    """A fault in the choice changes the result, in bits, in every case but those of few elements."""
    for case in cases(("bool", "uint16")) + cases(("int32", "float32")):
        few = 64  # elements, of the output and of conditions, of which one draw may well be all alike
        if case.profile != "quick" or min(case.descriptor.out.size, case.descriptor.specs[0].size) < few:
            continue
        for seed in range(12):  # as many draws as the suite allows itself
            inputs = dict(case.data(np.random.default_rng(seed)))
            right = FAMILY.moved(case.descriptor, inputs)
            others = [{**inputs, "condition": np.full_like(inputs["condition"], value)} for value in (0, 1)]
            others.append({**inputs, "a": inputs["b"], "b": inputs["a"]})
            wrong = [FAMILY.moved(case.descriptor, other) for other in others]
            if right is None or all(each is None or each.tobytes() != right.tobytes() for each in wrong):
                break
        else:
            pytest.fail(f"{case.descriptor.cell}/{case.name}")


def test_accuracy_is_exact():
    assert FAMILY.accuracy(Where.infer(TRUTH, F32, F32)) == Exact()
    assert ep.families()["where"].descriptor is Where
