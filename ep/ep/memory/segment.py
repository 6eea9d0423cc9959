"""A Segment is one allocation of a provider; while unused it stands in a Row with others of its length.

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
"""The lock for moving segments between leases, rows and lists."""


class Segment(Uncopied):
    """An allocation of the provider, used by one Block after the other, or bytes that an owner lends to one Block.

    nbytes     : of the whole segment; a block may need fewer
    shelf      : its place between two uses, None if it is an owner's or has no bytes
    owner      : keeps the bytes alive where they are not the provider's, until the segment passes the retire list
    lease_ref  : of the current lease, or of the last one
    before     : its neighbour in its row (a shelf, or the segments that a stream may take again), or that Row
    behind     : likewise; None: it stands in no row
    is_taken   : True once the stream that freed it took it again: another Segment has its bytes now
    is_parked  : True while the provider knows that it is unused
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
    seen_at    : the parked_at of the first segment when the pool looked last
    """

    __slots__ = ("__weakref__", "is_listed", "kind", "nbytes", "seen_at")

    def __init__(self, kind: MemoryKind, nbytes: int) -> None:
        super().__init__()
        self.kind = kind
        self.nbytes = nbytes
        self.is_listed = False
        self.seen_at = 0


Freed = dict[Shelf, Row]
"""The segments that a stream has freed and may take again before they pass the retire list."""
