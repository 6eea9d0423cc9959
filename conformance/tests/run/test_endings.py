"""However a run ends, what was settled is on disk, no process stays behind, and the next run goes on from there."""

import contextlib
import errno
import itertools
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from ep_conformance.commands.exits import UnavailableExit
from ep_conformance.commands.run import judged
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.subject import Subject
from ep_conformance.report.draft import Draft, finish
from ep_conformance.report.journal import Journal, journal_of, read_journal
from ep_conformance.report.report import Report, heading
from ep_conformance.run import interrupts
from ep_conformance.run.interrupts import ENDINGS, undisturbed
from ep_conformance.run.orphan import end_after_parent
from ep_conformance.run.record import record, verdict_of
from ep_conformance.run.verdict import Verdict
from ep_conformance.run.worker import Job
from ep_conformance.run.workers import Worker, Workplace
from ep_conformance.session import Options
from rich.console import Console

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"
SUBJECT = Subject("toy", "1.0", {"name": "toy:0"})
HEADING = heading(SUBJECT, "quick", 0, None)
ONE, OTHER = (Verdict(name, Outcome(Status.PASS, seconds=0.5), counts=True) for name in ("one", "other"))

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def eventually(claim, seconds=30.0):
    end = time.monotonic() + seconds
    while not (found := claim()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def children(pid):
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def is_alive(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def hanging(toy):
    """A run of two workers that hangs in one case, everything else settled; yields the process and its children."""
    arguments = ["run", "--provider", "toy", "--quick", "--filter", RELU, "--jobs", "1", "--json", toy.report]
    process = subprocess.Popen(
        toy.arguments(*arguments), env=toy.environment | {"EP_TOY": "hang"}, stdout=subprocess.PIPE, text=True
    )
    try:
        assert eventually((toy.folder / "mark").exists), "the toy never hung"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def _all_endings_as_ctrl_c():
    before = {ending: signal.signal(ending, signal.default_int_handler) for ending in ENDINGS}
    yield
    for ending, handler in before.items():
        signal.signal(ending, handler)


@pytest.fixture
def elsewhere():
    """A library's thread: it takes signals that the main thread blocks."""
    idle = threading.Event()
    thread = threading.Thread(target=idle.wait)
    thread.start()
    yield thread
    idle.set()
    thread.join()


@pytest.mark.usefixtures("_all_endings_as_ctrl_c")
@pytest.mark.parametrize("step", range(18))
def test_signal_that_comes_at_any_step_leaves_signals_as_they_were(monkeypatch, elsewhere, step):
    """Before or after each of the nine calls that change how signals are dealt with."""
    steps = itertools.count()

    def come():
        if next(steps) == step:
            signal.pthread_kill(elsewhere.ident, signal.SIGINT)
            time.sleep(0.01)

    def interrupted(call):
        def at(*arguments):
            come()
            done = call(*arguments)
            come()
            return done

        return at

    changed = {name: interrupted(getattr(signal, name)) for name in ("signal", "pthread_sigmask")}
    monkeypatch.setattr(interrupts, "signal", SimpleNamespace(**vars(signal) | changed))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with pytest.raises(KeyboardInterrupt), undisturbed():
        pass
    assert next(steps) > step
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask
    for ending in ENDINGS:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(ending)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_while_a_worker_starts_leaves_none(monkeypatch, tmp_path):
    begin = multiprocessing.process.BaseProcess.start

    def interrupted(process):
        begin(process)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", interrupted)
    before = multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        Worker(Job("cpu:0", "quick", None, 0, None, tmp_path / "worker.log"))
    assert multiprocessing.active_children() == before


def test_file_that_comes_while_the_workplace_goes_is_no_error(monkeypatch):
    remove = os.rmdir

    def meanwhile(path, **where):
        if Path(path).name == Path(folder).name:
            (Path(folder) / "worker.log").touch()
        remove(path, **where)

    with Workplace() as folder:
        monkeypatch.setattr(os, "rmdir", meanwhile)
    monkeypatch.undo()
    assert Path(folder).exists(), "nothing came meanwhile"
    shutil.rmtree(folder)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_while_the_workplace_goes_leaves_nothing_of_it(monkeypatch):
    remove = os.rmdir

    def interrupted(path, **where):
        signal.raise_signal(signal.SIGINT)
        remove(path, **where)

    workplace = Workplace()
    monkeypatch.setattr(os, "rmdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        workplace.cleanup()
    assert not Path(workplace.name).exists()


@needs_linux
def test_kill_of_the_run_leaves_a_journal_and_no_process(toy, hanging):
    family = [hanging.pid, *children(hanging.pid)]
    assert len(family) > 1
    hanging.kill()
    hanging.wait()
    assert eventually(lambda: not any(map(is_alive, family))), "a worker outlived its run"
    report = json.loads(toy.report.read_text())
    assert report["interrupted"] is True
    heading, records = read_journal(journal_of(toy.report))
    assert heading == {name: report[name] for name in heading}
    settled = {verdict_of(table).id: table for table in records}
    assert settled
    assert CULPRIT not in settled
    done = subprocess.run(
        toy.arguments(
            *("run", "--provider", "toy", "--quick", "--filter", RELU, "--jobs", "1"),
            *("--json", toy.report, "--resume", toy.report),
        ),
        env=toy.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(settled)} verdicts taken over" in done.stdout
    cases = {case["id"]: case for case in json.loads(toy.report.read_text())["cases"]}
    assert {identity: cases[identity] for identity in settled} == settled
    assert cases[CULPRIT]["status"] == "pass"
    assert not journal_of(toy.report).exists()


@needs_linux
def test_termination_is_as_ctrl_c(toy, hanging):
    family = [hanging.pid, *children(hanging.pid)]
    hanging.send_signal(signal.SIGTERM)
    out, _ = hanging.communicate(timeout=60)
    assert hanging.returncode == 130
    assert out.splitlines()[-1].startswith("INTERRUPTED: toy 1.0 on toy:0")
    report = json.loads(toy.report.read_text())
    assert report["interrupted"] is True
    assert {case["status"] for case in report["cases"]} == {"pass", "missing"}
    assert not journal_of(toy.report).exists()
    assert eventually(lambda: not any(map(is_alive, family)))


def _watched(connection):
    connection.send(os.getpid())
    end_after_parent()


def _parent(connection):
    context = multiprocessing.get_context("fork")
    context.Process(target=_watched, args=(connection,)).start()
    time.sleep(60)


@needs_linux
def test_thread_that_watches_ends_the_process_too():
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    parent = context.Process(target=_parent, args=(theirs,))
    parent.start()
    assert ours.poll(30)
    child = ours.recv()
    assert is_alive(child)
    parent.kill()
    parent.join()
    assert eventually(lambda: not is_alive(child))


def test_disk_that_is_full_is_a_sentence_and_what_fitted_is_resumed(toy):
    toy.environment.pop("PYTHONDONTWRITEBYTECODE", None)
    arguments = ["run", "--provider", "toy", "--quick", "--filter", RELU, "--jobs", "1", "--json", toy.report]
    done = toy.on_a_full_disk(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr
    assert f"{journal_of(toy.report)} takes no more" in done.stdout
    assert "cannot write the report" in done.stderr
    _, records = read_journal(journal_of(toy.report))
    assert records
    assert not [*toy.packages.rglob("*.pyc")], "bytecode that did not fit"
    command = re.search(r"--resume \S+", done.stdout)[0]
    for words in (command.split(), ["--resume", journal_of(toy.report)]):
        again = toy("run", "--provider", "toy", "--quick", "--filter", RELU, "--jobs", "1", *words)
        assert again.returncode == 0, again.stderr
        assert f"{len(records)} verdicts taken over" in again.stdout


def test_torn_last_line_was_never_settled(tmp_path):
    path = tmp_path / "report.json.journal"
    journal = Journal(path, HEADING, [ONE])
    journal.write(OTHER)
    journal.close()
    whole = path.read_bytes()
    for cut in (1, 2, 40):
        path.write_bytes(whole[:-cut])
        assert read_journal(path) == (HEADING, [record(ONE)])
    path.write_bytes(whole)
    assert read_journal(path) == (HEADING, [record(ONE), record(OTHER)])


def test_journal_is_the_old_one_or_all_of_the_new_one(tmp_path, monkeypatch):
    path = tmp_path / "report.json.journal"
    Journal(path, HEADING, [ONE, OTHER]).close()
    before = path.read_bytes()

    def full(self, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        Journal(path, HEADING, [ONE])
    assert path.read_bytes() == before


def test_draft_goes_when_the_report_is_whole(tmp_path):
    path = tmp_path / "report.json"
    report = Report(SUBJECT, "quick", 0, (ONE, OTHER), 1.0)
    said = []
    draft = Draft(path, lambda: report, said.append)
    draft.begin(HEADING, [ONE])
    assert json.loads(path.read_text())["cases"], "a report from the first moment on"
    draft.hear(OTHER)
    assert read_journal(journal_of(path))[1] == [record(ONE), record(OTHER)]
    draft.close()
    finish(path, report)
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]
    assert said == []


def test_system_that_gives_no_process_is_a_sentence(monkeypatch):
    def refused(*_):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("ep_conformance.commands.run.conduct", refused)
    with pytest.raises(UnavailableExit, match=r"does not let the run go on \(\[Errno 11\] .*take fewer --jobs"):
        judged(Options(provider="cpu"), Console())
