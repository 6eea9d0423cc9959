"""Extend the arrays of situations that the families' folders keep, until they meet every feasible pair."""

from __future__ import annotations

import zlib
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click
from ep_primitives.situations.array import FILE, TIERS, Tiers, folder_of, read_arrays, write_arrays
from ep_primitives.situations.family import SituatedFamily

import ep
from ep_tools.covering.array import extended

if TYPE_CHECKING:
    from ep_primitives.situations.model import Model

__all__ = ["command"]


@click.command()
@click.argument("names", nargs=-1)
def command(names: tuple[str, ...]) -> None:
    """Add to the arrays of NAMES, or of all families, what their models need; nothing is taken away.

    Where a rule of a model changed, remove the family's situations.txt first: situations that it forbids now are refused.
    """
    folders: dict[str, list[SituatedFamily]] = defaultdict(list)
    for family in ep.families().values():
        if isinstance(family, SituatedFamily):
            folders[folder_of(family)].append(family)
    for folder, families in folders.items():
        if not names or {family.name for family in families} & set(names):
            _extend(Path(str(files(folder) / FILE)), families)


def _extend(path: Path, families: list[SituatedFamily]) -> None:
    before = read_arrays(path.read_text()) if path.exists() else {}
    after: dict[str, dict[str, Tiers]] = {}
    for family in families:
        after[family.name] = {}
        for layout in family.layouts:
            model = family.model(layout)
            if model is not None:
                kept = before.get(family.name, {}).get(layout, {})
                after[family.name][layout] = _layout(family.name, layout, model, kept)
    path.write_text(write_arrays(after))


def _layout(family: str, layout: str, model: Model, kept: Tiers) -> Tiers:
    rows = {tier: [model.situation(text) for text in texts] for tier, texts in kept.items()}
    new = extended(model, rows, zlib.crc32(f"{family} {layout}".encode()))
    counts = ", ".join(f"{tier} {len(rows.get(tier, ()))} + {len(new[tier])}" for tier in TIERS)
    click.echo(f"{family} {layout}: {counts}")
    return {tier: (*kept.get(tier, ()), *map(model.text, new[tier])) for tier in TIERS}
