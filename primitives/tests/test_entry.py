import re
import subprocess
import sys
from pathlib import Path

import ep_primitives
import pytest


def test_importing_the_package_and_a_descriptor_loads_neither_scipy_nor_ml_dtypes():
    code = (
        "import sys, ep_primitives; assert 'numpy' not in sys.modules, 'numpy';"
        "from ep_primitives import ElementwiseUnary, BroadcastBinary, Cast, Fill, Copy;"
        "heavy = {'scipy', 'ml_dtypes', 'mpmath', 'pluggy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_found():
    for name in ep_primitives.__all__:
        assert getattr(ep_primitives, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Softmaks'"):
        _ = ep_primitives.Softmaks


def test_example_of_the_readme_runs():
    blocks = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
