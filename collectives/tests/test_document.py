"""The page in docs/ about collectives is a program, and holds one for MPI."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "collectives.md").read_text()


def test_the_page_runs():
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)), {})


def test_the_program_for_mpi_runs(tmp_path):
    (program,) = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "train.py").write_text(program)
    mpiexec = Path(sys.executable).with_name("mpiexec")
    subprocess.run([mpiexec, "-n", "4", sys.executable, tmp_path / "train.py"], check=True, timeout=60)
