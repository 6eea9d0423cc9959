"""Errors of models: one sentence each, which names the node and the cure."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ep import EpError, OutOfMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ep_onnx.trace import Step

__all__ = ["DifferenceError", "LackingError", "ModelError", "room_for"]


class ModelError(EpError, ValueError):
    """A model or its inputs break ONNX's rules: the model is damaged, its opset is unknown, or shapes do not fit.

    What to do: the sentence names the node or input and the cure; `ep-onnx check` says the same of a file.
    """


class LackingError(EpError, NotImplementedError):
    """A model needs an operation or a cell that this importer or this device does not have.

    lacking : each node that the device cannot run, with its cell; the message names each cell once
    steps   : the planned steps that could run

    What to do: take another device, or export the model without those operations; `docs/reports/onnx.md` counts what each device runs.
    """

    def __init__(self, message: str, lacking: Sequence[str] = (), steps: Sequence[Step] = ()) -> None:
        super().__init__(message)
        self.lacking = tuple(lacking)
        self.steps = tuple(steps)


class DifferenceError(EpError):
    """Another runtime has other results for a model.

    What to do: compare with a third; hand in the model with its inputs if EP is the one that differs.
    """


@contextmanager
def room_for(where: str) -> Iterator[None]:
    """Name the node or input for which there is no memory."""
    try:
        yield
    except OutOfMemoryError as error:
        message = f"{where}: {error}; give smaller inputs, or another device"
        figures = {"requested": error.requested, "free": error.free, "reserved": error.reserved}
        raise OutOfMemoryError(message, **figures) from error  # type: ignore[arg-type]  # as they were
