"""Every command of the house ends in a sentence and its exit code, wherever its output goes, be it nowhere."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMANDS = {
    "ep": (["-m", "ep.cli"], 1),
    "ep-conformance": (["-m", "ep_conformance"], 2),
    "ep-bench": (["-m", "ep_benchmarks.cli"], 2),
    "ep-onnx": (["-m", "ep_onnx.cli"], 2),
    "python tools": ([str(ROOT / "tools")], 2),
}

BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("name", COMMANDS)
def test_disk_that_is_full_is_a_sentence(name, buffered):
    words, code = COMMANDS[name]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, *([] if buffered else ["-u"]), *words, "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=BUFFERED,
            timeout=120,
            check=False,
        )
    assert done.returncode == code
    assert done.stderr.startswith(f"{name}: ")
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


GOOD = {
    "ep": "devices",
    "ep-conformance": "list --filter runtime/event/*",
    "ep-bench": "pool --provider cpu --pairs 100",
    "ep-onnx": "--help",
    "python tools": "--help",
}


def closing(redirections, *words):
    """Run Python as a shell that closes its standard streams; return the process, with what is left to read."""
    shell = ["sh", "-c", f'exec "$0" "$@" {redirections}', sys.executable, *words]
    return subprocess.run(shell, capture_output=True, text=True, env=BUFFERED, timeout=120, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_closed_output_is_none_to_write_to(name):
    done = closing(">&-", *COMMANDS[name][0], *GOOD[name].split())
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", COMMANDS)
def test_closed_errors_leave_the_exit_code(name):
    done = closing("2>&-", *COMMANDS[name][0], "nonsense")
    assert (done.returncode, done.stdout) == (2, "")


def test_no_pipe_of_a_child_takes_the_place_of_a_closed_stream():
    child = "import os, sys; os.write(1, b'lost'); os.write(2, b'lost'); sys.exit(len(os.read(0, 1)) + 7)"
    program = f"from ep.ground.console import begin; begin(); import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {child!r}]))"
    done = closing("<&- >&- 2>&-", "-c", program)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


def test_end_says_its_code_and_nothing_more_to_a_reader_who_left():
    program = "import sys; from ep.ground.console import end; sys.stdout.write('x'); end(7)"
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, env=BUFFERED, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (7, b"")


ENDED = "from ep.ground.console import begin; begin(); import os, signal; os.kill(os.getpid(), signal.{}); print('on')"


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP"])
def test_command_that_is_terminated_ends_as_by_ctrl_c(ending):
    words = [sys.executable, "-c", ENDED.format(ending)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_command_under_nohup_outlives_its_terminal():
    done = closing("", "-c", f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); {ENDED.format('SIGHUP')}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "on\n", "")
