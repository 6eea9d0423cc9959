"""The cases of the runtime contract, one noun a file; `runtime/event/wait-orders-kernels` is a function in objects/event.py."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from ep_conformance.fixture.trial import Trial

__all__ = ["RuntimeCase", "case", "runtime_cases"]

Body = Callable[[Trial], None]
Function = TypeVar("Function", bound=Body)


@dataclass(frozen=True)
class RuntimeCase:
    """A claim of the runtime contract and the function that tries it.

    claim     : the function's docstring
    optional  : True for an ability that a provider may lack: then it counts only if claimed
    kernels   : True if it launches kernels: a provider without any is not asked
    needs     : a cell that it launches, "" for any kernel: a provider without it is not asked
    asks      : "call": a function of the host must hold a stream back; "fork": the system must fork; "devices": the
                provider must have two; "faults": an asynchronous device must inject faults; "": none of them. Where it
                is not there the case is unsupported
    profile   : the smallest profile that runs it
    since     : the suite version that first held it
    """

    id: str
    body: Body
    claim: str
    optional: bool = False
    kernels: bool = False
    profile: str = "quick"
    since: str = "1.0"
    needs: str = ""
    asks: str = ""


_CASES: Final[dict[str, RuntimeCase]] = {}


def case(  # noqa: PLR0913 - each is a fact about the case
    *,
    optional: bool = False,
    kernels: bool = False,
    needs: str = "",
    asks: str = "",
    profile: str = "quick",
    since: str = "1.0",
) -> Callable[[Function], Function]:
    """Make a function of one Trial a case named after its module and itself.

    It passes by returning; it fails by any exception, and is unsupported by UnsupportedError.
    """

    def register(function: Function) -> Function:
        name = function.__name__.rstrip("_").replace("_", "-")
        area = function.__module__.rpartition(".")[2]
        identity = f"runtime/{area}/{name}"
        claim = (function.__doc__ or "").strip()
        _CASES[identity] = RuntimeCase(
            identity, cast("Body", function), claim, optional, kernels, profile, since, needs, asks
        )
        return function

    return register


@functools.cache
def runtime_cases() -> dict[str, RuntimeCase]:
    """Return every runtime case by id, in the order of the files' names."""
    modules = [module.name for module in pkgutil.walk_packages(__path__, f"{__name__}.") if not module.ispkg]
    for name in sorted(modules, key=lambda name: name.rpartition(".")[2]):
        importlib.import_module(name)
    return dict(_CASES)
