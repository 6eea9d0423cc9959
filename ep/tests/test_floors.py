"""The floors of ep: none imports one above it, but for the names of types, and for what a function asks for when it runs."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "ep"
FLOORS = ("ground", "layout", "spi", "memory", "exchange", "work", "stream", "collective", "plugin")
"""From the bottom up. A vendor's side, `ep.spi`, stands where its imports put it."""


def imported(path):
    """Yield the modules of ep that a file imports when it is loaded."""
    tree, later = ast.parse(path.read_text()), set()
    for node in ast.walk(tree):
        is_typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if is_typing or isinstance(node, ast.FunctionDef):
            later |= {id(each) for each in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in later and node.module.partition(".")[0] == "ep":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_floor_imports_one_above_it():
    upwards = []
    for at, floor in enumerate(FLOORS):
        for path in sorted((PACKAGE / floor).glob("*.py")):
            above = [name for name in imported(path) if name.split(".")[1] in FLOORS[at + 1 :]]
            upwards += [f"{floor}/{path.name}: {name}" for name in above]
    assert upwards == []


def test_every_module_is_on_a_floor_or_has_a_name_that_users_write():
    folders = {path.parent.name for path in PACKAGE.rglob("*.py")} - {"ep"}
    assert folders == set(FLOORS)
    public = {"__init__", "cli", "dtypes", "errors", "folders", "hooks", "integers", "kept", "locks"}
    assert {path.stem for path in PACKAGE.glob("*.py")} == public
