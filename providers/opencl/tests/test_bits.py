"""The mathematics is one text: every row gives the bits that the CPU's kernels of the same class give."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from ep_opencl.compiler.program import FUSED
from ep_opencl.description import ROUNDED


@pytest.mark.parametrize(
    ("dtype", "ops", "least"),
    [
        ("bool", "*", 15),
        ("int32", "[!b-l]*", 12),
        pytest.param("int32", "[b-l]*", 10, marks=pytest.mark.thorough),
        pytest.param("float32", "[es]*", 15, marks=pytest.mark.thorough),
        pytest.param("float32", "[!es]*", 90, marks=pytest.mark.thorough),
        *(pytest.param(name, "*", 115, marks=pytest.mark.thorough) for name in ("float16", "bfloat16", "float64")),
    ],
)
def test_rows_give_the_bits_of_the_cpu(device, tmp_path, dtype, ops, least):
    if not {"fp64", ROUNDED} <= device.info.features:
        pytest.skip("some rows need float64, and correctly rounded quotients and roots")
    isa = "avx2" if FUSED in device.info.features else "baseline"
    pattern = (
        f"primitives/[ber]*_[ubf]*/{ops}/{dtype}*/dense/[ds][ei][sz]*"  # unary, binary, random: designed, and sizes
    )
    report = tmp_path / "report.json"
    words = ["--quick", "--jobs", "1", "--filter", pattern, "--bits-of", "cpu:0", "--json", report, "--no-replays"]
    done = subprocess.run(
        [sys.executable, "-m", "ep_conformance", "run", "--provider", "opencl", *words],
        env=os.environ | {"EP_CPU_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    assert not found["bits"]["different"] | found["bits"]["incomparable"]
    rows = {tuple(case["id"].split("/")[1:3]) for case in found["cases"] if case["bits"] == "equal"}
    assert len(rows) >= least
