"""AllReduce, ReduceScatter and Reduce: elements of all ranks are reduced, in the order of the ranks.

ops          : sum, prod, min, max, mean, with the meaning and the bounds of the rows of `ep_primitives.Reduce` over as many
               terms as there are ranks
dtypes       : those for which Reduce has the op with a result of the same type; integers wrap
accumulation : as Reduce: float32 for float16 and bfloat16, rounded once
empty        : a tensor without elements is legal, and the ranks meet all the same
determinism  : the order is that of the ranks: on equal devices, equal ranks and sizes give equal bits, whoever came first
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from ep_primitives.descriptors.validation import check_output, check_spec, chosen_output, described

from ep import Collective, CollectiveRoles, Role, Roles, TensorSpec
from ep_collectives.descriptors.checks import check_multiple, check_pair, check_peer, check_reduced, number

__all__ = ["AllReduce", "Reduce", "ReduceScatter"]

_PAIR: Final = CollectiveRoles(Role.input("x", shares=("out",)), Role.output("out"))
_APART: Final = CollectiveRoles(Role.input("x"), Role.output("out"))
_SOURCE: Final = CollectiveRoles(Role.input("x"))
_STATE: Final = CollectiveRoles(Role.state("x"))


class AllReduce(Collective):
    """out = op over the x of all ranks, at every rank.

    op  : one of sum, prod, min, max, mean
    x   : dense, as many elements at every rank; read
    out : of the same dtype and size; written; may be the same memory as x

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "all_reduce"
    roles: ClassVar[Roles] = _PAIR

    def __init__(self, op: str, *, x: TensorSpec, out: TensorSpec) -> None:
        check_pair(f"{self.family} {op}", x, out)
        check_reduced(self.family, op, x)
        check_multiple(f"{self.family} {op}", "out", out, x.size, 1)
        self._freeze(op, (x, out))
        self.check_dense()

    @classmethod
    def infer(cls, op: str, x: Any, *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays. Without out it is dense, of the shape of x."""
        x = described(cls.family, "x", x)
        return cls(op, x=x, out=chosen_output(cls.family, out, x.dtype, x.shape))

    @property
    def agreement(self) -> str:
        """Collective, element type and count."""
        return f"{self.title} of {self.specs[0].dtype} x {self.specs[0].size}"


class ReduceScatter(Collective):
    """out = op over the part of this rank's number of the x of all ranks.

    op  : one of sum, prod, min, max, mean
    x   : dense, as many elements for each rank, in the order of the ranks; read
    out : of the same dtype, a part's elements; written. None: in place, this rank's part of x is written

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "reduce_scatter"

    def __init__(self, op: str, *, x: TensorSpec, out: TensorSpec | None = None) -> None:
        if out is None:
            check_output(f"{self.family} {op}", x, "x")
        else:
            check_pair(f"{self.family} {op}", x, out)
        check_reduced(self.family, op, x)
        self._freeze(op, (x,) if out is None else (x, out))
        self.check_dense()

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # in place there is no out
        """The roles of the operands."""
        return _APART if len(self.specs) > 1 else _STATE

    @property
    def agreement(self) -> str:
        """Collective, element type and count."""
        return f"{self.title} of {self.specs[0].dtype} x {self.specs[0].size}"

    def check_rank(self, rank: int, size: int) -> None:
        del rank
        x, *out = self.specs
        part = out[0].size if out else x.size // size
        check_multiple(self.title, "x", x, part, size)


class Reduce(Collective):
    """out = op over the x of all ranks, at the root; other ranks have no out.

    op   : one of sum, prod, min, max, mean
    x    : dense, as many elements at every rank; read
    root : a rank, the same at every rank
    out  : at the root: of the same dtype and size; written; may be the same memory as x. None at all other ranks

    Attributes are the root. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "rooted_reduce"

    def __init__(self, op: str, *, x: TensorSpec, root: int, out: TensorSpec | None = None) -> None:
        title = f"{self.family} {op}"
        check_spec(title, "x", x)
        check_reduced(self.family, op, x)
        if out is not None:
            check_pair(title, x, out)
            check_multiple(title, "out", out, x.size, 1)
        self._freeze(op, (x,) if out is None else (x, out), (number(title, "root", root),))
        self.check_dense()

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # the root alone has an out
        """The roles of the operands."""
        return _PAIR if len(self.specs) > 1 else _SOURCE

    @property
    def root(self) -> int:
        """The rank that gets the result."""
        return self.attributes[0]

    @property
    def agreement(self) -> str:
        """Collective, element type, count and root."""
        return f"{self.title} of {self.specs[0].dtype} x {self.specs[0].size} at root {self.root}"

    def check_rank(self, rank: int, size: int) -> None:
        check_peer(self.title, "root", self.root, size)
        if (rank == self.root) != (len(self.specs) > 1):
            message = (
                f"{self.title}: rank {rank} has {'an' if len(self.specs) > 1 else 'no'} out, and the root is {self.root}; "
                "describe out at the root alone"
            )
            raise ValueError(message)
