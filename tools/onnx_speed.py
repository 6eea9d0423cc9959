"""Time the light models of ONNX against ONNX Runtime, 2 threads each, and say which families take the time.

    python tools/onnx_speed.py [--device cpu:0] [--only vgg19] [--seconds 10]

Both sessions are made and run once before; then they take turns, each run behind a rest, since threads of the other that still
spin for work would take one of two cores. The ratio is ONNX Runtime's time over
EP's, of paired runs, its median and 25th percentile. The time by family is of the launches one by one, each waited for, so that
it adds up to more than a run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ep_onnx
import numpy as np
import onnxruntime
from ep_onnx.report import report

import ep

sys.path.insert(0, str(Path(__file__).parent))
from markdown import table
from onnx_table import Case, cases

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST: Final = 7
"""Paired runs."""

REST: Final = 0.1
"""Seconds before each run."""


def peer(case: Case) -> onnxruntime.InferenceSession:
    """Return the model in ONNX Runtime, with two threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
    return onnxruntime.InferenceSession(case.model.SerializeToString(), options, ["CPUExecutionProvider"])


def taken(run: Callable[[], Any], rest: float = REST) -> float:
    """Return the seconds of one run."""
    time.sleep(rest)
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def by_family(session: ep_onnx.Session) -> dict[str, float]:
    """Return the seconds of the launches of each family, one by one."""
    found: dict[str, float] = defaultdict(float)
    for plan in session.plans.values():
        for segment in plan.segments:
            for step, run in segment.apart():
                run()
                found[step.primitive.asked.family] += min(taken(run, rest=0) for _ in range(3))
    return found


def main() -> None:
    """Print a table of models, and one of families."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu:0")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    device = ep.device(options.device)
    rows, families = [], []
    for case in cases(["real"]):
        if options.only in case.name:
            row, spent = measured(case, device, options.seconds)
            rows.append(row)
            families.append(spent)
            print(row, spent, file=sys.stderr)
    heads = ["model", "EP, ms", "ONNX Runtime, ms", "ratio", "p25", "launches", "planning, s", "arena / unshared, MiB"]
    print(*table(heads, rows), "", *table(["model", "launches one by one, ms by family"], families), sep="\n")


def measured(case: Case, device: ep.Device, seconds: float) -> tuple[list[str], list[str]]:
    """Return the rows of one model in both tables."""
    ((inputs, _),) = case.sets
    arrays = [np.asarray(each) for each in inputs]
    session, other = ep_onnx.Session(case.model, device), peer(case)
    given = dict(zip([each.name for each in other.get_inputs()], arrays, strict=True))
    planned = taken(lambda: session.run(arrays))
    other.run(None, given)
    pairs, begun = [], time.perf_counter()
    while len(pairs) < LEAST or time.perf_counter() - begun < seconds:
        pairs.append((taken(lambda: session.run(arrays)), taken(lambda: other.run(None, given))))
    ratios = [theirs / ours for ours, theirs in pairs]
    ours, theirs = (statistics.median(each) * 1e3 for each in zip(*pairs, strict=True))
    name, found, mebi = case.name.removeprefix("test_"), report(session), 1 << 20
    ratio, low = statistics.median(ratios), statistics.quantiles(ratios, n=4)[0]
    memory = f"{found.arena_nbytes / mebi:.1f} / {found.needed_nbytes / mebi:.1f}"
    row = [
        name,
        f"{ours:.1f}",
        f"{theirs:.1f}",
        f"{ratio:.2f}",
        f"{low:.2f}",
        str(found.launches),
        f"{planned:.2f}",
        memory,
    ]
    spent = sorted(by_family(session).items(), key=lambda each: -each[1])
    session.close()
    return row, [name, ", ".join(f"{family} {each * 1e3:.1f}" for family, each in spent)]


if __name__ == "__main__":
    main()
