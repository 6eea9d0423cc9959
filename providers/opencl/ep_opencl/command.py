"""Commands: kernel objects of their own, with their arguments, as a graph keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ep_simt
    import pyopencl as cl

__all__ = ["Command"]


class Command(NamedTuple):
    """A kernel object, over how many work-items it runs, and its arguments, which are set; nobody else sets them.

    what    : the op, for errors
    places  : arguments that follow memories
    """

    what: str
    kernel: cl.Kernel
    size: tuple[int, ...]
    group: tuple[int, ...]
    arguments: list[Any]
    places: tuple[ep_simt.Place, ...]
