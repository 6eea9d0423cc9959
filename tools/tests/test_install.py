"""What runs before anything is installed: shell for the environment and Chromium, and the writer of native modules."""

import os
import subprocess
import sys

import pytest
from ep_tools.folders import ROOT

INSTALL = ROOT / "tools" / "install"


def run(*words, **variables):
    words = [str(word) for word in words]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, env=variables or None)


def test_missing_python_is_named_with_its_packages(tmp_path):
    done = run("/bin/sh", INSTALL / "setup.sh", tmp_path / "venv", "dev", PYTHON="no-such-python", PATH="/bin:/usr/bin")
    assert (done.returncode, done.stdout) == (1, "")
    said = "make: no-such-python is missing; install it with: apt-get install python3 python3-venv python3-dev\n"
    assert done.stderr == said
    assert not (tmp_path / "venv").exists()


def test_requirements_are_those_of_the_project_and_its_extras():
    done = run(sys.executable, INSTALL / "requirements.py", "opencl,mpi")
    names = [line.partition(">")[0] for line in done.stdout.splitlines()]
    assert (done.returncode, names[-3:]) == (0, ["pyopencl[pocl]", "mpi4py", "mpich"])
    assert {"numpy", "pluggy"} < {*names}
    assert run(sys.executable, INSTALL / "requirements.py").stdout.splitlines() == done.stdout.splitlines()[:-3]


def test_unknown_extra_is_wrong_use():
    done = run(sys.executable, INSTALL / "requirements.py", "opencl,gpu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pyproject.toml has no extra gpu; it has opencl, ")


def program(folder, name, text):
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_chromium_that_is_there_is_left_alone(tmp_path):
    program(tmp_path, "chromium-browser", "exit 1")
    done = run("/bin/sh", INSTALL / "chromium.sh", PATH=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("user", "installs"), [(1000, False), (0, True)])
def test_chromium_is_installed_where_that_is_allowed_and_else_named(tmp_path, user, installs):
    program(tmp_path, "id", f"echo {user}")
    program(tmp_path, "apt-get", f'echo "$@" >> {tmp_path}/asked')
    done = run("/bin/sh", INSTALL / "chromium.sh", PATH=str(tmp_path))
    assert done.returncode == (0 if installs else 1)
    assert done.stderr == ("" if installs else "make: chromium is missing; install it with: apt-get install chromium\n")
    asked = (tmp_path / "asked").read_text().splitlines() if installs else []
    assert asked == (["update -qq", "install -y -qq --no-install-recommends chromium"] if installs else [])


def test_native_module_is_written_from_its_interfaces(tmp_path):
    (tmp_path / "types.h").write_text("typedef struct { int count; } counted;")
    (tmp_path / "calls.h").write_text("int counted_twice(counted *given);")
    names = [tmp_path / name for name in ("types.h", "calls.h", "out.c")]
    done = run(sys.executable, INSTALL / "build_cffi.py", "ep_toy._native", *names)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "out.c").read_text()
    assert f'#include "{tmp_path}/types.h"\n#include "{tmp_path}/calls.h"' in text
    assert "counted_twice" in text
    assert "PyInit__native" in text


def test_native_module_is_written_anew_though_its_text_stays(tmp_path):
    (tmp_path / "interface.h").write_text("int twice(int given);")
    words = [sys.executable, INSTALL / "build_cffi.py", "ep_toy._native", tmp_path / "interface.h", tmp_path / "out.c"]
    assert run(*words).returncode == 0
    text = (tmp_path / "out.c").read_text()
    os.utime(tmp_path / "out.c", (0, 0))
    assert run(*words).returncode == 0
    assert (tmp_path / "out.c").read_text() == text
    assert (tmp_path / "out.c").stat().st_mtime > (tmp_path / "interface.h").stat().st_mtime


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "interface.h: No such file or directory"),
        ("int broken(", "interface.h: "),
    ],
)
def test_interface_that_cannot_be_read_is_named(tmp_path, text, said):
    if text is not None:
        (tmp_path / "interface.h").write_text(text)
    done = run(
        sys.executable, INSTALL / "build_cffi.py", "ep_toy._native", tmp_path / "interface.h", tmp_path / "out.c"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.c").exists()


def test_writer_says_what_it_needs():
    done = run(sys.executable, INSTALL / "build_cffi.py", "ep_toy._native")
    assert (done.returncode, done.stderr) == (
        2,
        "build_cffi.py: give MODULE INTERFACE... OUT, given ['ep_toy._native']\n",
    )
