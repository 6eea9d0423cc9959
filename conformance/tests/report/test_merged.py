"""Runs over several machines: shards, and one report of theirs."""

import json
from dataclasses import replace

import pytest
import samples
from ep_conformance.cli import run_command
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.shard import Shard
from ep_conformance.report.file import read_report
from ep_conformance.report.merged import MergeError, merged

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CASES = tuple(f"primitives/reduce/sum/float32/dense/{number}" for number in range(40))
VARYING = ("seconds", "started", "jobs", "peak_memory", "verdict")


def shard(number, count, *verdicts, **fields):
    return samples.report(*verdicts, shard=Shard(number, count), **fields)


def parts(count=3, **fields):
    """Reports of all shards, by path."""
    verdicts = [samples.verdict(name, Status.PASS) for name in CASES]
    made = (Shard(number, count) for number in range(1, count + 1))
    return {f"{each.number}.json": shard(*each, *(v for v in verdicts if each.has(v.id)), **fields) for each in made}


@pytest.mark.parametrize("count", [1, 2, 7])
def test_each_case_belongs_to_one_shard(count):
    for case in CASES:
        assert sum(Shard(number, count).has(case) for number in range(1, count + 1)) == 1


def test_merged_shards_are_the_whole_run(shared_toy):
    """Verdict by verdict, failures and what is unsupported among them; and shards have their share."""
    whole = shared_toy.run("toy", "--filter", RELU, EP_TOY="wrong").json
    paths = []
    for number in range(1, 3):
        part = shared_toy.run("toy", "--filter", RELU, "--shard", f"{number}/2", EP_TOY="wrong")
        assert f"shard {number}/2: " in part.stdout.splitlines()[-1]
        assert 0 < len(part.json["cases"]) < len(whole["cases"])
        paths.append(shared_toy.report.rename(shared_toy.folder / f"{number}.json"))
    made = shared_toy.folder / "merged.json"
    done = shared_toy("merge", *reversed(paths), "--json", made, "--html", shared_toy.folder / "merged.html")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("FAIL (1 fail): toy")
    found = json.loads(made.read_text())
    for table in (found, whole):
        table["cases"] = {case["id"]: case | {"seconds": 0, "replay": None} for case in table["cases"]}
        table["notices"].sort()
        for name in VARYING:
            del table[name]
    found["cases"] = {name: found["cases"][name] for name in whole["cases"]}
    for case in (*found["cases"].values(), *whole["cases"].values()):
        if case["first"]:
            case["first"]["seconds"] = 0
    assert found == whole
    assert (shared_toy.folder / "merged.html").exists()
    refused = shared_toy(
        "claims", "--provider", "toy", "--check", shared_toy.folder / "claims.toml", "--from", paths[0]
    )
    assert refused.returncode == 2
    assert "is shard 1/2 of a run" in refused.stderr


def test_times_and_jobs_are_added_up():
    whole = merged(parts())
    assert (whole.seconds, whole.jobs, whole.peak_memory) == (3 * 75.5, 6, 3 << 20)
    assert (whole.shard, whole.exit_code, len(whole.verdicts)) == (None, 0, len(CASES))


def test_shard_without_a_case_passes_and_a_whole_run_without_one_does_not():
    assert shard(1, 2).exit_code == 0
    assert shard(1, 1).exit_code == 1
    assert merged({"1": shard(1, 2), "2": shard(2, 2)}).exit_code == 1


def test_interrupted_shard_leaves_the_whole_interrupted():
    given = parts()
    given["2.json"] = replace(given["2.json"], interrupted=True)
    assert merged(given).exit_code == 130


def test_replay_files_are_named_from_the_folder_of_the_whole(tmp_path, capsys):
    paths = []
    for number in (1, 2):
        folder = tmp_path / f"machine-{number}"
        folder.mkdir()
        failing = replace(samples.verdict(CASES[number], Status.FAIL), replay="s-failures/it.json")
        paths.append(folder / "s.json")
        shard(number, 2, failing).write_json(paths[-1])
    whole = tmp_path / "whole.json"
    assert run_command(["merge", *map(str, paths), "--json", str(whole)]) == 1
    assert {each.replay for each in read_report(whole).verdicts} == {
        f"machine-{number}/s-failures/it.json" for number in (1, 2)
    }
    alias = tmp_path / "machine-1" / ".." / "machine-1" / "s.json"
    for words, says in (
        ([*paths, alias], "is given twice"),
        ([*paths, "--json", alias], "is one of the shards"),
        ([*paths, "--markdown", alias], "is one of the shards"),
    ):
        assert run_command(["merge", *map(str, words)]) == 2
        assert says in capsys.readouterr().err
    assert read_report(paths[0]).shard == Shard(1, 2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda all_: all_.pop("2.json"), "shard 2/3 missing; run `ep-conformance run --shard 2/3` as the others"),
        (lambda all_: (all_.pop("1.json"), all_.pop("3.json")), "shards 1/3, 3/3 missing"),
        (lambda all_: all_.update({"4.json": all_["1.json"]}), "shard 1/3 is there twice"),
        (lambda all_: all_.update({"2.json": replace(all_["2.json"], shard=None)}), "2.json is of a whole run"),
        (lambda all_: all_.update({"2.json": shard(2, 4)}), "2.json is shard 2/4, 1.json is shard 1/3"),
        (lambda all_: all_.update({"2.json": shard(2, 3, *all_["1.json"].verdicts)}), "is in two of the reports"),
        (lambda all_: all_.update({"3.json": replace(all_["3.json"], seed=9)}), "3.json is of seed 9, 1.json of 7"),
        (lambda all_: all_.update({"3.json": replace(all_["3.json"], suite="0.9")}), "3.json is of suite 0.9"),
        (
            lambda all_: all_.update({"3.json": replace(all_["3.json"], pattern="*/sum/*")}),
            r"3.json is of filter \*/sum/\*, 1.json of None",
        ),
    ],
)
def test_what_is_no_whole_run_is_refused(change, says):
    given = parts()
    change(given)
    with pytest.raises(MergeError, match=says):
        merged(given)


def test_devices_of_one_kind_may_differ_in_name_and_memory_alone():
    given = parts()
    last = given["3.json"]
    device = last.subject.device | {"name": "toy:5", "memory": 5}
    given["3.json"] = replace(last, subject=replace(last.subject, device=device))
    assert merged(given).subject.name == "toy:0"
    given["3.json"] = replace(last, subject=replace(last.subject, device=device | {"driver": "beads 4"}))
    with pytest.raises(MergeError, match=r"device \{'driver': 'beads 4'\}, 1.json of \{'driver': 'beads 3'\}"):
        merged(given)


@pytest.mark.parametrize("text", ["", "3", "0/3", "4/3", "1/0", "-1/3", "a/b", "1/2/3"])
def test_what_is_no_shard_is_exit_2(text, capsys):
    assert run_command(["run", "--provider", "cpu", "--shard", text]) == 2
    assert "is no shard; write which of how many, such as 2/8" in capsys.readouterr().err


def test_wrong_use_is_a_sentence(tmp_path, capsys):
    assert run_command(["run", "--provider", "cpu", "--shard", "1/2", "--filter", "nothing/*"]) == 2
    assert "--shard 1/2: no case of the whole run is expected to run" in capsys.readouterr().err
    assert run_command(["run", "--provider", "cpu", "--shard", "1/2", "--failed"]) == 2
    assert "--failed and --shard 1/2 contradict each other" in capsys.readouterr().err
    path = tmp_path / "1.json"
    shard(1, 1, samples.verdict("one", Status.PASS)).write_json(path)
    assert run_command(["merge", str(path), "--json", str(path)]) == 2
    assert "is one of the shards" in capsys.readouterr().err
    assert run_command(["merge", str(path)]) == 0
    assert run_command(["merge", str(tmp_path / "none.json")]) == 2
    assert "none.json cannot be read" in capsys.readouterr().err
    assert read_report(path).shard == Shard(1, 1)
