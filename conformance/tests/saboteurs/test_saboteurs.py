"""The tests are tested: the honest provider passes, and each saboteur is killed by the case that it names."""

import json
import os
import re
import signal
import subprocess

import pytest
from ep_conformance.saboteurs.hunters import hunt_all
from ep_conformance.saboteurs.install import install
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import Saboteur
from ep_conformance.saboteurs.table import HONEST, SABOTEURS

import ep

LEAST_VALUE = 75
LEAST_RUNTIME = 100

COMMANDED = ("loses-nan", "holds-kernels-alone", "copies-out-of-order")

DEFECTS = {
    "last element not written": "skips-the-last-element",
    "tail wrong for n mod 16": "computes-tails-apart works-on-the-tail-twice",
    "NaN lost in max": "loses-nan",
    "-0 lost": "loses-the-sign-of-zero",
    "truncating casts": "truncates-before-it-looks wraps-casts",
    "saturation missing": "wraps-casts wraps-negative-numbers",
    "beta ignored": "ignores-beta",
    "alpha twice": "applies-alpha-twice",
    "output read when beta = 0": "reads-out-at-beta-zero",
    "stride of a size-1 axis": "believes-the-stride-of-one-element",
    "negative stride ignored": "ignores-negative-strides",
    "32-bit index overflow": "counts-bytes-in32-bits counts-blocks-in32-bits",
    "axis off by one": "normalizes-the-last-axis is-off-by-one-in-the-fourth-axis",
    "padding sides swapped": "swaps-the-sides-of-padding",
    "softmax without max subtraction": "takes-no-maximum-off",
    "biased reduction": "truncates-sums",
    "in-place overwritten too early": "writes-before-it-reads adds-onto-the-first-term overwrites-y-early",
    "truncating integer division": "divides-towards-zero",
    "bf16 by truncation": "truncates-bfloat16",
    "undeclared flush": "flushes-results flushes-operands",
    "wrong only above 64 Ki elements": "ends-at64-ki",
    "only at odd offsets": "rounds-addresses-down",
    "once in 1000 launches": "fails-once-in-a-thousand",
    "stale scratch": "takes-scratch-for-zeros",
    "scratch of another stream": "shares-scratch-between-streams",
    "more scratch than asked for": "asks-for-too-little-scratch",
    "only the last 16 waits": "keeps-the-last-waits",
    "tail between odd offsets": "ends-copies-at-a-word ends-uploads-at-a-word",
    "priorities ignore waits": "ignores-waits-of-priorities",
    "done when it begins": "is-done-when-a-copy-begins passes-when-a-copy-begins is-idle-during-copies",
}
"""What the suite was asked to find, and who does it."""

ORDERS = {
    "copies-out-of-order": r"the copy on \S+/stream\d+ did not wait for the upload on \S+/stream\d+, which comes before it",
    "reads-uploads-late": r"event\.synchronize\(\) did not wait for the upload on \S+/stream\d+,",
    "downloads-late": r"event\.synchronize\(\) did not wait for the download on \S+/stream\d+,",
    "is-done-when-a-copy-begins": r"event\.(is_done|synchronize\(\)) did not wait for the \w+ on \S+/stream\d+,",
    "reports-events-early": r"event\.is_done did not wait for the copy on \S+/stream\d+,",
    "closes-at-once": r"stream\.close\(\) did not wait for the copy on \S+/stream\d+,",
}
"""How the failures of who violates an order name the two operations and their streams."""


@pytest.fixture
def saboteurs(command):
    """The command, with the honest provider and a few saboteurs: cases look at all providers that are installed."""
    command.packages.mkdir()
    install([HONEST, *(saboteur for saboteur in SABOTEURS if saboteur.name in COMMANDED)], command.packages)
    return command


@pytest.fixture(scope="module")
def selftest(request, long_command):
    """One run of the command over the saboteurs that tests ask for; one more at once than there are cores, because some wait for half a minute."""
    asked = [
        item.callspec.params
        for item in request.session.items
        if item.module is request.module and hasattr(item, "callspec")
    ]
    names = {*ORDERS, *(params["saboteur"].name for params in asked if "saboteur" in params)}
    done = long_command("selftest", *names, "--jobs", os.cpu_count() + 1, "--json", long_command.report)
    done.json = json.loads(long_command.report.read_text())
    done.kills = {kill["name"]: kill for kill in done.json["details"]}
    assert done.kills.keys() == names
    return done


@pytest.mark.parametrize(
    "cases",
    [
        "runtime/[d-g]*",
        "primitives/reduce/*/float32/dense/*",
        pytest.param("runtime/*", marks=pytest.mark.thorough),
        pytest.param("primitives/*/*/float32/dense/*", marks=pytest.mark.thorough),
    ],
)
def test_honest_provider_passes_the_suite(saboteurs, cases):
    """A part, for the sake of time: `selftest` asks it for the case of every saboteur, and the simulated device has all of the runtime."""
    done = saboteurs.run("honest", "--filter", cases)
    assert done.returncode == 0, done.stdout
    summary = done.json["summary"]
    assert summary["expected"] == summary["pass"] > 50
    assert "native" in {case["attested"] for case in done.json["cases"]}


@pytest.mark.parametrize(
    "saboteur",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.thorough] * bool(at % 9))
        for at, each in enumerate(SABOTEURS)
    ],
)
def test_saboteur_is_killed_by_its_case(selftest, saboteur):
    """A value with the first seed; a race or a time may be won a few times. Every day every ninth saboteur is hunted."""
    kill = selftest.kills[saboteur.name]
    assert kill["status"] == "fail", kill
    assert ".py:" not in kill["reason"], "the saboteur itself is broken"
    assert not kill["alarm"], "the honest provider fails the case, too"
    if saboteur.killed_by.startswith("primitives/"):
        assert kill["seeds"] == 1


@pytest.mark.parametrize("name", ORDERS)
def test_failure_says_which_order_was_violated(selftest, name):
    assert re.search(ORDERS[name], selftest.kills[name]["reason"])


def test_selftest_ends_with_its_result(selftest):
    result = {"saboteurs": len(selftest.kills), "killed": len(selftest.kills), "survivors": []}
    assert json.loads(selftest.stdout.splitlines()[-1]) == result
    assert selftest.returncode == 0
    assert {key: selftest.json[key] for key in result} == result
    assert selftest.json["false_alarms"] == []


@pytest.mark.parametrize("name", COMMANDED)
def test_command_fails_a_saboteur(saboteurs, name):
    """As a vendor would see it: one failing case, exit 1."""
    (saboteur,) = (each for each in SABOTEURS if each.name == name)
    done = saboteurs.run(name, "--filter", saboteur.killed_by, "--jobs", 1)
    (case,) = done.json["cases"]
    assert case["id"] == saboteur.killed_by
    assert case["status"] in {"fail", "flaky"}, case
    assert done.returncode == 1


def test_saboteurs_are_many_and_of_every_family():
    value = [each.killed_by.split("/")[1] for each in SABOTEURS if each.killed_by.startswith("primitives/")]
    assert len(value) >= LEAST_VALUE
    assert len(SABOTEURS) - len(value) >= LEAST_RUNTIME
    assert set(value) == set(ep.families())
    assert len({each.name for each in SABOTEURS}) == len(SABOTEURS)


@pytest.mark.parametrize("defect", DEFECTS)
def test_defect_is_planted(defect):
    assert set(DEFECTS[defect].split()) <= {saboteur.name for saboteur in SABOTEURS}


def test_list_says_which_case_kills_which(command):
    lines = command("selftest", "--list").stdout.splitlines()
    assert len(lines) == len(SABOTEURS)
    assert all(saboteur.killed_by in line for saboteur, line in zip(SABOTEURS, lines, strict=True))


def test_unknown_saboteur_is_wrong_use(command):
    done = command("selftest", "nobody")
    assert done.returncode == 2
    assert "nobody" in done.stderr
    assert "--list" in done.stderr


def test_false_alarms_are_looked_for_seed_by_seed(command):
    done = command("selftest", "--false-alarms", 2, "--profile", "quick", "--filter", "primitives/fill/-/int32/*")
    result = json.loads(done.stdout)
    assert done.returncode == 0
    assert result == {"provider": "honest", "seeds": 2, "cases": result["cases"], "false_alarms": []}
    assert result["cases"] > 10
    assert [*map(int, re.findall(r"seed (\d+)", done.stderr))] == [0, 1]


def test_false_alarms_accuse_a_saboteur(command):
    """What is not right after all is named, with its cases."""
    words = ("--false-alarms", 1, "--provider", "loses-nan", "--profile", "quick")
    done = command("selftest", *words, "--filter", "primitives/broadcast_binary/max/float32/dense/special-values")
    assert done.returncode == 1
    assert json.loads(done.stdout)["false_alarms"] == [
        "primitives/broadcast_binary/max/float32/dense/special-values",
    ]


def test_saboteur_that_dies_costs_itself(tmp_path):
    """Nobody is called so, and whoever looks for him dies; the next one has a process of its own."""
    (known,) = (each for each in SABOTEURS if each.name == "loses-nan")
    install([HONEST, known], tmp_path)
    kills = []
    hunted = [Saboteur("nobody", HonestProvider, known.killed_by), known]
    hunt_all(hunted, tmp_path, seeds=1, jobs=1, hear=kills.append)
    assert [(kill.name, kill.status, kill.is_dead) for kill in kills] == [
        ("nobody", "crash", False),
        ("loses-nan", "fail", True),
    ]


@pytest.mark.usefixtures("_interruptible")
def test_interrupted_selftest_says_so(command):
    """Ctrl-C, in the middle: one line, exit 130, and no process left behind."""
    words = command.arguments("selftest", "--jobs", 1)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=command.environment, process_group=0, **pipes) as running:
        assert "killed" in running.stderr.readline()
        os.killpg(running.pid, signal.SIGINT)
        said, complained = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == ""
    assert complained.splitlines()[-1] == "ep-conformance: interrupted"
    assert "Traceback" not in complained
