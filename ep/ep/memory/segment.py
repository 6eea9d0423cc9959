"""A Segment is what a provider allocated at one time; it stands in a Row with others of its length while nobody uses it.

Rows are linked through their segments, so that moving one is plain assignments: see ep.locks for why that matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep.ground.uncopied import Uncopied
from ep.locks import ForkLock

if TYPE_CHECKING:
    from ep.layout.memory_kind import MemoryKind
    from ep.memory.memory import LeaseRef

__all__ = ["OWNERSHIP", "Freed", "Row", "Segment", "Shelf"]

OWNERSHIP: Final = ForkLock()
"""Guards which lease, row or list has a segment."""


class Segment(Uncopied):
    """What the provider allocated, used by one Block after the other, or what an owner lends to one of them.

    nbytes     : of the whole segment; a block may need fewer
    shelf      : where it lies between two uses, None if it is an owner's or has no bytes
    owner      : keeps the bytes alive where they are not the provider's, until the segment passes the retire list
    lease_ref  : of the lease on it, or of the last one
    before     : its neighbours in the row where it stands, on its shelf or among what a stream may take again, or that Row
    behind     : likewise; None: it stands in no row
    is_taken   : True once the stream that freed it took it again: another Segment stands for the bytes now
    is_parked  : True while the provider knows that nobody uses it
    parked_at  : how many allocations had been served from shelves when it was last put on one
    """

    __slots__ = (
        "before",
        "behind",
        "handle",
        "is_parked",
        "is_taken",
        "kind",
        "lease_ref",
        "nbytes",
        "owner",
        "parked_at",
        "shelf",
    )

    def __init__(
        self, handle: Any, nbytes: int, kind: MemoryKind, owner: object = None, shelf: Shelf | None = None
    ) -> None:
        self.handle = handle
        self.nbytes = nbytes
        self.kind = kind
        self.owner = owner
        self.shelf = shelf
        self.lease_ref: LeaseRef | None = None
        self.before: Any = None
        self.behind: Any = None
        self.is_taken = False
        self.is_parked = False
        self.parked_at = 0


class Row:
    """Segments in the order in which they came, in a ring that begins and ends here: `behind` is the first, `before` the last.

    In an empty row both are the row itself.
    """

    __slots__ = ("before", "behind")

    def __init__(self) -> None:
        self.before: Any = self
        self.behind: Any = self


class Shelf(Row):
    """The segments of one kind and length that lie ready, the longest unused first.

    is_listed  : True if the pool looks here when it must give something back
    seen_at    : what was the parked_at of the first segment when it looked last
    """

    __slots__ = ("__weakref__", "is_listed", "kind", "nbytes", "seen_at")

    def __init__(self, kind: MemoryKind, nbytes: int) -> None:
        super().__init__()
        self.kind = kind
        self.nbytes = nbytes
        self.is_listed = False
        self.seen_at = 0


Freed = dict[Shelf, Row]
"""What a stream has freed and may take again before it passes the retire list."""
