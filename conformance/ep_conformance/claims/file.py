"""Edits a claims.toml: claims are added and taken out, and all other text of its author stays, comments included."""

from __future__ import annotations

import itertools
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ep.layout.cells import matches
from ep.plugin.claims import Claim, Claims, ClaimsError, parse_claims

from ep_conformance.claims.shown import (
    claim_table,
    claim_tables,
    claimables,
    claims_of,
    features_of,
    is_cell,
    patterns,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ep_conformance.claims.shown import Shown

__all__ = ["Proposal", "covered", "propose"]

_TABLE: Final = re.compile(r"\s*\[\[\s*claim\s*\]\]")


@dataclass(frozen=True)
class Proposal:
    """A proposal for a claims.toml.

    text      : of the file
    unclaimed : patterns of cells that hold and were not claimed
    lost      : claims that do not hold any more: name and reason
    idle      : patterns that match nothing in the suite
    claimed   : how many cells, abilities and cases the text claims on this device
    patterns  : how many patterns it takes
    """

    text: str
    unclaimed: tuple[str, ...]
    lost: dict[str, str]
    idle: tuple[str, ...]
    claimed: int
    patterns: int

    @property
    def is_settled(self) -> bool:
        """True if everything that was claimed holds."""
        return not self.lost and not self.idle


def propose(text: str, shown: Shown, *, drop: bool) -> Proposal:
    """Return the proposal for a claims.toml after a run.

    drop : take out claims that do not hold any more; else they stay, and runs keep failing by them

    New claims of cells stand behind the last ones of cells. They have no condition that the author's claims do without.
    A claim that the run did not judge stays. Raises ClaimsError for a text that is wrong or not written in tables.
    """
    claims = parse_claims(text, "claims.toml")
    names = claimables()
    before = covered(claims, names, shown.features)
    lost = {name: shown.failing[name] for name in sorted(before & shown.failing.keys())}
    idle = tuple(dict.fromkeys(claim.cells for claim in claims.stale(names)))
    fresh = shown.holding - before
    # A wider pattern may replace claims without conditions, but not claims with some.
    free = covered(Claims(claims.suite, tuple(c for c in claims.entries if not c.when)), names, ())
    possible = claims_of(fresh | (free - lost.keys()), shown.features - features_of(free)) if fresh else []
    added = [claim for claim in possible if any(matches(claim.cells, name) for name in _near(claim.cells, fresh))]
    if drop and (lost or idle):
        text = _without(text, claims, names, lost, idle)
    if added:
        text = _with(text, added)
    after = parse_claims(text, "claims.toml")
    found = covered(after, names, shown.features)
    needed = (before - lost.keys() if drop else before) | fresh
    if found != needed:
        message = f"claims.toml: no patterns claim the cells that hold without changing other claims ({len(found ^ needed)} cells differ); write these claims by hand"
        raise ClaimsError(message)
    return Proposal(text, tuple(claim.cells for claim in added), lost, idle, len(found), len(after.entries))


def covered(claims: Claims, names: Iterable[str], features: Iterable[str]) -> set[str]:
    """Return those of the names that claims cover on a device with these features."""
    have = set(features)
    entries = [claim for claim in claims.entries if set(claim.when) <= have]
    exact = {claim.cells for claim in entries}
    wide = [claim.cells for claim in entries if set(claim.cells) & set("*?[")]
    by_family: dict[str, list[str]] = {}
    for name in names:
        family = name.partition("/")[0]
        if family not in by_family:
            by_family[family] = [p for p in wide if matches(p.partition("/")[0], family)]
    return {n for n in names if n in exact or any(matches(p, n) for p in by_family[n.partition("/")[0]])}


def _with(text: str, added: Sequence[Claim]) -> str:
    """Return the text with new tables: of cells behind the last table of cells, of all else at the end."""
    blocks = _blocks(text)
    place = max((k for k, block in enumerate(blocks) if _names_cells(block)), default=len(blocks) - 1) + 1
    cells = [claim for claim in added if is_cell(claim.cells)]
    tables = [claim_tables(cells), claim_tables([claim for claim in added if claim not in cells])]
    parts = ["".join(blocks[:place]), tables[0], "".join(blocks[place:]), tables[1]]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip("\n")) + "\n"


def _names_cells(block: str) -> bool:
    claim = tomllib.loads(block).get("claim", [{"cells": ()}])[0]["cells"]
    return any(map(is_cell, [claim] if isinstance(claim, str) else claim))


def _near(pattern: str, names: Collection[str]) -> Iterable[str]:
    family = pattern.partition("/")[0] + "/"
    return (name for name in names if name.startswith(family))


def _without(text: str, claims: Claims, names: Sequence[str], lost: Collection[str], idle: Collection[str]) -> str:
    """Return the text with lost and idle claims taken out of their tables; other tables stay as they are."""
    blocks = _blocks(text)
    if len(blocks) - 1 != len(tomllib.loads(text).get("claim", [])):
        message = "claims.toml: its claims are not written as [[claim]] tables; write them so, then they can be edited"
        raise ClaimsError(message)
    return "".join([blocks[0], *(_narrowed(block, claims, names, lost, idle) for block in blocks[1:])])


def _blocks(text: str) -> list[str]:
    """Return what stands before the first [[claim]] table, and each table with the comments right above it."""
    lines = text.splitlines(keepends=True)
    starts = []
    for number, line in enumerate(lines):
        if _TABLE.match(line):
            start = number
            while start and lines[start - 1].lstrip().startswith("#"):
                start -= 1
            starts.append(start)
    edges = [0, *starts, len(lines)]
    return ["".join(lines[begin:end]) for begin, end in itertools.pairwise(edges)]


def _narrowed(block: str, claims: Claims, names: Sequence[str], lost: Collection[str], idle: Collection[str]) -> str:
    """Return a table without its lost claims, "" if none is left."""
    table: dict[str, Any] = tomllib.loads(block)["claim"][0]
    before = [table["cells"]] if isinstance(table["cells"], str) else table["cells"]
    when = table.get("when", [])
    after: list[str] = []
    for pattern in before:
        claimed = covered(Claims(claims.suite, (Claim(pattern),)), names, ())
        if pattern in idle:
            continue
        after += patterns(claimed - set(lost)) if claimed & set(lost) else [pattern]
    if after == before:
        return block
    if not after:
        return ""
    comments = [line for line in block.splitlines(keepends=True) if line.lstrip().startswith("#")]
    end = block[len(block.rstrip("\n")) :].removeprefix("\n")
    return "".join(comments) + claim_table(after, when) + end
