"""A peer is a library that does what samples describe; found by its entry point in the group `ep_bench.peers`.

    [project.entry-points."ep_bench.peers"]
    acme = "acme_bench:PEER"

The value names an instance of a subclass of Peer. Its module is imported only if the peer is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import ep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

__all__ = ["Call", "Peer", "known_peers", "peer"]

_GROUP: Final = "ep_bench.peers"


def _nothing() -> None:
    """Finish nothing: the work is done when `run` returns."""


class Call(NamedTuple):
    """A peer's form of one descriptor over its own copies of the inputs.

    run     : does the work once, or enqueues it, into outputs that exist already if there is such a form
    results : returns the outputs of the last run by name, arrays of the descriptor's shapes and element types
    finish  : returns when the work of all runs is done; called once after many runs, as EP's stream is waited for
    """

    run: Callable[[], Any]
    results: Callable[[], Mapping[str, Array]]
    finish: Callable[[], Any] = _nothing

    def repeat(self, count: int) -> None:
        """Do the work so often, to its end."""
        run = self.run
        for _ in range(count):
            run()
        self.finish()


class Peer(ABC):
    """A library to compare with. Its fastest form of an operation is what counts.

    name : as in --against, and as the entry point is named
    goal : a 25th percentile of ratios of its time to EP's below this is behind
    """

    name: ClassVar[str]
    goal: ClassVar[float] = 0.95

    @property
    @abstractmethod
    def version(self) -> str:
        """The version of the library, and what it is if its name does not say that."""

    @abstractmethod
    def use_threads(self, count: int) -> None:
        """Let the library use as many threads as EP does, if it can be told."""

    def use_device(self, device: ep.Device) -> None:
        """Let the library use the device that EP uses, if it can. Raises UnavailableError if it has none at all."""

    def use_memories(self, memories: Mapping[str, ep.Memory]) -> None:
        """Let the library's next call work on EP's memories, by operand, if it can: not all pages are equally quick."""

    @abstractmethod
    def call(self, descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> Call | None:
        """Return the library's form of a descriptor, None where it has none that means the same.

        inputs : by operand, an array with the strides of its spec (not to be written), or a number; old contents of
                 outputs are not among them
        """


def known_peers() -> list[str]:
    """Return the names of the installed peers."""
    return sorted({entry.name for entry in entry_points(group=_GROUP)})


def peer(name: str) -> Peer:
    """Return a peer by name. Raises ValueError for an unknown one, UnavailableError if a package of it is not installed."""
    found = [entry for entry in entry_points(group=_GROUP) if entry.name == name]
    if not found:
        message = f"--against: unknown peer {name!r}; known are {', '.join(known_peers())}; another comes in by the entry-point group {_GROUP}"
        raise ValueError(message)
    try:
        made = found[0].load()
    except ModuleNotFoundError as error:
        message = f"peer {name} needs {error.name}, which is not installed: pip install {error.name}"
        raise ep.UnavailableError(message) from None
    if not isinstance(made, Peer):
        message = f"peer {name}: {found[0].value} is {type(made).__name__}, needs an instance of a subclass of ep_benchmarks.peers.peer.Peer"
        raise ep.UnavailableError(message)
    return made
