"""A family in a folder of its own, outside the package: all that lists families has it, and no other line was written."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

FOLDER = {
    "__init__": """
        from ep_primitives.families.flip.descriptor import Flip

        __all__ = ["Flip"]
    """,
    "edges": """
        from ep_primitives.judging.edge import EdgeRule

        RULES = (EdgeRule("mirrors", "flip", "show the left", ("primitives/flip/-/int8/dense/contiguous-along-0",)),)
    """,
    "disagreements": """
        from ep_primitives.judging.disagreement import Disagreement

        DISAGREEMENTS = (Disagreement("any", "value", ("flip",), "PyTorch has no mirrors."),)
    """,
    "pytorch": """
        EXPRESSIONS = {"flip": lambda descriptor, x: x.flip(descriptor.axis)}
    """,
    "defects": """
        from ep_conformance.saboteurs.kernel import Defect
        from ep_conformance.saboteurs.saboteur import killed_by


        @killed_by("primitives/flip/-/int8/dense/contiguous-along-0")
        class SeesItselfAsOthersDo(Defect):
            \"\"\"Flip nothing.\"\"\"
    """,
}

LISTS = """
import json, sys
from unittest.mock import MagicMock

sys.modules["torch"] = MagicMock()  # asked for the names of what the folders say, not for results
import ep
from ep.plugin.capabilities import capabilities
import ep_primitives
from ep_tools.documents import families
from ep_tools.generated import kit_claims
from ep_tools.peers import second_opinion
from ep_tools.peers.pytorch.families import FAMILIES

chosen = {name: document for name, document in families.documents().items() if name in {"copy", "flip"}}
families.documents = lambda: chosen  # the text of all takes long
documents = families.written()
print(json.dumps({
    "export": ep_primitives.Flip.__name__,
    "capabilities": sorted({row.how for row in capabilities(ep.device("cpu:0")) if row.family == "flip"}),
    "document": documents["flip.md"].splitlines()[0],
    "index": [line for line in documents["README.md"].splitlines() if "Flip" in line or "mirrors" in line],
    "opinion": [line for line in second_opinion.document().splitlines() if "mirrors" in line],
    "asked": "flip" in FAMILIES,
    "kit": [line.strip() for line in kit_claims.text().splitlines() if "flip/" in line],
}))
"""


@pytest.fixture
def found(command):
    """The command, in whose processes the families have one more folder."""
    folder = command.packages / "more" / "flip"
    folder.mkdir(parents=True)
    for name, text in FOLDER.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    (folder / "descriptor.py").write_text((ROOT / "examples/ep_flip/ep_flip/flip.py").read_text())
    more = f"import ep_primitives.families\n\nep_primitives.families.__path__.append({str(folder.parent)!r})\n"
    (command.packages / "sitecustomize.py").write_text(more)
    return command


def test_lists_have_it(found):
    environment = found.environment | {"PYTHONPATH": f"{found.packages}:{ROOT / 'tools'}"}
    done = subprocess.run(
        [sys.executable, "-c", LISTS], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    lists = json.loads(done.stdout)
    assert lists.pop("export") == "Flip"
    assert lists.pop("capabilities") == ["lowered"]
    assert lists.pop("document") == "# Flip"
    assert len(lists.pop("index")) == 2
    assert lists.pop("opinion") == ["| value | `flip` | any | PyTorch has no mirrors. |"]
    assert lists.pop("asked")
    assert '"flip/-/*/*",' in lists.pop("kit")
    assert not lists


def test_suite_has_it(found):
    done = found.run("cpu", "--filter", "primitives/flip/-/int8/*", "--claim", "flip/*/*/*")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.json["cases"]) > 30
    assert {case["status"] for case in done.json["cases"]} == {"pass"}
    assert "sees-itself-as-others-do" in found("selftest", "--list").stdout
