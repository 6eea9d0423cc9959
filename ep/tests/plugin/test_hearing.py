"""`ep devices` and `ep doctor` ask each plug-in in a process of its own: what hangs, crashes or lies there is named and ended."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from ep.ground.words import shown, shown_lines
from ep.plugin import hearing
from ep.plugin.account import Account, Excerpt
from plugin_site import FAMILY, WORKING

PROBE = "Provider.probes += 1"
ACTIONS = {
    "crashes": (PROBE, "os.kill(os.getpid(), 11)", "crashed while it was probed: SIGSEGV"),
    "exits": ("Provider.made += 1", "os._exit(0)", "ended its process with exit code 0 while its devices were made"),
    "forges": (PROBE, "forge()", "its process wrote a line that EP cannot read"),
    "floods": (PROBE, "flood()", "its process answered more than 1 MiB while it was probed"),
    "atexit": (PROBE, "atexit.register(os._exit, 7)", "ended its process with exit code 7 while its process ended"),
    "check": ("return bytearray(nbytes)", "os.abort()", "crashed while the self-check ran: SIGABRT"),
    "advises": (PROBE, "pass\n    def advice(self): return ['a cure', 'b']", "1 device; a cure; b"),
    "misleads": (PROBE, "pass\n    def advice(self): return [1]", "1 device; its advice failed: "),
    "talks": (PROBE, "print('a word')", "1 device; it prints on stdout: a word"),
}
CODE = """
import atexit, os, time

def pipes():
    for number in range(3, 64):
        yield number

def forge():
    for number in pipes():
        try: os.write(number, b'["finding", -1, "splendid", 3]' + bytes([10]))
        except OSError: pass

def flood():
    for number in pipes():
        try:
            while True: os.write(number, b"x" * 65536)
        except OSError: pass
"""


def test_what_a_process_of_its_own_does_harms_nobody_and_is_named(site):
    for name, (old, new, _) in ACTIONS.items():
        site.install(name, CODE + WORKING.replace(old, new))
    site.install("good", WORKING)
    names = ",".join(("good", *ACTIONS))
    doctor = site.ep("doctor", EP_PROVIDERS=names)
    assert doctor.returncode == 1
    lines = [line for line in doctor.stdout.splitlines() if "  " in line]
    for name, (_, _, reason) in ACTIONS.items():
        assert any(f" {name}" in line and reason in line for line in lines), (name, doctor.stdout)
    assert any(line.split()[:3] == ["device", "check:0", "broken"] for line in lines)
    for name in ("advises", "misleads", "talks"):
        assert any(line.split()[:3] == ["provider", name, "ok"] for line in lines)
    assert any(line.split()[:3] == ["device", "good:0", "ok"] for line in lines)
    assert "Traceback" not in doctor.stdout + doctor.stderr

    devices = site.ep("devices", "--json", EP_PROVIDERS="good,crashes,talks")
    assert devices.returncode == 1
    assert [row["device"] for row in json.loads(devices.stdout)] == ["good:0", "talks:0"]
    assert "ep: provider crashes: crashed while it was probed: SIGSEGV" in devices.stderr


def test_commands_name_what_hangs(site):
    site.install("stuck", "import time\ntime.sleep(1000)\n" + WORKING)
    site.install_families("slow", "import time\ntime.sleep(1000)\n" + FAMILY)
    doctor = site.ep("doctor", "--timeout", "2", EP_PROVIDERS="stuck")
    assert doctor.returncode == 1
    lines = [line.split() for line in doctor.stdout.splitlines()]
    assert ["provider", "stuck", "broken", "hung", "while"] in [line[:5] for line in lines]
    assert ["families", "slow", "broken", "hung", "while"] in [line[:5] for line in lines]
    devices = site.ep("devices", "--timeout", "2", EP_PROVIDERS="stuck")
    assert devices.returncode == 1
    assert devices.stderr.startswith("ep: provider stuck: hung while")


class Clock:
    """Goes right until a file is there; then all time limits are over."""

    def __init__(self, file):
        self.file = file

    def monotonic(self):
        return time.monotonic() + 10_000 * self.file.exists()


@pytest.fixture
def late(site, monkeypatch):
    """Return a function that hears a plug-in, whose time is over when it has written the file MARK."""
    mark = site.folder / "mark"
    monkeypatch.setenv("MARK", str(mark))
    monkeypatch.syspath_prepend(site.folder)
    monkeypatch.setattr(hearing, "time", Clock(mark))
    return lambda group, name: hearing.hear([hearing.Summons(group, name, is_checked=True)], 600)[0]


HANG = """
def hang_here(*_):
    import os, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(os.environ["MARK"] + ".new", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(os.environ["MARK"] + ".new", os.environ["MARK"])
    time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("old", "new", "stage", "device"),
    [
        (PROBE, "hang_here()", "it was probed", -1),
        ("Provider.made += 1", "hang_here()", "its devices were made", -1),
        ("return bytearray(nbytes)", "hang_here()", "the self-check ran", 0),
        (PROBE, "__import__('atexit').register(hang_here)", "its process ended", -1),
    ],
    ids=["probe", "devices", "self-check", "end"],
)
def test_what_hangs_is_ended_with_all_that_it_started_and_says_where(site, late, old, new, stage, device):
    site.install("stuck", HANG + WORKING.replace(old, new))
    account = late("ep.providers", "stuck")
    assert (account.fault, account.at_device) == (f"hung while {stage}: it was ended after 600 s", device)
    assert "hang_here" in account.traceback
    assert all(is_gone(pid) for pid in (site.folder / "mark").read_text().split())


def test_families_that_hang_are_ended(site, late):
    site.install_families("stuck", HANG + FAMILY + "\nhang_here()\n")
    assert late("ep.families", "stuck").fault.startswith("hung while its families were asked for")


def is_gone(pid):
    """Say whether a process ends soon; who has no parent any more may be left unburied, and is gone, too."""
    for _ in range(600):
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system has no /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)], ids=["ctrl-c", "killed"])
def test_command_that_is_ended_leaves_no_process_behind(site, number, code):
    site.install("stuck", HANG + "hang_here()\n")
    pids = site.folder / "pids"
    with site.start("doctor", EP_PROVIDERS="stuck", MARK=str(pids)) as process:
        while not pids.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in out + err
    assert all(is_gone(pid) for pid in pids.read_text().split())


ESCAPES = "\x1b[2J\x1b]0;owned\x07 \u202e\u2066 \x9b31m \ud800 line\nprovider cpu broken"


def test_words_of_plugins_act_on_no_terminal_and_are_cut(site):
    site.install("shout", f"raise RuntimeError({ESCAPES!r} + 'x' * 100_000)")
    site.install("named", WORKING + f"\nProvider.title = {ESCAPES!r} + 'y' * 100_000\n")
    for words in (["devices"], ["doctor", "--traceback"]):
        done = site.ep(*words, EP_PROVIDERS="shout,named", PYTHONIOENCODING="utf-8")
        said = done.stdout + done.stderr
        assert r"\x1b[2J" in said
        assert r"\u202e" in said
        assert all(sign.isprintable() for sign in said.replace("\n", "")), words
        assert "more characters)" in said
        assert len(said) < 100_000
        assert not [line for line in done.stdout.splitlines() if line.split()[:3] == ["provider", "cpu", "broken"]]


def test_names_that_the_terminal_cannot_write_are_written_out(site):
    site.install("named", WORKING + "\nProvider.title = 'Gerät'\n")
    done = site.ep("devices", EP_PROVIDERS="named", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert r"Ger\xe4t" in done.stdout


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon", "1e9"])
def test_times_without_sense_are_wrong_use(site, text):
    done = site.ep("devices", "--timeout", text)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_shown_words():
    assert shown("a\x00b\u202ec\u00a0") == r"a\x00b\u202ec\xa0"
    assert shown("a\nb\r\n\nc\x85d") == "a b c d"
    assert shown("x" * 10, 4) == "xxxx ... (6 more characters)"
    assert shown_lines("a\tb\n\x1bc") == "a    b\n\\x1bc"


@pytest.mark.parametrize(
    "line",
    [
        "3",
        "[]",
        "[" * 100_000,
        "1" * 5000,
        '["stage"]',
        '["stage", [], 0]',
        '["stage", "import", "0"]',
        '["finding", -1, "ok", "", "", 3]',
        '["finding", true, "ok", "", "", ""]',
        '["device", {}]',
        '["device", 3]',
        '["families", [3]]',
        '["other", 3]',
        '{"stage": 3}',
    ],
)
def test_lines_of_another_form_are_nobodys_answer(line):
    account = Account("odd", 1)
    account.answers.add(line.encode() + b"\n")
    account.conclude(0)
    assert account.fault == "its process wrote a line that EP cannot read while its process began"


def test_excerpts_keep_their_beginning_or_their_end():
    first, last = Excerpt(4), Excerpt(4, keeps_end=True)
    for excerpt in (first, last):
        for part in (b"ab", b"cd", b"ef"):
            excerpt.add(part)
    assert (first.text, last.text) == ("abcd", "cdef")
    assert first.is_overfull


def test_process_of_its_own_sees_what_the_command_sees(site):
    site.install("good", WORKING + "\nimport sys\nProvider.title = sys.path[0]\n")
    (row,) = json.loads(site.ep("devices", "--json", EP_PROVIDERS="good").stdout)
    assert row == {
        "device": "good:0",
        "name": str(site.folder),
        "vendor": "Test",
        "driver": "",
        "memory": 0,
        "memory_kinds": ["DEVICE"],
        "features": [],
        "fingerprint": "",
        "also": [],
    }


def test_only_as_many_as_there_are_cores_run_at_once(site, monkeypatch):
    running, most = [], []

    class Process:
        def __init__(self, summons, seconds):
            running.append(self)
            most.append(len(running))

        def enter(self, selector):
            pass

        is_over = True

        def end(self, selector):
            running.remove(self)
            return "heard"

    monkeypatch.setattr(hearing, "_Process", Process)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert hearing.hear([hearing.Summons("ep.providers", "x")] * 5, 1) == ["heard"] * 5
    assert max(most) == 2
