"""The tables of correctly rounded results: the tool makes the committed ones again, and says what differs."""

import mpmath
import numpy as np
import pytest
from ep_tools.reference import tables as tool
from ep_tools.reference.mathematics import table

COUNT = sum(len(tables) for tables in tool.TABLES.values())
SAMPLE = 6


def test_committed_tables_are_what_the_tool_makes(tools):
    done = tools("reference-tables", "--check", "--points", SAMPLE)
    assert (done.code, done.output, done.lines) == (0, f"0 of {SAMPLE * COUNT} points differ\n", [])


def test_value_that_differs_is_told(tools, monkeypatch, tmp_path):
    with np.load(tool.FOLDER / "float64" / "erf.npz") as stored:
        arrays = dict(stored)
    arrays["value"] = np.nextafter(arrays["value"], np.inf)
    (tmp_path / "float64").mkdir()
    np.savez(tmp_path / "float64" / "erf.npz", **arrays)
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    done = tools("reference-tables", "erf", "--check", "--points", 3)
    assert done.code == 1
    lines = done.output.splitlines()
    assert lines[-1] == f"{len(lines) - 1} of 3 points differ"
    assert lines[0].startswith("float64/erf(")
    assert ": value is " in lines[0]


@pytest.mark.parametrize(("dtype", "name"), [("float64", "exp"), ("complex128", "sqrt")])
def test_tool_makes_the_same_arrays_again(tools, dtype, name, tmp_path, monkeypatch):
    """Bytes of the arrays, not of the file: how zip headers are written differs between patch releases of Python."""
    committed = tool.FOLDER / dtype / f"{name}.npz"
    monkeypatch.setattr(tool, "FOLDER", tmp_path)
    monkeypatch.setattr(tool, "TABLES", {dtype: {name: tool.TABLES[dtype][name]}})
    done = tools("reference-tables", name)
    assert (done.code, done.lines) == (0, [])
    assert done.output.startswith(f"{dtype}/{name}: 2")
    with np.load(tmp_path / dtype / f"{name}.npz") as made, np.load(committed) as stored:
        assert made.files == stored.files
        assert all(made[key].dtype == stored[key].dtype for key in stored.files)
        assert all(made[key].tobytes() == stored[key].tobytes() for key in stored.files)


def test_values_that_never_settle_are_refused():
    unsettled = table.Table(iter, lambda x: x + mpmath.mpf(2) ** (-mpmath.mp.prec // 100))
    with pytest.raises(ArithmeticError, match="does not settle within 2560 bits"):
        table.evaluate(unsettled, (1.0,))
