"""The report of a run: its rows, the limits, the machine, and the JSON file that holds them."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ep_benchmarks.run.row import summaries

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep
    from ep_benchmarks.limits.work import Limits
    from ep_benchmarks.peers.peer import Peer
    from ep_benchmarks.run.row import Row, Summary

__all__ = ["Report"]


@dataclass
class Report:
    """What a run has measured so far.

    limits      : as `Limits.figures` gives them
    machine     : processor, cores, versions, and `load`: how many other processes were busy in the minute before
    goals       : by peer, the 25th percentile below which a ratio is behind
    unsupported : by case, why the device has nothing for it
    is_whole    : False after Ctrl-C
    """

    provider: str
    device: dict[str, Any]
    peers: dict[str, str]
    goals: dict[str, float]
    limits: dict[str, Any]
    rounds: int
    date: str
    machine: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    unsupported: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    @classmethod
    def of(cls, device: ep.Device, peers: Mapping[str, Peer], limits: Limits, rounds: int) -> Report:
        """Return the empty report of a run."""
        info = device.info
        return cls(
            provider=device.name.partition(":")[0],
            device={
                "name": device.name,
                "model": info.name,
                "driver": info.driver,
                "compute_units": info.compute_units,
            },
            peers={name: peer.version for name, peer in peers.items()},
            goals={name: peer.goal for name, peer in peers.items()},
            limits=limits.figures(),
            rounds=rounds,
            date=datetime.now(UTC).date().isoformat(),
            machine={
                "processor": info.name
                if "host-memory" in info.features
                else platform.processor() or platform.machine(),
                "cores": os.cpu_count(),
                "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
                "system": f"{platform.system()} {platform.release()}",
                "python": platform.python_version(),
                "ep": version("execution-provider"),
            },
        )

    @property
    def summary(self) -> dict[str, Summary]:
        """The summary of each peer."""
        return summaries(self.rows, self.goals)

    @property
    def faults(self) -> list[tuple[str, str]]:
        """Every disagreement, with its case."""
        return [(row.case, fault) for row in self.rows for fault in row.faults]

    def json(self) -> str:
        """Return the file of --json."""
        summary = {name: each._asdict() for name, each in self.summary.items()}
        record = {
            "schema": 1,
            "limits": self.limits,
            "rows": [row.record for row in self.rows],
            "summary": summary,
            "provider": self.provider,
            "device": self.device,
            "machine": self.machine,
            "versions": self.peers,
            "goals": self.goals,
            "date": self.date,
            "rounds": self.rounds,
            "unsupported": self.unsupported,
            "is_whole": self.is_whole,
        }
        return json.dumps(record, indent=1) + "\n"
