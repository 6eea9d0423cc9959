"""AllToAll: each rank sends a part of its elements to each rank, bit by bit, in any element type."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from ep_primitives.descriptors.validation import check_output, check_spec

from ep import Collective, CollectiveRoles, Role, Roles, TensorSpec
from ep_collectives.descriptors.checks import check_multiple, check_pair, numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AllToAll"]

_INPUT, _OUTPUT = Role.input("x"), Role.output("out")
_ROLES: Final = {
    (True, True): CollectiveRoles(_INPUT, _OUTPUT),
    (True, False): CollectiveRoles(_INPUT),
    (False, True): CollectiveRoles(_OUTPUT),
    (False, False): CollectiveRoles(),
}
"""By whether there are an x and an out."""


class AllToAll(Collective):
    """Part j of the x of rank i becomes part i of the out of rank j.

    x        : dense, the parts for the ranks, in their order; read. None: this rank sends nothing
    out      : of the same dtype, dense, the parts from the ranks, in their order; written. None: it receives nothing
    sends    : how many elements the part for each rank has; () for equal parts
    receives : how many elements the part from each rank has, as that rank says in its sends; () for equal parts
    called   : the collective that is lowered to it, as messages name it; "-" for none

    Attributes are whether there is an x, whether there is an out, sends, receives. Raises TypeError or ValueError for
    anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "all_to_all"

    def __init__(
        self,
        *,
        x: TensorSpec | None = None,
        out: TensorSpec | None = None,
        sends: Sequence[int] = (),
        receives: Sequence[int] = (),
        called: str = "-",
    ) -> None:
        if x is not None and out is not None:
            check_pair(self.family, x, out)
        elif x is not None:
            check_spec(self.family, "x", x)
        elif out is not None:
            check_output(self.family, out)
        sent, received = numbers(self.family, "sends", sends), numbers(self.family, "receives", receives)
        if len(sent) != len(received):
            message = f"{self.family}: sends has {len(sent)} counts and receives {len(received)}; give both one a rank, or neither"
            raise ValueError(message)
        if sent:
            _check_counts("x", x, "sends", sent)
            _check_counts("out", out, "receives", received)
        specs = tuple([spec for spec in (x, out) if spec is not None])
        self._freeze(called, specs, (x is not None, out is not None, *sent, *received))
        self.check_dense()

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # a rank may send or receive nothing
        """The roles of the operands."""
        return _ROLES[self.has_x, self.has_out]

    @property
    def title(self) -> str:
        """The collective's name in messages: that of the one that was lowered to it, if one was."""
        return self.family if self.op == "-" else self.op

    @property
    def has_x(self) -> bool:
        """True if this rank sends something."""
        return bool(self.attributes[0])

    @property
    def has_out(self) -> bool:
        """True if this rank receives something."""
        return bool(self.attributes[1])

    @property
    def is_counted(self) -> bool:
        """True if the counts are given, False if all parts are equal."""
        return len(self.attributes) > len(("x", "out"))

    @property
    def agreement(self) -> str:
        """Collective, element type and, of equal parts, the count; counts of others are compared in pairs."""
        if self.is_counted or not self.specs:
            return self.title
        return f"{self.title} of {self.specs[0].dtype} x {self.specs[0].size}"

    def counts(self, size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return for each of `size` ranks how many elements go to it, and how many come from it."""
        if self.is_counted:
            both: tuple[int, ...] = self.attributes[2:]
            return both[:size], both[size:]
        part = self.specs[0].size // size if self.specs else 0
        return (part,) * size, (part,) * size

    def check_rank(self, rank: int, size: int) -> None:
        del rank
        sends, receives = self.counts(size)
        if len(sends) != size or len(receives) != size:
            message = f"{self.title}: sends and receives have {len(self.attributes) // 2 - 1} counts, needs {size}, one a rank"
            raise ValueError(message)
        if not self.is_counted:
            if self.has_x != self.has_out:
                message = f"{self.title}: equal parts are sent and received, and only one of x and out is described; describe both, or give the counts"
                raise ValueError(message)
            for name, spec in zip(self.operands, self.specs, strict=True):
                check_multiple(self.title, name, spec, sends[0], size)


def _check_counts(name: str, spec: TensorSpec | None, counts: str, given: tuple[int, ...]) -> None:
    """Raise ValueError unless the counts are a tensor's elements."""
    has = 0 if spec is None else spec.size
    if sum(given) != has:
        message = f"{AllToAll.family}: {counts} are {sum(given)} elements in all, and {name} has {has}; let the counts be those of {name}"
        raise ValueError(message)
