"""The same command once more, under a provider's emulator."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import ep
from ep_conformance.commands import options
from ep_conformance.commands.exits import UnavailableExit, WrongUse

__all__ = ["emulated"]

_OPTION = "--emulate"


def emulated(provider: str) -> None:
    """Replace this process by one with the same arguments behind the emulator's words. Exit 2 without one, 3 if it is not there."""
    options.require_providers((provider,))
    manifest = ep.providers()[provider].manifest
    words = manifest.emulator if manifest else ()
    if not words:
        message = (
            f"{_OPTION}: provider {provider} has no emulator; its provider.toml would name one: [emulator] command"
        )
        raise WrongUse(message)
    folders = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    program = shutil.which(words[0], path=folders)
    if program is None:
        message = f"{_OPTION}: the emulator of provider {provider} is not there: {words[0]}; install it"
        raise UnavailableExit(message)
    arguments = [word for word in sys.argv[1:] if word != _OPTION]
    sys.stdout.flush()
    os.execv(program, [*words, sys.executable, "-m", "ep_conformance", *arguments])  # noqa: S606 - the provider's own words
