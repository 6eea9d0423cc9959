"""AllGather and Broadcast: elements of one rank, or of each, go to all ranks, bit by bit, in any element type."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from ep_primitives.descriptors.validation import check_output, chosen_output, described

from ep import Collective, CollectiveRoles, Role, Roles, TensorSpec
from ep_collectives.descriptors.checks import check_multiple, check_pair, check_peer, number

__all__ = ["AllGather", "Broadcast"]

_APART: Final = CollectiveRoles(Role.input("x"), Role.output("out"))
_IN_PLACE: Final = CollectiveRoles(Role.state("out"))


class AllGather(Collective):
    """out = the x of all ranks, one after the other in the order of the ranks, at every rank.

    x   : dense, as many elements at every rank; read. None: in place, this rank's part of out has its elements
    out : of the same dtype, dense, as many elements for each rank; written

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "all_gather"

    def __init__(self, *, out: TensorSpec, x: TensorSpec | None = None) -> None:
        if x is None:
            check_output(self.family, out)
        else:
            check_pair(self.family, x, out)
        self._freeze("-", (out,) if x is None else (x, out))
        self.check_dense()

    @classmethod
    def infer(cls, x: Any, ranks: int, *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays. Without out its shape is (ranks, *x.shape)."""
        x = described(cls.family, "x", x)
        shape = (number(cls.family, "ranks", ranks), *x.shape)
        return cls(x=x, out=chosen_output(cls.family, out, x.dtype, shape))

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # in place there is no x
        """The roles of the operands."""
        return _APART if len(self.specs) > 1 else _IN_PLACE

    @property
    def agreement(self) -> str:
        """Collective, element type and count of all ranks' elements."""
        return f"{self.title} of {self.specs[-1].dtype} x {self.specs[-1].size}"

    def check_rank(self, rank: int, size: int) -> None:
        del rank
        *x, out = self.specs
        part = x[0].size if x else out.size // size
        check_multiple(self.title, "out", out, part, size)


class Broadcast(Collective):
    """x = the x of the root, at every rank.

    x    : dense, as many elements at every rank; read at the root, written at the others
    root : a rank, the same at every rank

    Attributes are the root. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "broadcast"
    roles: ClassVar[Roles] = CollectiveRoles(Role.state("x"))

    def __init__(self, *, x: TensorSpec, root: int) -> None:
        check_output(self.family, x, "x")
        self._freeze("-", (x,), (number(self.family, "root", root),))
        self.check_dense()

    @property
    def root(self) -> int:
        """The rank whose elements all get."""
        return self.attributes[0]

    @property
    def agreement(self) -> str:
        """Collective, element type, count and root."""
        return f"{self.title} of {self.specs[0].dtype} x {self.specs[0].size} from root {self.root}"

    def check_rank(self, rank: int, size: int) -> None:
        del rank
        check_peer(self.title, "root", self.root, size)
