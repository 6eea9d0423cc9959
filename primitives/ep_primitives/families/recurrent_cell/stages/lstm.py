"""LstmGates: what an LSTM does with its gates behind their product."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.recurrent_cell.stages.gates import MADE, Gates, activated, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell
    from ep_primitives.families.recurrent_cell.stages.gates import Named

__all__ = ["LstmGates"]


class LstmGates(Gates):
    """c_next = f c + i g and h_next = o output_activation(c_next), of the gates i, o, f and g in columns of sums (N, 4 H).

    sums, gates : as Gates has them
    c           : (N, H), any floating element type; read
    peephole    : (3 H), the dtype of c, as LstmCell's; read; None is 0
    h_next      : (N, H), the dtype of c; written
    c_next      : as h_next; may be the same memory as c

    `op` is the activations of LstmCell in their order.
    """

    __slots__ = ()

    family: ClassVar[str] = "lstm_gates"
    roles: ClassVar[Roles] = Roles(
        Role.input("sums"),
        Role.input("gates", is_optional=True),
        Role.input("c", shares=("c_next",)),
        Role.input("peephole", is_optional=True),
        Role.output("h_next"),
        Role.output("c_next"),
    )

    @classmethod
    def of(cls, cell: LstmCell, sums: TensorSpec, gates: TensorSpec | None) -> Self:
        """Return the descriptor behind a cell's product, which has these sums, and lacks these gates."""
        activations = (cell.gate_activation, cell.candidate_activation, cell.output_activation)
        return cls("-".join(activations), sums, gates, cell.c, cell.peephole, *cell.outputs.values())

    @property
    def peephole(self) -> TensorSpec | None:
        """The factors of the memory in the gates i, o and f."""
        return self.specs[3]  # type: ignore[return-value]  # never a Scalar

    def operations(self) -> Iterator[Stage]:
        """Yield the stages. Gates of one activation lie side by side, so that one stage applies it."""
        yield from self.added()
        yield from self.widened(self.state, "c")
        gate, candidate, output = self.words_of_op
        (given, source), c = self.whole, self.wide(self.state, "c")
        i, o, f, g = ((self.block(self.made, place), MADE) for place in range(4))
        if self.peephole is None:
            yield activated(gate, (self.block(given, 0, 3), source), self.block(self.made, 0, 3))
        else:
            yield from self.widened(self.peephole, "peephole")
            both = _beside(i[0], f[0]), MADE
            before = _beside(self.block(given, 0), self.block(given, 2)), source
            yield from self._peeped(before, both, _beside(self._factors(0), self._factors(2)), c)
            yield activated(gate, both, both[0])
        yield activated(candidate, (self.block(given, 3), source), g[0])
        yield joined("mul", i, g, i)
        narrow = self.outputs["c_next"]
        c_next = (narrow, "c_next") if narrow.dtype == self.sums.dtype else c
        yield joined("mul", c, f, c_next)
        yield joined("add", c_next, i, c_next)
        if self.peephole is not None:
            yield from self._peeped((self.block(given, 1), source), o, self._factors(1), c_next)
            yield activated(gate, o, o[0])
        yield activated(output, c_next, g[0])
        if c_next[0] is narrow:
            yield joined("mul", o, g, (self.out, "h_next"))
            return
        yield joined("mul", g, o, g)
        yield Stage(Cast(x=g[0], out=self.out), x=MADE, out="h_next")
        yield Stage(Cast(x=c_next[0], out=narrow), x=c_next[1], out="c_next")

    def _factors(self, place: int) -> TensorSpec:
        """Return the factors of a gate as the one row of a matrix."""
        spec, _ = self.wide(self.peephole, "peephole")  # type: ignore[arg-type]  # where there is one
        row = TensorSpec(spec.dtype, (1, *spec.shape), (0, *spec.strides), spec.offset)
        return self.block(row, place)

    def _peeped(self, given: Named, out: Named, factors: TensorSpec, c: Named) -> Iterator[Stage]:
        """Yield the stages that add the memory times its factors to gates."""
        part = TensorSpec(out[0].dtype, out[0].shape), "part"
        _, seen = self.wide(self.peephole, "peephole")  # type: ignore[arg-type]  # as above
        yield joined("mul", (factors, seen), c, part)
        yield joined("add", given, part, out)


def _beside(one: TensorSpec, other: TensorSpec) -> TensorSpec:
    """Return two parts of a tensor, which differ in where they begin, as one, along a new first dimension."""
    step = other.offset - one.offset
    return TensorSpec(one.dtype, (2, *one.shape), (step, *one.strides), one.offset)
