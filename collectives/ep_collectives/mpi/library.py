"""mpi4py and its MPI, imported when the first group is asked for, and how MPI ends with the process."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from typing import TYPE_CHECKING, Any

import ep

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_exit", "library"]


def library() -> Any:
    """Return the module mpi4py.MPI, with MPI initialised. Raises UnavailableError with the cure."""
    return _loaded()[0]


@functools.cache
def _loaded() -> tuple[Any, bool]:
    """Return the module, and whether it was imported here, so that EP finalises MPI."""
    is_ours = "mpi4py.MPI" not in sys.modules
    try:
        import mpi4py  # noqa: PLC0415 - who has no ranks in other processes needs none

        if is_ours:
            mpi4py.rc.finalize = False  # we do, unless a rank is lost, for which MPI would wait for ever
        from mpi4py import MPI  # noqa: PLC0415 - likewise, and its name
    except (ImportError, RuntimeError) as error:
        message = f"mpi_group: mpi4py or its MPI library cannot be loaded ({error}); pip install 'execution-provider[mpi]' brings both"
        raise ep.UnavailableError(message) from error
    if not MPI.Is_initialized():
        MPI.Init_thread(MPI.THREAD_MULTIPLE)
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        message = "mpi_group: MPI was initialised for fewer threads than MPI_THREAD_MULTIPLE, and streams have threads of their own; leave mpi4py.rc.thread_level as it is, 'multiple'"
        raise ep.UnavailableError(message)
    return MPI, is_ours


def at_exit(settle: Callable[[], bool]) -> None:
    """Let MPI end with the process.

    settle : waits for the collectives under way, and says whether all ranks will come to the end
    """
    atexit.register(_end, settle)


def _end(settle: Callable[[], bool]) -> None:
    mpi, is_ours = _loaded()
    if mpi.Is_finalized():
        return
    if settle():
        if is_ours:
            mpi.Finalize()
    elif not is_ours:  # mpi4py would wait in MPI_Finalize for ranks that do not come
        sys.stdout.flush()
        sys.stderr.write(
            "ep_collectives: ranks were lost, for which MPI would wait for ever; the process ends without it\n"
        )
        sys.stderr.flush()
        os._exit(1)
