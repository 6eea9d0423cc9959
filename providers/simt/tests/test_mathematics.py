"""The mathematics: each text calls what stands before it, and what begins is taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ep_simt import mathematics as room
from ep_simt.elementwise.rows import rows
from ep_simt.mathematics import computes_in_double, mathematics

_FOLDER = Path(room.__file__).parent
_CALL = re.compile(r"EP_(?:OF|STRUCT_OF)\((\w+)\)")
_WORDS = {"ep_max", "ep_min"}
"""Functions of dialect.h, which rows call for the compute type."""


def _defines(name):
    return re.findall(r"^#(?:define|undef) (EP_\w+)", (_FOLDER / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_text_is_in_the_order_and_calls_what_stands_in_it_or_before():
    assert sorted(room._ORDER) == sorted(path.stem for path in _FOLDER.glob("*.inc"))
    known = {"Complex"}  # an element type, which the dialect has
    for name in room._ORDER:
        source = (_FOLDER / f"{name}.inc").read_text(encoding="utf-8")
        known |= {name for names in room._DEFINED.findall(source) for name in names if name}
        assert set(_CALL.findall(source)) <= known, name


@pytest.mark.parametrize("family", ["elementwise_unary", "broadcast_binary"])
def test_rows_call_functions_that_there_are(family):
    called = {name for row in rows(family) for name in _CALL.findall(row.expression)}
    assert len(called) > 20
    assert called - _WORDS <= set(room._home())


def test_both_types_have_the_same_names_which_end_takes_back():
    assert _defines("begin_f32.h") == _defines("begin_f64.h")
    assert sorted(_defines("end.h")) == sorted(_defines("begin_f32.h"))


def test_text_of_double_comes_before_the_float_that_calls_it():
    files = mathematics("EP_OF(power)(a, b)", "f32")
    double, single = files.index("mathematics/begin_f64.h"), files.index("mathematics/begin_f32.h")
    assert "mathematics/exponential.inc" in files[double:single]
    assert files[single:].index("mathematics/power.inc") > files[single:].index("mathematics/exponential.inc")
    assert files[-1] == "mathematics/begin_f32.h"
    assert computes_in_double("EP_OF(power)(a, b)")
    assert not computes_in_double("EP_OF(exponential)(x)")


def test_rows_of_float_that_compute_in_double_are_those_whose_digits_need_it():
    every = [
        row for family in ("elementwise_unary", "broadcast_binary") for row in rows(family) if row.kind != "COMPLEX"
    ]
    angles = {"sin", "cos", "tan", *(f"{name}_backward_with_dy_x" for name in ("sin", "cos", "tan"))}
    gammas = {"lgamma", "digamma", "trigamma", "lgamma_backward_with_dy_x", "digamma_backward_with_dy_x", "zeta"}
    powers = {"pow", "scalar_base_power_grad", "scalar_exp_power_grad"}
    others = {"hypot", "is_close", "is_close_equal_nan"}
    assert {row.op for row in every if computes_in_double(row.expression)} == angles | gammas | powers | others
    assert [row.kind for row in every if row.op == "pow" and computes_in_double(row.expression)] == ["WIDE"]


def test_text_without_mathematics_has_the_names_of_its_type_alone():
    assert mathematics("x + 1", "f64") == ("mathematics/begin_f64.h",)
