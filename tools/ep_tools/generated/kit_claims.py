"""Write the claims of packages in the style simt: conformance/ep_conformance/kit/simt/ep_NAME/claims.toml.jinja."""

from __future__ import annotations

from typing import Final

import click

from ep_tools.folders import ROOT
from ep_tools.generated.portable import DOUBLES, portable_claims
from ep_tools.renew import renew

FILE: Final = ROOT / "conformance/ep_conformance/kit/simt/ep_NAME/claims.toml.jinja"

_HEAD: Final = '{% extends "package/ep_NAME/claims.toml.jinja" %}\n{%- block claims %}\n'


def text() -> str:
    """Return the template."""
    return f"{_HEAD}{portable_claims(DOUBLES)}{{% endblock %}}\n"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if it is not of today.")
def command(*, check: bool) -> None:
    """Write the template."""
    renew(FILE, text(), check=check, name="kit-claims")
