import importlib
import re
import subprocess
import sys
from pathlib import Path

import ep_primitives
import pytest
from ep_primitives import families

ROOT = Path(__file__).parents[2]


def test_importing_the_package_and_a_descriptor_loads_nothing_heavy():
    code = (
        "import sys, ep_primitives; assert 'numpy' not in sys.modules, 'numpy';"
        "from ep_primitives import ElementwiseUnary, BroadcastBinary, Cast, Fill, Copy;"
        "heavy = {'scipy', 'ml_dtypes', 'mpmath', 'pluggy', 'torch', 'ep_conformance'} & set(sys.modules); assert not heavy, heavy"
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


def _forget():
    families.exports.cache_clear()
    families.folders.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(families, "__path__", [*families.__path__, str(tmp_path)])
    _forget()
    yield tmp_path / "flip"
    monkeypatch.undo()
    _forget()


def test_family_is_found_by_its_folder(folder):
    folder.mkdir()
    (folder / "descriptor.py").write_text((ROOT / "examples/ep_flip/ep_flip/flip.py").read_text())
    (folder / "__init__.py").write_text(
        "from ep_primitives.families.flip.descriptor import Flip\n\n__all__ = ['Flip']\n"
    )
    (found,) = [family for family in ep_primitives.ep_families() if family.name == "flip"]
    assert families.exported("Flip") is found.descriptor
    assert [family.name for family in families.families()].count("flip") == 1
