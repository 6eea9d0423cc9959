"""Commands: kernel objects of their own, with their arguments, as a graph keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ep_simt
    import pyopencl as cl

__all__ = ["Command"]


class Command(NamedTuple):
    """A kernel object of one command alone, its arguments, which are set, and its number of work-items.

    what    : the op, for errors
    places  : arguments that follow memories
    """

    what: str
    kernel: cl.Kernel
    size: tuple[int, ...]
    group: tuple[int, ...]
    arguments: list[Any]
    places: tuple[ep_simt.Place, ...]
