"""Time the light models of ONNX against ONNX Runtime, 2 threads each, and say which families take the time.

Both sessions are made and run once before. The time by family is of the launches one by one, each waited for, so that it adds up
to more than a run.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import click
import ep_onnx
import numpy as np
import onnxruntime
from ep_onnx.report import report

from ep_tools.devices import DeviceName
from ep_tools.markdown import table
from ep_tools.onnx_suite.cases import Case, cases
from ep_tools.peers.pairs import memory, paired, taken

if TYPE_CHECKING:
    import ep

__all__ = ["command"]


def peer(case: Case) -> onnxruntime.InferenceSession:
    """Return the model in ONNX Runtime, with two threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = 2, 1
    return onnxruntime.InferenceSession(case.model.SerializeToString(), options, ["CPUExecutionProvider"])


def by_family(session: ep_onnx.Session) -> dict[str, float]:
    """Return the seconds of the launches of each family, one by one."""
    found: dict[str, float] = defaultdict(float)
    for plan in session.plans.values():
        for segment in plan.segments:
            for step, run in segment.apart():
                run()
                found[step.primitive.asked.family] += min(taken(run, rest=0) for _ in range(3))
    return found


def measured(case: Case, device: ep.Device, seconds: float) -> tuple[list[str], list[str]]:
    """Return the rows of one model in both tables."""
    ((inputs, _),) = case.sets
    arrays = [np.asarray(each) for each in inputs]
    session, other = ep_onnx.Session(case.model, device), peer(case)
    given = dict(zip([each.name for each in other.get_inputs()], arrays, strict=True))
    planned = taken(lambda: session.run(arrays))
    other.run(None, given)
    pairs = paired(lambda: session.run(arrays), lambda: other.run(None, given), seconds)
    name = case.name.removeprefix("test_")
    row = [name, *pairs.cells(), str(report(session).launches), f"{planned:.2f}", memory(session)]
    spent = sorted(by_family(session).items(), key=lambda each: -each[1])
    session.close()
    return row, [name, ", ".join(f"{family} {each * 1e3:.1f}" for family, each in spent)]


@click.command()
@click.option("--device", type=DeviceName(), default="cpu:0")
@click.option("--only", default="", help="Models whose name holds this; all.")
@click.option("--seconds", type=click.FloatRange(min=0), default=10, help="Of paired runs, for each model.")
def command(device: ep.Device, only: str, seconds: float) -> None:
    """Print a table of models, and one of families."""
    chosen = [case for case in cases(["real"]) if only in case.name]
    if not chosen:
        message = f"no model has a name with {only!r}; docs/reports/onnx-models.md has names"
        raise click.UsageError(message)
    rows, families = [], []
    for case in chosen:
        row, spent = measured(case, device, seconds)
        rows.append(row)
        families.append(spent)
        click.echo(f"{row} {spent}", err=True)
    heads = ["model", "EP, ms", "ONNX Runtime, ms", "ratio", "p25", "launches", "planning, s", "arena / unshared, MiB"]
    tables = [*table(heads, rows), "", *table(["model", "launches one by one, ms by family"], families)]
    click.echo("\n".join(tables))
