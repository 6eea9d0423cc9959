"""A row of the table: one sample, measured beside its limit and its peers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["GOAL", "Ratio", "Row", "Summary", "summaries"]


class Ratio(NamedTuple):
    """A peer's time in microseconds, and over EP's: the median and the 25th percentile of the paired rounds."""

    us: float
    ratio: float
    p25: float


class Summary(NamedTuple):
    """The ratios of one peer: their geometric mean, the least with its case, how many p25 are below the peer's goal, how many there are."""

    geomean: float
    worst: float
    worst_case: str
    below: int
    cases: int


GOAL: Final = 0.85
"""The share of its limit that a memory-bound case is to reach."""


@dataclass(frozen=True)
class Row:
    """One sample.

    case       : the sample's id
    label      : op and name, for people
    dtype      : element types as cells write them
    size       : elements of the first output
    read, written, flops : the least that a launch does
    is_lowered : True if other families' kernels run
    us         : microseconds of EP's bound step; 0 where its result was wrong, and nothing was timed
    spread     : interquartile range over median
    limit      : the kind of the limit that binds: "memory", "arithmetic" of an operation's own in caches, or the element type
                 whose unit multiplies; "" if none is known
    fraction   : the limit's time over EP's, None without a limit
    peers      : by name, of those that have the operation and agree
    faults     : EP's wrong result, and peers that disagree, in words
    """

    case: str
    label: str
    family: str
    dtype: str
    size: int
    read: int
    written: int
    flops: int
    is_lowered: bool = False
    us: float = 0.0
    spread: float = 0.0
    limit: str = ""
    fraction: float | None = None
    peers: dict[str, Ratio] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def speed(self) -> float:
        """GB/s where memory is the limit, else GFLOP/s; 0 if nothing was timed."""
        work = self.read + self.written if self.is_moving else self.flops
        return work / self.us / 1e3 if self.us else 0.0

    @property
    def is_moving(self) -> bool:
        """True if bytes are what counts."""
        return self.limit in {"memory", "arithmetic", ""}

    @property
    def record(self) -> dict[str, Any]:
        """The row as the JSON file has it."""
        return {
            "case": self.case,
            "family": self.family,
            "dtype": self.dtype,
            "size": self.size,
            "ep_us": round(self.us, 4) if self.us else None,
            "limit_fraction": None if self.fraction is None else round(self.fraction, 4),
            "peers": {
                name: {key: round(value, 4) for key, value in each._asdict().items()}
                for name, each in self.peers.items()
            },
            "spread": round(self.spread, 4),
            "limit": self.limit or None,
            "bytes_read": self.read,
            "bytes_written": self.written,
            "flops": self.flops,
            "is_lowered": self.is_lowered,
            "faults": list(self.faults),
        }


def summaries(rows: Iterable[Row], goals: Mapping[str, float]) -> dict[str, Summary]:
    """Return the summary of each peer that has a ratio.

    goals : by peer, the 25th percentile below which a ratio is behind
    """
    found: dict[str, list[tuple[Ratio, str]]] = {}
    for row in rows:
        for name, each in row.peers.items():
            found.setdefault(name, []).append((each, row.case))
    made = {}
    for name, ratios in found.items():
        worst, case = min(ratios, key=lambda pair: pair[0].ratio)
        mean = math.exp(sum(math.log(each.ratio) for each, _ in ratios) / len(ratios))
        below = sum(each.p25 < goals[name] for each, _ in ratios)
        made[name] = Summary(mean, worst.ratio, case, below, len(ratios))
    return made
