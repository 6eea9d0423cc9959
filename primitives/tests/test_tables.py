import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ep_primitives import (
    BINARY_OPS,
    UNARY_OPS,
    BroadcastBinary,
    Conditioned,
    ElementwiseUnary,
    Ulps,
    ep_families,
    tables,
)

from ep import TensorSpec

TOOL = Path(__file__).parents[2] / "tools" / "reference_tables.py"
FAMILIES = {family.name: family for family in ep_families()}
ROWS = {**UNARY_OPS, **BINARY_OPS}


def test_exactly_the_rows_that_ieee_754_does_not_settle_have_a_table():
    def is_open(accuracy):
        return isinstance(accuracy, Conditioned) or (isinstance(accuracy, Ulps) and accuracy.n > 0.5)

    wanted = [name for name, row in ROWS.items() if "float64" in row.dtypes and is_open(row.accuracy_of("float64"))]
    assert sorted(tables.NAMES) == sorted(wanted)


@pytest.mark.parametrize("name", tables.NAMES)
def test_table_has_2000_distinct_points_and_finite_results(name):
    table = tables.load(name)
    assert len(set(zip(*(column.tolist() for column in table.inputs), strict=True))) == table.value.size >= 2000
    assert table.value.dtype == np.float64
    assert not np.isnan(table.value).any()
    assert np.isfinite(table.value).mean() > 0.9
    assert (table.scale is not None) == isinstance(ROWS[name].accuracy_of("float64"), Conditioned)
    assert len(table.attributes) == len(ROWS[name].attributes)
    with pytest.raises(ValueError, match="read-only"):
        table.value[0] = 0


def test_tables_hold_the_hard_spots():
    exp, log, gelu = tables.load("exp"), tables.load("log"), tables.load("gelu")
    tiny = np.finfo(np.float64).smallest_normal
    assert ((exp.value > 0) & (exp.value < tiny)).sum() > 100
    assert np.isinf(exp.value).any()
    assert ((log.inputs[0] > 0) & (log.inputs[0] < tiny)).sum() > 50
    assert (np.abs(log.inputs[0] - 1) < 1e-10).sum() > 50
    assert ((gelu.inputs[0] < -30) & (gelu.value < 0)).sum() > 50
    slope = tables.load("gelu_backward_with_dy_x")
    assert (np.abs(slope.value) < 1e-10 * slope.scale).sum() > 20


@pytest.mark.parametrize("name", tables.NAMES)
def test_numpy_reference_is_as_good_as_its_row_says(name):
    table, row = tables.load(name), ROWS[name]
    specs = [TensorSpec("float64", table.value.shape)] * len(table.inputs)
    kind = ElementwiseUnary if len(specs) == 1 else BroadcastBinary
    attributes = dict(zip((a.name for a in row.attributes), table.attributes, strict=True))
    descriptor = kind.infer(name, *specs, **attributes)
    family = FAMILIES[kind.family]
    reference = family.reference(descriptor, dict(zip(descriptor.operands, table.inputs, strict=False)))
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(reference.value == table.value, 0, np.abs(reference.value - table.value))
        unit = np.spacing(np.abs(np.where(np.isfinite(table.value), table.value, np.finfo(np.float64).max)))
    accuracy = family.accuracy(descriptor)
    floor = accuracy.floor if isinstance(accuracy, Ulps) else reference.error * 2.0**-52 * table.scale
    assert (error <= np.maximum(reference.error * unit, floor)).all()


def test_committed_tables_are_what_the_tool_makes():
    done = subprocess.run(
        [sys.executable, str(TOOL), "--check", "--points", "60"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of 480 points differ" in done.stdout


def test_tool_makes_the_same_bytes_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TOOL.parent)
    tool = __import__("reference_tables")
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    monkeypatch.setattr(tool, "TABLES", {"exp": tool.TABLES["exp"]})
    monkeypatch.setattr(sys, "argv", ["reference_tables.py"])
    assert tool.main() == 0
    committed = TOOL.parents[1] / "primitives" / "ep_primitives" / "tables" / "exp.npz"
    assert (tmp_path / "exp.npz").read_bytes() == committed.read_bytes()
