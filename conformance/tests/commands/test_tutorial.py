"""docs/write-a-provider.md, followed from its text: every file written, every command run, every line that it shows seen.

A block of `console` is typed into one shell: `$` begins a command, the lines behind it are what it prints, `...` stands for
any text, alone on a line for any lines. A command ends with 0, unless the next one is `echo $?`. A block with a path behind
its language is a file; one of `diff` changes it. All other blocks are for reading.
"""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import pytest
from ep_conformance import SUITE

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "write-a-provider.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OURS = re.compile(r"ep_|execution_provider|_editable|__pycache__|pip\b|pyopencl|.*\.pth$")
DEADLINE = 600  # seconds; a busy machine is no reason to stumble
LONG = (
    "ep-conformance run --provider acme --quick",
    "ep-conformance next --provider acme",
    "ep-conformance claims --provider acme --profile quick --write acme/ep_acme/claims.toml",
    "cat acme/ep_acme/claims.toml",
    "python -m pytest -q acme/tests",
)
"""Whole runs, which other tests have, and what one of them wrote: every day their last occurrence in the text is passed over."""


class StumbleError(AssertionError):
    """The text says something else than what happens."""


class Shell:
    """One bash, as a reader has it: folder, variables and the active environment stay from command to command."""

    END = "-- end of output, exit"

    def __init__(self, folder, environment):
        self.folder = folder
        self.bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=folder,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, command):
        """Return what a command prints, and how it ends."""
        ender = threading.Timer(DEADLINE, self.bash.kill)
        ender.start()
        # $? of the command is that of the line behind it, too, so that the text can say `echo $?`.
        self.bash.stdin.write(f"{command}\n_code=$?; echo; echo '{self.END}' $_code; (exit $_code)\n")
        self.bash.stdin.flush()
        shown = []
        try:
            for line in self.bash.stdout:
                if line.startswith(self.END):
                    return "".join(shown).rstrip(), int(line.removeprefix(self.END))
                shown.append(line)
        finally:
            ender.cancel()  # a process waits for its timers
        message = f"$ {command}\nended the shell, or took longer than {DEADLINE} s:\n{''.join(shown)}"
        raise StumbleError(message)

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # it was ended
            self.bash.stdin.close()
        self.bash.stdout.close()
        self.bash.wait(timeout=DEADLINE)


def follow(text, shell, after=lambda command: None):
    """Do what a text says, in its order. Raises StumbleError where it is wrong."""
    for language, path, body in BLOCK.findall(text):
        if language == "console":
            commands = [part.partition("\n") for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]]
            for (command, _, expected), following in zip(commands, [*commands, ("", "", "")][1:], strict=True):
                shown, code = shell.run(command)
                if code and following[0] != "echo $?":
                    message = f"$ {command}\nended with {code}:\n{shown}"
                    raise StumbleError(message)
                if not pattern(expected).fullmatch(tidy(shown) + "\n" * bool(shown)):
                    message = f"$ {command}\nprinted\n{shown}\nand the text says\n{expected}"
                    raise StumbleError(message)
                after(command)
        elif language == "diff":
            change(shell.folder / path, body)
        elif path:
            (shell.folder / path).write_text(body)


def without(text, command):
    """Return a text without the last occurrence of a command, and what it shows."""
    before, found, after = text.rpartition(f"$ {command}\n")
    assert found, command
    end = re.search(r"^(?:\$ |```)", after, re.MULTILINE)
    return before + after[end.start() :]


def tidy(text):
    """Columns are as wide as the terminal: runs of blanks count as one."""
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def pattern(expected):
    """Return what matches the lines that a text shows, each with its end."""
    lines = tidy(expected).splitlines()
    return re.compile("".join(r"(?:.*\n)*?" if line == "..." else f"{wild(line)}\n" for line in lines))


def wild(line):
    return ".*?".join(map(re.escape, line.split("...")))


def change(file, body):
    lines = body.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if not line.startswith("+"))
    new = "".join(line[1:] for line in lines if not line.startswith("-"))
    text = file.read_text()
    if text.count(old) != 1:
        message = f"{file.name} has the lines to be changed {text.count(old)} times, needs once:\n{old}"
        raise StumbleError(message)
    file.write_text(text.replace(old, new))


class Reader:
    """A stranger's machine: Python, the wheel of this tree, and the packages that it needs; no network."""

    def __init__(self, folder):
        wheel = subprocess.run(
            [sys.executable, str(ROOT / "tools"), "wheel"], capture_output=True, text=True, check=True, timeout=600
        ).stdout.strip()
        (folder / "bin").mkdir()
        (folder / "bin/python3").symlink_to(sys._base_executable)
        self.folder = folder / "home"
        self.folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("EP_", "PYTHON", "PIP_"))}
        self.environment = kept | {
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "COLUMNS": "100",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(Path(wheel).parent),
            "PIP_NO_BUILD_ISOLATION": "0",  # of this variable, 0 means that there is none
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        self.shell = Shell(self.folder, self.environment)

    def lend(self, command):
        """Put the packages of the tests' own environment, but EP, into one that was just made."""
        if "-m venv" in command:
            (site,) = self.folder.glob("*/lib/python*/site-packages")
            for entry in Path(sysconfig.get_path("purelib")).iterdir():
                if not OURS.match(entry.name):
                    shutil.rmtree(site / entry.name, ignore_errors=True)
                    (site / entry.name).symlink_to(entry)


@contextlib.contextmanager
def reading(folder):
    pytest.importorskip("setuptools", minversion="70.1")
    found = Reader(folder)
    yield found
    found.shell.close()


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    with reading(tmp_path_factory.mktemp("reader")) as found:
        yield found


@pytest.mark.thorough
def test_whole_text_is_right(tmp_path):
    with reading(tmp_path) as reader:
        follow(PAGE.read_text(), reader.shell, reader.lend)


def test_text_is_right_but_for_whole_runs(reader):
    follow(functools.reduce(without, LONG, PAGE.read_text()), reader.shell, reader.lend)


@pytest.mark.parametrize("page", [PAGE, ROOT / "conformance" / "README.md"])
def test_claims_that_a_page_shows_are_held_to_all_of_the_suite(page):
    assert set(re.findall(r'^suite = "(.+?)"', page.read_text(), re.MULTILINE)) == {SUITE}


def test_command_that_is_passed_over_takes_what_it_shows_with_it():
    assert without(SMALL, "cat name; cat none") == SMALL.replace("$ cat name; cat none\nacme\n...No such file...\n", "")
    assert without(SMALL, "cat name") == SMALL.replace("$ cat name\nzenith\n", "")


def test_kernel_that_the_text_gets_wrong_is_a_stumble(reader):
    """Behind the test above: the kernel of step 4 is put back, its repair in step 5 misprinted, and step 6 followed."""
    _, _, _, _, kernel, repair, claim, *_ = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    misprint = re.search(r"^```diff.*?^```$", repair, re.MULTILINE | re.DOTALL)[0].replace("values <= 0", "values < 9")
    assert "+        floats(out, self.out_at, self.n)[:] = np.where(values < 9, 0, values)" in misprint
    with pytest.raises(StumbleError, match=r"relu/float32/dense/\*'\nended with 1"):
        follow(f"{kernel}\n{misprint}\n\n{claim}", reader.shell)


SMALL = """
```text chip/name
acme
```

```console
$ cd chip; echo one; echo 'two  three'; echo four
one
...
four
$ cat name; cat none
acme
...No such file...
$ echo $?
1
```

```diff chip/name
-acme
+zenith
```

```console
$ cat name
zenith
$ true
```
"""


@pytest.fixture
def shell(tmp_path):
    (tmp_path / "chip").mkdir()
    made = Shell(tmp_path, dict(os.environ))
    yield made
    made.close()


def test_text_that_is_right_is_followed(shell):
    follow(SMALL, shell)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("one\n...", "one", "printed\none\ntwo  three\nfour\nand the text says\none\nfour"),
        ("...\nfour", "three\n...", "and the text says"),
        ("...\nfour", "...\nfive", "and the text says"),
        ("No such file", "Any such file", "and the text says"),
        ("$ echo $?\n1\n", "", "ended with 1"),
        ("$ echo $?\n1\n", "$ echo $?\n0\n", "and the text says"),
        ("-acme", "-acne", "0 times, needs once"),
        ("+zenith", "+nadir", "printed\nnadir"),
        ("$ true", "$ false", "ended with 1"),
        ("$ true", "$ echo said", "printed\nsaid"),
        ("$ true", "$ exit", "ended the shell"),
    ],
)
def test_text_that_is_wrong_is_a_stumble(shell, right, wrong, says):
    assert SMALL.count(right) == 1
    with pytest.raises(StumbleError, match=re.escape(says)):
        follow(SMALL.replace(right, wrong), shell)
