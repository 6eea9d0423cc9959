"""Operands of a case in device memory: red zones around each, poison in the output, everything else watched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging import layout
from ep_primitives.judging.reference import array_dtype

import ep
from ep_conformance.trial import Bytes, CaseError, Trial

__all__ = ["POISON", "Operand", "place"]

POISON: Final = 0x5B
"""Fills outputs before a launch: as any element type a large number, never a NaN, and no legal bool."""

_LEAST: Final = 0xDB
"""The same below zero: a minimum of it and of anything else would pass for the other one in front of POISON."""

_LEAST_GUARD: Final = 256
_LARGE: Final = 4 << 20

Array = npt.NDArray[Any]


@dataclass
class Operand:
    """A tensor operand: the bytes that its memory should hold, and where the tensor lies in them.

    image   : the whole allocation as the host last knew it, red zones included
    start   : byte of the image at which the operand's memory view begins
    whole   : the allocation, once it is made; `memory` is the view of it that a primitive gets
    """

    name: str
    spec: ep.TensorSpec
    image: Bytes
    start: int
    whole: ep.Memory | None = None

    @property
    def memory(self) -> ep.Memory:
        """The operand's memory view, allocated."""
        return self._allocated[self.start : self.start + self.spec.nbytes]

    @property
    def _allocated(self) -> ep.Memory:
        if self.whole is None:
            message = f"operand {self.name} was not allocated"
            raise RuntimeError(message)
        return self.whole

    def allocate(self, trial: Trial) -> None:
        """Take memory for the image from the device under test; of a large one the memory before is given back first."""
        if self.whole is not None and self.image.nbytes > _LARGE:
            self.whole.close()
        self.whole = trial.memory(self.image.nbytes)

    def tensor(self, image: Bytes) -> Array:
        """Return a dense copy of the tensor in an image of the allocation."""
        return layout.gather(self.spec, image, self.start)

    def reversed(self) -> Operand:
        """Return the operand with its elements in reverse order, not yet in any memory."""
        image = self.image.copy()
        if self.spec.size:
            values = self.tensor(image)
            layout.scatter(self.spec, values.reshape(-1)[::-1].reshape(values.shape), image, self.start)
        return replace(self, image=image, whole=None)

    def poisoned_low(self) -> Operand:
        """Return a poisoned output with the least there is in place of a large number, not yet in any memory.

        A launch that combines its result with what the output held shows it in front of one of the two, whatever it computes.
        """
        image = self.image.copy()
        if self.spec.size:
            byte = 0 if ep.dtype(self.spec.dtype).kind in "bu" else _LEAST
            _elements(self.spec, image, self.start)[...] = bytes([byte]) * self.spec.itemsize
        return replace(self, image=image, whole=None)

    def upload(self, stream: ep.Stream) -> None:
        """Enqueue the image to the device."""
        stream.upload(self._allocated, self.image)

    def download(self, stream: ep.Stream) -> Bytes:
        """Enqueue the allocation to a new image."""
        image = np.empty_like(self.image)
        stream.download(image, self._allocated)
        return image

    def check(self, image: Bytes, *, is_written: bool) -> None:
        """Fail the case if a byte changed that this operand had no business to change.

        image : what the device holds now; of an operand that is written the tensor's own elements may differ
        """
        changed = image != self.image
        if is_written and self.spec.size:
            mine = np.zeros(image.nbytes, np.uint8)
            _elements(self.spec, mine, self.start)[...] = b"\1" * self.spec.itemsize
            changed &= mine == 0
        if not changed.any():
            return
        at = int(np.flatnonzero(changed)[0])
        was, now, count = self.image[at], image[at], int(changed.sum())
        message = f"{self._where(at)}: the byte was {was:#04x} and is {now:#04x} ({_bytes(count)} so)"
        raise CaseError(message, kind="byte", operand=self.name, byte=at - self.start)

    def _where(self, at: int) -> str:
        byte = at - self.start
        end = self.spec.nbytes
        if byte < 0:
            return f"{self.name}: a write {_bytes(-byte)} before its memory"
        if byte >= end:
            return f"{self.name}: a write {_bytes(byte - end + 1)} behind the end of its tensor"
        return f"{self.name}: a write to byte {byte}, which is no element to be written"


def _make_nan(image: Bytes, dtype: str, start: int) -> None:
    """Make floats of noise NaN, of any sign and payload: who reads one of them beside its tensor, be it times 0, shows it."""
    row = ep.dtype(dtype)
    if row.kind not in "fc" or row.itemsize == 1:
        return
    infinity = np.array([np.inf], array_dtype(dtype)).real
    words = image[start % infinity.itemsize :]
    words = words[: words.size // infinity.itemsize * infinity.itemsize].view(f"u{infinity.itemsize}")
    words |= infinity.view(words.dtype)


def place(trial: Trial, name: str, spec: ep.TensorSpec, value: Array | None, shift: int) -> Operand:
    """Return an operand between red zones, not yet in any memory.

    value : what the tensor holds; None for an output, which is poisoned
    shift : bytes that the memory view starts after an aligned place
    """
    guard = -(-_LEAST_GUARD // trial.device.info.alignment) * trial.device.info.alignment
    start = guard + shift
    image = trial.noise(start + spec.nbytes + guard)
    _make_nan(image, spec.dtype, start)
    if value is None:
        image[start : start + spec.nbytes] = POISON
    elif spec.size:
        layout.scatter(spec, value, image, start)
    return Operand(name, spec, image, start)


def _elements(spec: ep.TensorSpec, image: Bytes, start: int) -> Array:
    """Return the elements of a tensor in an image of its allocation, each as so many bytes."""
    return layout.view(spec, image, start).view(f"V{spec.itemsize}")


def _bytes(count: int) -> str:
    return f"{count} byte{'s' if count > 1 else ''}"
