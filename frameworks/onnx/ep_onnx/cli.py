"""The command `ep-onnx`: run a model, or check which of its nodes a device can run.

Exit codes: 0 good, 1 results differ from another runtime's, 2 wrong use or a model that cannot be read, 3 the device is
unavailable, lacks cells that nodes need, or has too little memory, 130 Ctrl-C.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np
from ep.ground.console import begin, end
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import ep
from ep_onnx.backend import device_name
from ep_onnx.errors import DifferenceError, LackingError, ModelError
from ep_onnx.model import read_model
from ep_onnx.peer import PEERS, compared
from ep_onnx.report import operations, report
from ep_onnx.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ep_onnx.graph import Node
    from ep_onnx.model import Declared, Model

    Array = NDArray[Any]

__all__ = ["command", "main"]

_CODES: Final = (
    "Exit codes: 0 good, 1 results differ from another runtime's, 2 wrong use or a model that cannot be read, "
    "3 the device is unavailable, lacks cells that nodes need, or has too little memory, 130 Ctrl-C."
)
_DEVICE: Final = click.option("--device", help="EP's name of a device; else EP_DEVICE, else cpu:0.")
_INPUTS: Final = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="[NAME=]FILE.npy",
    help="An array for an input, in order or by name, its rows for a sequence; others are random numbers from 0 to 1, "
    "integers 0 or 1.",
)
_EXTENTS: Final = click.option(
    "--extent",
    "extents",
    multiple=True,
    metavar="NAME=N",
    help="The size of an open extent of the model's inputs; else 1.",
)


@click.group(epilog=_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="execution-provider")
def command() -> None:
    """Run ONNX models on any device of EP."""


@command.command("run", epilog=_CODES)
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@_DEVICE
@_INPUTS
@_EXTENTS
@click.option(
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for the outputs, as NAME.npy.",
)
@click.option(
    "--compare",
    type=click.Choice([*PEERS]),
    help="Run it there, too, and compare: ONNX's reference, ONNX Runtime, or PyTorch with MODEL.pt2 beside the model.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How often to run; times are of the last one.",
)
def run_command(  # noqa: PLR0913, PLR0917 - options
    model: Path,
    device: str | None,
    inputs: Sequence[str],
    extents: Sequence[str],
    folder: Path | None,
    compare: str | None,
    repeat: int,
) -> None:
    """Run MODEL and show its outputs, launches, waits of the host, and memory."""
    read = read_model(model)
    given = _inputs(read, inputs, extents)
    begun = time.perf_counter()
    session, outputs = _planned(read, device, given)
    planned = time.perf_counter() - begun
    took = planned
    for _ in range(repeat - 1):
        begun = time.perf_counter()
        outputs = session.run(given)
        took = time.perf_counter() - begun
    _show(session, read, outputs, planned, took if repeat > 1 else None)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in _arrays(read, outputs):
            np.save(folder / f"{name.replace('/', '_')}.npy", array)
    if compare is not None:
        for line in compared(compare, model, read, given, outputs):
            click.echo(line)


@command.command("check", epilog=_CODES)
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@_DEVICE
@_INPUTS
@_EXTENTS
def check_command(model: Path, device: str | None, inputs: Sequence[str], extents: Sequence[str]) -> None:
    """Say which nodes of MODEL run on a device, which families lower, and which cells the device lacks."""
    read = read_model(model)
    given = _inputs(read, inputs, extents)
    error = None
    try:
        session, _ = _planned(read, device, given)
        found = report(session)
        steps = [step for plan in session.plans.values() for segment in plan.segments for step in segment.steps]
    except LackingError as lacking:
        error, steps = lacking, [*lacking.steps]
    table = Table("operation", "nodes", "runs as", "lowered", "lacking", title=model.name)
    for each in operations(read.graph, steps, error.lacking if error is not None else ()):
        runs = ", ".join(f"{count} {family}" for family, count in each.families.items())
        is_planned = bool(runs or each.lacking) or error is None
        cells = escape(", ".join(each.lacking))
        table.add_row(
            each.name,
            str(each.nodes or "inside"),
            runs or ("-" if is_planned else "?"),
            ", ".join(sorted(each.lowered)),
            cells,
        )
    Console().print(table)
    if error is not None:
        raise error
    for wait in found.waits:
        click.echo(f"the host waits: {wait}")
    click.echo(f"all {len(read.graph.nodes)} nodes run: {found.launches} launches in {found.segments} segments")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; every error is a sentence and an exit code."""
    begin()
    end(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    try:
        command.main(arguments, prog_name="ep-onnx", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        return _failed("interrupted", 130)
    except DifferenceError as error:
        return _failed(error, 1)
    except (LackingError, ep.UnavailableError, MemoryError) as error:
        return _failed(error, 3)
    except (ep.EpError, ValueError, TypeError, OSError) as error:
        return _failed(error, 2)
    return 0


def _failed(message: object, code: int) -> int:
    click.echo(f"ep-onnx: {message}", err=True)
    return code


def _planned(model: Model, device: str | None, given: dict[str, Any]) -> tuple[Session, list[Any]]:
    """Return a session that ran once, and its outputs; a terminal shows which node is planned."""
    count = len(model.graph.nodes)
    with Console(stderr=True).status(f"{count} nodes") as status:

        def watch(place: int, node: Node) -> None:
            if place + 1 < count:
                status.update(f"planning node {place + 1} of {count}: {escape(node.title)}")
            else:
                status.update(f"placing and running {count} nodes on {session.device.name}")

        session = Session(model, ep.device(device_name(device)), watch=watch)
        return session, session.run(given)


def _inputs(model: Model, given: Sequence[str], extents: Sequence[str]) -> dict[str, Any]:
    """Return an array for each input: those that were given, and random ones."""
    arrays: dict[str, Any] = {}
    names = [each.name for each in model.inputs]
    for place, text in enumerate(given):
        name, _, path = text.rpartition("=")
        if not name and place >= len(names):
            message = f"--input {text}: the model has {len(names)} inputs; give at most so many"
            raise ModelError(message)
        arrays[name or names[place]] = _array(path)
    for declared in model.inputs:
        if declared.dtype is not None and declared.name in arrays:
            arrays[declared.name] = _as_declared(arrays[declared.name], declared.dtype)
        elif declared.kind == "sequence_type" and declared.name in arrays and arrays[declared.name].ndim:
            arrays[declared.name] = [*arrays[declared.name]]
    known = dict(_extent(each) for each in extents)
    unknown = known.keys() - {each for declared in model.inputs for each in declared.shape or ()}
    if unknown:
        open_ones = sorted(
            {each for declared in model.inputs for each in declared.shape or () if isinstance(each, str)}
        )
        message = f"--extent {min(unknown)}: the model has no such open extent; it has {', '.join(open_ones) or 'none'}"
        raise ModelError(message)
    random = np.random.default_rng(0)
    for declared in model.inputs:
        if declared.name not in arrays:
            arrays[declared.name] = _random(declared, known, random)
    return arrays


def _array(path: str) -> Array:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        message = f"--input {path}: {error}; give a file that numpy.save wrote"
        raise ModelError(message) from None


def _as_declared(array: Array, dtype: str) -> Array:
    """Return an array of a type that NumPy's files have no name for, such as bfloat16, as the input's."""
    wanted = _numpy(dtype)
    return array.view(wanted) if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize else array


def _extent(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not number.isdigit():
        message = f"--extent {text}: needs NAME=N, a whole number"
        raise ModelError(message)
    return name, int(number)


def _random(declared: Declared, known: dict[str, int], random: np.random.Generator) -> Any:
    if declared.dtype is None or declared.shape is None:
        what = "a sequence" if declared.kind == "sequence_type" else "no tensor of known rank"
        message = f"input '{declared.name}' is {what}; give it with --input"
        raise ModelError(message)
    shape = [each if isinstance(each, int) else known.get(each or "", 1) for each in declared.shape]
    try:
        if declared.dtype.startswith(("int", "uint", "bool")):
            return random.integers(0, 2, shape).astype(declared.dtype)
        return random.random(shape).astype(_numpy(declared.dtype))
    except (MemoryError, ValueError):
        message = (
            f"input '{declared.name}' has shape {tuple(shape)}, for which the host has no room; give smaller extents"
        )
        raise MemoryError(message) from None


def _numpy(dtype: str) -> Any:
    ml_dtypes = importlib.import_module("ml_dtypes")
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def _arrays(model: Model, outputs: Sequence[Any]) -> Iterator[tuple[str, Array]]:
    """Yield the outputs by name: each part of a sequence by its number, and nothing for an absent value."""
    for name, each in zip(model.outputs, outputs, strict=True):
        if isinstance(each, list):
            yield from ((f"{name}.{place}", np.asarray(part)) for place, part in enumerate(each) if part is not None)
        elif each is not None:
            yield name, np.asarray(each)


def _show(session: Session, model: Model, outputs: Sequence[Any], planned: float, took: float | None) -> None:
    table = Table("output", "type", "shape", "first elements")
    for name, array in _arrays(model, outputs):
        first = ", ".join(
            f"{number:.6g}" if number.dtype.kind == "f" else str(number) for number in array.reshape(-1)[:4]
        )
        table.add_row(name, str(array.dtype), str(array.shape), first)
    Console().print(table)
    found = report(session)
    for wait in found.waits:
        click.echo(f"the host waits: {wait}")
    mebi = 1 << 20
    click.echo(
        f"{found.launches} launches in {found.segments} segments on {session.device.name}; weights {found.weights_nbytes / mebi:.1f} MiB, "
        f"arenas {found.arena_nbytes / mebi:.1f} MiB, without sharing {found.needed_nbytes / mebi:.1f} MiB"
    )
    again = "" if took is None else f", the last run {took * 1e3:.1f} ms"
    click.echo(f"planned and run in {planned * 1e3:.1f} ms{again}")


if __name__ == "__main__":
    main()
