"""Write the claims of packages in the style simt: conformance/ep_conformance/kit/simt/ep_NAME/claims.toml.jinja.

python tools/kit_claims.py           write them
python tools/kit_claims.py --check   exit 1 if they are not of today

A cell is claimed if the portable kernels run its typical descriptor, or all stages that it lowers to.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import ep_simt
from ep_conformance.claims.shown import claim_tables, claims_of

import ep

FILE: Final = Path(__file__).parent.parent / "conformance/ep_conformance/kit/simt/ep_NAME/claims.toml.jinja"

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


def main() -> None:
    """Write the template, or say whether it is of today."""
    if "--check" in sys.argv:
        sys.exit(0 if FILE.read_text() == text() else f"{FILE.name} is not of today: python tools/kit_claims.py")
    FILE.write_text(text())


if __name__ == "__main__":
    main()
