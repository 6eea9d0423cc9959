"""The benchmark command measures its subjects; its timings decide nothing here."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import threading
from itertools import pairwise, permutations
from pathlib import Path
from types import SimpleNamespace

import pytest
from ep_benchmarks import timing
from ep_benchmarks.timing import Timing, interleave


def bench(*arguments):
    program = "from ep_benchmarks.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=300
    )


def noting(order, name):
    """Return a candidate that notes each of its turns."""

    def run(count):
        order.append(name)
        sum(range(200 * count))

    return run


def test_candidates_are_interleaved():
    order = []
    timings = interleave({name: noting(order, name) for name in "ab"}, rounds=5)
    assert order[-10:] in (["a", "b"] * 5, ["b", "a"] * 5)
    assert all(len(timing.rounds) == 5 for timing in timings.values())


def test_every_candidate_follows_each_other_one():
    order = []
    interleave({name: noting(order, name) for name in "abc"}, rounds=12)
    turns = order[-36:]
    assert all(sorted(turns[at : at + 3]) == ["a", "b", "c"] for at in range(0, 36, 3))
    assert set(pairwise(turns)) == set(permutations("abc", 2))


def test_candidates_go_on_while_one_is_disturbed(monkeypatch):
    now, turns = [0.0], []

    def calm(count):
        now[0] += 0.002 * count

    def disturbed(count):
        turns.append(count)
        now[0] += 0.002 * count * (1 + len(turns) % 2)

    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    assert [len(each.rounds) for each in interleave({"a": calm}, 5, most=9).values()] == [5]
    assert [len(each.rounds) for each in interleave({"a": calm, "b": disturbed}, 5, most=9).values()] == [9, 9]


def test_turns_of_short_calls_are_warm(monkeypatch):
    now, counts = [0.0], {"short": [], "long": []}

    def work(name, seconds):
        def run(count):
            counts[name].append(count)
            now[0] += seconds * count

        return run

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now[0], sleep=sleep))
    timings = interleave({"short": work("short", 0.002), "long": work("long", 0.2)}, rounds=3, pause=0.003)
    assert counts == {"short": [1, 4, *[5, 5] * 3], "long": [1, *[1] * 3]}
    assert timings["short"].median == pytest.approx(0.002)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell which threads run")
def test_no_turn_begins_while_threads_of_the_one_before_run():
    left, seen, many = [], [], bytes(1 << 23)

    def leave(count):
        left.append(threading.Thread(target=hashlib.sha256, args=(many,)))
        left[-1].start()
        sum(range(200 * count))

    def look(count):
        seen.append(left[-1].is_alive())
        sum(range(200 * count))

    timings = interleave({"leaves": leave, "after": look}, rounds=3, pause=1e-4)
    assert len(timings["after"].rounds) == 3
    assert not any(seen[-3:])


def test_ratio_is_peer_over_own_time_of_paired_rounds():
    ours, theirs = Timing((1.0, 2.0, 4.0)), Timing((2.0, 4.0, 8.0))
    assert ours.ratio(theirs) == (2.0, 2.0)
    assert ours.median == 2.0


def test_launch_writes_its_figures(tmp_path):
    file = tmp_path / "figures.json"
    done = bench("launch", "--provider", "cpu", "--against", "numpy", "--json", str(file))
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(file.read_text())}
    assert rows["checked unary"]["microseconds"] > 0
    assert "numpy" in rows["bound binary"]["peers"]
    assert "1 compiles" in done.stdout or "0 compiles" in done.stdout
    kept = re.search(r"(\d+) primitives kept", done.stdout)
    assert kept is not None
    assert 4096 - 512 < int(kept[1]) <= 4096


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["launch", "--provider", "nope"], 2, "unknown provider"),
        (["launch", "--provider", "cpu", "--against", "tensorflow"], 2, "unknown peer"),
        (["launch", "--provider", "cpu", "--device", "7"], 3, "not on this machine"),
    ],
)
def test_wrong_use_ends_in_one_message(arguments, code, text):
    done = bench(*arguments)
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
