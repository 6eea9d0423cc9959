"""Write the claims of packages in the style simt: conformance/ep_conformance/kit/simt/ep_NAME/claims.toml.jinja.

A cell is claimed if the portable kernels run its typical descriptor, or all stages that it lowers to.
"""

from __future__ import annotations

from typing import Final

import click
import ep_simt
from ep_conformance.claims.shown import claim_tables, claims_of

import ep
from ep_tools.folders import ROOT
from ep_tools.renew import renew

FILE: Final = ROOT / "conformance/ep_conformance/kit/simt/ep_NAME/claims.toml.jinja"

_HEAD: Final = '{% extends "package/ep_NAME/claims.toml.jinja" %}\n{%- block claims %}\n'
_FEATURES: Final = ("fp64", "host-memory")
_DEVICE: Final = ep.DeviceInfo("any", "EP", dtypes=frozenset(ep_simt.ELEMENTS), features=frozenset(_FEATURES))


def text() -> str:
    """Return the template."""
    cells = {
        str(cell) for family in ep.families().values() for cell in family.cells() if _has_kernels(family.sample(cell))
    }
    return f"{_HEAD}{claim_tables(claims_of(cells, _FEATURES))}{{% endblock %}}\n"


def _has_kernels(descriptor: ep.Descriptor) -> bool:
    """Say whether portable kernels run a descriptor, or all that it lowers to."""
    try:
        ep_simt.require(descriptor, _DEVICE)
    except ep.UnsupportedError:
        stages = descriptor.lower()
        return bool(stages) and all(_has_kernels(stage.descriptor) for stage in stages)
    return True


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if it is not of today.")
def command(*, check: bool) -> None:
    """Write the template."""
    renew(FILE, text(), check=check, name="kit-claims")
