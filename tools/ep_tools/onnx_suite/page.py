"""Run ONNX's own tests on devices of EP, and print op x device, which is docs/reports/onnx.md.

The tests are those of the package onnx: one node each, nine light models, models of PyTorch's exporters, simple ones. Each is
run twice, so that the second run takes the plan of the first, and compared as ONNX's runner compares. A test that launches
nothing passes on the host: what it asks for is a matter of shapes, or of constants.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Final

import click
import onnx

from ep_tools.devices import DeviceName
from ep_tools.markdown import table
from ep_tools.onnx_suite.cases import KINDS, Case, cases
from ep_tools.onnx_suite.trial import Verdict, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ep

__all__ = ["command", "page"]

TITLES: Final = {"node": "node tests", "simple": "simple models", "real": "light models"}
HEAD: Final = """# ONNX

What ONNX's own tests (onnx {version}) find, device by device: how many pass of all. Every one of them is run twice and compared as
ONNX's runner does it; nothing is left out, and what does not pass stands below with its reason. *On the host* counts those among
the passed that launch nothing: constants and shapes. `make onnx` writes this page.
"""


_OTHER: Final = {
    "test_bernoulli*": "random numbers that are not those of NumPy's generator",
    "test_training_dropout*": "random numbers that are not those of NumPy's generator",
    "test_dft_inverse*": "where ONNX has a rounding error of 1.9e-7 in place of 0, more than the tolerance",
    "test_attention_4d_causal_fp16_expanded": "two units in the last place of float16, more than the tolerance",
}
"""Why values differ, where neither is wrong."""


def page(found: dict[str, dict[Case, Verdict]]) -> str:
    """Return the document for the verdicts of each device."""
    devices = [*found]
    every = [*found[devices[0]]]
    parts = [HEAD.format(version=onnx.__version__), "## In all\n", _totals(devices, every, found)]
    parts += ["## By operation\n", _ops(devices, every, found)]
    parts += ["## What does not pass\n", *[_reasons(device, found[device]) for device in devices]]
    return "\n".join(parts)


def _totals(devices: Sequence[str], every: Sequence[Case], found: dict[str, dict[Case, Verdict]]) -> str:
    rows = []
    for kind in KINDS:
        of_kind = [case for case in every if case.kind == kind]
        if of_kind:
            counts = []
            for device in devices:
                verdicts = [found[device][case] for case in of_kind]
                passed = sum(each.reason is None for each in verdicts)
                host = sum(each.is_on_host for each in verdicts)
                counts.append(f"{passed} of {len(of_kind)} ({passed / len(of_kind):.0%}), {host} on the host")
            rows.append([TITLES.get(kind, kind), *counts])
    return "\n".join(table(["tests", *devices], rows)) + "\n"


def _ops(devices: Sequence[str], every: Sequence[Case], found: dict[str, dict[Case, Verdict]]) -> str:
    by_op = defaultdict(list)
    for case in every:
        if case.kind == "node":
            by_op[case.op].append(case)
    rows = []
    for op, of_op in sorted(by_op.items()):
        passed = [sum(found[device][case].reason is None for case in of_op) for device in devices]
        rows.append([op, *[f"{count} of {len(of_op)}" for count in passed]])
    return "\n".join(table(["operation", *devices], rows)) + "\n"


def _reasons(device: str, verdicts: dict[Case, Verdict]) -> str:
    by_reason = defaultdict(list)
    for case, verdict in verdicts.items():
        if verdict.reason is not None:
            by_reason[_general(case.name, verdict.reason)].append(case.name.removeprefix("test_"))
    rows = [
        [reason, str(len(names)), ", ".join(names)]
        for reason, names in sorted(by_reason.items(), key=lambda each: -len(each[1]))
    ]
    return f"### {device}\n\n" + "\n".join(table(["reason", "tests", "which"], rows)) + "\n"


def _general(name: str, reason: str) -> str:
    """Return a reason without the name of the node, and what lies behind it of shapes and numbers."""
    if reason.startswith("the model is of operator set"):
        return "an operator set before 7, where the operation was another"
    head, _, rest = reason.partition(": ")
    kind = head.split(" '")[0]
    if kind.startswith("lacks "):
        return kind
    if kind == "other values":
        return next((f"{kind}: {why}" for pattern, why in _OTHER.items() if fnmatch(name, pattern)), reason)
    what = rest.split(";")[0].split(", inputs ")[0].split(" (opset")[0]
    return f"{kind}: {what}" if what else kind


@click.command()
@click.argument("devices", nargs=-1, required=True, type=DeviceName())
@click.option("--only", default="", help="Tests whose name holds this; print each that does not pass, and no page.")
@click.option("--kind", "kinds", multiple=True, default=KINDS, type=click.Choice(KINDS), help="Which tests; all.")
def command(devices: tuple[ep.Device, ...], only: str, kinds: tuple[str, ...]) -> None:
    """Print docs/reports/onnx.md as the tests on DEVICES have it."""
    chosen = [case for case in cases(kinds) if only in case.name]
    if not chosen:
        message = f"no test of {', '.join(kinds)} has a name with {only!r}; docs/reports/onnx.md has names"
        raise click.UsageError(message)
    found = {device.name: _verdicts(device, chosen) for device in devices}
    if not only:
        click.echo(page(found))
        return
    for name, verdicts in found.items():
        for case, verdict in verdicts.items():
            if verdict.reason is not None:
                click.echo(f"{name} {case.name}: {verdict.reason}")


def _verdicts(device: ep.Device, chosen: Sequence[Case]) -> dict[Case, Verdict]:
    found = {}
    for place, case in enumerate(chosen):
        found[case] = run(case, device)
        if sys.stderr.isatty():
            click.echo(f"\r{device.name}: {place + 1} of {len(chosen)}", nl=False, err=True)
    counts = Counter(each.reason is None for each in found.values())
    click.echo(f"{device.name}: {counts[True]} of {len(chosen)} pass", err=True)
    return found
