"""GruReset and GruGates: what gated recurrent units do with their gates between and behind their products."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.recurrent_cell.stages.gates import MADE, Gates, activated, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.recurrent_cell.gru_cell import GruCell

__all__ = ["GruGates", "GruReset"]


class GruReset(Gates):
    """reset = s h, of the gate s in sums (N, H), whose activation is `op`.

    sums, gates : as Gates has them
    h           : (N, H), any floating element type; read
    reset       : (N, H), the dtype of sums; written
    """

    __slots__ = ()

    family: ClassVar[str] = "gru_reset"
    roles: ClassVar[Roles] = Roles(
        Role.input("sums"), Role.input("gates", is_optional=True), Role.input("h"), Role.output("reset")
    )

    @classmethod
    def of(cls, cell: GruCell, sums: TensorSpec, gates: TensorSpec | None) -> Self:
        """Return the descriptor between a cell's products, with the sums of s, which lack these gates."""
        return cls(cell.gate_activation, sums, gates, cell.h, TensorSpec(sums.dtype, cell.h.shape))

    def operations(self) -> Iterator[Stage]:
        """Yield the stages."""
        yield from self.added()
        yield from self.widened(self.state, "h")
        yield activated(self.op, self.whole, self.made)
        yield joined("mul", self.wide(self.state, "h"), (self.made, MADE), (self.out, "reset"))


class GruGates(Gates):
    """h_next = n + z (h - n), of the gates z and s and the candidate n in columns of sums (N, 3 H).

    sums, gates : as Gates has them, s and n included, but as `op` says
    h           : (N, H), any floating element type; read
    h_next      : (N, H), the dtype of h; written

    `op` is the activations of GruCell in their order, then "reset" if s, whose activation is that of z, is a factor of
    the sum of n, to which `gates` adds afterwards; "plain" if s is not asked.
    """

    __slots__ = ()

    family: ClassVar[str] = "gru_gates"
    roles: ClassVar[Roles] = Roles(
        Role.input("sums"), Role.input("gates", is_optional=True), Role.input("h"), Role.output("h_next")
    )

    @classmethod
    def of(cls, cell: GruCell, sums: TensorSpec, gates: TensorSpec | None) -> Self:
        """Return the descriptor behind a cell's last product, which has these sums, and lacks these gates."""
        how = "reset" if cell.linear_before_reset else "plain"
        return cls(f"{cell.gate_activation}-{cell.candidate_activation}-{how}", sums, gates, cell.h, cell.out)

    def operations(self) -> Iterator[Stage]:
        """Yield the stages."""
        gate, candidate, how = self.words_of_op
        yield from self.widened(self.state, "h")
        h, (z, n) = self.wide(self.state, "h"), ((self.block(self.made, place), MADE) for place in (0, 2))
        if how == "reset":
            yield from self._reset(gate)
            given, source = n
        else:
            yield from self.added()
            (whole, source), given = self.whole, self.block(self.whole[0], 2)
            yield activated(gate, (self.block(whole, 0), source), z[0])
        yield activated(candidate, (given, source), n[0])
        part = TensorSpec(self.sums.dtype, h[0].shape), "part"
        yield joined("sub", h, n, part)
        yield joined("mul", part, z, part)
        is_wide = self.out.dtype == self.sums.dtype
        yield joined("add", part, n, (self.out, "h_next") if is_wide else part)
        if not is_wide:
            yield Stage(Cast(x=part[0], out=self.out), x="part", out="h_next")

    def _reset(self, gate: str) -> Iterator[Stage]:
        """Yield the activated gates, and the sum of n times the reset with what the input adds."""
        assert self.gates is not None
        yield from self.widened(self.gates, "gates")
        given, name = self.wide(self.gates, "gates")
        both, s, n = (
            (self.block(self.made, 0, 2), MADE),
            (self.block(self.made, 1), MADE),
            (self.block(self.made, 2), MADE),
        )
        yield joined("add", (self.block(self.sums, 0, 2), "sums"), (self.block(given, 0, 2), name), both)
        yield activated(gate, both, both[0])
        yield joined("mul", (self.block(self.sums, 2), "sums"), s, n)
        yield joined("add", n, (self.block(given, 2), name), n)
