"""Send and Recv: elements of one rank go to one other, bit by bit, in any element type.

The n-th Send from one rank to another meets the n-th Recv there of the first. Each waits for the other, so that two ranks
which both send first wait for ever: let both launch Send and Recv in a `communicator.group()`.
"""

from __future__ import annotations

from typing import ClassVar

from ep_primitives.descriptors.validation import check_output, check_spec

from ep import Collective, CollectiveRoles, Role, Roles, TensorSpec
from ep_collectives.descriptors.checks import check_peer, number

__all__ = ["Recv", "Send"]


class _Paired(Collective):
    """One side of a pair, whose only attribute is the rank on the other side.

    word      : the attribute's name
    direction : as messages say it
    """

    __slots__ = ()

    is_paired: ClassVar[bool] = True
    word: ClassVar[str]
    direction: ClassVar[str]

    @property
    def peer(self) -> int:
        """The rank on the other side."""
        return self.attributes[0]

    @property
    def title(self) -> str:
        """The collective's name in messages, with the other rank."""
        return f"{self.family} {self.direction} rank {self.peer}"

    @property
    def agreement(self) -> str:
        """Element type and count."""
        return f"{self.specs[0].dtype} x {self.specs[0].size}"

    def check_rank(self, rank: int, size: int) -> None:
        check_peer(self.title, self.word, self.peer, size)
        if self.peer == rank:
            message = f"{self.title}: that is this rank itself; use stream.copy"
            raise ValueError(message)


class Send(_Paired):
    """The x of this rank becomes the out of a Recv at another.

    x  : dense; read
    to : a rank, not this one

    Attributes are the rank. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "send"
    roles: ClassVar[Roles] = CollectiveRoles(Role.input("x"))
    word: ClassVar[str] = "to"
    direction: ClassVar[str] = "to"

    def __init__(self, *, x: TensorSpec, to: int) -> None:
        check_spec(self.family, "x", x)
        self._freeze("-", (x,), (number(self.family, self.word, to),))
        self.check_dense()


class Recv(_Paired):
    """out = the x of a Send at another rank.

    out    : dense; written
    source : a rank, not this one

    Attributes are the rank. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "recv"
    roles: ClassVar[Roles] = CollectiveRoles(Role.output("out"))
    word: ClassVar[str] = "source"
    direction: ClassVar[str] = "from"

    def __init__(self, *, out: TensorSpec, source: int) -> None:
        check_output(self.family, out)
        self._freeze("-", (out,), (number(self.family, self.word, source),))
        self.check_dense()
