"""Put saboteurs into a folder as packages with entry points, so that they come in by the same door as a stranger's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep
from ep_conformance import SUITE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ep_conformance.saboteurs.saboteur import Saboteur

__all__ = ["install"]

_ENTRY: Final = '''"""{defect}"""

import ep


@ep.provider_hook
def ep_provider() -> ep.spi.Provider:
    """Return the provider."""
    from ep_conformance.saboteurs.table import named

    return named("{name}").provider()
'''
_MANIFEST: Final = 'name = "{name}"\nvendor = "EP"\nspi = "0.2"\nfork_safe = false\n'
_CLAIMED: Final = (
    "runtime/ability/async",
    "runtime/ability/call",
    "runtime/ability/fill",
    "runtime/ability/event",
    "runtime/ability/wait",
    "runtime/ability/timeout",
    "runtime/ability/timing",
    "runtime/ability/native-calls",
    "runtime/ability/late-errors",
    "runtime/late/lost-device-is-opened-again",
    "runtime/ability/graph",
    "runtime/ability/copy-between-devices",
    "runtime/ability/memory-info",
    "runtime/ability/pinned-memory",
    "runtime/ability/shared-memory",
)


def install(saboteurs: Iterable[Saboteur], folder: Path) -> None:
    """Write one package for each, and one distribution that names them all; the folder belongs on PYTHONPATH."""
    points = ["[ep.providers]"]
    for saboteur in saboteurs:
        package = f"ep_saboteur_{saboteur.name.replace('-', '_')}"
        place = folder / package
        place.mkdir()
        entry = _ENTRY.format(defect=saboteur.defect, name=saboteur.name)
        (place / "__init__.py").write_text(entry, encoding="utf-8")
        (place / "provider.toml").write_text(_MANIFEST.format(name=saboteur.name), encoding="utf-8")
        (place / "claims.toml").write_text(_claims(), encoding="utf-8")
        points.append(f"{saboteur.name} = {package}")
    info = folder / "ep_saboteurs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep-saboteurs\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("\n".join(points) + "\n", encoding="utf-8")


def _claims() -> str:
    families = (f"{family}/*/*/*" for family in ep.families())
    claims = "".join(f'\n[[claim]]\ncells = "{cells}"\n' for cells in (*families, *_CLAIMED))
    return f'suite = "{SUITE}"\n{claims}'
