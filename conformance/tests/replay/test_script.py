"""Scripts that show a failure: they exit 1 where the defect is, 0 where it is not, and fit a mail."""

import json
import subprocess
import sys

import pytest
from ep_conformance.replay.script import MOST_COLUMNS, MOST_LINES
from ep_conformance.saboteurs.install import install
from ep_conformance.saboteurs.table import SABOTEURS

ALONE, FILE, SUITE = "alone", "with the file", "by the suite"

FAILING = {
    "skips-the-last-element": ALONE,  # elementwise_unary
    "scalars-through-float32": ALONE,  # broadcast_binary, with a number
    "truncates-bfloat16": ALONE,  # a type that NumPy lacks
    "wraps-casts": ALONE,  # cast
    "takes-one-for-true": ALONE,  # where
    "counts-classes-from-the-end": ALONE,  # one_hot
    "zeroes-rows-of-minus-infinity": ALONE,  # softmax
    "wavers-by-an-ulp": ALONE,  # now and then
    "counts-elements": ALONE,  # random_fill, the state that it updates
    "drops-view-offsets": FILE,  # copy, a stray write
    "permutes-backwards": FILE,  # permute
    "repeats-the-border": FILE,  # pad
    "conjugates-nothing": FILE,  # matmul
    "finds-the-last-of-ties": FILE,  # arg_reduce
    "rounds-each-term": FILE,  # add_n of 64
    "spoils-in-place": FILE,
    "sums-the-last-row-backwards": SUITE,  # reduce, a part of the work beside the whole
    "calls-twice": SUITE,  # the runtime
}

HUNT = """
import contextlib, io, json, os, runpy, sys
from pathlib import Path
import ep
from ep_conformance.replay.evidence import gather
from ep_conformance.replay.file import Replay, read_replay, write_replay
from ep_conformance.replay.script import script_of
from ep_conformance.saboteurs.table import SABOTEURS
from ep_conformance.fixture.trial import Trial
from ep_conformance.run.worker import Job, execute

folder, names = Path(sys.argv[1]), sys.argv[2:]
os.chdir(folder)
for saboteur in [each for each in SABOTEURS if each.name in names]:
    device, identity = ep.device(f"{saboteur.name}:0"), saboteur.killed_by
    for seed in range(20):
        job = Job(device.name, "quick", None, seed, None, Path())
        outcome = execute(device, identity, job)
        if outcome.status == "fail":
            break
    trial = Trial(device, identity, seed, "quick")
    work, least = gather(trial, lambda found: execute(device, identity, job, found))
    file = folder / f"{saboteur.name}.json"
    of = {"name": saboteur.name}, {"name": device.name}, {}
    replay = Replay(identity, seed, "quick", "fail", outcome.reason, *of, outcome.details, work, least)
    write_replay(file, replay.as_json())
    script = file.with_suffix(".py")
    script.write_text(script_of(read_replay(file), file, device.name))
    codes, said = [], []
    for name in (device.name, "cpu:0"):
        sys.argv = [str(script), name]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                runpy.run_path(str(script))
                codes.append(0)
            except SystemExit as left:
                codes.append(int(left.code))
            except Exception as error:
                codes.append(1)
                print(error)
        said.append(out.getvalue())
    print(json.dumps({"name": saboteur.name, "codes": codes, "said": said}))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the scripts of all failures showed, each run on its saboteur and on the CPU, in one process."""
    packages, folder = tmp_path_factory.mktemp("packages"), tmp_path_factory.mktemp("scripts")
    install([saboteur for saboteur in SABOTEURS if saboteur.name in FAILING], packages)
    words = [sys.executable, "-c", HUNT, str(folder), *FAILING]
    environment = {"PYTHONPATH": str(packages), "PATH": "", "EP_CPU_THREADS": "1"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}
    return {name: found[name] | {"text": (folder / f"{name}.py").read_text()} for name in FAILING}


@pytest.mark.parametrize("name", FAILING)
def test_script_shows_the_defect_where_it_is(shown, name):
    assert shown[name]["codes"] == [1, 0], shown[name]
    assert shown[name]["said"][0].strip()


@pytest.mark.parametrize("name", FAILING)
def test_script_is_short_and_needs_as_little_as_it_can(shown, name):
    text = shown[name]["text"]
    assert len(text.splitlines()) <= MOST_LINES
    assert max(map(len, text.splitlines())) <= MOST_COLUMNS
    need = SUITE if "ep_conformance" in text else FILE if "json.load" in text else ALONE
    assert need == FAILING[name]


def test_command_prints_the_script(shared_toy):
    done = shared_toy.run("toy", "--filter", "primitives/elementwise_unary/relu/float32/dense/size-17", EP_TOY="wrong")
    file = shared_toy.folder / done.json["cases"][0]["replay"]
    done = shared_toy("replay", file, "--script")
    assert done.returncode == 0
    script = shared_toy.folder / "show.py"
    script.write_text(done.stdout)
    for toy, code in (("wrong", 1), ("good", 0)):
        environment = shared_toy.environment | {"EP_TOY": toy}
        words = [sys.executable, str(script)]
        shown = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert shown.returncode == code, shown.stderr
        assert "on toy:0" in shown.stdout
