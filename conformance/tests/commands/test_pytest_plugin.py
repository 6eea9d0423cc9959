"""The pytest plugin: one test a case, in the suite's workers, with the verdict as the message."""

import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
OWN = """\
def test_device(ep_device):
    assert ep_device.name == "toy:0"

def test_trial(ep_trial):
    sent = ep_trial.noise(64)
    assert (ep_trial.content(ep_trial.stream(), ep_trial.holding(ep_trial.stream(), sent)) == sent).all()
"""
WAIVER = '[[waiver]]\ncases = "*/size-17"\nreason = "known"\nowner = "us"\nlink = "https://toy.example/1"\nexpires = 2099-01-01\n'
XDIST = "def pytest_addoption(parser):\n    parser.addoption('--numprocesses', type=int)\n"


@pytest.fixture
def run(toy):
    """Run pytest with the plugin alone, in a folder with one file of tests, on relu in float32 unless told otherwise."""
    folder = toy.folder / "tests"
    folder.mkdir()
    (folder / "test_own.py").write_text(OWN)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (toy.packages / "plugin_like_xdist.py").write_text(XDIST)

    def run(*words, provider="toy", within=RELU, **environment):
        chosen = [f"--ep-provider={provider}"] if provider else []
        chosen += [f"--ep-filter={within}"] if within else []
        command = [sys.executable, "-m", "pytest", "-p", "ep_conformance.pytest_plugin", "-p", "no:cacheprovider"]
        if "--lf" in words:
            command = command[:-2]
        return subprocess.run(
            [*command, *chosen, *map(str, words)],
            cwd=folder,
            env=toy.environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""} | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    run.toy = toy
    return run


def test_every_case_is_a_test_beside_ones_own(run):
    done = run("-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "::primitives/elementwise_unary/relu/float32/dense/size-17 PASSED" in done.stdout
    assert "test_own.py::test_device PASSED" in done.stdout
    assert "10 passed" in done.stdout
    assert "ep-conformance: toy:0 (toy), profile quick: 8 cases; 0 that nobody" in done.stdout


def test_failure_says_the_verdict(run):
    done = run(EP_TOY="wrong")
    assert done.returncode == 1
    assert "1 failed, 9 passed" in done.stdout
    assert "fail: relu(x[" in done.stdout
    assert f"ep-conformance explain {RELU[:-1]}size-17" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_last_failed_runs_what_failed_alone(run):
    assert "1 failed, 9 passed" in run("--lf", EP_TOY="wrong").stdout
    done = run("--lf", EP_TOY="wrong")
    assert "1 failed" in done.stdout
    assert "passed" not in done.stdout


def test_crash_costs_its_test_alone_and_junit_has_all(run):
    file = run.toy.folder / "junit.xml"
    done = run(f"--junitxml={file}", EP_TOY="crash")
    assert "1 failed, 9 passed" in done.stdout
    assert "crash: the process ended with signal 6" in done.stdout
    cases = {case.get("name"): case for case in ET.parse(file).iter("testcase")}
    assert len(cases) == 10
    assert cases[f"{RELU[:-1]}size-17"].find("failure") is not None


def test_waived_is_expected_and_unclaimed_is_skipped(run):
    (run.toy.packages / "ep_toy" / "waivers.toml").write_text(WAIVER)
    done = run("-rxs", within="primitives/elementwise_unary/relu/float32/[ds]*", EP_TOY="wrong")
    assert done.returncode == 0
    assert "1 xfailed" in done.stdout
    assert "waived: " in done.stdout
    assert "not claimed, but accepted: pass; claim it" in done.stdout


def test_keywords_select(run):
    assert "1 passed, 9 deselected" in run("-k", "size-17 or nothing").stdout
    assert "2 passed, 8 deselected" in run("-m", "not ep_conformance").stdout


def test_paths_that_are_named_are_all_that_runs(run):
    done = run("test_own.py", within=None)
    assert "2 passed" in done.stdout
    assert "ep-conformance:" not in done.stdout
    done = run("test_own.py", provider=None, within=None)
    assert "2 skipped" in done.stdout


@pytest.mark.parametrize(
    ("words", "options", "sentence"),
    [
        (("-p", "plugin_like_xdist", "--numprocesses", "2"), {}, "leave out -n of pytest-xdist"),
        ((), {"provider": "nonesuch"}, "unknown provider 'nonesuch'"),
        (
            ("--ep-filter", "runtime/* collective/4/*"),
            {},
            "collectives of each number of ranks take a run of their own",
        ),
        (("--ep-seed", "-1"), {}, "'-1' is no whole number from 0 on"),
        ((), {"EP_TOY": "unavailable"}, "no toy is plugged in"),
    ],
)
def test_what_cannot_run_is_a_sentence(run, words, options, sentence):
    done = run(*words, **options)
    assert done.returncode == 4
    assert sentence in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_loading_the_plugin_imports_nothing_of_ep():
    code = "import sys, ep_conformance.pytest_plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"ep", "numpy", "ep_primitives", "ep_conformance.fixture.trial", "click", "rich"}


def test_plugin_is_found_by_its_entry_point():
    table = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert table["project"]["entry-points"]["pytest11"] == {"ep_conformance": "ep_conformance.pytest_plugin"}
