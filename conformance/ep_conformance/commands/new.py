"""`ep-conformance new`: write the package of a new provider."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ep_conformance.commands.exits import CODES, WrongUse
from ep_conformance.kit import STYLES, check_name, render, write

__all__ = ["command"]

_STYLES = """\b
python  memory in NumPy, kernels in Python: the smallest one, to learn from
native  memory and kernels in C++, through cffi: for a driver with a C interface
simt    EP's portable kernels, behind a prelude and a compiler of your own"""


@click.command(epilog=f"{_STYLES}\n\n{CODES}")
@click.argument("name")
@click.option("--style", default=STYLES[0], show_default=True, type=click.Choice(STYLES), help="What it is made of.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where its pyproject.toml is to lie; default ./NAME. Nothing there is overwritten.",
)
def command(name: str, style: str, folder: Path | None) -> int:
    """Write the package of a new provider, which passes the mandatory runtime cases as it is.

    NAME is the provider's: a lower-case word such as acme, whose import package is ep_acme.
    """
    folder = Path(name) if folder is None else folder
    try:
        check_name(name)
        texts = render(name, style)
        write(folder, texts)
    except (ValueError, FileExistsError) as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        message = f"cannot write {error.filename or folder}: {error.strerror}"
        raise WrongUse(message) from None
    click.echo("\n".join(f"wrote {folder / path}" for path in texts))
    shown = f".{os.sep}{folder}" if not folder.is_absolute() else str(folder)
    click.echo(
        f"\nNext:\n  pip install --editable '{shown}[test]'\n  ep doctor\n  ep-conformance run --provider {name} --quick\n"
        "docs/write-a-provider.md goes on from there."
    )
    return 0
