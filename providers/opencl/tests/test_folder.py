"""Compiled programs between processes: damaged, obstructed or unwritable folders cost time and no more."""

from __future__ import annotations

import errno
import fcntl
import functools
import os
import resource
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ep.kept import Kept
from ep_opencl.compiler import folder as compiler_folder
from ep_opencl.compiler.folder import CompilerFolder
from ep_opencl.compiler.kept import keep, lay_out
from ep_primitives import BroadcastBinary

import ep

PROGRAM = """
import numpy as np
import ep
from ep_primitives import BroadcastBinary
device = ep.device("opencl:0")
stream = device.stream()
spec = ep.TensorSpec("float32", (1000,))
a, out = device.allocate(4000), device.allocate(4000)
stream.fill(a, np.float32(3).tobytes())
BroadcastBinary.infer("add", spec, spec).on(device)(stream, a=a, b=a, out=out)
back = np.empty(1000, np.float32)
stream.download(back, out)
stream.synchronize()
assert (back == 6).all()
"""


def run(folder, program=PROGRAM, *, check=True, **variables):
    """Run a program in a process with an empty home, EP_CACHE_DIR and the given variables."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("POCL", "PYOPENCL", "XDG", "PYTHON"))
    }
    environment |= {"EP_CACHE_DIR": str(folder), "HOME": str(folder.parent), **variables}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    if check:
        assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, device):
    """A folder with the two compiled programs that an ended process has left: the one that says whether it fuses, and add."""
    folder = tmp_path_factory.mktemp("compiled") / "cache"
    assert run(folder).stderr == ""
    return folder


@pytest.fixture
def folder(compiled, tmp_path):
    """A copy of it."""
    return shutil.copytree(compiled, tmp_path / "cache")


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_programs_are_kept_privately_and_used_by_the_next_process(folder):
    kept = files(folder)
    assert [path.parent for path in kept] == [folder / "opencl" / "kept"] * 2
    assert (folder / "opencl").stat().st_mode & 0o777 == 0o700
    inodes = [path.stat().st_ino for path in kept]
    assert run(folder).stderr == ""
    assert [path.stat().st_ino for path in kept] == inodes, "nothing was compiled anew"
    assert not [*(folder / "opencl" / "work").iterdir()]


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    path.write_bytes(b"")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def replace_by_a_folder(path):
    path.unlink()
    path.mkdir()
    (path / "file").touch()


def deny(path):
    path.chmod(0)


def swap(path):
    path.write_bytes(b"SQLite format 3\0" + bytes(4096))


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        deny,
        *(pytest.param(each, marks=pytest.mark.thorough) for each in (truncate, empty, replace_by_a_folder, swap)),
    ],
)
def test_damaged_program_is_compiled_anew(folder, damage):
    for path in files(folder):
        damage(path)
    assert run(folder).stderr == ""
    kept = files(folder)
    assert len(kept) == 2
    assert all(map(zipfile.is_zipfile, kept))


def test_a_build_looks_at_few_of_the_programs_before_it_and_the_end_at_all(tmp_path, monkeypatch):
    monkeypatch.setenv("EP_CACHE_DIR", str(tmp_path))
    folder = CompilerFolder()
    seen = []
    monkeypatch.setattr(compiler_folder, "keep", lambda kept, key, work, place: seen.append((key, place)))
    names = [f"{number:02}/program" for number in range(40)]
    for name in names:
        folder.build(name, functools.partial((folder.work / name).mkdir, parents=True))
    assert len(seen) <= 8 * len(names)
    seen.clear()
    folder.enter()
    folder.leave()
    assert seen == [(name, Path(name)) for name in names]


def test_program_for_which_there_is_no_room_is_not_laid_out_in_part(tmp_path, monkeypatch):
    kept, first, second, place = Kept(tmp_path / "kept"), tmp_path / "first", tmp_path / "second", Path("AB/program")
    for each in (first / place, second):
        each.mkdir(parents=True)
    for name in ("one", "two"):
        (first / place / name).write_text(name)
    os.utime(first / place / "one", (0, 0))  # by a clock that nobody has set; archives begin in 1980
    keep(kept, "key", first, place)

    def until_full(archive, folder):
        archive.extract(archive.namelist()[0], folder)
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "extractall", until_full)
        assert lay_out(kept, "key", second) is None
    assert [*second.iterdir()] == []
    assert lay_out(kept, "key", second) == place
    assert sorted(path.name for path in (second / place).iterdir() if not path.name.startswith(".")) == ["one", "two"]


def a_file(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("in the way")


def somebody_elses(place):
    place.mkdir(parents=True)
    os.chown(place, 12345, -1)


@pytest.mark.parametrize(
    ("what", "obstacle"), [("", a_file), ("opencl", a_file), ("opencl/kept", a_file), ("opencl", somebody_elses)]
)
def test_folder_that_cannot_be_used_is_one_warning_that_names_it_and_the_cure(tmp_path, device, what, obstacle):
    if obstacle is somebody_elses and os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    folder = tmp_path / "cache"
    obstacle(folder / what)
    done = run(folder, OPENS)
    assert done.stdout == "opencl:0\n"
    (said,) = [line for line in done.stderr.splitlines() if "RuntimeWarning" in line]
    assert str(folder / what) in said
    assert "cannot be used for compiled programs" in said
    assert "set EP_CACHE_DIR to one" in said


OPENS = "import ep; print(ep.device('opencl:0').name)"


def test_no_room_anywhere_is_a_sentence_that_names_the_places(tmp_path, device):
    limit = "import resource, sys\nsys.dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, -1))\n"
    done = run(tmp_path / "cache", limit + OPENS, check=False, TMPDIR=str(tmp_path))
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("ep.errors.UnavailableError")]
    assert f"{tmp_path / 'cache' / 'opencl'}" in said
    assert f"neither can {tmp_path}" in said
    assert "EP_CACHE_DIR" in said
    assert "no platform" not in done.stderr


def test_entry_is_refused_while_its_compiler_cannot_write_and_is_compiled_after_that(device):
    if device.twin._folder is None:
        pytest.skip("POCL_CACHE_DIR names a folder, or the driver is not PoCL")
    descriptor = BroadcastBinary.infer("hypot", *[ep.TensorSpec("float32", (3,), strides=(5,))] * 2)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, hard))
    try:
        with pytest.raises(ep.CompileError, match=f"{device.twin._folder.work} cannot be written .*EP_CACHE_DIR"):
            descriptor.on(device)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert descriptor.on(device)


def test_folder_of_the_users_own_choice_is_named_if_it_cannot_be_written(tmp_path, device):
    chosen = tmp_path / "chosen"
    assert run(tmp_path / "cache", PROGRAM, POCL_CACHE_DIR=str(chosen)).stderr == ""
    assert files(chosen)
    assert not (tmp_path / "cache").exists()
    a_file(tmp_path / "file")
    done = run(tmp_path / "cache", OPENS, check=False, POCL_CACHE_DIR=str(tmp_path / "file"))
    assert f"POCL_CACHE_DIR={tmp_path / 'file'} cannot be written" in done.stderr
    assert "no platform" not in done.stderr


def test_folder_of_a_killed_process_goes_and_that_of_a_living_one_stays(folder):
    work = folder / "opencl" / "work"
    done = run(folder, PROGRAM + f"import os; os.kill(os.getpid(), {signal.SIGKILL:d})", check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = work.iterdir()
    living = work / "living"
    living.mkdir()
    claim = os.open(living, os.O_RDONLY)
    fcntl.flock(claim, fcntl.LOCK_EX)
    assert run(folder).stderr == ""
    assert [*work.iterdir()] == [living]
    os.close(claim)
    assert left != living


def test_programs_that_a_process_starts_do_not_inherit_its_folder(folder):
    done = run(
        folder, "import os, ep; ep.device('opencl:0'); print({'POCL_CACHE_DIR', 'PYOPENCL_NO_CACHE'} & {*os.environ})"
    )
    assert done.stdout == "set()\n"


def test_folder_that_is_set_to_nothing_is_not_set(folder):
    program = PROGRAM + "import os; print(repr(os.environ['POCL_CACHE_DIR']))"
    done = run(folder, program, POCL_CACHE_DIR="")
    assert done.stdout.splitlines()[-1] == "''"
    assert files(folder)


def test_database_of_pyopencl_is_not_asked_and_where_somebody_wants_it_a_damaged_one_is_named(folder):
    database = folder.parent / ".cache" / "pytools"
    a_file(database)
    assert run(folder).stderr == ""
    database.unlink()
    run(folder, PYOPENCL_NO_CACHE="0")
    for path in files(database):
        swap(path)
    done = run(folder, PYOPENCL_NO_CACHE="0", check=False)
    assert "ep.errors.DeviceError: pyopencl's own database" in done.stderr
    assert "PYOPENCL_NO_CACHE=1" in done.stderr
