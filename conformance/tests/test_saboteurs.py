"""The tests are tested: the honest provider passes, and each saboteur is killed by the case that the table names."""

import json
import subprocess
import sys

import pytest
from ep_conformance.saboteurs.install import install
from ep_conformance.saboteurs.table import HONEST, SABOTEURS, table_lines

MOST_SEEDS = 50
LEAST_RUNTIME = 25
BATCHES = 4


COMMANDED = ("loses-nan", "holds-kernels-alone", "copies-out-of-order")


@pytest.fixture
def saboteurs(command):
    """The command, with the honest provider and a few saboteurs: cases look at all providers that are installed."""
    command.packages.mkdir()
    install([HONEST, *(saboteur for saboteur in SABOTEURS if saboteur.name in COMMANDED)], command.packages)
    return command


@pytest.fixture(scope="module")
def kills(tmp_path_factory):
    """What became of each saboteur, hunted in a few processes: starting one for each would take a minute."""
    packages = tmp_path_factory.mktemp("packages")
    install(SABOTEURS, packages)
    found = {}
    names = [saboteur.name for saboteur in SABOTEURS]
    for batch in range(BATCHES):
        found |= hunt(names[batch::BATCHES], packages)
    return found


def hunt(names, packages):
    words = [sys.executable, "-m", "ep_conformance.saboteurs", "--hunt", str(MOST_SEEDS), *names]
    environment = {"PYTHONPATH": str(packages), "PATH": "", "EP_CPU_THREADS": "1"}
    try:
        text = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False).stdout
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode()
    return {kill["name"]: kill for kill in map(json.loads, text.splitlines())}


@pytest.mark.parametrize("cases", ["runtime/*", "primitives/*/*/*32/dense/*"])
def test_honest_provider_passes_the_suite(saboteurs, cases):
    """All of the runtime; of the primitives dense ones of 32 bits, for the sake of time."""
    done = saboteurs.run("honest", "--filter", cases)
    assert done.returncode == 0, done.stdout
    summary = done.json["summary"]
    assert summary["expected"] == summary["pass"] > 50
    assert "native" in {case["attested"] for case in done.json["cases"]}


@pytest.mark.parametrize("saboteur", SABOTEURS, ids=lambda saboteur: saboteur.name)
def test_saboteur_is_killed_by_its_case(kills, saboteur):
    """Within 50 seeds; most need one. A race or a time may be won once."""
    assert saboteur.name in kills, "the process that ran it died or hung"
    kill = kills[saboteur.name]
    assert kill["seeds"], f"it survived {MOST_SEEDS} seeds of {saboteur.killed_by}"
    assert ".py:" not in kill["reason"], "the saboteur itself is broken"


@pytest.mark.parametrize("name", COMMANDED)
def test_command_fails_a_saboteur(saboteurs, name):
    """As a vendor would see it: one failing case, exit 1."""
    (saboteur,) = (each for each in SABOTEURS if each.name == name)
    done = saboteurs.run(name, "--filter", saboteur.killed_by, "--jobs", 1)
    (case,) = done.json["cases"]
    assert case["id"] == saboteur.killed_by
    assert case["status"] in {"fail", "flaky"}, case
    assert done.returncode == 1


def test_table_is_printed_in_full():
    lines = list(table_lines())
    assert len(lines) == len(SABOTEURS)
    assert len([saboteur for saboteur in SABOTEURS if saboteur.killed_by.startswith("runtime/")]) >= LEAST_RUNTIME
    assert all(saboteur.killed_by in line for saboteur, line in zip(SABOTEURS, lines, strict=True))
