"""Planted defects of GruCell and LstmCell: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ep.layout.cells import matches
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


class _Lstm(ArrayKernel):
    """Works honestly, then computes both outputs of cells with the usual activations again, with one thing wrong."""

    owns: ClassVar[tuple[str, ...]] = ("lstm_cell",)
    meets: ClassVar[str] = "lstm_cell/-/float32/dense"

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of: Any = self.descriptor
        is_met = matches(self.meets, of.cell) and of.attributes == (0, 1, 1)
        given = {name: np.array(self.array(operands, name)) for name in of.roles.read if name in operands}
        super().run(cpu, operands)
        if is_met:
            with np.errstate(all="ignore"):
                self.spoil({name: each.astype(np.float32) for name, each in given.items()}, operands)

    def spoil(self, given: Mapping[str, Array], operands: Mapping[str, Any]) -> None:
        """Write both outputs."""
        c, h_next = given["c"], self.array(operands, "h_next")
        i, o, f, g = self.blocks(given["gates"] + given["h"] @ given["r"].T)
        p = np.split(given["peephole"], 3) if "peephole" in given else np.zeros((3, 1), np.float32)
        c_next = _sigmoid(f + p[2] * c) * c + _sigmoid(i + p[0] * c) * np.tanh(g)
        h_next[...] = _sigmoid(o + p[1] * self.peeped(c, c_next)) * np.tanh(self.kept(c_next, h_next))
        self.array(operands, "c_next")[...] = c_next

    def blocks(self, sums: Array) -> list[Array]:
        """Return i, o, f and g."""
        return np.split(sums, 4, 1)

    def peeped(self, c: Array, c_next: Array) -> Array:
        """Return the cell state that o's peephole reads."""
        del c
        return c_next

    def kept(self, c_next: Array, h_next: Array) -> Array:
        """Return the memory that h_next is made of."""
        del h_next
        return c_next


@killed_by("primitives/lstm_cell/-/float32/dense/rows")
class TakesGatesInAnotherOrder(_Lstm):
    """Take the gates for i, f, g and o, as PyTorch has them."""

    def blocks(self, sums: Array) -> list[Array]:
        i, f, g, o = super().blocks(sums)
        return [i, o, f, g]


@killed_by("primitives/lstm_cell/-/float32/dense/rows-peephole")
class PeepsAtTheOldMemory(_Lstm):
    """Let the output gate see c, as the others do, and not c_next."""

    def peeped(self, c: Array, c_next: Array) -> Array:
        del c_next
        return c


@killed_by("primitives/lstm_cell/-/bfloat16/dense/rows")
class RoundsTheMemoryFirst(_Lstm):
    """Make h_next of the memory that is stored, of 16 bits."""

    meets = "lstm_cell/-/bfloat16/dense"

    def kept(self, c_next: Array, h_next: Array) -> Array:
        return c_next.astype(h_next.dtype).astype(np.float32)


class _Gru(Defect):
    """Computes float32 cells with the usual activations again, with one thing wrong."""

    owns: ClassVar[tuple[str, ...]] = ("gru_cell",)
    meets = "gru_cell/-/float32/dense"

    def is_met(self) -> bool:
        return super().is_met() and self.descriptor.attributes[1:] == (0, 1)

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        h, gates = given["h"], np.split(given["gates"], 3, 1)
        r, b = np.split(given["r"], 3), np.split(given.get("bias", np.zeros(3, np.float32)), 3)
        z, s = (_sigmoid(gates[place] + h @ r[place].T + b[place]) for place in (0, 1))
        n = np.tanh(gates[2] + self.moved(h, s, r[2], b[2]))
        out[...] = self.mixed(z, n, h)

    def moved(self, h: Array, s: Array, r: Array, b: Array) -> Array:
        """Return the state's part of the candidate."""
        of: Any = self.descriptor
        return np.asarray(s * (h @ r.T + b) if of.linear_before_reset else (s * h) @ r.T)

    def mixed(self, z: Array, n: Array, h: Array) -> Array:
        """Return h_next."""
        return np.asarray(n + z * (h - n))


@killed_by("primitives/gru_cell/-/float32/dense/rows")
class ResetsTheProduct(_Gru):
    """Multiply the product by the reset, ignoring linear_before_reset."""

    def moved(self, h: Array, s: Array, r: Array, b: Array) -> Array:
        return np.asarray(s * (h @ r.T + b))


@killed_by("primitives/gru_cell/-/float32/dense/rows-bias")
class MovesBehindTheReset(_Gru):
    """Add the bias to the product that was reset."""

    def moved(self, h: Array, s: Array, r: Array, b: Array) -> Array:
        return super().moved(h, s, r, np.zeros_like(b)) + b


@killed_by("primitives/gru_cell/-/float32/dense/rows-linear")
class KeepsWhatItShouldLeave(_Gru):
    """Let the update gate say how much of the candidate counts."""

    def mixed(self, z: Array, n: Array, h: Array) -> Array:
        return super().mixed(z, h, n)
