"""Find the violated order: the pair of a program's ops that, done the other way round, explains the bytes found."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ep_conformance.programs.launches import Capture, Replay
from ep_conformance.programs.op import Model, noise
from ep_conformance.programs.points import Scribble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ep_conformance.fixture.trial import Bytes
    from ep_conformance.programs.look import Look, MismatchError
    from ep_conformance.programs.op import Op
    from ep_conformance.programs.program import Program

__all__ = ["blame"]


def blame(program: Program, found: MismatchError, kernel: Callable[[Bytes], Bytes]) -> str:
    """Return which op seems not to have waited for which, or not to have been done; "" if that would give other bytes.

    kernel : computes the kernel's result from the bytes of a vector
    """
    works = [*_works(program, found.look)]

    def explains(tried: Sequence[Op]) -> bool:
        seen = _seen(program, tried, found.look, kernel)
        return seen is not None and bool((seen == found.given).all())

    for first, then in _pairs(works):
        begin, end = works[:first], works[then + 1 :]
        between = works[first + 1 : then]
        one, two = works[first], works[then]
        if explains([*begin, two, one, *between, *end]) or explains([*begin, *between, two, one, *end]):
            return f"as if {two} had not waited for {one}, which comes before it"
    for place, work in enumerate(works):
        if work is not found.look.op and explains(works[:place] + works[place + 1 :]):
            return f"as if {work} had not been done"
    return ""


def _works(program: Program, look: Look) -> Iterator[Op]:
    """Yield the ops that were enqueued before the host looked, launches of graphs as their nodes."""
    for op in program.ops:
        if isinstance(op, Replay):
            yield from op.nodes
        elif not isinstance(op, Capture):
            yield op
        if op is look.op and isinstance(op, Scribble):
            return


def _pairs(works: Sequence[Op]) -> Iterator[tuple[int, int]]:
    """Yield the places of pairs of ops of which one writes bytes that the other touches, neighbours first."""
    places = itertools.combinations(range(len(works)), 2)
    for first, then in sorted(places, key=lambda pair: (pair[1] - pair[0], pair)):
        one, two = works[first], works[then]
        touched = itertools.chain(
            itertools.product(one.writes, (*two.reads, *two.writes)), itertools.product(one.reads, two.writes)
        )
        if any(span.meets(other) for span, other in touched):
            yield first, then


def _seen(program: Program, works: Sequence[Op], look: Look, kernel: Callable[[Bytes], Bytes]) -> Bytes | None:
    """Return the bytes that a look finds if the ops are done in this order, None if they cannot be."""
    model = Model(kernel, program.mix.unit)
    model.bytes = {name: content.copy() for name, content in program.contents()}
    try:
        for op in works:
            if op is look.op:
                return model[look.span].copy()
            if isinstance(op, Scribble):
                model[op.dst] = noise(op.dst.nbytes, op.seed, model.unit)
            op.predict(model)
        return model[look.span]
    except KeyError:  # of a memory that is not allocated yet
        return None
