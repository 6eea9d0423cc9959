"""Complex products, quotients, powers, and the gradients dy conj(f'(x)) of the holomorphic functions.

What has a branch cut is a product of roots whose factors each lie on one side of theirs (Kahan).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.complex_elementary import (
    cosh,
    exp,
    log,
    mirrored,
    plain,
    reciprocal,
    root,
    sinh,
    square,
    turned,
)
from ep_tools.reference.mathematics.plane import Plane, PlanePairs, complex_gradients
from ep_tools.reference.mathematics.table import Number, Table

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TABLES"]

_QUARTER: Final = math.pi / 2


def times(a: Number, b: Number) -> Number:
    """Return a b."""
    return mpmath.mpc(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def gradient(slope: Callable[[Number], Number]) -> Callable[[complex, complex], Number]:
    """Return dy conj(f'(x)) from f' above the real axis, its limit from above on it."""
    return mirrored(lambda dy, x: times(dy, mpmath.conj(slope(x))))


def symmetric(slope: Callable[[Number], Number]) -> Callable[[complex, complex], Number]:
    """Return dy conj(f'(x)) from an even f' in the first quadrant and its edges."""
    upper = gradient(slope)

    def value(dy: complex, x: complex) -> Number:
        return upper(dy, x if math.copysign(1, x.real) > 0 else complex(-x.real, -x.imag))

    return value


def below(z: Number) -> Number:
    """Return the square root of a number that lies below the real axis, or on it as the limit from below."""
    return mpmath.conj(root(mpmath.conj(z)))


def power(a: Number, b: Number) -> tuple[Number, Number]:
    """Return e^(b log a) and S, its size times 1 + |b log a|, because an error of b log a is absolute in it."""
    exponent = times(b, log(a))
    size = mpmath.exp(exponent.real) * (1 + mpmath.hypot(exponent.real, exponent.imag))
    return exp(exponent), size


def _arc_sine(x: Number) -> Number:
    return reciprocal(times(below(1 - x), root(1 + x)))


def _area_sine(x: Number) -> Number:
    return reciprocal(times(root(mpmath.mpc(1 - x.imag, x.real)), below(mpmath.mpc(1 + x.imag, -x.real))))


def _arc_tangent(x: Number) -> Number:
    return reciprocal(times(mpmath.mpc(1 - x.imag, x.real), mpmath.mpc(1 + x.imag, -x.real)))


def _over(factor: Callable[[], Number]) -> Callable[[Number], Number]:
    return lambda x: reciprocal(x) / factor()


def _no_pole(x: Number) -> Number:
    return -square(reciprocal(x))


_UNITS: Final = (1, -1, 1j, -1j)
_CUT: Final = Plane(near=(*_UNITS, 0.5, 2, -2, 2j), but=_UNITS)
_WIDE: Final = Plane(near=(*_UNITS, 1 + 1j), but=(0,))
_PERIODIC: Final = Plane(high=9, dense=8.0, near=(_QUARTER, -_QUARTER, 2 * _QUARTER, 1j * _QUARTER, 22, 22j))
_POLES: Final = Plane(
    high=8, dense=8.0, near=(_QUARTER, -_QUARTER, 2 * _QUARTER, 1j * _QUARTER, 2j * _QUARTER, 22, 22j)
)
_SMALL: Final = Plane(high=2, dense=1.5, near=(1, 0.5, -1, 0.5j))

_SLOPES: Final = {
    "acos": (_CUT, gradient(lambda x: -_arc_sine(x))),
    "acosh": (_CUT, gradient(lambda x: reciprocal(times(root(x - 1), root(x + 1))))),
    "asin": (_CUT, gradient(_arc_sine)),
    "asinh": (_CUT, symmetric(_area_sine)),
    "atan": (_CUT, gradient(_arc_tangent)),
    "atanh": (_CUT, gradient(lambda x: reciprocal(times(1 - x, 1 + x)))),
    "cos": (_PERIODIC, gradient(lambda x: -turned(sinh)(x))),
    "cosh": (_PERIODIC, gradient(sinh)),
    "exp": (_PERIODIC, gradient(exp)),
    "exp2": (_PERIODIC, gradient(lambda x: exp(x * mpmath.log(2)) * mpmath.log(2))),
    "expm1": (_PERIODIC, gradient(exp)),
    "log": (_WIDE, gradient(reciprocal)),
    "log2": (_WIDE, gradient(_over(lambda: mpmath.log(2)))),
    "log10": (_WIDE, gradient(_over(lambda: mpmath.log(10)))),
    "log1p": (Plane(near=(-1, -2, 1j, -0.5), but=(-1,)), gradient(lambda x: reciprocal(1 + x))),
    "reciprocal": (_WIDE, gradient(_no_pole)),
    "reciprocal_no_nan": (Plane(near=(1, -1, 1j, 0)), gradient(_no_pole)),
    "rsqrt": (_WIDE, gradient(lambda x: -reciprocal(times(x, root(x))) / 2)),
    "sigmoid": (_POLES, gradient(lambda x: reciprocal(square(2 * cosh(x / 2))))),
    "sin": (_PERIODIC, gradient(lambda x: cosh(mpmath.mpc(-x.imag, x.real)))),
    "sinh": (_PERIODIC, gradient(cosh)),
    "sqrt": (_WIDE, gradient(lambda x: reciprocal(root(x)) / 2)),
    "square": (Plane(near=(1, 1j, 0)), gradient(lambda x: 2 * x)),
    "tan": (_POLES, gradient(lambda x: reciprocal(square(cosh(mpmath.mpc(-x.imag, x.real)))))),
}


def _backward(points: Plane, value: Callable[..., Number]) -> Table:
    return Table(PlanePairs(complex_gradients, points), value)


TABLES: Final = {
    "mul": Table(PlanePairs(Plane(near=(1, 1 + 1j)), Plane(near=(1j, 1 - 1j))), plain(times)),
    "div": Table(
        PlanePairs(Plane(near=(1, 1 + 1j)), Plane(near=(1j, 1 - 1j), but=(0,))),
        plain(lambda a, b: times(a, reciprocal(b))),
    ),
    "pow": Table(
        PlanePairs(
            Plane(high=9, near=(1, -1, 1j, -2), but=(0,), least=2.0**-10),
            Plane(high=5, near=(0.5, -1, 2, 1j, 0)),
        ),
        mirrored(power, 0),
    ),
    **{f"{name}_backward_with_dy_x": _backward(*row) for name, row in _SLOPES.items()},
    "sigmoid_backward_with_dy_y": _backward(_SMALL, gradient(lambda y: times(y, 1 - y))),
    "tanh_backward_with_dy_y": _backward(_SMALL, gradient(lambda y: times(1 - y, 1 + y))),
}
