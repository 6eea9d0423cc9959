"""Gather and Scatter: parts go from all ranks to one, and from one to all; each is an AllToAll of counted parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from ep_primitives.descriptors.validation import check_output, check_spec

from ep import Collective, CollectiveRoles, Role, Roles, Stage, TensorSpec
from ep_collectives.descriptors.checks import check_multiple, check_pair, check_peer, number
from ep_collectives.descriptors.exchange import AllToAll

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Gather", "Scatter"]

_BOTH: Final = CollectiveRoles(Role.input("x"), Role.output("out"))
_INPUT: Final = CollectiveRoles(Role.input("x"))
_OUTPUT: Final = CollectiveRoles(Role.output("out"))


class Gather(Collective):
    """out = the x of all ranks, one after the other in the order of the ranks, at the root; other ranks have no out.

    x     : dense, as many elements at every rank; read
    ranks : how many there are
    root  : a rank, the same at every rank
    out   : at the root: of the same dtype, dense, as many elements for each rank; written. None at all other ranks

    Attributes are ranks and root. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "rooted_gather"

    def __init__(self, *, x: TensorSpec, ranks: int, root: int, out: TensorSpec | None = None) -> None:
        check_spec(self.family, "x", x)
        size = number(self.family, "ranks", ranks)
        if out is not None:
            check_pair(self.family, x, out)
            check_multiple(self.family, "out", out, x.size, size)
        self._freeze("-", (x,) if out is None else (x, out), (size, number(self.family, "root", root)))
        self.check_dense()

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # the root alone has an out
        """The roles of the operands."""
        return _BOTH if len(self.specs) > 1 else _INPUT

    def check_rank(self, rank: int, size: int) -> None:
        _check_root(self, rank, size, has_whole=len(self.specs) > 1, whole="out")

    def lower(self) -> Sequence[Stage]:
        """Return the exchange in which all ranks send to the root alone."""
        ranks, root = self.attributes
        x, *out = self.specs
        sends = [x.size if rank == root else 0 for rank in range(ranks)]
        receives = [x.size if out else 0] * ranks
        # Even elementless parts are operands here, as they are in the Gather.
        whole = out[0] if out else None
        return (Stage(AllToAll(x=x, out=whole, sends=sends, receives=receives, called=self.family)),)


class Scatter(Collective):
    """out = this rank's part of the x of the root; other ranks have no x.

    out   : dense, as many elements at every rank; written
    ranks : how many there are
    root  : a rank, the same at every rank
    x     : at the root: of the same dtype, dense, as many elements for each rank; read. None at all other ranks

    Attributes are ranks and root. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "rooted_scatter"

    def __init__(self, *, out: TensorSpec, ranks: int, root: int, x: TensorSpec | None = None) -> None:
        check_output(self.family, out)
        size = number(self.family, "ranks", ranks)
        if x is not None:
            check_pair(self.family, x, out)
            check_multiple(self.family, "x", x, out.size, size)
        self._freeze("-", (out,) if x is None else (x, out), (size, number(self.family, "root", root)))
        self.check_dense()

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # the root alone has an x
        """The roles of the operands."""
        return _BOTH if len(self.specs) > 1 else _OUTPUT

    def check_rank(self, rank: int, size: int) -> None:
        _check_root(self, rank, size, has_whole=len(self.specs) > 1, whole="x")

    def lower(self) -> Sequence[Stage]:
        """Return the exchange in which the root alone sends."""
        ranks, root = self.attributes
        *x, out = self.specs
        sends = [out.size if x else 0] * ranks
        receives = [out.size if rank == root else 0 for rank in range(ranks)]
        whole = x[0] if x else None
        return (Stage(AllToAll(x=whole, out=out, sends=sends, receives=receives, called=self.family)),)


def _check_root(collective: Gather | Scatter, rank: int, size: int, *, has_whole: bool, whole: str) -> None:
    """Raise ValueError unless there are as many ranks as it says, and the root alone has the parts of all."""
    title, (ranks, root) = collective.title, collective.attributes
    if ranks != size:
        message = f"{title}: ranks is {ranks}, and the communicator has {size}; say ranks=communicator.size"
        raise ValueError(message)
    check_peer(title, "root", root, size)
    if (rank == root) != has_whole:
        message = f"{title}: rank {rank} has {'an' if has_whole else 'no'} {whole}, and the root is {root}; describe {whole} at the root alone"
        raise ValueError(message)
