"""`ep-bench run`: options, samples, and the files that it writes."""

from __future__ import annotations

import fnmatch
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import ep
from ep_benchmarks.files import require_writable
from ep_benchmarks.peers.peer import peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_primitives.cases.sample import Sample

    from ep_benchmarks.limits.work import Limits
    from ep_benchmarks.peers.peer import Peer
    from ep_benchmarks.run.report import Report

    Chosen = list[tuple[ep.Family, Sample]]

__all__ = ["run"]

_EXTRA: Final = ("scipy", "jinja2")
_LEAST_ROUNDS: Final = 3
_FEW: Final = 3
_USUAL: Final = 7
_SECONDS: Final = 1.2
_SECONDS_QUICK: Final = 0.4
_INTERRUPTED: Final = 130
_FILE: Final = click.Path(dir_okay=False, path_type=Path)


@click.command(
    epilog="Exit codes: 0 measured, 1 a result is wrong or a peer disagrees, 2 wrong use, 3 provider, device or peer "
    "unavailable or failing, 130 Ctrl-C, after the table of what was measured."
)
@click.option("--provider", help="Name of the provider. Needed unless samples are only listed.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option("--against", default="", help="Peers, with commas, such as torch,numpy. None: limits alone.")
@click.option(
    "--filter", "patterns", multiple=True, help="Samples by a pattern of their ids, such as 'softmax/*'. Repeatable."
)
@click.option("--quick", is_flag=True, help="Few and small samples, few rounds.")
@click.option(
    "--rounds", type=click.IntRange(_LEAST_ROUNDS), help="Rounds in which all take turns.  [default: 7; quick: 3]"
)
@click.option("--list", "is_list", is_flag=True, help="List the samples and measure nothing.")
@click.option("--json", "json_file", type=_FILE, help="Write the report there as JSON, schema 1.")
@click.option("--html", "html_file", type=_FILE, help="Write it there as one HTML page with roofline plots.")
@click.option("--markdown", "markdown_file", type=_FILE, help="Write it there as Markdown.")
def run(  # noqa: PLR0913 - an option each
    *,
    provider: str | None,
    index: int,
    against: str,
    patterns: tuple[str, ...],
    quick: bool,
    rounds: int | None,
    is_list: bool,
    json_file: Path | None,
    html_file: Path | None,
    markdown_file: Path | None,
) -> None:
    """Measure samples of all families beside peers and the machine's limits; every result is judged before it is timed."""
    _check_installed()
    chosen = _chosen(patterns, is_quick=quick)
    if is_list:
        for _, sample in chosen:
            click.echo(sample.id)
        return
    if provider is None:
        message = "give the provider whose device to measure, such as --provider cpu"
        raise click.UsageError(message)
    device = ep.device(f"{provider}:{index}")
    peers = {name: peer(name) for name in dict.fromkeys(name.strip() for name in against.split(",")) if name}
    require_writable(json_file, html_file, markdown_file)
    files = {json_file: "json", html_file: "html", markdown_file: "markdown"}
    writers = {file: kind for file, kind in files.items() if file is not None}
    seconds = len(chosen) * (_SECONDS_QUICK if quick else _SECONDS)
    click.echo(f"{device.name}: {device.info.name}; {len(chosen)} samples; about {seconds:.0f} s or more")
    report = _measured(device, peers, chosen, rounds or (_FEW if quick else _USUAL))
    for file, kind in writers.items():
        file.write_text(_WRITERS[kind](report))
    if not report.is_whole:
        sys.exit(_INTERRUPTED)
    if report.faults:
        sys.exit(1)


def _check_installed() -> None:
    """Raise UnavailableError if a package is missing that judging or the page needs, and not after minutes."""
    missing = [name for name in _EXTRA if find_spec(name) is None]
    if missing:
        message = f"run needs {', '.join(missing)}, which judge results and make pages: pip install 'execution-provider[conformance]'"
        raise ep.UnavailableError(message)


def _chosen(patterns: tuple[str, ...], *, is_quick: bool) -> Chosen:
    """Return the samples of a run. Raises UsageError for a pattern that finds none."""
    from ep_primitives.cases.sample import samples  # noqa: PLC0415 - numpy and all families, which --help does not need

    every = [(family, sample) for family, sample in samples() if sample.is_quick or not is_quick]
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(sample.id, pattern) for _, sample in every):
            message = f"--filter {pattern!r} matches none of {len(every)} samples; --list prints their ids, such as {every[0][1].id}"
            raise click.UsageError(message)
    return [
        (family, sample)
        for family, sample in every
        if not patterns or any(fnmatch.fnmatchcase(sample.id, pattern) for pattern in patterns)
    ]


def _measured(device: ep.Device, peers: dict[str, Peer], chosen: Chosen, rounds: int) -> Report:
    """Return the report; what was measured until then after Ctrl-C."""
    from ep_benchmarks.run.report import Report  # noqa: PLC0415 - as above
    from ep_benchmarks.run.table import Table  # noqa: PLC0415 - as above

    for each in peers.values():
        each.use_threads(device.info.compute_units)
        each.use_device(device)
    stream = device.stream()
    limits = _limits(device, stream)
    report = Report.of(device, peers, limits, rounds)
    table = Table(report.goals)
    try:
        _fill(report, table.begin, table.add, _rows(report, stream, limits, peers, chosen))
    except KeyboardInterrupt:
        report.is_whole = False
    table.end(report)
    return report


def _fill(report: Report, begin: Callable[[], None], add: Callable[..., None], rows: Iterator[object]) -> None:
    begin()
    for row in rows:
        report.rows.append(row)  # type: ignore[arg-type]  # a Row
        add(row)


def _rows(
    report: Report, stream: ep.Stream, limits: Limits, peers: dict[str, Peer], chosen: Chosen
) -> Iterator[object]:
    from ep_benchmarks.run.measure import failed, measure  # noqa: PLC0415 - as above

    for family, sample in chosen:
        try:
            yield measure(family, sample, stream, limits, peers, report.rounds)
        except ep.UnsupportedError as error:
            report.unsupported[sample.id] = str(error).splitlines()[0]
        except ep.DeviceLostError:
            raise
        except ep.EpError as error:
            yield failed(sample, error)


def _limits(device: ep.Device, stream: ep.Stream) -> Limits:
    """Return the limits of the host's own loops where the device is the host, else of copies within the device."""
    from ep_benchmarks.limits.device import DeviceLimits  # noqa: PLC0415 - as above
    from ep_benchmarks.limits.host import HostLimits  # noqa: PLC0415 - as above

    if "host-memory" not in device.info.features:
        return DeviceLimits(stream)
    try:
        return HostLimits(device.info.compute_units)
    except OSError as error:
        return DeviceLimits(stream, str(error))


def _json(report: Report) -> str:
    return report.json()


def _html(report: Report) -> str:
    from ep_benchmarks.run.page import page  # noqa: PLC0415 - as above

    return page(report)


def _markdown(report: Report) -> str:
    from ep_benchmarks.run.markdown import markdown  # noqa: PLC0415 - as above

    return markdown(report)


_WRITERS: Final[dict[str, Callable[[Report], str]]] = {"json": _json, "html": _html, "markdown": _markdown}
