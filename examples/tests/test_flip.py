"""A stranger's family: listed, judged on every provider that copies, and refused by name where it is broken."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ep

EXAMPLE = Path(__file__).parent.parent / "ep_flip"
FLIPS = ("--filter", "primitives/flip/*/float32/*")


class Installed:
    """A folder with the package and its entry point, for fresh interpreters."""

    def __init__(self, folder):
        self.folder = folder
        self.module = folder / "ep_flip" / "flip.py"
        shutil.copytree(EXAMPLE / "ep_flip", folder / "ep_flip")
        self.enter("ep_flip", "ep.families", "flip")

    def enter(self, package, group, name):
        info = self.folder / f"{package}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {package}\n")

    def replace(self, old, new):
        text = self.module.read_text()
        assert text.count(old) == 1
        self.module.write_text(text.replace(old, new))

    def run(self, *words, code=0):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(self.folder), "XDG_CACHE_HOME": str(self.folder), "COLUMNS": "200"},
            timeout=300,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def judge(self, provider, *words, code=0):
        claim = ("--claim", "flip/*/float32/*")
        return self.run("ep_conformance", "run", "--provider", provider, "--quick", *FLIPS, *claim, *words, code=code)


@pytest.fixture
def installed(tmp_path):
    return Installed(tmp_path)


@pytest.fixture
def flip(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE)
    return __import__("ep_flip").Flip


def test_its_cells_are_lowered_on_every_provider_that_copies(installed):
    for provider in ("cpu", "opencl", "sim"):
        rows = json.loads(installed.run("ep.cli", "capabilities", "--provider", provider, "--json"))
        served = {row["dtypes"]: row["how"] for row in rows if row["family"] == "flip"}
        assert served["float32"] == "lowered"
        assert {row["how"] for row in rows if row["family"] == "flip"} <= {"lowered", "none"}
        assert len(served) == 17


def test_its_cases_are_listed_and_pass_where_it_is_lowered(installed):
    listed = installed.run("ep_conformance", "list", *FLIPS).split()
    assert "primitives/flip/-/float32/strided/transposed-along-0-1" in listed
    for provider in ("cpu", "opencl"):
        assert "48 of 48 expected cases pass" in installed.judge(provider)


def test_program_of_its_readme_runs(installed):
    (program,) = re.findall(r"```python\n(.*?)```", (EXAMPLE / "README.md").read_text(), re.DOTALL)
    (installed.folder / "program.py").write_text(program)
    assert installed.run("program") == "[5. 4. 3. 2. 1. 0.]\n"


def test_doctor_names_the_family_and_where_it_is_from(installed):
    (line,) = [line for line in installed.run("ep.cli", "doctor").splitlines() if "families ep_flip" in line]
    assert line.split() == ["families", "ep_flip", "ok", "flip", "ep_flip", "0.1.0"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("strides[axis] = -strides[axis]", "strides[axis] = +strides[axis]"),
        ("(self.x.shape[axis] - 1) * strides[axis]", "self.x.shape[axis] * strides[axis]"),
        ("self.axis if self.x.size", "self.axis[:1] if self.x.size"),
        ('return np.flip(inputs["x"], descriptor.attributes)', 'return inputs["x"]'),
    ],
    ids=["stride", "offset", "first-axis-alone", "reference"],
)
def test_planted_fault_is_caught(installed, right, wrong):
    installed.replace(right, wrong)
    assert "FAIL" in installed.judge("cpu", "--fail-fast", code=1)


def test_family_that_raises_is_refused_by_name_and_the_others_go_on(installed):
    installed.replace("for dtype in EVERY)", "for dtype in NEVER)")
    shown = installed.run("ep.cli", "doctor", code=1)
    assert "name 'NEVER' is not defined" in shown
    assert "families ep_flip" in shown
    listed = installed.run("ep_conformance", "list", "--filter", "primitives/copy/*/int8/rank0/*").split()
    assert "primitives/copy/-/int8/rank0/one" in listed


def test_claim_of_a_family_that_is_not_installed_is_missing_by_name(installed, tmp_path):
    package = tmp_path / "ep_solo"
    shutil.copytree(EXAMPLE.parent / "ep_acme" / "ep_acme", package)
    for file in package.glob("*"):
        if file.is_file():
            file.write_text(file.read_text().replace("acme", "solo"))
    (package / "claims.toml").write_text('suite = "1.0"\n[[claim]]\ncells = "flop/*/*/*"\n')
    installed.enter("ep_solo", "ep.providers", "solo")
    shown = installed.run("ep_conformance", "run", "--provider", "solo", "--quick", "--filter", "claims/*", code=1)
    assert "no installed family: install the package that brings 'flop'" in " ".join(shown.split())


@pytest.mark.parametrize("axes", [None, (0,), (-1,), (0, 2), (-3, 1), ()])
@pytest.mark.parametrize("name", ["cpu:0", "opencl:0"])
def test_it_does_what_numpy_does(flip, name, axes):
    x = np.arange(2 * 3 * 5, dtype=np.float32).reshape(5, 3, 2).T
    device = ep.device(name)
    stream, reverse = device.stream(), flip.infer(x, axes).on(device)
    source, out = device.allocate(x.nbytes), device.allocate(x.nbytes)
    y = np.empty_like(x, order="C")
    stream.upload(source, x.T)
    reverse(stream, x=source, out=out)
    stream.download(y, out)
    stream.synchronize()
    assert reverse.is_lowered
    np.testing.assert_array_equal(y, np.flip(x, axes))


@pytest.mark.parametrize(
    ("x", "axes", "error", "message"),
    [
        ([1, 2], (0,), TypeError, r"^flip: x is \[1, 2\], of type list, needs a TensorSpec or an array"),
        (np.zeros((2, 3)), (2,), ValueError, r"^flip: axis is \(2,\), needs dimensions from -2 to 1; name each once"),
        (np.zeros((2, 3)), (0, -2), ValueError, "name each once"),
        (np.zeros((2, 3)), 0, TypeError, r"^flip: axis is 0, needs integers; give a tuple"),
        (np.zeros((2, 3)), (0.5,), TypeError, r"^flip: axis is \(0.5,\), needs integers"),
        (np.zeros(()), (0,), ValueError, "flip: axis"),
    ],
)
def test_wrong_arguments_are_named(flip, x, axes, error, message):
    with pytest.raises(error, match=message):
        flip.infer(x, axes)


def test_wrong_outputs_are_named(flip):
    x = ep.TensorSpec("float32", (2, 3))
    with pytest.raises(ValueError, match=r"^flip: out has shape \(3, 2\), needs x's shape \(2, 3\)"):
        flip(x=x, out=ep.TensorSpec("float32", (3, 2)), axis=(0,))
    with pytest.raises(ValueError, match=r"^flip: out has dtype int32, needs float32"):
        flip(x=x, out=ep.TensorSpec("int32", (2, 3)), axis=(0,))
