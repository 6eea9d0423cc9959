"""Which bits two devices owe each other, and what is said where they differ."""

import numpy as np
import pytest
from ep_conformance.judge.agreement import ApartError, check_same, incomparable, require_one_class
from ep_conformance.judge.error import CaseError
from ep_primitives import Cast, ElementwiseUnary, Iota, Matmul

import ep

FUSED, ROUNDED = "fused-multiply-add", "rounded-divide-sqrt"


class Beside:
    """As much of a device as is asked."""

    def __init__(self, *features, flushes=(), determinism="bitwise", dtypes=("float32", "float64")):
        self.name = "acme:0"
        self.info = ep.DeviceInfo(
            "acme",
            "A",
            dtypes=frozenset(dtypes),
            features=frozenset(features),
            flushes=frozenset(flushes),
            determinism=determinism,
        )


def family_of(descriptor):
    return ep.families()[descriptor.family]


def why(descriptor, *devices, **more):
    family = family_of(descriptor)
    return incomparable(family, descriptor, (family.accuracy(descriptor),), devices, **more)


def unary(op, dtype="float32"):
    return ElementwiseUnary.infer(op, ep.TensorSpec(dtype, (3,)))


PRODUCT = Matmul.infer(ep.TensorSpec("float32", (2, 3)), ep.TensorSpec("float32", (3, 2)))
FULL = Beside(ROUNDED)


def subject(name, *features):
    return {"name": name, "features": list(features)}


@pytest.mark.parametrize("features", [(), (FUSED,)])
def test_devices_of_one_class_are_comparable(features):
    require_one_class(subject("acme:0", *features, "fp16"), subject("cpu:0", *features))


@pytest.mark.parametrize(
    ("mine", "other", "cure"),
    [
        (subject("acme:0"), subject("cpu:0", FUSED), "EP_CPU_ISA=baseline ep-conformance run"),
        (subject("cpu:0", FUSED), subject("acme:0"), "EP_CPU_ISA=baseline ep-conformance run"),
        (subject("acme:0", FUSED), subject("cpu:0"), "EP_CPU_ISA=avx2 ep-conformance run"),
        (subject("acme:0", FUSED), subject("bolt:1"), "name a device of the same arithmetic"),
    ],
)
def test_devices_of_two_classes_are_not_and_the_cure_is_named(mine, other, cure):
    fusing, rounding = (mine, other) if FUSED in mine["features"] else (other, mine)
    with pytest.raises(ApartError, match=cure) as caught:
        require_one_class(mine, other)
    assert f"{fusing['name']} rounds x y + z once ({FUSED}), {rounding['name']} twice" in str(caught.value)


def test_exact_results_and_formulas_of_elements_are_owed():
    for descriptor in (
        unary("exp"),
        unary("exp", "float64"),
        unary("abs"),
        Cast.infer(ep.TensorSpec("int8", (3,)), dtype="float32"),
    ):
        assert not why(descriptor, FULL, FULL)


def test_sums_products_and_progressions_are_not():
    for descriptor in (PRODUCT, Iota.infer(ep.TensorSpec("float32", (3,)))):
        assert why(descriptor, FULL, FULL) == "the family leaves open how its results are rounded"


def test_formulas_of_float32_need_rounded_quotients_on_both_devices():
    for devices in ((FULL, Beside()), (Beside(), FULL)):
        for dtype in ("float32", "bfloat16"):
            assert why(unary("tanh", dtype), *devices).endswith(f"lacks {ROUNDED}")
        assert not why(unary("tanh", "float64"), *devices)
        assert not why(unary("abs"), *devices)


def test_float32_is_comparable_where_both_devices_have_float64_or_neither_has():
    single = Beside(ROUNDED, dtypes=("float32",))
    assert why(unary("tanh"), FULL, single).startswith("acme:0 has no float64")
    assert not why(unary("tanh"), single, single)
    assert not why(unary("is_nan"), FULL, single)


def test_flushed_denormals_matter_where_something_is_computed():
    flushing = Beside(ROUNDED, flushes={"float32"})
    assert why(unary("exp", "float16"), FULL, flushing) == "acme:0 flushes denormals of float32"
    assert why(unary("abs"), FULL, flushing)
    assert not why(unary("identity"), FULL, flushing, is_moved=True)
    assert not why(unary("exp", "float64"), FULL, flushing)


def test_device_without_equal_bits_of_its_own_owes_none():
    assert "promises no equal bits" in why(unary("abs"), FULL, Beside(ROUNDED, determinism="none"))


def test_first_difference_is_named_with_both_bits_and_their_number():
    needed = np.array([1, 2, np.nan, 4], np.float32)
    given = needed.copy()
    given.view(np.uint32)[2] ^= 1 << 31
    check_same("out", given, needed, "cpu:0")
    given[1], given[3] = np.nextafter(given[1], np.float32(3)), 5
    text = r"out\[1\] is 2.0000002 with the bits 0x40000001, needed 2.0 with the bits 0x40000000, as cpu:0 gave \(2 of 4 elements\)"
    with pytest.raises(CaseError, match=text):
        check_same("out", given, needed, "cpu:0")
    given[2] = 0
    with pytest.raises(CaseError, match=r"3 of 4 elements"):
        check_same("out", given, needed, "cpu:0")
