"""Elementary functions of one complex number.

Each part is put together of real functions without cancellation that the precision could not show. Branch cuts lie
where C99 has them; a zero's sign says the side. Formulas: W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import mpmath

from ep_tools.reference.mathematics.plane import Plane
from ep_tools.reference.mathematics.table import Number, Table

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "TABLES",
    "cosh",
    "exp",
    "log",
    "mirrored",
    "plain",
    "reciprocal",
    "root",
    "sinh",
    "square",
    "turned",
]

_QUARTER: Final = math.pi / 2


def plain(function: Callable[..., Number]) -> Callable[..., Number]:
    """Return f of Python's complex numbers from an f that has no branch cut."""
    return lambda *points: function(*map(mpmath.mpc, points))


def mirrored(function: Callable[..., Number], place: int = -1) -> Callable[..., Number]:
    """Return f of Python's complex numbers from f where the one at `place` lies above or on the real axis.

    f(conj z) = conj f(z); what f is on the real axis is its limit from above.
    """

    def value(*points: complex) -> Number:
        if math.copysign(1, points[place].imag) > 0:
            return function(*map(mpmath.mpc, points))
        result = function(*(mpmath.mpc(z.conjugate()) for z in points))
        return (mpmath.conj(result[0]), *result[1:]) if isinstance(result, tuple) else mpmath.conj(result)

    return value


def quartered(function: Callable[[Number], Number], sign: int = -1) -> Callable[[complex], Number]:
    """Return f of Python's complex numbers from an odd f (even for sign 1) in the first quadrant and its edges."""
    half = mirrored(function)

    def value(z: complex) -> Number:
        if math.copysign(1, z.real) > 0:
            return half(z)
        # -z with each part negated by itself: -(0 + iy) has a real part of -0.
        return sign * half(complex(-z.real, -z.imag))

    return value


def root(z: Number) -> Number:
    """Return the square root of a number whose argument is in [0, pi] or [-pi/2, 0)."""
    size = mpmath.sqrt((mpmath.hypot(z.real, z.imag) + abs(z.real)) / 2)
    if not size:
        return mpmath.mpc(0)
    other = abs(z.imag) / (2 * size)
    x, y = (size, other) if z.real >= 0 else (other, size)
    return mpmath.mpc(x, -y if z.imag < 0 else y)


def reciprocal(z: Number) -> Number:
    """Return 1 / z."""
    size = z.real**2 + z.imag**2
    return mpmath.mpc(z.real / size, -z.imag / size) if size else mpmath.mpc(0)


def square(z: Number) -> Number:
    """Return z^2."""
    return mpmath.mpc((z.real - z.imag) * (z.real + z.imag), 2 * z.real * z.imag)


def sign(z: Number) -> Number:
    """Return z / |z|, and 0 at 0."""
    size = mpmath.hypot(z.real, z.imag)
    return mpmath.mpc(z.real / size, z.imag / size) if size else mpmath.mpc(0)


def log1p(z: Number) -> Number:
    """Return log(1 + z)."""
    return mpmath.mpc(
        mpmath.log1p(z.real * (2 + z.real) + z.imag**2) / 2,
        mpmath.atan2(z.imag, 1 + z.real),
    )


def log(z: Number) -> Number:
    """Return log z."""
    near = (z.real - 1) * (z.real + 1) + z.imag**2
    size = mpmath.log1p(near) / 2 if abs(near) < mpmath.mpf(0.5) else mpmath.log(mpmath.hypot(z.real, z.imag))
    return mpmath.mpc(size, mpmath.atan2(z.imag, z.real))


def asin(z: Number) -> Number:
    """Return asin z in the first quadrant."""
    left, right = root(1 - z), root(1 + z)
    return mpmath.mpc(
        mpmath.atan2(z.real, left.real * right.real + abs(left.imag) * right.imag),
        mpmath.asinh(left.real * right.imag + abs(left.imag) * right.real),
    )


def acos(z: Number) -> Number:
    """Return acos z above the real axis."""
    left, right = root(1 - z), root(1 + z)
    return mpmath.mpc(
        2 * mpmath.atan2(left.real, right.real),
        -mpmath.asinh(right.real * abs(left.imag) + right.imag * left.real),
    )


def acosh(z: Number) -> Number:
    """Return acosh z above the real axis."""
    left, right = root(z - 1), root(z + 1)
    return mpmath.mpc(
        mpmath.asinh(left.real * right.real + left.imag * right.imag),
        2 * mpmath.atan2(left.imag, right.real),
    )


def asinh(z: Number) -> Number:
    """Return asinh z in the first quadrant: asin of the number with its parts exchanged, exchanged back."""
    swapped = asin(mpmath.mpc(z.imag, z.real))
    return mpmath.mpc(swapped.imag, swapped.real)


def atanh(z: Number) -> Number:
    """Return atanh z in the first quadrant."""
    x, y = z.real, z.imag
    # On the real axis above 1 the limit from above is pi/2.
    angle = mpmath.atan2(2 * y, (1 - x) * (1 + x) - y * y)
    return mpmath.mpc(mpmath.log1p(4 * x / ((1 - x) ** 2 + y * y)) / 4, angle / 2)


def atan(z: Number) -> Number:
    """Return atan z in the first quadrant: atanh of the number with its parts exchanged, exchanged back."""
    swapped = atanh(mpmath.mpc(z.imag, z.real))
    return mpmath.mpc(swapped.imag, swapped.real)


def exp(z: Number) -> Number:
    """Return e^z."""
    return mpmath.exp(z.real) * mpmath.mpc(mpmath.cos(z.imag), mpmath.sin(z.imag))


def expm1(z: Number) -> Number:
    """Return e^z - 1."""
    return mpmath.mpc(
        mpmath.expm1(z.real) * mpmath.cos(z.imag) - 2 * mpmath.sin(z.imag / 2) ** 2,
        mpmath.exp(z.real) * mpmath.sin(z.imag),
    )


def sinh(z: Number) -> Number:
    """Return sinh z."""
    return mpmath.mpc(mpmath.sinh(z.real) * mpmath.cos(z.imag), mpmath.cosh(z.real) * mpmath.sin(z.imag))


def cosh(z: Number) -> Number:
    """Return cosh z."""
    return mpmath.mpc(mpmath.cosh(z.real) * mpmath.cos(z.imag), mpmath.sinh(z.real) * mpmath.sin(z.imag))


def tanh(z: Number) -> Number:
    """Return tanh z."""
    sine, cosine = mpmath.sin(z.imag), mpmath.cos(z.imag)
    size = mpmath.sinh(z.real) ** 2 + cosine**2
    return mpmath.mpc(mpmath.sinh(z.real) * mpmath.cosh(z.real) / size, sine * cosine / size)


def turned(function: Callable[[Number], Number]) -> Callable[[Number], Number]:
    """Return z to -i f(iz): sin from sinh, tan from tanh."""

    def value(z: Number) -> Number:
        result = function(mpmath.mpc(-z.imag, z.real))
        return mpmath.mpc(result.imag, -result.real)

    return value


def sigmoid(z: Number) -> Number:
    """Return 1 / (1 + e^-z)."""
    return reciprocal(1 + exp(-z))


def over_log(base: int) -> Callable[[Number], Number]:
    """Return the logarithm to a base."""
    return lambda z: log(z) / mpmath.log(base)


def unary(points: Plane, value: Callable[..., Number]) -> Table:
    """Return the table of a function of one complex number."""
    return Table(lambda rng: ((z,) for z in points(rng)), value)


_ARC: Final = Plane(near=(1, -1, 1j, -1j, 0.5, 2, -2, 2j))
_TURN: Final = Plane(near=(1, -1, 1j, -1j, 0.5, 2, -2, 2j), but=(1, -1, 1j, -1j))
_LOG: Final = Plane(near=(1, -1, 1j, -1j, 0.6 + 0.8j, -2, 2j), but=(0,))
_WIDE: Final = Plane(near=(1, -1, 1j, 1 + 1j), but=(0,))
_PERIODIC: Final = Plane(
    high=9, dense=8.0, near=(_QUARTER, -_QUARTER, 2 * _QUARTER, 1j * _QUARTER, -1j * _QUARTER, 2j * _QUARTER, 22, 22j)
)

TABLES: Final = {
    "abs": unary(Plane(near=(1, 1j, 3 + 4j)), plain(lambda z: mpmath.hypot(z.real, z.imag))),
    "acos": unary(_ARC, mirrored(acos)),
    "acosh": unary(_ARC, mirrored(acosh)),
    "asin": unary(_ARC, quartered(asin)),
    "asinh": unary(_ARC, quartered(asinh)),
    "atan": unary(_TURN, quartered(atan)),
    "atanh": unary(_TURN, quartered(atanh)),
    "cos": unary(_PERIODIC, plain(lambda z: cosh(mpmath.mpc(-z.imag, z.real)))),
    "cosh": unary(_PERIODIC, plain(cosh)),
    "exp": unary(_PERIODIC, plain(exp)),
    "exp2": unary(_PERIODIC, plain(lambda z: exp(z * mpmath.log(2)))),
    "expm1": unary(_PERIODIC, plain(expm1)),
    "log": unary(_LOG, mirrored(log)),
    "log2": unary(_LOG, mirrored(over_log(2))),
    "log10": unary(_LOG, mirrored(over_log(10))),
    "log1p": unary(Plane(near=(-1, -2, -1 + 1j, -0.5, 1j), but=(-1,)), mirrored(log1p)),
    "reciprocal": unary(_WIDE, plain(reciprocal)),
    "reciprocal_no_nan": unary(Plane(near=(1, -1, 1j, 1 + 1j, 0)), plain(reciprocal)),
    "rsqrt": unary(_WIDE, mirrored(lambda z: reciprocal(root(z)))),
    "sigmoid": unary(_PERIODIC, plain(sigmoid)),
    "sign": unary(Plane(near=(1, 1j, 3 + 4j, 0)), plain(sign)),
    "sin": unary(_PERIODIC, plain(turned(sinh))),
    "sinh": unary(_PERIODIC, plain(sinh)),
    "sqrt": unary(Plane(near=(1, -1, 1j, -4, 3 + 4j, 0)), mirrored(root)),
    "square": unary(Plane(near=(1, 1j, 1 + 1j, 0)), plain(square)),
    "tan": unary(_PERIODIC, plain(turned(tanh))),
    "tanh": unary(_PERIODIC, plain(tanh)),
}
