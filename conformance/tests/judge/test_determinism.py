"""Bits of equal launches and of parts of the work; what a kernel must do to fail is planted in the saboteurs."""

import numpy as np
import pytest
from ep_conformance.judge.bits import check_bits
from ep_conformance.judge.determinism import check_again, check_part
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.operand import Operand
from ep_primitives import ElementwiseUnary

import ep

SPEC = ep.TensorSpec("float32", (8,))
PART = ElementwiseUnary("exp", x=ep.TensorSpec("float32", (7,), offset=1), out=ep.TensorSpec("float32", (7,), offset=1))


def floats(*bits):
    return np.array(bits, np.uint32).view(np.float32)


def image(first):
    return np.arange(first, first + 8, dtype=np.float32).view(np.uint8)


def test_first_element_whose_bits_differ_is_named():
    needed = np.array([[1, 2], [3, 4]], np.complex64)
    given = needed.copy()
    check_bits("out", given, needed, "as before")
    given[1, 0] = 3 + 2.0**-30j
    given[1, 1] = 0
    with pytest.raises(CaseError, match=r"out\[1, 0\] is .* as before \(2 of 4 elements\)"):
        check_bits("out", given, needed, "as before")


def test_payloads_signs_of_zero_and_bytes_of_bools_count():
    for given, needed in (
        (floats(0x7FC00000), floats(0x7FC00001)),
        (floats(0), floats(0x80000000)),
        (np.array([1], np.uint8).view(np.bool_), np.array([2], np.uint8).view(np.bool_)),
    ):
        with pytest.raises(CaseError):
            check_bits("out", given, needed, "")


def test_equal_launches_must_agree_in_every_bit():
    operand = Operand("out", SPEC, image(0), 0)
    check_again(operand, image(1), image(1))
    with pytest.raises(CaseError, match=r"out\[0\] is 2\.0 .* an equal launch before"):
        check_again(operand, image(1), image(2))


def test_part_must_agree_where_it_lies_and_leave_the_rest_alone():
    poison = np.full(32, 0x5B, np.uint8)
    operand = Operand("out", SPEC, poison, 0)
    alone = poison.copy()
    alone[4:] = image(1)[4:]
    check_part(PART, operand, image(1), alone)
    with pytest.raises(CaseError, match="a write to byte 0, which is no element"):
        check_part(PART, operand, image(1), image(1))
    alone[-1] ^= 1
    with pytest.raises(CaseError, match=r"out\[6\] .* computed by itself: ElementwiseUnary"):
        check_part(PART, operand, image(1), alone)


def test_nan_of_a_part_may_have_another_payload():
    poison = np.full(32, 0x5B, np.uint8)
    whole, alone = image(1).copy(), poison.copy()
    alone[4:] = whole[4:]
    whole.view(np.uint32)[3], alone.view(np.uint32)[3] = 0x7FC00000, 0xFFC00001
    check_part(PART, Operand("out", SPEC, poison, 0), whole, alone)
    alone.view(np.float32)[3] = 1
    with pytest.raises(CaseError, match=r"out\[2\] is 1\.0"):
        check_part(PART, Operand("out", SPEC, poison, 0), whole, alone)
