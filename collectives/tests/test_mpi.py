"""Ranks in processes of their own: every collective, and every way in which a rank can leave."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ep

PROGRAMS = Path(__file__).parent / "programs"
MPIEXEC = Path(sys.executable).with_name("mpiexec")
RANKS = 3
HANGS = 40
GONE = {"vanish", "vanish beside mpi4py", "stop"}


def started(program, *arguments, options=("-disable-auto-cleanup",)):
    command = [MPIEXEC, *options, "-n", RANKS, sys.executable, PROGRAMS / program, *arguments]
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ended(process, seconds=60):
    """What a program printed, and its exit code; it must end by itself."""
    try:
        said, _ = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return said, process.returncode


def test_the_package_does_not_import_mpi4py():
    code = "import sys, ep_collectives; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_mpi4py_the_cure_is_named(monkeypatch):
    from ep_collectives.mpi.library import _loaded

    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ep.UnavailableError, match=r"pip install 'execution-provider\[mpi\]'"):
        _loaded.__wrapped__()


def test_every_collective_gives_what_its_reference_says_on_devices_of_three_providers():
    said, code = ended(started("every.py", "cpu:0", "sim:0", "opencl:0"))
    assert (sorted(said.splitlines()), code) == ([f"rank {rank} done" for rank in range(RANKS)], 0)


def left(folder, way, victim, seed):
    """What each rank saw, by number, of a world that one rank leaves in some way at a random moment."""
    timeout = 3 if way == "stop" else 20  # others need none: whoever waits hears of them
    process = started("survive.py", folder, way, victim, seed, timeout)
    if way == "stop":  # which nobody but us ends
        end = time.monotonic() + 40
        others = [folder / f"{rank}.json" for rank in range(RANKS) if rank != victim]
        while not all(path.exists() for path in others) and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(int((folder / f"{victim}.pid").read_text()), signal.SIGKILL)
    said, _ = ended(process)
    found = {int(path.stem): json.loads(path.read_text()) for path in folder.glob("*.json")}
    assert len(found) == RANKS - (way in GONE), said
    return found


def check(folder, way, victim, seed):
    for rank, seen in left(folder, way, victim, seed).items():
        told = f"{way} of rank {victim}, seed {seed}, at rank {rank}: {seen}"
        if way == "close" and rank == victim:
            continue
        assert (seen["rank"], seen["is_broken"]) == (rank, True), told
        assert victim in seen["blamed"], told
        assert "number" in seen["said"] or "aborted: enough" in seen["said"], told
        assert seen["seconds"] < HANGS, told
        if way in GONE:
            assert seen["living"] == [each for each in range(RANKS) if each != victim], told
            assert seen["is_summed"], told


@pytest.mark.parametrize("way", ["vanish beside mpi4py", "size"])
def test_a_rank_that_leaves_at_a_random_moment_is_named_to_all_others(way, tmp_path):
    rng = random.Random(way)
    check(tmp_path, way, rng.randrange(RANKS), rng.randrange(10**6))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(150))
def test_ranks_that_leave_at_random_moments_are_named_to_all_others(seed, tmp_path):
    rng = random.Random(seed)
    way = rng.choice(["vanish", "vanish", "vanish beside mpi4py", "stop", "close", "abort", "other", "size"])
    check(tmp_path, way, rng.randrange(RANKS), seed)


def test_a_process_ends_although_a_rank_waits():
    said, code = ended(started("leave.py", options=()))
    assert code == 0
    assert "closed the communicator without coming to" in said
    assert "number 2 of rank 0" in said


def test_a_rank_that_is_killed_ends_all_where_mpiexec_cleans_up():
    process = started("killed.py", options=())
    _, code = ended(process)
    assert code != 0
