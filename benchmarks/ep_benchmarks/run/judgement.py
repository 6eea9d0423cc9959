"""Judgement: EP's result against the family's reference before it is timed, and a peer's against EP's before they are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.plugin.family import by_name
from ep_conformance.judge.compare import compare
from ep_primitives.descriptors.window import windowed
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.judging.layout import gather
from ep_primitives.judging.reference import widened

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives.cases.sample import Sample
    from ep_primitives.judging.layout import Buffer
    from ep_primitives.judging.reference import Array

    from ep_benchmarks.run.placed import Placed

__all__ = ["TOLERANCES", "apart", "wrong"]

TOLERANCES: Final = {
    "float64": 1e-10,
    "complex128": 1e-10,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 0.01,
    "bfloat16": 0.05,
    "float8_e4m3fn": 0.15,
    "float8_e5m2": 0.3,
}
"""By how much a peer's element may differ from EP's, over its magnitude and the root mean square of all; others must be equal.

A peer promises nothing about its digits: this tells another operation from a coarser one.
"""

_WHOLE: Final = 1 << 18
"""Elements up to which a result is judged whole; beyond them, parts of it are."""
_PART: Final = 1 << 15
_COMPARED: Final = 1 << 20
"""Elements of a peer's result that are compared, evenly spread."""
_MOMENTS: Final = 0.05
"""By how much mean and deviation of random numbers may differ, over the deviation."""


def wrong(family: ep.Family, sample: Sample, placed: Placed) -> str:
    """Return what is wrong with the device's result of one launch, "" if nothing is."""
    written = placed.written()
    for part in _parts(family, sample):
        text = _wrong(family, part, placed.part(part), written)
        if text:
            return text
    return ""


def apart(descriptor: ep.Descriptor, ours: Mapping[str, Array], theirs: Mapping[str, Array]) -> str:
    """Return by what two results differ more than two libraries may, "" if by nothing."""
    for name, spec in descriptor.outputs.items():
        if theirs[name].shape != spec.shape:
            return f"{name} has shape {theirs[name].shape}, EP's {spec.shape}"
        step = max(1, spec.size // _COMPARED)
        pair = (each[name].reshape(-1)[::step] for each in (ours, theirs))
        text = _unlike(*pair) if descriptor.roles.states else _different(spec.dtype, *pair)
        if text:
            return f"{name} {text}"
    return ""


def _parts(family: ep.Family, sample: Sample) -> Iterator[ep.Descriptor]:
    """Yield what to judge: the whole if it is small or has no parts, else parts."""
    descriptor = sample.descriptor
    if sum(spec.size for spec in descriptor.outputs.values()) <= _WHOLE and descriptor.nbytes_moved <= 16 * _WHOLE:
        yield descriptor
        return
    if sample.parts is not None:
        found = list(sample.parts(descriptor))
    elif isinstance(family, ElementwiseFamily):
        found = list(_stretches(descriptor))
    else:
        found = [part for part in family.parts(descriptor) if 2 * part.nbytes_moved < descriptor.nbytes_moved]
    yield from found or [descriptor]


def _stretches(descriptor: ep.Descriptor) -> Iterator[ep.Descriptor]:
    """Yield the beginning, the middle and the end of the output; without inputs, whose places do not matter, the beginning."""
    shape = descriptor.out.shape
    count = max(1, min(shape[0], _PART * shape[0] // descriptor.out.size))
    last = shape[0] - count
    is_read = any(
        role.name in descriptor.roles.read and role.name not in descriptor.roles.states
        for role, _ in descriptor.tensors
    )
    for first in (0, last // 2, last) if is_read else (0,):
        window = ((first, count), *((0, extent) for extent in shape[1:]))
        specs = [
            windowed(spec, window) if isinstance(spec, ep.TensorSpec) and name not in descriptor.roles.states else spec
            for name, spec in zip(descriptor.operands, descriptor.specs, strict=True)
        ]
        made, (kind, op, _, attributes) = descriptor.__reduce__()
        yield made(kind, op, tuple(specs), attributes)


def _wrong(family: ep.Family, part: ep.Descriptor, inputs: dict[str, Any], written: Mapping[str, Buffer]) -> str:
    given = {name: np.array(each) if isinstance(each, np.ndarray) else each for name, each in inputs.items()}
    moved = by_name(part, family.moved(part, given))
    references, accuracies = by_name(part, family.reference(part, given)), by_name(part, family.accuracy(part))
    for name, spec in part.outputs.items():
        result = gather(spec, written[name])
        if moved[name] is not None:
            fails = _bits(result) != _bits(np.asarray(moved[name]))
        else:
            fails = compare(result, references[name], accuracies[name], spec.dtype).fails
        if fails.any():
            at = np.unravel_index(int(np.asarray(fails).reshape(-1).argmax()) * result.size // fails.size, result.shape)
            value = np.broadcast_to(references[name].value, result.shape)[at]
            where = "" if part.out.size == spec.size else f" of {spec.shape}"
            return f"{name}{[int(place) for place in at]}{where} is {result[at]!s}, needed {value!s} within {accuracies[name]}"
    return ""


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _different(dtype: str, ours: Array, theirs: Array) -> str:
    """Return an element that differs, in words."""
    if dtype not in TOLERANCES:
        bad = ours != theirs if dtype != "bool" else ours.view(np.uint8) != theirs.view(np.uint8)
        return _first(bad, ours, theirs, "equal ones")
    wide, other = widened(dtype, ours), widened(dtype, theirs)
    with np.errstate(all="ignore"):
        finite = np.isfinite(wide)
        size = np.abs(np.where(finite, wide, 0))
        typical = float(np.sqrt(np.mean(np.square(np.minimum(size, 1e150))))) if size.size else 0.0
        near = np.abs(other - wide) <= TOLERANCES[dtype] * (size + typical)
        same = np.where(finite, near, (other == wide) | ((wide != wide) & (other != other)))  # noqa: PLR0124 - NaN
    return _first(~same, ours, theirs, f"{TOLERANCES[dtype]:g} of it and of the root mean square {typical:.3g}")


def _first(bad: Array, ours: Array, theirs: Array, needed: str) -> str:
    if not bad.any():
        return ""
    at = int(bad.argmax())
    return f"differs in {int(bad.sum())} of {bad.size} elements, such as {theirs[at]!s} where EP has {ours[at]!s}; needs {needed}"


def _unlike(ours: Array, theirs: Array) -> str:
    """Return how two sets of random numbers differ: by mean or deviation, because their generators do."""
    wide, other = (each.astype(np.float64) for each in (ours, theirs))
    allowed = _MOMENTS * max(float(wide.std()), 1e-9) + 4 * float(wide.std()) / np.sqrt(max(wide.size, 1))
    for what, mine, its in (("mean", wide.mean(), other.mean()), ("deviation", wide.std(), other.std())):
        if not abs(mine - its) <= allowed:
            return f"has the {what} {its:.4g}, EP's numbers {mine:.4g}"
    return ""
