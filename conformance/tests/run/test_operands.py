"""Red zones, poison and watched bytes."""

import numpy as np
import pytest
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.decoys import POISON
from ep_conformance.judge.error import CaseError
from ep_conformance.run.steps.red_zones import enclose

import ep


@pytest.fixture
def trial():
    return Trial(ep.device("cpu:0"), "test")


ROWS = ep.TensorSpec("float32", (3, 4), (6, 1), 2)


def test_output_is_poisoned_between_red_zones(trial):
    operand = enclose(trial, "out", ROWS, None, 4)
    assert operand.start % trial.device.info.alignment == 4
    assert (operand.image[operand.start : operand.start + ROWS.nbytes] == POISON).all()
    assert operand.image.nbytes >= operand.start + ROWS.nbytes + 256


def test_input_lies_where_its_spec_says(trial):
    value = np.arange(12, dtype=np.float32).reshape(3, 4)
    operand = enclose(trial, "x", ROWS, value, 0)
    words = operand.image[operand.start :][: ROWS.nbytes].view(np.float32)
    assert words[2:6].tolist() == [0, 1, 2, 3]
    assert words[8:12].tolist() == [4, 5, 6, 7]
    assert (operand.tensor(operand.image) == value).all()


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int32", "float8_e5m2", "float16", "bfloat16", "float32", "float64"]
)
def test_two_poisons_are_on_either_side_of_what_is_right(trial, dtype):
    """So that neither a minimum nor a maximum, a conjunction nor a disjunction with what the output held passes twice."""
    spec = ep.TensorSpec(dtype, (3, 4), (6, 1), 2)
    high = enclose(trial, "out", spec, None, 0)
    low = high.poisoned_low()
    most, least = high.tensor(high.image), low.tensor(low.image)
    assert (least < most).all()
    assert (least <= 0).all()
    gaps = high.image != low.image
    assert gaps.sum() == spec.size * spec.itemsize


def changed(operand, byte):
    image = operand.image.copy()
    image[operand.start + byte] ^= 1
    return image


@pytest.mark.parametrize(
    ("byte", "text"),
    [
        (-1, "1 byte before its memory"),
        (ROWS.nbytes, "1 byte past the end of its tensor"),
        (ROWS.nbytes + 100, "101 bytes past"),
        (6 * 4, "no element to be written"),
        (0, "no element to be written"),
    ],
)
def test_stray_writes_of_an_output_are_found(trial, byte, text):
    operand = enclose(trial, "out", ROWS, None, 0)
    with pytest.raises(CaseError, match=text):
        operand.check(changed(operand, byte), is_written=True)


def test_elements_of_an_output_may_change_and_those_of_an_input_not(trial):
    output = enclose(trial, "out", ROWS, None, 0)
    output.check(changed(output, 2 * 4), is_written=True)
    given = enclose(trial, "x", ROWS, np.zeros((3, 4), np.float32), 0)
    given.check(given.image.copy(), is_written=False)
    with pytest.raises(CaseError, match="x: a write"):
        given.check(changed(given, 2 * 4), is_written=False)


def test_empty_outputs_may_change_nothing(trial):
    operand = enclose(trial, "out", ep.TensorSpec("int32", (0, 3)), None, 0)
    with pytest.raises(CaseError, match="past the end"):
        operand.check(changed(operand, 0), is_written=True)
