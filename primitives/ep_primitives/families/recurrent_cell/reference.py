"""The references of LstmCell and GruCell in a wider type, and how far right results may be from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.families.elementwise_unary.rows import UNARY_OPS
from ep_primitives.families.matmul.reference import summed
from ep_primitives.judging.accuracy import Accuracy, Conditioned, Ulps
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.recurrent_cell.descriptor import RecurrentCell
    from ep_primitives.families.recurrent_cell.gru_cell import GruCell
    from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell

__all__ = ["BOUND", "gru_cell", "lstm_cell"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S carries the errors of the gates' sums, as Matmul promises them, through the activations, as their rows promise them and by their "
    "slopes, and through the products and sums behind them, half an ulp each: Higham, Accuracy and Stability of Numerical "
    "Algorithms, 2002, section 3.1",
)


@dataclass(frozen=True, slots=True, eq=False)
class _Rounded:
    """A number of the definition, by how many eps one that is computed may be off it, and in which type.

    A difference has the errors of both sides and half a rounding; a product each side's error times the other, too.
    """

    value: Array
    off: Array
    compute: str

    def __add__(self, other: _Rounded) -> _Rounded:
        value = self.value + other.value
        return self._with(value, self.off + other.off + np.abs(value) / 2)

    def __sub__(self, other: _Rounded) -> _Rounded:
        return self + self._with(-other.value, other.off)

    def __mul__(self, other: _Rounded) -> _Rounded:
        value, info = self.value * other.value, limits(self.compute)
        off = np.abs(self.value) * other.off + np.abs(other.value) * self.off + float(info.eps) * self.off * other.off
        return self._with(value, off + np.abs(value) / 2 + float(info.smallest_normal))

    def __getitem__(self, index: Any) -> _Rounded:
        return self._with(self.value[index], self.off[index])

    def activated(self, name: str) -> _Rounded:
        """Return an activation of it: its slope carries the error, its curvature the error of second order."""
        info, promise = limits(self.compute), UNARY_OPS[name].accuracy_of(self.compute)
        value, slope, curve = _ACTIVATIONS[name](self.value)
        off = slope * self.off + curve * float(info.eps) * self.off**2
        if isinstance(promise, Ulps):
            off = off + promise.n * np.maximum(np.abs(value), float(info.smallest_normal))
        return self._with(value, off)

    def _with(self, value: Array, off: Array) -> _Rounded:
        """Return another one of the type; a number that is not finite is exact, and carries no error further."""
        return _Rounded(value, np.where(np.isfinite(value) & np.isfinite(off), off, 0), self.compute)


def _sigmoid(x: Array) -> tuple[Array, Array, float]:
    value = 1 / (1 + np.exp(-x))
    return value, value * (1 - value), 0.05


def _tanh(x: Array) -> tuple[Array, Array, float]:
    value = np.tanh(x)
    return value, 1 - value**2, 0.4


def _relu(x: Array) -> tuple[Array, Array, float]:
    return np.where(x <= 0, 0, x), np.ones_like(x), 0.0


_ACTIVATIONS: Final[Mapping[str, Callable[[Array], tuple[Array, Array, float]]]] = {
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "relu": _relu,
}
"""By name, to value, slope and half the greatest second derivative."""


def lstm_cell(descriptor: LstmCell, inputs: Mapping[str, Any]) -> dict[str, Reference]:
    """Return h_next and c_next of the operands as stored, with S: computed in float64, for float64 in long double."""
    given, width = _widened(descriptor, inputs), descriptor.width
    with np.errstate(all="ignore"):
        i, o, f, g = _blocks(_sums(given["h"], given["r"], given["gates"]), width, 4)
        c = given["c"]
        p = _blocks(given["peephole"], width, 3) if "peephole" in given else None
        if p:
            i, f = i + p[0] * c, f + p[2] * c
        i, f = (each.activated(descriptor.gate_activation) for each in (i, f))
        c = f * c + i * g.activated(descriptor.candidate_activation)
        o = (o + p[1] * c if p else o).activated(descriptor.gate_activation)
        h = o * c.activated(descriptor.output_activation)
    return {"h_next": _reference(h), "c_next": _reference(c)}


def gru_cell(descriptor: GruCell, inputs: Mapping[str, Any]) -> Reference:
    """Return h_next of the operands as stored, with S, as lstm_cell does.

    A kernel may compute (1 - z) n + z h, which has other roundings: S holds both.
    """
    given, width = _widened(descriptor, inputs), descriptor.width
    h, r, gates = given["h"], given["r"], given["gates"]
    with np.errstate(all="ignore"):
        if descriptor.linear_before_reset:
            parts = _blocks(_sums(h, r, given.get("bias")), width, 3)
            moved = _blocks(gates, width, 3)
            z, s = ((parts[place] + moved[place]).activated(descriptor.gate_activation) for place in (0, 1))
            n = s * parts[2] + moved[2]
        else:
            both, last = slice(0, 2 * width), slice(2 * width, None)
            z, s = _blocks(_sums(h, r[both], gates[:, both]).activated(descriptor.gate_activation), width, 2)
            n = _sums(s * h, r[last], gates[:, last])
        n = n.activated(descriptor.candidate_activation)
        made = n + z * (h - n)
        beside = np.abs(z.value * h.value) + np.abs((1 - z.value) * n.value)
        return _reference(_Rounded(made.value, made.off + np.where(np.isfinite(beside), beside, 0), made.compute))


def _widened(descriptor: RecurrentCell, inputs: Mapping[str, Any]) -> dict[str, _Rounded]:
    dtype = descriptor.gates.dtype
    wide = np.longdouble if dtype == "float64" else np.float64
    arrays = {name: widened(dtype, value).astype(wide) for name, value in inputs.items()}
    return {name: _Rounded(each, np.zeros_like(each), descriptor.compute) for name, each in arrays.items()}


def _sums(h: _Rounded, r: _Rounded, moved: _Rounded | None) -> _Rounded:
    """Return h r^T + moved, of which h may be off already."""
    turned = r.value.T
    value, size = h.value @ turned, np.abs(h.value) @ np.abs(turned)
    if moved is not None:
        value, size = value + moved.value, size + np.abs(moved.value)
    off = summed(turned.shape[0] + 3) * size + h.off @ np.abs(turned)
    return _Rounded(value, np.where(np.isfinite(value) & np.isfinite(off), off, 0), h.compute)


def _blocks(whole: _Rounded, width: int, count: int) -> list[_Rounded]:
    """Return each gate's part of the last dimension."""
    return [whole[..., place * width : (place + 1) * width] for place in range(count)]


def _reference(found: _Rounded) -> Reference:
    value, size = found.value.astype(np.float64), found.off.astype(np.float64)
    is_long = found.compute == "float64"
    return Reference(value, size * (1 + LONG_EPS), 0.5) if is_long else Reference(value, size)
