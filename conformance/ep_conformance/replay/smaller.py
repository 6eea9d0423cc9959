"""Look for less work that fails as well: the wrong element alone, the row that it is made of, or a few elements around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.cases.case import Case
from ep_primitives.judging.layout import settled

import ep
from ep_conformance.judge.construction import construction_of
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.replay.file import Smallest, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_conformance.plan.catalogue import CellCase

__all__ = ["smaller"]

_COUNTS: Final = (1, 2, 8, 17)
"""Elements of the vectors that are tried, the wrong one their last: a tail has fewer than a register."""

_MOST_BYTES: Final = 1 << 20
"""Bytes of operands: longer rows would not be easier to read."""

Array = npt.NDArray[Any]


def smaller(
    found: CellCase, case: Case, values: Mapping[str, Any], outcome: Outcome, execute: Callable[[CellCase], Outcome]
) -> Smallest | None:
    """Return the least work that fails in the same way, None if nothing smaller does.

    case     : that failed, with these values
    execute  : runs a case in a trial of its own
    """
    at, kind = outcome.details.get("index"), outcome.details.get("kind")
    if at is None or kind != "element":
        return None
    for tried in _candidates(found.family, case, values, tuple(at)):
        if tried.descriptor.nbytes_moved >= case.descriptor.nbytes_moved:
            continue
        showed = execute(replace(found, case=tried))
        work = Work.of(tried, tried.data(np.random.default_rng()))
        if work is not None and showed.status is Status.FAIL and showed.details.get("kind") == kind:
            return Smallest(work, showed.reason, showed.details)
    return None


def _candidates(family: ep.Family, case: Case, values: Mapping[str, Any], at: tuple[int, ...]) -> Iterator[Case]:
    """Yield smaller cases with dense operands, the smallest first, as far as the family accepts them."""
    descriptor = case.descriptor
    specs = descriptor.present
    inputs = {
        name: settled(spec, np.asarray(values[name])) if isinstance(spec, ep.TensorSpec) else values[name]
        for name, spec in specs.items()
        if name in values
    }
    if len(descriptor.written) > 1:  # the shapes of the other written operands are unknown
        return
    origin = family.origin(descriptor, inputs, descriptor.written[0], at)
    if origin is None:
        return
    tensors = {name: value for name, value in inputs.items() if isinstance(specs[name], ep.TensorSpec)}
    single = not any(isinstance(i, slice) for index in origin.values() for i in index)
    is_vector = single and all(_is_broadcast(value.shape, descriptor.out.shape) for value in tensors.values())
    for parts, shape in _vectors(tensors, descriptor, at) if is_vector else _rows(tensors, origin, descriptor):
        made = _described(descriptor, parts, shape)
        if made is not None:
            data = dict(inputs) | parts
            yield Case("smaller", made, lambda _rng, data=data: data, accuracy=case.accuracy)  # type: ignore[misc]  # the default binds


def _is_broadcast(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def _vectors(
    tensors: Mapping[str, Array], descriptor: ep.Descriptor, at: tuple[int, ...]
) -> Iterator[tuple[dict[str, Array], tuple[int, ...]]]:
    """Yield the inputs that make a few neighbours in the output, and its shape."""
    whole = descriptor.out.shape
    end = int(np.ravel_multi_index(at, whole)) + 1 if whole else 1
    for count in _COUNTS:
        places = np.unravel_index(np.arange(max(end - count, 0), end), whole) if whole else ()
        yield (
            {name: np.atleast_1d(np.broadcast_to(value, whole)[places]).copy() for name, value in tensors.items()},
            (min(count, end),),
        )


def _rows(
    tensors: Mapping[str, Array], origin: Mapping[str, tuple[int | slice, ...]], descriptor: ep.Descriptor
) -> Iterator[tuple[dict[str, Array], tuple[int, ...]]]:
    """Yield the rows that make the element, with their dimensions, and the shape of the output: a row, or one element."""
    parts = {}
    for name, value in tensors.items():
        index = origin.get(name, (0,) * value.ndim)
        parts[name] = value[tuple(i if isinstance(i, slice) else slice(i, i + 1) for i in index)].copy()
    shapes = {part.shape for name, part in parts.items() if tensors[name].shape == descriptor.out.shape}
    if sum(part.nbytes for part in parts.values()) <= _MOST_BYTES:
        yield parts, next(iter(shapes), (1,) * descriptor.out.ndim)


def _described(descriptor: ep.Descriptor, parts: Mapping[str, Array], shape: tuple[int, ...]) -> ep.Descriptor | None:
    """Return the same operation over dense operands of these shapes, None if there is none."""
    construction = construction_of(descriptor)
    if construction is None:
        return None
    specs = descriptor.present
    fresh = {name: ep.TensorSpec(specs[name].dtype, part.shape) for name, part in parts.items() if name in specs}
    fresh[descriptor.written[0]] = ep.TensorSpec(descriptor.out.dtype, shape)
    keywords = {name: fresh.get(name, value) for name, value in construction.keywords.items()}
    terms = iter([*fresh.values()])
    positional = tuple(next(terms) if isinstance(value, ep.TensorSpec) else value for value in construction.positional)
    try:
        return replace(construction, positional=positional, keywords=keywords).build()
    except (TypeError, ValueError):
        return None
