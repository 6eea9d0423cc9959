"""Cases of AllReduce, ReduceScatter and Reduce: each op and element type, at each size, in place and not, to each root."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes  # noqa: F401 - NumPy learns bfloat16 from it
import numpy as np
from ep_collectives import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.checks import OPS
from ep_primitives import REDUCE_OPS
from ep_primitives import Reduce as ReduceRows

import ep
from ep import TensorSpec
from ep_conformance.collective.ranks import CollectiveCase, Ranks, same_bits
from ep_conformance.judge.compare import compare
from ep_conformance.judge.error import CaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.collective.ranks import Array
    from ep_conformance.fixture.trial import Trial

__all__ = ["counts", "data", "reductions"]

_SIZES: Final = (0, 1, 7, 1025)
_MANY: Final = (1 << 18) + 3
_LARGE: Final = (1 << 20) + 1


def counts(trial: Trial, *, is_usual: bool, parts: int = 1) -> tuple[int, ...]:
    """Return the numbers of elements to try: none, one, odd ones; beyond profile quick, of the usual types, 2^20 + 1.

    parts : how many times as many elements a tensor has. Where it is one, carriers may treat few elements and many
            differently, and an odd number of at least 256 KiB is tried, too
    """
    is_quick = trial.profile == "quick"
    many = (_MANY,) if parts == 1 and (is_usual or not is_quick) else ()
    return (*_SIZES, *many, *((_LARGE // parts,) if is_usual and not is_quick else ()))


def reductions() -> Iterator[CollectiveCase]:
    """Yield a case for each collective that reduces, op and element type."""
    bodies = {"all_reduce": _all_reduce, "reduce_scatter": _reduce_scatter, "rooted_reduce": _reduce}
    for family, body in bodies.items():
        for op in OPS:
            for dtype in (name for name, outs in REDUCE_OPS[op].outs.items() if name in outs):
                needs = f"add_n/-/{dtype}/dense" if op == "sum" else f"reduce/{op}/{dtype}/dense"
                claim = f"{family} {op} of {dtype} is within the bounds of Reduce, whatever the size, in place and not"
                yield CollectiveCase(
                    f"{family}/{op}/{dtype}", functools.partial(body, op=op, dtype=dtype), claim, needs
                )


def data(trial: Trial, op: str, dtype: str, shape: tuple[int, ...]) -> Array:
    """Return contents: integers and bools of all values, floats of both signs; factors near 1, so that products stay."""
    kind, rng = ep.dtype(dtype).kind, trial.rng
    if kind == "b":
        return rng.random(shape) < 0.5  # noqa: PLR2004 - a half
    if kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    values = rng.choice((-1.0, 1.0), shape) * rng.uniform(0.5, 1.5, shape) if op == "prod" else rng.normal(0, 3, shape)
    if kind == "c":
        values = values * np.exp(1j * rng.uniform(0, 2 * np.pi, shape))
    return np.asarray(values.astype(dtype))


def _all_reduce(trial: Trial, *, size: int, op: str, dtype: str) -> None:
    ranks = Ranks(trial, size)
    for count in counts(trial, is_usual=op == "sum" and dtype == "float32"):
        terms, spec = data(trial, op, dtype, (size, count)), TensorSpec(dtype, (count,))
        for in_place in (False, True):
            empty = [np.zeros(count, dtype) for _ in range(size)]
            arrays = [{"x": term, "out": term if in_place else out} for term, out in zip(terms, empty, strict=True)]
            found = ranks.run([AllReduce(op, x=spec, out=spec)] * size, arrays)
            for number, contents in found.items():
                what = f"all_reduce {op} of {count} {dtype}{' in place' if in_place else ''}, rank {number}"
                _check(trial, what, op, terms, contents["out"])
                if not in_place:
                    same_bits(f"{what}: x", contents["x"], terms[number])
            outs = {number: contents["out"] for number, contents in found.items()}
            ranks.require_same(f"out of all_reduce {op} of {count} {dtype}", outs)


def _reduce_scatter(trial: Trial, *, size: int, op: str, dtype: str) -> None:
    ranks = Ranks(trial, size)
    for count in counts(trial, is_usual=op == "sum" and dtype == "float32", parts=size):
        terms, part = data(trial, op, dtype, (size, size * count)), TensorSpec(dtype, (count,))
        whole = TensorSpec(dtype, (size * count,))
        for in_place in (False, True):
            collective = ReduceScatter(op, x=whole, out=None if in_place else part)
            arrays: list[dict[str, Any]] = [{"x": term} for term in terms]
            if not in_place:
                arrays = [given | {"out": np.zeros(count, dtype)} for given in arrays]
            for number, contents in ranks.run([collective] * size, arrays).items():
                what = f"reduce_scatter {op} of {count} {dtype}{' in place' if in_place else ''}, rank {number}"
                mine = slice(number * count, (number + 1) * count)
                _check(trial, what, op, terms[:, mine], contents["x"][mine] if in_place else contents["out"])
                others = np.delete(contents["x"], mine) if in_place else contents["x"]
                same_bits(f"{what}: x", others, np.delete(terms[number], mine) if in_place else terms[number])


def _reduce(trial: Trial, *, size: int, op: str, dtype: str) -> None:
    ranks = Ranks(trial, size)
    for count in counts(trial, is_usual=op == "sum" and dtype == "float32"):
        terms, spec = data(trial, op, dtype, (size, count)), TensorSpec(dtype, (count,))
        for root in {0, size - 1}:
            collectives = [Reduce(op, x=spec, root=root, out=spec if rank == root else None) for rank in range(size)]
            arrays: list[dict[str, Any]] = [{"x": term} for term in terms]
            arrays[root]["out"] = np.zeros(count, dtype)
            for number, contents in ranks.run(collectives, arrays).items():
                what = f"rooted_reduce {op} of {count} {dtype} at root {root}, rank {number}"
                same_bits(f"{what}: x", contents["x"], terms[number])
                if number == root:
                    _check(trial, what, op, terms, contents["out"])


def _check(trial: Trial, what: str, op: str, terms: Array, found: Array) -> None:
    """Raise CaseError unless a result is that of the row of Reduce, within its bound."""
    dtype, (size, count) = terms.dtype.name, terms.shape
    descriptor = ReduceRows(op, x=TensorSpec(dtype, (size, count)), out=TensorSpec(dtype, (count,)), axis=0)
    family = ep.families()["reduce"]
    reference = family.reference(descriptor, {"x": terms})
    flushes = dtype in trial.device.info.flushes
    comparison = compare(found, reference, family.accuracy(descriptor), dtype, flushes=flushes)
    if not comparison.passes:
        at = comparison.worst
        message = f"{what}: out{list(at)} == {found[at]!r}, needed {np.asarray(reference.value)[at]!r} of the terms {[term[at] for term in terms]}"
        raise CaseError(message)
