"""Shard: the part of a run that one of several machines does, as in a CI matrix or a Slurm array."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

__all__ = ["Shard", "ShardError"]


class ShardError(Exception):
    """No shard of a run has anything to judge; the message says what to do."""


class Shard(NamedTuple):
    """One of several parts; each case is in one of them, by its id alone, whatever the other machines have.

    number : from 1
    total  : of all parts
    """

    number: int
    total: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard of a text such as "2/8". Raises ValueError for any other."""
        found = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", text)
        if found is None or int(found[1]) > int(found[2]):
            raise ValueError(text)
        return cls(int(found[1]), int(found[2]))

    def has(self, case: str) -> bool:
        """Say whether a case, by its id, belongs to this part."""
        return zlib.crc32(case.encode()) % self.total == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"
