"""Make the float64 tables that transcendental ops are judged by, with mpmath, at least 2,000 points an op.

    python tools/reference_tables.py            write primitives/ep_primitives/tables/*.npz; the bytes never change
    python tools/reference_tables.py --check    recompute a sample at twice the precision; exit 1 if a value differs

Inputs come from Python's `random`, whose sequence is the same in every version; results are correctly rounded.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import mpmath
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER: Final = Path(__file__).parent.parent / "primitives" / "ep_primitives" / "tables"
PRECISION: Final = 320
ALPHA: Final = 1.6732632423543772
LEAST: Final = 2000

GELU_MINIMUM: Final = -0.7517915246935645
"""Where gelu is smallest, so where its derivative has its root."""
OVERFLOW: Final = math.log(sys.float_info.max)
UNDERFLOW: Final = math.log(sys.float_info.min)
VANISHING: Final = math.log(5e-324) - math.log(2)

Number = Any
"""An mpmath number; mpmath is not annotated."""


@dataclass(frozen=True)
class Table:
    """How one table is made.

    points     : from a generator to tuples of inputs
    value      : from the inputs as mpmath numbers to the result, or to (result, S) if `has_scale`
    """

    points: Callable[[random.Random], Iterator[tuple[float, ...]]]
    value: Callable[..., Any]
    attributes: tuple[float, ...] = ()
    has_scale: bool = False


def near(centre: float) -> Iterator[float]:
    """Yield a number and its neighbours at 1, 2, 4 ... 2**45 ulps on both sides."""
    yield centre
    for power in range(46):
        step = math.ulp(centre) * 2.0**power
        yield centre - step
        yield centre + step


def uniform(rng: random.Random, low: float, high: float, count: int) -> Iterator[float]:
    """Yield numbers that are evenly spread."""
    for _ in range(count):
        yield low + (high - low) * rng.random()


def magnitudes(rng: random.Random, low: int, high: int, count: int, sign: int = 0) -> Iterator[float]:
    """Yield numbers whose binary exponents are evenly spread in [low, high); sign 0 takes both."""
    for _ in range(count):
        size = math.ldexp(1 + rng.random(), rng.randrange(low, high))
        yield size * (sign or rng.choice((-1, 1)))


def subnormals(rng: random.Random, count: int) -> Iterator[float]:
    """Yield subnormal numbers of both signs, the smallest and the largest included."""
    yield from (5e-324, -5e-324, sys.float_info.min, -sys.float_info.min)
    yield from (math.ldexp(rng.choice((-1, 1)) * rng.random(), -1022) for _ in range(count))


def exp_points(rng: random.Random) -> Iterator[float]:
    """Yield points of exp: its whole range, both ends, subnormal results, the neighbourhood of 0."""
    yield from uniform(rng, UNDERFLOW, OVERFLOW, 1000)
    yield from uniform(rng, VANISHING, UNDERFLOW, 200)
    yield from magnitudes(rng, -60, 3, 500)
    for centre in (OVERFLOW, UNDERFLOW, VANISHING, math.log(2) / 2, -math.log(2) / 2, 1.0):
        yield from near(centre)
    yield from subnormals(rng, 20)
    yield from (multiple * math.log(2) for multiple in range(-60, 60))


def log_points(rng: random.Random) -> Iterator[float]:
    """Yield points of log: every magnitude, subnormals, the root at 1, the seams of range reductions."""
    yield from magnitudes(rng, -1022, 1024, 800, 1)
    yield from uniform(rng, 0.5, 2.0, 700)
    yield from (1 + delta for delta in magnitudes(rng, -52, -1, 400))
    for centre in (1.0, math.sqrt(2), math.sqrt(0.5), math.e, 2.0, 0.5, 0.75, sys.float_info.max / 2):
        yield from near(centre)
    yield from map(abs, subnormals(rng, 100))
    yield sys.float_info.max


def tanh_points(rng: random.Random) -> Iterator[float]:
    """Yield points of tanh: the slope, where it becomes 1, tiny arguments that must come back unchanged."""
    yield from uniform(rng, -3.0, 3.0, 900)
    yield from uniform(rng, -22.0, 22.0, 500)
    yield from magnitudes(rng, -70, 5, 500)
    yield from magnitudes(rng, -1022, -30, 100)
    for centre in (0.5493061443340549, -0.5493061443340549, 0.625, -1.0, 22.0, 19.06154746539849):
        yield from near(centre)
    yield from subnormals(rng, 20)


def elu_points(rng: random.Random) -> Iterator[float]:
    """Yield points of elu: mostly below 0, where it is an exponential, and dense around 0."""
    yield from uniform(rng, -40.0, 0.0, 900)
    yield from uniform(rng, -2.0, 1.0, 500)
    yield from magnitudes(rng, -70, 8, 600, -1)
    yield from magnitudes(rng, -1022, 1023, 100)
    for centre in (-1.0, -math.log(2) / 2, -37.0, 1.0):
        yield from near(centre)
    yield from subnormals(rng, 20)


def gelu_points(rng: random.Random) -> Iterator[float]:
    """Yield points of gelu: the negative tail to where it vanishes, its minimum, tiny and huge arguments."""
    yield from uniform(rng, -6.0, 6.0, 900)
    yield from uniform(rng, -39.0, -5.0, 600)
    yield from magnitudes(rng, -70, 5, 400)
    for centre in (GELU_MINIMUM, -1.0, -2.82842712474619, -8.3, -37.5, 8.3, 0.5):
        yield from near(centre)
    yield from magnitudes(rng, 5, 1023, 50)
    yield from subnormals(rng, 20)


def gradient(rng: random.Random) -> float:
    """Return a gradient between 2**-10 and 100, of either sign."""
    return rng.choice((-1, 1)) * math.exp(rng.uniform(math.log(2.0**-10), math.log(100)))


def elu_backward_points(rng: random.Random) -> Iterator[tuple[float, float]]:
    """Yield points of elu backward: dy with x to where the exponential is nearly subnormal."""
    for xs in (
        uniform(rng, -700.0, 0.0, 700),
        uniform(rng, -10.0, 2.0, 800),
        magnitudes(rng, -60, 3, 500),
        near(-1.0),
        near(-math.log(2) / 2),
    ):
        yield from ((gradient(rng), x) for x in xs)


def gelu_backward_points(rng: random.Random) -> Iterator[tuple[float, float]]:
    """Yield points of gelu backward: dy with x around the root, through both tails, and tiny."""
    for xs in (
        uniform(rng, -6.0, 6.0, 1000),
        uniform(rng, -39.0, -5.0, 300),
        uniform(rng, 5.0, 39.0, 100),
        magnitudes(rng, -60, 4, 400),
        near(GELU_MINIMUM),
        near(-1.4142135623730951),
        near(1.4142135623730951),
        near(1.0),
    ):
        yield from ((gradient(rng), x) for x in xs)


def tanh_backward_points(rng: random.Random) -> Iterator[tuple[float, float]]:
    """Yield points of tanh backward: dy with y over [-1, 1], dense at its ends, where it has its roots."""
    ends = (math.copysign(1 - abs(delta), delta) for delta in magnitudes(rng, -53, -1, 600))
    near_ends = (y for end in (1.0, -1.0) for y in near(end) if abs(y) <= 1)
    for ys in (uniform(rng, -1.0, 1.0, 1000), ends, magnitudes(rng, -60, -1, 400), near_ends):
        yield from ((gradient(rng), y) for y in ys)


def gelu(x: Number) -> Number:
    """Return x Phi(x); beyond 100 its relative distance from x or -0 is below 2**-7000, and mpmath's erfc overflows."""
    return x * mpmath.erfc(-max(min(x, 100), -100) / mpmath.sqrt(2)) / 2


def elu(x: Number) -> Number:
    """Return elu for ALPHA as float64 holds it."""
    return x if x > 0 else mpmath.mpf(ALPHA) * mpmath.expm1(x)


def elu_backward(dy: Number, x: Number) -> Number:
    """Return the gradient of elu for ALPHA as float64 holds it."""
    return dy if x > 0 else dy * mpmath.mpf(ALPHA) * mpmath.exp(x)


def gelu_backward(dy: Number, x: Number) -> tuple[Number, Number]:
    """Return dy (Phi(x) + x phi(x)) and S of its terms 0.5, 0.5 erf(x / sqrt 2), x phi(x)."""
    tail = x * mpmath.npdf(x)
    value = dy * (mpmath.erfc(-x / mpmath.sqrt(2)) / 2 + tail)
    return value, abs(dy) * (mpmath.mpf(0.5) + abs(mpmath.erf(x / mpmath.sqrt(2))) / 2 + abs(tail))


def tanh_backward(dy: Number, y: Number) -> tuple[Number, Number]:
    """Return dy (1 - y^2) and S of its terms."""
    return dy * (1 - y * y), abs(dy) * (1 + y * y)


def single(points: Callable[[random.Random], Iterator[float]]) -> Callable[[random.Random], Iterator[tuple[float]]]:
    """Return the points of a unary op as tuples of one input."""
    return lambda rng: ((x,) for x in points(rng))


TABLES: Final = {
    "elu": Table(single(elu_points), elu, (ALPHA,)),
    "gelu": Table(single(gelu_points), gelu),
    "tanh": Table(single(tanh_points), mpmath.tanh),
    "exp": Table(single(exp_points), mpmath.exp),
    "log": Table(single(log_points), mpmath.log),
    "elu_backward_with_dy_x": Table(elu_backward_points, elu_backward, (ALPHA,)),
    "gelu_backward_with_dy_x": Table(gelu_backward_points, gelu_backward, has_scale=True),
    "tanh_backward_with_dy_y": Table(tanh_backward_points, tanh_backward, has_scale=True),
}


def rounded(number: Number) -> float:
    """Return the float64 nearest to an mpmath number, ties to even, subnormals included.

    Division of Python integers is correctly rounded; mpmath's own conversion rounds a subnormal twice.
    """
    sign, mantissa, exponent, _ = number._mpf_
    if not mantissa:
        return 0.0
    numerator = -int(mantissa) if sign else int(mantissa)
    try:
        return float(numerator << exponent) if exponent >= 0 else numerator / (1 << -exponent)
    except OverflowError:
        return -math.inf if sign else math.inf


def evaluate(table: Table, point: tuple[float, ...], precision: int) -> tuple[float, ...]:
    """Return the result, and S if the table has it, correctly rounded."""
    with mpmath.workprec(precision):
        result = table.value(*map(mpmath.mpf, point))
        return tuple(map(rounded, result)) if table.has_scale else (rounded(result),)


def make(name: str) -> dict[str, Any]:
    """Return the arrays of one table."""
    table = TABLES[name]
    points = list(dict.fromkeys(table.points(random.Random(name))))  # noqa: S311 - test data, not a secret
    if len(points) < LEAST:
        message = f"{name}: {len(points)} points, needs at least {LEAST}"
        raise ValueError(message)
    results = [evaluate(table, point, PRECISION) for point in points]
    inputs = ("x",) if len(points[0]) == 1 else ("a", "b")
    columns = dict(zip(inputs, np.array(points).T, strict=True))
    outputs = dict(zip(("value", "scale"), np.array(results).T, strict=False))
    return {**columns, **outputs, "attributes": np.array(table.attributes, np.float64)}


def check(name: str, count: int) -> list[str]:
    """Return a line for each point of a sample that a recomputation at twice the precision disagrees with."""
    with np.load(FOLDER / f"{name}.npz") as stored:
        arrays = dict(stored)
    points = list(zip(*(arrays[key].tolist() for key in ("x", "a", "b") if key in arrays), strict=True))
    keys = [key for key in ("value", "scale") if key in arrays]
    chosen = random.Random(count).sample(range(len(points)), min(count, len(points)))  # noqa: S311 - as above
    wrong = []
    for place in chosen:
        have = tuple(float(arrays[key][place]) for key in keys)
        want = evaluate(TABLES[name], points[place], 2 * PRECISION)
        if have != want:
            wrong.append(f"{name}{points[place]} = {want}, the table has {have}")
    return wrong


def main() -> int:
    """Write the tables, or check the ones that are there; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="recompute a sample of the committed tables")
    parser.add_argument("--points", type=int, default=200, help="points an op that --check recomputes")
    arguments = parser.parse_args()
    wrong = []
    for name in TABLES:
        if arguments.check:
            wrong += check(name, arguments.points)
        else:
            arrays = make(name)
            np.savez(FOLDER / f"{name}.npz", **arrays)
            sys.stdout.write(f"{name}: {arrays['value'].size} points\n")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    if arguments.check:
        sys.stdout.write(f"{len(wrong)} of {len(TABLES) * arguments.points} points differ\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
