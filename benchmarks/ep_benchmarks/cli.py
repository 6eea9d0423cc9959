"""The command `ep-bench`. Exit codes: 0 measured, 1 a soak found a fault, 2 wrong use, 3 provider, device or peer unavailable or failing."""

from __future__ import annotations

import json
import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click
from ep.ground.console import begin, end

import ep
from ep_benchmarks.collectives import all_reduce_rows, meeting
from ep_benchmarks.files import require_writable
from ep_benchmarks.graph import graph_rows
from ep_benchmarks.launch import Row, launch_rows, shapes_row
from ep_benchmarks.mpi import over_mpi
from ep_benchmarks.overlap import overlap_rows, streams_row
from ep_benchmarks.pool import soak
from ep_benchmarks.run.command import run

__all__ = ["command", "main"]

_PEERS: Final = ("numpy", "torch")
_SECONDS_A_PAIR: Final = 60e-6
_EXIT_CODES: Final = (
    "Exit codes: 0 measured, 1 a soak found a fault, 2 wrong use, 3 provider, device or peer unavailable or failing, "
    "130 Ctrl-C."
)


@click.group(epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Measure EP against peers, limits and budgets."""


command.add_command(run)


@command.command(epilog=_EXIT_CODES)
@click.option("--provider", required=True, help="Name of the provider.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option("--against", default="numpy", show_default=True, help="Peers, with commas: numpy, torch.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there, too.")
def launch(*, provider: str, index: int, against: str, file: Path | None) -> None:
    """Measure checked and bound launches, lookups and creation on one element."""
    peers = tuple(name for each in against.split(",") if (name := each.strip()))
    for name in peers:
        if name not in _PEERS:
            message = f"unknown peer {name!r}; known are {', '.join(_PEERS)}"
            raise click.BadParameter(message, param_hint="--against")
        if find_spec(name) is None:
            message = f"peer {name} is not installed: pip install {name}"
            raise ep.UnavailableError(message)
    device = ep.device(f"{provider}:{index}")
    require_writable(file)
    click.echo(f"{device.name}: {device.info.name}; Python {platform.python_version()}; about 10 s")
    rows = []
    for row in launch_rows(device, peers):
        rows.append(row)
        click.echo(_line(row))
    row, compiles, kept = shapes_row(device)
    rows.append(row)
    click.echo(f"{_line(row)}; {compiles} compiles, {kept} primitives kept")
    _finish(rows, file)


@command.command(epilog=_EXIT_CODES)
@click.option("--provider", required=True, help="Name of the provider.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there, too.")
def graph(*, provider: str, index: int, file: Path | None) -> None:
    """Measure the cost of a graph's entry beside bound and checked launches, on one element."""
    device = ep.device(f"{provider}:{index}")
    require_writable(file)
    click.echo(f"{device.name}: {device.info.name}; Python {platform.python_version()}; about 10 s")
    rows = []
    for row in graph_rows(device):
        rows.append(row)
        click.echo(_line(row))
    _finish(rows, file)


@command.command(epilog=_EXIT_CODES)
@click.option("--provider", required=True, help="Name of the provider.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there, too.")
def overlap(*, provider: str, index: int, file: Path | None) -> None:
    """Measure how far work overlaps on two asynchronous streams, and on a stream and the host."""
    device = ep.device(f"{provider}:{index}")
    require_writable(file)
    click.echo(f"{device.name}: {device.info.name}; {device.info.compute_units} compute units; about 20 s")
    rows = []
    for row in overlap_rows(device):
        rows.append(row)
        alone = f"{row.first:7.2f} ms and {row.second:7.2f} ms alone"
        click.echo(f"{row.name:<38} {alone}, {row.both:7.2f} ms together: {row.share:4.0%} of the shorter hidden")
    streams = streams_row(device)
    times = ", ".join(f"{count}: {milliseconds:.1f} ms" for count, milliseconds in streams.items())
    click.echo(f"the same launches on so many streams: {times}")
    if file is not None:
        pairs = [{**row._asdict(), "share": row.share} for row in rows]
        file.write_text(json.dumps({"pairs": pairs, "streams": streams}, indent=1))


@command.command(epilog=_EXIT_CODES)
@click.option("--provider", required=True, help="Name of the provider.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option(
    "--pairs", default=1_000_000, show_default=True, type=click.IntRange(1), help="Allocations, each given back."
)
@click.option("--streams", default=4, show_default=True, type=click.IntRange(1, 256), help="Asynchronous streams.")
@click.option("--seed", default=0, show_default=True, help="Decides lengths, streams and ways to give back.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there, too.")
def pool(  # noqa: PLR0913 - an option each
    *, provider: str, index: int, pairs: int, streams: int, seed: int, file: Path | None
) -> None:
    """Soak the pool: random blocks on asynchronous streams, written, read back and given back, checked throughout."""
    device = ep.device(f"{provider}:{index}")
    require_writable(file)
    click.echo(
        f"{device.name}: {device.info.name}; {pairs:,} pairs on {streams} streams, seed {seed}; "
        f"about {pairs * _SECONDS_A_PAIR:.0f} s or more"
    )
    findings = soak(device, pairs, streams, seed)
    for line in findings.lines():
        click.echo(line)
    if file is not None:
        file.write_text(json.dumps(findings._asdict(), indent=1))
    if findings.faults:
        sys.exit(1)


@command.command(epilog=_EXIT_CODES)
@click.option("--provider", required=True, help="Name of the provider.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option("--ranks", default=2, show_default=True, type=click.IntRange(1, 64), help="Ranks on that device.")
@click.option("--gloo", is_flag=True, help="Beside Gloo, in as many processes; needs PyTorch.")
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there, too.")
@click.option("--mpi", is_flag=True, help="Also over MPI, beside MPI's own; needs mpi4py and mpiexec.")
def collectives(*, provider: str, index: int, ranks: int, gloo: bool, mpi: bool, file: Path | None) -> None:  # noqa: PLR0913 - the command's options
    """Measure AllReduce over ranks of one process beside two passes of the copy limit."""
    if gloo and find_spec("torch") is None:
        message = "peer torch is not installed: pip install torch"
        raise ep.UnavailableError(message)
    device = ep.device(f"{provider}:{index}")
    require_writable(file)
    click.echo(f"{device.name}: {device.info.name}; {ranks} ranks; about {20 if gloo else 5} s")
    alone = meeting(ranks)
    click.echo(f"{'threads that meet at a barrier':<36} {alone:10.1f} us")
    rows = []
    for row in all_reduce_rows(device, ranks, with_gloo=gloo):
        rows.append(row)
        peer = "" if row.gloo is None else f"  gloo {row.gloo:10.1f} us, gloo / EP {row.gloo / row.local:.2f}"
        name = f"all_reduce {row.op} of {row.nbytes} bytes"
        click.echo(f"{name:<36} {row.local:10.1f} us  {row.share:4.0%} of two copies, {row.copies:.1f} us{peer}")
    carried = []
    for size in over_mpi(device.name, ranks) if mpi else ():
        carried.append(size._asdict())
        name = f"over MPI: all_reduce sum of {size.nbytes} bytes"
        click.echo(
            f"{name:<44} {size.carried:10.1f} us, MPI's own {size.own:10.1f} us, own / EP {size.own / size.carried:.2f}"
        )
    if file is not None:
        sizes = [{**row._asdict(), "share": row.share} for row in rows]
        file.write_text(json.dumps({"meeting": alone, "sizes": sizes, "over_mpi": carried}, indent=1))


def _finish(rows: list[Row], file: Path | None) -> None:
    met = [row.within for row in rows if row.within is not None]
    click.echo(f"{sum(met)} of {len(met)} budgets met")
    if file is not None:
        file.write_text(json.dumps([{**row._asdict(), "within": row.within} for row in rows], indent=1))


def _line(row: Row) -> str:
    text = f"{row.name:<40} {row.microseconds:8.3f} us  spread {row.spread:5.1%}"
    if row.budget is not None:
        text += f"  budget {row.budget:5.2f} {'met' if row.within else 'MISSED'}"
    for peer, (median, low) in row.peers.items():
        text += f"  {peer} / EP {median:.2f} (p25 {low:.2f})"
    return text


def main() -> None:
    """Run the command; every error becomes one message and an exit code, never a traceback."""
    begin()
    end(_run())


def _run() -> int:
    try:
        command(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except (ep.EpError, MemoryError) as error:
        click.echo(f"ep-bench: {error or 'the host has no memory for it; measure less at a time'}", err=True)
        return 3
    except ValueError as error:
        click.echo(f"ep-bench: {error}", err=True)
        return 2
    except OSError as error:
        click.echo(f"ep-bench: cannot write or read {error.filename or 'a file or pipe'}: {error.strerror}", err=True)
        return 2
    return 0


if __name__ == "__main__":
    main()
