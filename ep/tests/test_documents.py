"""The pages in docs/ whose examples are programs run from top to bottom, on each provider."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "runtime.md").read_text()
PROGRAM = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("device", ["cpu:0", "opencl:0", "sim:0"])
def test_runtime_page_runs(device):
    assert PROGRAM.count("cpu:0") == 1
    program = PROGRAM.replace("cpu:0", device)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
