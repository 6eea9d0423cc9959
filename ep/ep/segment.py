"""A Segment is what a provider allocated at one time; it lies on a Shelf with others of its length while nobody uses it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ep.uncopied import Uncopied

if TYPE_CHECKING:
    import weakref

    from ep.memory import Block, MemoryKind

__all__ = ["Freed", "Segment", "Shelf"]


class Segment(Uncopied):
    """What the provider allocated, used by one Block after the other, or what an owner lends to one of them.

    nbytes     : of the whole segment; a block may need fewer
    shelf      : where it lies between two uses, None if it is an owner's or has no bytes
    owner      : keeps the bytes alive where they are not the provider's, until the segment passes the retire list
    block      : refers weakly to the Block that has it now, or had it last
    home       : where the stream that freed it finds it until it passes the retire list, None otherwise
    is_taken   : True once that stream did so: another Segment stands for the bytes now
    parked_at  : how many allocations had been served from shelves when it was last put on one
    """

    __slots__ = ("block", "handle", "home", "is_taken", "kind", "nbytes", "owner", "parked_at", "shelf")

    def __init__(
        self, handle: Any, nbytes: int, kind: MemoryKind, owner: object = None, shelf: Shelf | None = None
    ) -> None:
        self.handle = handle
        self.nbytes = nbytes
        self.kind = kind
        self.owner = owner
        self.shelf = shelf
        self.block: weakref.ref[Block] | None = None
        self.home: dict[Segment, None] | None = None
        self.is_taken = False
        self.parked_at = 0


class Shelf:
    """The segments of one kind and length that lie ready, the longest unused first.

    is_listed  : True if the pool looks here when it must give something back
    seen_at    : what was the parked_at of the first segment when it looked last
    """

    __slots__ = ("__weakref__", "is_listed", "kind", "nbytes", "ready", "seen_at")

    def __init__(self, kind: MemoryKind, nbytes: int) -> None:
        self.kind = kind
        self.nbytes = nbytes
        self.ready: deque[Segment] = deque()
        self.is_listed = False
        self.seen_at = 0


Freed = dict[Shelf, dict[Segment, None]]
"""What a stream has freed and may take again before it passes the retire list."""
