"""Red zones: noise around each operand and between its elements, in which a stray write and a stray read show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging import layout
from ep_primitives.judging.reference import array_dtype

import ep
from ep_conformance.judge.decoys import POISON
from ep_conformance.judge.operand import Operand

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Bytes, Trial

__all__ = ["enclose"]

_LEAST_GUARD: Final = 256

Array = npt.NDArray[Any]


def enclose(trial: Trial, name: str, spec: ep.TensorSpec, value: Array | None, shift: int) -> Operand:
    """Return an operand between red zones.

    value : the contents of the tensor; None for an output, which is poisoned
    shift : bytes that the memory view starts after an aligned place
    """
    guard = -(-_LEAST_GUARD // trial.alignment) * trial.alignment
    start = guard + shift
    image = trial.noise(start + spec.nbytes + guard)
    _make_nan(image, spec.dtype, start)
    if value is None:
        image[start : start + spec.nbytes] = POISON
    elif spec.size:
        layout.scatter(spec, value, image, start)
    return Operand(name, spec, image, start)


def _make_nan(image: Bytes, dtype: str, start: int) -> None:
    """Make floats of noise NaN, of any sign and payload: reading one beside the tensor shows, even times 0."""
    row = ep.dtype(dtype)
    if row.kind not in "fc" or row.itemsize == 1:
        return
    infinity = np.array([np.inf], array_dtype(dtype)).real
    words = image[start % infinity.itemsize :]
    words = words[: words.size // infinity.itemsize * infinity.itemsize].view(f"u{infinity.itemsize}")
    words |= infinity.view(words.dtype)
