"""The house rules that programs can check: file and function lengths, names, unfinished marks, rooms."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
ROOMS = [
    "ep",
    "primitives",
    "collectives",
    "sharded",
    "providers/cpu",
    "providers/simt",
    "providers/opencl",
    "providers/cuda",
    "providers/cuda/emulator",
    "providers/sim",
    "conformance",
    "benchmarks",
    "tools",
]

MADE = {"build", "dist", "__pycache__"}
"""Folders of what is made from the sources; those whose names begin with a dot are nobody's sources either."""

FOUND = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.suffix in {".py", ".cpp", ".h", ".inc", ".def"})
SOURCES = sorted(
    path.as_posix() for path in FOUND if not any(part in MADE or part.startswith(".") for part in path.parts)
)
PYTHON = [path for path in SOURCES if path.endswith(".py")]


def test_sources_of_every_room_are_found():
    tests = (path.partition("/tests/") for path in PYTHON if Path(path).name.startswith("test_"))
    assert {room for room, folder, _ in tests if folder} >= set(ROOMS)
    assert {path for path in SOURCES if path.startswith("providers/cpu/") and path.endswith(".cpp")}


def test_no_file_is_longer_than_the_house_allows():
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in SOURCES}
    assert {path: n for path, n in lengths.items() if n > LONGEST_FILE} == {}


def test_no_function_is_longer_than_the_house_allows():
    long = {}
    for path in PYTHON:
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                long[f"{path}:{node.name}"] = node.end_lineno - node.lineno + 1
    assert long == {}


def test_no_file_is_named_for_what_it_is_not():
    banned = {"utils", "util", "helpers", "helper", "common", "base", "misc", "manager"}
    assert [path for path in PYTHON if Path(path).stem in banned] == []


def test_unfinished_marks_name_an_issue():
    marks = []
    for path in SOURCES:
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", line) and path != "ep/tests/test_house.py":
                marks.append(f"{path}:{number}")
    assert marks == []


@pytest.mark.parametrize("room", ROOMS)
def test_each_room_has_its_readme_package_and_tests(room):
    assert (ROOT / room / "README.md").is_file()
    assert any((ROOT / room / "tests").rglob("test_*.py"))
    (package,) = (ROOT / room).glob("ep*/__init__.py")
    assert (package.parent / "py.typed").is_file()


def test_providers_use_the_same_file_names():
    for room in ("cpu", "opencl", "cuda", "sim"):
        files = {path.stem for path in (ROOT / "providers" / room / f"ep_{room}").glob("*.py")}
        assert {"provider", "device", "stream", "event", "implementations"} <= files


def _is_lock(item):
    name = ast.unparse(item.context_expr)
    return (
        "(" not in name
        and re.search(r"(lock|_counting|_opening|_DROPPING)$", name, re.IGNORECASE)
        and "turn" not in name
    )


def test_no_call_stands_under_a_lock():
    """See ep.locks: a handler could come in behind it. What must call others takes turns, and says what that means."""
    calls = []
    for path in PYTHON:
        if "/tests/" in path or not path.startswith(("ep/", "providers/")):
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            if isinstance(node, ast.With) and any(map(_is_lock, node.items)):
                inside = [each for line in node.body for each in ast.walk(line)]
                calls += [
                    f"{path}:{each.lineno}" for each in inside if isinstance(each, ast.Call | ast.For | ast.While)
                ]
    assert calls == []
