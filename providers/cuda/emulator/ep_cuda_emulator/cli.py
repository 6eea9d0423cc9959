"""`ep-cuda-emulator`: run programs on CUDA without a GPU."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Final, NoReturn

import click

from ep_cuda_emulator.place import MissingError, environment, library

__all__ = ["main"]

_VARIABLES: Final = {
    "devices": "EP_CUDA_EMULATOR_DEVICES",
    "memory": "EP_CUDA_EMULATOR_MEMORY",
    "architecture": "EP_CUDA_EMULATOR_ARCHITECTURE",
    "seed": "EP_CUDA_EMULATOR_SEED",
    "in_step": "EP_CUDA_EMULATOR_IN_STEP",
    "unwritten": "EP_CUDA_EMULATOR_UNWRITTEN",
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """CUDA without a GPU: a driver that translates kernels for this processor, and checks what they do."""


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--devices", type=click.IntRange(0, 8), help="How many devices there are; default 1.")
@click.option("--memory", type=click.IntRange(1 << 20), help="Bytes of each device; default 4 GiB.")
@click.option("--architecture", type=int, help="The compute capability, such as 75 or 100; default 90.")
@click.option(
    "--seed", type=click.IntRange(0), help="Of the order of threads and of the errors of approximate functions."
)
@click.option(
    "--in-step", is_flag=True, help="Let threads take turns in order, for programs that rely on warps in step."
)
@click.option("--unwritten", is_flag=True, help="Report reads of device memory that nothing has written.")
def run(command: tuple[str, ...], *, in_step: bool, unwritten: bool, **numbers: int | None) -> NoReturn:
    """Run COMMAND, with its arguments, so that it takes the emulated driver for NVIDIA's.

    Options of COMMAND stand behind a --, as in: ep-cuda-emulator run -- python program.py --fast
    """
    program = shutil.which(command[0])
    if program is None:
        message = f"there is no program {command[0]}"
        raise click.UsageError(message)
    flags = {"in_step": in_step or None, "unwritten": unwritten or None}
    chosen = {_VARIABLES[name]: str(int(value)) for name, value in {**numbers, **flags}.items() if value is not None}
    try:
        variables = environment({**os.environ, **chosen})
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except MissingError as error:
        click.echo(f"ep-cuda-emulator: {error}", err=True)
        sys.exit(3)
    sys.stdout.flush()
    os.execve(program, command, variables)  # noqa: S606 - what the user asked for


@main.command()
def path() -> None:
    """Print the folder of the library, for LD_LIBRARY_PATH."""
    try:
        click.echo(library().parent)
    except MissingError as error:
        click.echo(f"ep-cuda-emulator: {error}", err=True)
        sys.exit(3)
