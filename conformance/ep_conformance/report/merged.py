"""One report of the reports of all shards of a run, as if one machine had done it all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ep_conformance.report.difference import differing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ep_conformance.report.report import Report

__all__ = ["MergeError", "merged"]

_OF_MACHINES: Final = ("name", "memory")
"""What two devices of one kind may differ in."""


class MergeError(Exception):
    """The reports are not the shards of one run; the message says which differs, or is missing, and what to do."""


def merged(reports: Mapping[Path, Report]) -> Report:
    """Return the report of a whole run: each case once, in the order of ids; times and jobs are added up.

    Raises MergeError unless each shard is there once, all of one suite, provider, kind of device, profile, seed and choice
    of cases. A shard that was interrupted leaves the whole interrupted.
    """
    paths, parts = list(reports), list(reports.values())
    _require_one_run(paths, parts)
    _require_all_shards(paths, parts)
    verdicts = sorted((verdict for part in parts for verdict in part.verdicts), key=lambda verdict: verdict.id)
    twice = next((name for name, count in Counter(v.id for v in verdicts).items() if count > 1), None)
    if twice is not None:
        message = f"{twice} is in two of the reports; were they made by `ep-conformance run --shard`?"
        raise MergeError(message)
    peaks = [part.peak_memory for part in parts if part.peak_memory is not None]
    return replace(
        min(parts, key=lambda part: part.started),
        verdicts=tuple(verdicts),
        seconds=sum(part.seconds for part in parts),
        interrupted=any(part.interrupted for part in parts),
        jobs=sum(part.jobs for part in parts),
        peak_memory=max(peaks, default=None),
        shard=None,
    )


def _require_one_run(paths: Sequence[Path], parts: Sequence[Report]) -> None:
    needed = _identity(parts[0])
    for path, part in zip(paths[1:], parts[1:], strict=True):
        for name, value in _identity(part).items():
            if value != needed[name]:
                here, there = differing(value, needed[name])
                message = f"{path} is of {name} {here}, {paths[0]} of {there}; merge the shards of one run"
                raise MergeError(message)


def _identity(report: Report) -> dict[str, Any]:
    """Return what is the same in all shards of a run."""
    found = {name: value for name, value in report.heading.items() if name != "shard"} | {"suite": report.suite}
    for name in ("device", "bits_of"):
        if found[name] is not None:
            found[name] = {key: value for key, value in found[name].items() if key not in _OF_MACHINES}
    return found


def _require_all_shards(paths: Sequence[Path], parts: Sequence[Report]) -> None:
    first = parts[0].shard
    for path, part in zip(paths, parts, strict=True):
        if part.shard is None or first is None:
            message = f"{path if part.shard is None else paths[0]} is of a whole run; merge takes those of `ep-conformance run --shard`"
            raise MergeError(message)
        if part.shard.total != first.total:
            message = f"{path} is shard {part.shard}, {paths[0]} is shard {first}; merge the shards of one run"
            raise MergeError(message)
    assert first is not None
    found = Counter(part.shard.number for part in parts if part.shard is not None)
    missing = [f"{number}/{first.total}" for number in range(1, first.total + 1) if not found[number]]
    double = [f"{number}/{first.total}" for number, count in sorted(found.items()) if count > 1]
    if missing:
        message = f"shard{'s' * (len(missing) > 1)} {', '.join(missing)} missing; run `ep-conformance run --shard {missing[0]}` as the others"
        raise MergeError(message)
    if double:
        message = f"shard {double[0]} is there twice; name each report once"
        raise MergeError(message)
