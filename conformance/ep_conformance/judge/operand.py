"""An Operand of a case as the host knows it: the bytes that its memory should hold, red zones included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging import layout

import ep
from ep_conformance.judge.error import CaseError

__all__ = ["Image", "Operand"]

_LEAST: Final = 0xDB
"""Fills outputs before the second launch: a number below zero. It exposes kernels that take a minimum with POISON."""

Array = npt.NDArray[Any]
Image = npt.NDArray[np.uint8]
"""The bytes of an allocation."""


@dataclass(frozen=True)
class Operand:
    """A tensor operand: what its allocation should hold, and where the tensor lies in it.

    image   : the whole allocation as the host last knew it, red zones included
    start   : byte of the image at which the operand's memory view begins
    """

    name: str
    spec: ep.TensorSpec
    image: Image
    start: int

    def tensor(self, image: Image) -> Array:
        """Return a dense copy of the tensor in an image of the allocation."""
        return layout.gather(self.spec, image, self.start)

    def found(self, spec: ep.TensorSpec) -> Array:
        """Return a tensor as the device will find it in the operand's bytes."""
        return replace(self, spec=spec).tensor(self.image)

    def reversed(self) -> Operand:
        """Return the operand with its elements in reverse order."""
        image = self.image.copy()
        if self.spec.size:
            values = self.tensor(image)
            layout.scatter(self.spec, values.reshape(-1)[::-1].reshape(values.shape), image, self.start)
        return replace(self, image=image)

    def poisoned_low(self) -> Operand:
        """Return a poisoned output with the least value in place of a large number.

        A launch that combines its result with the output's old contents gives a wrong result with one of the two
        poisons.
        """
        image = self.image.copy()
        if self.spec.size:
            byte = 0 if ep.dtype(self.spec.dtype).kind in "bu" else _LEAST
            _elements(self.spec, image, self.start)[...] = bytes([byte]) * self.spec.itemsize
        return replace(self, image=image)

    def check(self, image: Image, *, is_written: bool) -> None:
        """Fail the case if a byte changed that this operand must not change.

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
            return f"{self.name}: a write {_bytes(byte - end + 1)} past the end of its tensor"
        return f"{self.name}: a write to byte {byte}, which is no element to be written"


def _elements(spec: ep.TensorSpec, image: Image, start: int) -> Array:
    """Return the elements of a tensor in an image of its allocation, each as so many bytes."""
    return layout.view(spec, image, start).view(f"V{spec.itemsize}")


def _bytes(count: int) -> str:
    return f"{count} byte{'s' if count > 1 else ''}"
