"""Recurrent cells step by step in NumPy are right for every case; with any planted defect they are wrong for some."""

import numpy as np
import pytest
from ep.dtypes import DTYPES as TYPES
from ep_primitives.judging.reference import array_dtype
from stepwise import cases, is_right

import ep

FAMILIES = ep.families()
DTYPES = ("float16", "bfloat16", "float32", "float64")
NARROW = DTYPES[:2]


def relu(x):
    return np.where(x <= 0, x.dtype.type(0), x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {"sigmoid": sigmoid, "tanh": np.tanh, "relu": relu}


class Steps:
    """A definition in the compute type; a subclass gets one thing wrong."""

    def __call__(self, of, inputs):
        self.of, self.stored = of, array_dtype(of.gates.dtype)
        self.wide = array_dtype(TYPES[of.gates.dtype].compute)
        given = {name: each.astype(self.wide) for name, each in inputs.items()}
        found = self.made(**given)
        return {name: found[name].astype(self.stored) for name in of.outputs}

    def gate(self, x):
        return ACTIVATIONS[self.of.gate_activation](x)

    def candidate(self, x):
        return ACTIVATIONS[self.of.candidate_activation](x)


class Lstm(Steps):
    family = "lstm_cell"

    def made(self, gates, h, c, r, peephole=None):
        i, o, f, g = self.split(self.sums(gates, h, r))
        p = np.split(np.zeros(3 * c.shape[1], self.wide) if peephole is None else peephole, 3)
        if peephole is not None:
            i, f = i + self.factor(p, 0) * c, f + self.factor(p, 2) * c
        new = self.next(self.gate(i), self.gate(f), self.candidate(g), c)
        o = o if peephole is None else o + self.factor(p, 1) * self.peeped(c, new)
        return {"h_next": self.gate(o) * self.output(self.kept(new)), "c_next": new}

    def sums(self, gates, h, r):
        return gates + h @ r.T

    def split(self, sums):
        return np.split(sums, 4, 1)

    def factor(self, p, gate):
        return p[gate]

    def peeped(self, c, new):
        return new

    def next(self, i, f, g, c):
        return f * c + i * g

    def kept(self, new):
        return new

    def output(self, c):
        return ACTIVATIONS[self.of.output_activation](c)


class OrderOfPyTorch(Lstm):
    def split(self, sums):
        i, f, g, o = super().split(sums)
        return i, o, f, g


class NoRecurrence(Lstm):
    def sums(self, gates, h, r):
        return gates


class WeightsTurned(Lstm):
    """The weights of each gate transposed."""

    def sums(self, gates, h, r):
        return gates + np.concatenate([h @ each for each in np.split(r, 4)], 1)


class PeepsAtTheOld(Lstm):
    def peeped(self, c, new):
        return c


class PeepholesInTheOrderOfGates(Lstm):
    """p_i, p_f, p_o."""

    def factor(self, p, gate):
        return p[(0, 2, 1)[gate]]


class NoPeephole(Lstm):
    def factor(self, p, gate):
        return np.zeros_like(p[gate])


class ForgetsInInput(Lstm):
    """f is 1 - i, as with ONNX's input_forget."""

    def next(self, i, f, g, c):
        return (1 - i) * c + i * g


class NoOutputActivation(Lstm):
    def output(self, c):
        return c


class UsualActivations(Lstm):
    def gate(self, x):
        return sigmoid(x)

    def candidate(self, x):
        return np.tanh(x)

    def output(self, c):
        return np.tanh(c)


class OverflowingSigmoid(Lstm):
    """e / (1 + e), which is NaN for large numbers."""

    def gate(self, x):
        return np.exp(x) / (1 + np.exp(x)) if self.of.gate_activation == "sigmoid" else super().gate(x)


class ForgetsNan(Lstm):
    def sums(self, gates, h, r):
        return np.nan_to_num(super().sums(gates, h, r), nan=0, posinf=np.inf, neginf=-np.inf)


class RoundsGates(Lstm):
    def sums(self, gates, h, r):
        return super().sums(gates, h, r).astype(self.stored).astype(self.wide)


class RoundsTheMemory(Lstm):
    def kept(self, new):
        return new.astype(self.stored).astype(self.wide)


class Gru(Steps):
    family = "gru_cell"

    def made(self, gates, h, r, bias=None):
        b = np.split(np.zeros(3 * h.shape[1], self.wide) if bias is None else bias, 3)
        (gz, gs, gn), (rz, rs, rn) = np.split(gates, 3, 1), np.split(r, 3)
        z, s = self.gates(self.gate(gz + (h @ rz.T + b[0])), self.gate(gs + (h @ rs.T + b[1])))
        n = self.candidate(gn + self.moved(h, s, rn, b[2]))
        return {"h_next": self.mixed(z, n, h)}

    def gates(self, z, s):
        return z, s

    def moved(self, h, s, r, b):
        return s * (h @ r.T + b) if self.of.linear_before_reset else (s * h) @ r.T

    def mixed(self, z, n, h):
        return n + z * (h - n)


class BothFormsAreRight(Gru):
    def mixed(self, z, n, h):
        return (1 - z) * n + z * h


class GatesSwapped(Gru):
    def gates(self, z, s):
        return s, z


class AlwaysLinear(Gru):
    def moved(self, h, s, r, b):
        return s * (h @ r.T + b)


class NeverLinear(Gru):
    def moved(self, h, s, r, b):
        return (s * h) @ r.T + s * b


class BiasBehind(Gru):
    def moved(self, h, s, r, b):
        return super().moved(h, s, r, 0 * b) + b


class NoReset(Gru):
    def moved(self, h, s, r, b):
        return h @ r.T + b


class KeepsTheCandidate(Gru):
    def mixed(self, z, n, h):
        return h + z * (n - h)


class SparesNan(Gru):
    """Where z is 1 the candidate is not looked at."""

    def mixed(self, z, n, h):
        return np.where(z == 1, h, super().mixed(z, n, h))


class RoundsTheCandidate(Gru):
    def mixed(self, z, n, h):
        return super().mixed(z, n.astype(self.stored).astype(self.wide), h)


class RoundsTheReset(Gru):
    """Rounds s h, as a kernel that takes 16-bit factors alone."""

    def moved(self, h, s, r, b):
        if self.of.linear_before_reset:
            return super().moved(h, s, r, b)
        return (s * h).astype(self.stored).astype(self.wide) @ r.T


WRONG = (
    *(OrderOfPyTorch, NoRecurrence, WeightsTurned, PeepsAtTheOld, PeepholesInTheOrderOfGates, NoPeephole),
    *(ForgetsInInput, NoOutputActivation, UsualActivations, OverflowingSigmoid, ForgetsNan),
    *(GatesSwapped, AlwaysLinear, NeverLinear, BiasBehind, NoReset, KeepsTheCandidate),
)
DEFECTS = [
    *[(each, DTYPES) for each in WRONG],
    *[(each, NARROW) for each in (RoundsGates, RoundsTheMemory, RoundsTheCandidate, RoundsTheReset)],
]


def of_type(steps, dtype):
    return cases(FAMILIES[steps.family], lambda descriptor: descriptor.gates.dtype == dtype)


def wrong(steps, dtype):
    return (
        f"{cell}/{case.name}"
        for cell, case in of_type(steps, dtype)
        if not is_right(FAMILIES[steps.family], steps(), cell, case)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("steps", [Lstm, Gru, BothFormsAreRight])
def test_steps_without_defects_are_right_in_every_case(steps, dtype):
    assert sum(1 for _ in of_type(steps, dtype)) > 40
    assert [*wrong(steps, dtype)] == []


@pytest.mark.parametrize(("defect", "dtype"), [(defect, dtype) for defect, dtypes in DEFECTS for dtype in dtypes])
def test_every_defect_is_wrong_somewhere(defect, dtype):
    assert next(wrong(defect, dtype), None)
