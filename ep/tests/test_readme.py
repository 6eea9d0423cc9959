"""The README's examples run as they are printed, at the lengths it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
FRAMEWORK, VENDOR = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(program, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300, env=variables
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("device", ["cpu:0", "opencl:0", "sim:0"])
def test_framework_example_runs(device):
    shown = run(FRAMEWORK.replace("cpu:0", device), PATH="/usr/bin:/bin", EP_POCL_PROCESSOR="auto")
    assert shown == "[[10. 21. 32.]\n [13. 24. 35.]]\n"


def test_framework_example_has_about_fifteen_lines():
    assert len([line for line in FRAMEWORK.splitlines() if line.strip() and "import" not in line]) <= 15


@pytest.fixture
def vendor(tmp_path):
    """The environment of a process that finds the README's provider as it is printed."""
    package = tmp_path / "ep_tiny"
    package.mkdir()
    (package / "__init__.py").write_text(VENDOR)
    (package / "provider.toml").write_text('name = "tiny"\nvendor = "Me"\nspi = "0.2"\nfork_safe = true\n')
    info = tmp_path / "ep_tiny-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep-tiny\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ep.providers]\ntiny = ep_tiny\n")
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_vendor_example_is_a_provider(vendor):
    check = "import ep; from ep.plugin.doctor import self_check; print(repr(self_check(ep.device('tiny:0'))))"
    assert run(check, **vendor) == "''\n"


@pytest.mark.parametrize("cases", ["runtime/[a-f]*", pytest.param("runtime/*", marks=pytest.mark.thorough)])
def test_vendor_example_passes_the_mandatory_runtime_level(vendor, cases):
    words = ["ep_conformance", "run", "--provider", "tiny", "--quick", "--filter", cases]
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False, timeout=300, env=vendor
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_vendor_example_has_about_thirty_lines():
    assert len([line for line in VENDOR.splitlines() if line.strip()]) <= 30
