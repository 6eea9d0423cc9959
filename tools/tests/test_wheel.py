"""The wheel is built once for each state of what makes it."""

import tomllib

import pytest
from ep_tools import wheel
from ep_tools.folders import ROOT

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy"
version = "1.0"

[tool.setuptools]
py-modules = []
"""


@pytest.fixture
def project(monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "ep" / "ep" / "tests").mkdir(parents=True)
    (tmp_path / "ep" / "ep" / "source.py").write_text("1")
    monkeypatch.setattr(wheel, "ROOT", tmp_path)
    monkeypatch.setattr(wheel, "SOURCES", ("pyproject.toml", "ep/ep"))
    return tmp_path


def test_every_package_of_the_wheel_is_among_the_sources():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["scikit-build"]["wheel"]["packages"].values()
    assert all(any(f"{package}/".startswith(f"{source}/") for source in wheel.SOURCES) for package in packages)
    assert all((ROOT / source).exists() for source in wheel.SOURCES)


def test_wheel_is_built_and_found_again(tools, project):
    pytest.importorskip("setuptools", minversion="70.1")
    done = tools("wheel")
    assert done.code == 0
    assert done.output == f"{project}/dist/{wheel.source_hash()}/toy-1.0-py3-none-any.whl\n"
    (made,) = project.glob("dist/*/*.whl")
    before = made.stat().st_mtime_ns
    assert tools("wheel").output == done.output
    assert made.stat().st_mtime_ns == before


def test_hash_is_of_the_sources_alone(project):
    before = wheel.source_hash()
    (project / "ep/ep/tests/test_it.py").write_text("1")
    (project / "other.py").write_text("1")
    assert wheel.source_hash() == before
    (project / "ep/ep/source.py").write_text("2")
    assert wheel.source_hash() != before


def test_sources_that_do_not_build_are_told(tools, project):
    (project / "pyproject.toml").write_text("[build-system]\nrequires = 3\n")
    done = tools("wheel")
    assert done.code == 1
    assert done.lines[-1].startswith(f"Error: the wheel of {project} was not built; what pip said")
