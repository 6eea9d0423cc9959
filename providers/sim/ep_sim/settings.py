"""Settings of the simulated devices from the environment.

EP_SIM_DEVICES  : how many there are, 1 to 16; default 2
EP_SIM_SEED     : decides all their choices, an integer; default 0
EP_SIM_MEMORY   : bytes of each, with K, M or G for 2^10, 2^20, 2^30; default 1G
EP_SIM_FAIL     : failures of each of them: "allocation:3,launch:5,copy:2,lost:9", see failures.py; default none
EP_SIM_PATIENCE : milliseconds that a device waits for the host to look, 1 to 3600000; default 20
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

import ep
from ep_sim.failures import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Settings", "read_settings"]

_MOST_DEVICES: Final = 16
_LEAST_MEMORY: Final = 1 << 16
_MOST_MEMORY: Final = 1 << 38
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Settings(NamedTuple):
    """The environment's wishes.

    memory    : bytes of each device
    failures  : kind -> which one fails, counted from 1
    patience  : in seconds
    """

    devices: int
    seed: int
    memory: int
    failures: Mapping[str, int]
    patience: float


def read_settings() -> Settings:
    """Return the wishes. Raises UnavailableError for one that cannot be read, naming the variable."""
    return Settings(
        _number("EP_SIM_DEVICES", "2", "a number of devices from 1 to 16", 1, _MOST_DEVICES),
        _number("EP_SIM_SEED", "0", "an integer from 0 to 2^64 - 1", 0, (1 << 64) - 1),
        _number("EP_SIM_MEMORY", "1G", "a number of bytes from 64K to 256G", _LEAST_MEMORY, _MOST_MEMORY),
        dict(_failure(rule.strip()) for rule in os.environ.get("EP_SIM_FAIL", "").split(",") if rule.strip()),
        _number("EP_SIM_PATIENCE", "20", "a number of milliseconds from 1 to 3600000", 1, 3_600_000) / 1000,
    )


def _number(variable: str, default: str, wanted: str, least: int, most: int) -> int:
    text = os.environ.get(variable, "") or default
    form = re.fullmatch(r"(\d+)([KMG]?)", text)
    value = int(form[1]) * _UNITS[form[2]] if form else least - 1
    if not least <= value <= most:
        message = f"{variable}={text} is not {wanted}"
        raise ep.UnavailableError(message)
    return value


def _failure(rule: str) -> tuple[str, int]:
    kind, _, place = rule.partition(":")
    if kind not in KINDS or not place.isdecimal() or int(place) < 1:
        message = f"EP_SIM_FAIL: {rule!r} is not a rule; write kind:n, n from 1, with one of {', '.join(KINDS)}"
        raise ep.UnavailableError(message)
    return kind, int(place)
