"""Replay files: what a failing case leaves runs again elsewhere, whatever the file holds it does no harm."""

import ast
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from ep_conformance.cli import run_command
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.construction import construction_of, construction_read
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.catalogue import find
from ep_conformance.plan.subject import Subject
from ep_conformance.replay.evidence import perform
from ep_conformance.replay.file import Replay, ReplayError, Work, file_name, read_replay, write_replay
from ep_conformance.replay.script import script_of
from ep_conformance.replay.values import digest, values_json, values_read
from ep_conformance.report import failures
from ep_conformance.report.report import Report
from ep_conformance.run.verdict import Verdict
from ep_primitives.judging.reference import array_dtype

import ep

CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"


@pytest.mark.parametrize("name", sorted(ep.families()))
def test_every_descriptor_can_be_written_down_and_made_again(name):
    family = ep.families()[name]
    cells = list(family.cells())
    for cell in cells[:: max(1, len(cells) // 20)]:
        for case in family.cases(cell):
            construction = construction_of(case.descriptor)
            assert construction is not None, case.descriptor
            assert construction_read(json.loads(json.dumps(construction.as_json()))).build() == case.descriptor


def test_values_come_back_bit_for_bit():
    bits = np.arange(256, dtype=np.uint8).repeat(2)
    arrays = {
        dtype: bits.view(array_dtype(dtype)).reshape(2, -1)
        for dtype in ("bool", "float16", "bfloat16", "float8_e4m3fn", "int64", "complex64")
    }
    values = arrays | {"yes": True, "big": 2**63, "tiny": 5e-324, "inf": float("-inf"), "complex": complex(1, -0.0)}
    again = values_read(json.loads(json.dumps(values_json(values))))
    assert digest(again) == digest(values)
    assert {name: type(value) for name, value in again.items()} == {n: type(v) for n, v in values.items()}


def test_large_values_are_left_to_the_seed():
    noise = np.random.default_rng(0).integers(0, 256, 1 << 17, dtype=np.uint8)
    assert values_json({"x": noise}) is None
    assert values_json({"x": np.zeros_like(noise)}) is not None


def test_file_name_of_a_long_id_is_cut_and_its_own(tmp_path):
    """An id of three element types and ten situations has more than the 255 bytes that a name may have."""
    one, other = (file_name("primitives/where/" + "situation.of-a-case+" * 15 + end) for end in "ab")
    assert one != other
    assert len(one) < 250
    (tmp_path / one).touch()


def test_file_names_are_ids_without_what_file_systems_dislike():
    assert file_name("runtime/event/wait-orders-kernels") == "runtime.event.wait-orders-kernels.json"
    one, other = (file_name(f"primitives/cast/-/float32{arrow}int8/dense/a") for arrow in ("->", "-,"))
    assert one != other
    assert not set('<>:"/\\|?*, ') & set(one + other)


@pytest.fixture(scope="module")
def left(shared_toy):
    """What a failing run of the toy left: the command, and the replay file."""
    (case,) = shared_toy.run("toy", "--filter", CULPRIT, EP_TOY="wrong").json["cases"]
    return shared_toy, shared_toy.folder / case["replay"]


@pytest.fixture
def failed(left, tmp_path):
    """The command, and a copy of the file in another folder."""
    command, file = left
    return command, Path(shutil.copy(file, tmp_path))


def changed(file, **changes):
    table = json.loads(file.read_text())
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = table
        for key in parents:
            place = place[key]
        place[last] = value
    file.write_text(json.dumps(table))


def test_failure_replays_where_it_failed_and_passes_on_another_provider(failed):
    toy, file = failed
    assert file.name == file_name(CULPRIT)
    assert file.stat().st_size < 4096
    done = toy("replay", file, EP_TOY="wrong")
    assert done.returncode == 1
    assert "relu(x[" in done.stdout
    done = toy("replay", file, "--provider", "cpu")
    assert done.returncode == 0, done.stdout
    assert f"pass         {CULPRIT} on cpu:0" in done.stdout


def test_folder_of_files_replays_on_a_machine_that_never_ran_the_suite(failed, tmp_path):
    toy, file = failed
    done = toy("replay", file.parent, EP_TOY="wrong", XDG_CACHE_HOME=str(tmp_path / "empty"))
    assert done.returncode == 1
    assert "relu(x[" in done.stdout


def test_data_of_the_file_decide_where_the_suite_draws_others(failed_file):
    """The suite's own case runs where it would draw the same, the stored one elsewhere, and nothing without data."""
    passed = Outcome(Status.PASS)

    def performed(**changes):
        changed(failed_file, **changes)
        replay, ran = read_replay(failed_file), []
        outcome, note = perform(
            Trial(ep.device("cpu:0"), replay.case), replay, lambda found: ran.append(found) or passed
        )
        return outcome, note, ran

    assert performed() == (passed, "", [None])
    stored = read_replay(failed_file).work.values["x"]
    for change, why in (
        ({"work__drawn": "00000000"}, "the suite draws other data for it today"),
        ({"work__shift": 4}, "the suite draws other data for it today"),
        ({"case": f"{CULPRIT}-gone"}, "the suite has no such case any more"),
    ):
        outcome, note, (found,) = performed(**change)
        assert (outcome, note) == (passed, f"{why}: run with the data of the file")
        assert found.case.data(None)["x"].tobytes() == stored.tobytes()
        assert found.case.descriptor == find(CULPRIT).case.descriptor
    outcome, _, ran = performed(work__values=None)
    assert outcome.status is Status.MISSING
    assert "the file does not hold the data that failed" in outcome.reason
    assert not ran


def test_command_says_whose_data_it_ran_with(failed):
    toy, file = failed
    changed(file, work__drawn="00000000")
    done = toy("replay", file, EP_TOY="wrong")
    assert done.returncode == 1
    assert "note: the suite draws other data for it today: run with the data of the file" in done.stdout


def test_crash_leaves_a_file_with_its_data_in_the_folder_of_the_command_line(shared_toy):
    folder = shared_toy.folder / "mine"
    words = ("run", "--provider", "toy", "--quick", "--filter", CULPRIT, "--jobs", 1, "--replays", folder)
    assert shared_toy(*words, EP_TOY="crash").returncode == 1
    (file,) = folder.iterdir()
    assert file.name == file_name(CULPRIT)
    assert read_replay(file).work.values is not None
    done = shared_toy("replay", file, EP_TOY="crash")
    assert done.returncode == 1
    assert "SIGABRT" in done.stdout


def test_files_of_cases_that_pass_again_are_removed(toy):
    folder = toy.folder / "report-failures"
    folder.mkdir()
    old, foreign = folder / file_name(CULPRIT), folder / "notes.json"
    old.touch()
    foreign.touch()
    toy.run("toy", "--filter", CULPRIT)
    assert [path.name for path in folder.iterdir()] == [foreign.name]


def test_ctrl_c_ends_the_second_look_and_no_file(tmp_path, monkeypatch):
    """Whoever presses Ctrl-C then wants the report, which the files belong to."""
    asked = []

    def interrupted(gatherer, verdict):
        asked.append(verdict.id)
        raise KeyboardInterrupt

    monkeypatch.setattr(failures._Gatherer, "_gather", interrupted)
    ids = [CULPRIT, CULPRIT.replace("17", "31")]
    verdicts = tuple(Verdict(identity, Outcome(Status.FAIL, "wrong"), counts=True) for identity in ids)
    report = Report(Subject("toy", "1.0", {"name": "toy:0"}), "quick", 0, verdicts, 1.0)
    said = []
    folder = tmp_path / "report-failures"
    kept = failures.keep_failures(report, folder, None, tmp_path, said.append)
    assert asked == ids, "the deadline is over, which the second one is told, too"
    assert [verdict.replay for verdict in kept.verdicts] == [f"report-failures/{file_name(each)}" for each in ids]
    assert [read_replay(folder / file_name(each)).case for each in ids] == ids
    assert "writing replay files of 2 failures" in said[0]


def test_wrong_use_is_a_sentence(failed_file, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    for words in (["nowhere.json"], [str(failed_file), "--provider", "nonesuch"], [str(empty)]):
        assert run_command(["replay", *words]) == 2
        assert "Traceback" not in capsys.readouterr().err
    assert run_command(["replay", str(failed_file), "--provider", "cpu", "--device", "7"]) == 3
    assert "cpu:7" in capsys.readouterr().err


HUGE = {"dtype": "float32", "shape": [1 << 40], "strides": [1], "offset": 0}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "recipe"}, "its kind is not"),
        ({"schema": 9}, "of schema 9, this suite reads 1"),
        ({"seed": -1}, "is damaged"),
        ({"seed": "0"}, "is damaged"),
        ({"profile": "huge"}, "is damaged"),
        ({"verdict": None}, "is damaged"),
        ({"work__shift": 1 << 40}, "is damaged: ValueError: shift"),
        ({"work__in_place": "out"}, "in_place 'out' is not valid"),
        ({"work__descriptor__family": "__import__('os')"}, "is no installed family"),
        ({"work__descriptor__keywords__evil": 1}, "is damaged: TypeError"),
        ({"work__descriptor__keywords__x": HUGE, "work__descriptor__keywords__out": HUGE}, "at most 1073741824"),
        (
            {"work__descriptor__keywords__x": {"dtype": "float32", "shape": [17], "strides": [-1], "offset": 0}},
            "damaged",
        ),
        ({"work__values__x__bytes": "AAAA"}, "bytes of an array are damaged"),
        ({"work__values__x__shape": [18]}, "has 68 bytes or more, needs 72"),
        ({"work__values__x__shape": [16]}, "has 64 bytes or more, needs 64"),
        ({"work__values__x": {"float": "0x1p0"}}, "the value of x does not fit"),
        ({"work__values": {}}, "is damaged: KeyError"),
        ({"device": {}}, "is damaged: KeyError"),
        ({"work__values__y": {"float": "0x1p0"}}, "has no operand 'y'"),
        ({"verdict__index": ["0]); print('harm'); (["]}, "is damaged: ValueError: index is"),
        ({"verdict__operand": 'out"]; print("harm")'}, "is damaged: ValueError: operand is"),
        ({"verdict__bits": '"); print("harm")'}, "is damaged: ValueError: bits is"),
        ({"verdict__value": "print('harm')"}, "is damaged: ValueError: complex"),
        ({"verdict__allowed": float("nan")}, "is damaged: ValueError: allowed is"),
    ],
)
def test_hostile_file_is_a_sentence(failed_file, changes, words):
    changed(failed_file, **changes)
    with pytest.raises(ReplayError) as refused:
        read_replay(failed_file)
    assert words in str(refused.value)
    assert failed_file.name in str(refused.value)


@pytest.mark.parametrize("kind", ["element", "byte", "again", "bool", "updated", "raised", "part", "print('harm')"])
def test_script_of_a_hostile_file_holds_its_texts_as_texts(failed_file, kind):
    harm = '"""); print("harm")\n\'; print("harm") #'
    changes = {"case": harm, "verdict__reason": harm, "device__name": f"toy{harm}:0", "verdict__kind": kind}
    for more in (
        {},
        {"verdict__index": [0], "verdict__bits": "00000000", "verdict__given": harm, "verdict__needed": harm},
    ):
        changed(failed_file, **changes, **more)
        replay = read_replay(failed_file)
        tree = ast.parse(script_of(replay, failed_file, str(replay.device["name"])))
        calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert not [call for call in calls if call == "print('harm')"]


@pytest.mark.parametrize("content", [b"", b"{", b"\x80\x04", b"null", b"[" * 100_000, b"\xff\xfe"])
def test_broken_file_is_a_sentence(tmp_path, content):
    file = tmp_path / "broken.json"
    file.write_bytes(content)
    with pytest.raises(ReplayError, match="is no replay file"):
        read_replay(file)


@pytest.fixture
def failed_file(tmp_path):
    """A replay file, made without any device."""
    case = find(CULPRIT).case
    work = Work.of(case, case.data(Trial(ep.device("cpu:0"), CULPRIT).rng))
    file = tmp_path / "file.json"
    replay = Replay(CULPRIT, 0, "quick", "fail", "wrong", {"name": "toy"}, {"name": "toy:0"}, {}, {}, work)
    write_replay(file, replay.as_json())
    return file
