"""Other runtimes' results of a model for the same inputs: ONNX's reference, ONNX Runtime, PyTorch."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_onnx.errors import DifferenceError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ep_onnx.model import Model

    Array = NDArray[Any]

__all__ = ["PEERS", "compared"]

_TOLERANCE: Final = 1e-3
"""The tolerance of ONNX's own tests."""


def compared(peer: str, path: Path, model: Model, given: Mapping[str, Any], outputs: Sequence[Any]) -> Iterator[str]:
    """Yield a line for each output: its largest difference from a peer's, over the largest element of that.

    peer    : a name in PEERS
    path    : of the model
    given   : arrays by the names of the model's inputs
    outputs : of EP

    Raises ModelError if the peer is not there, DifferenceError where shapes or values differ.
    """
    worst = 0.0
    for name, mine, its in zip(model.outputs, outputs, PEERS[peer](path, given), strict=True):
        here, there = np.asarray(mine), np.asarray(its)
        if here.shape != there.shape:
            message = f"output '{name}' has shape {here.shape}, {peer} gives {there.shape}"
            raise DifferenceError(message)
        error = _difference(here, there)
        worst = max(worst, error)
        yield f"output '{name}': largest difference from {peer} {error:.2e} of its largest element"
    if not worst < _TOLERANCE:
        message = f"results differ from {peer} by {worst:.2e}, more than {_TOLERANCE:g}"
        raise DifferenceError(message)


def _difference(here: Array, there: Array) -> float:
    """Return the largest difference over the largest finite element; infinite where one has a NaN or infinity and the other not."""
    wide = np.complex128 if here.dtype.kind == "c" else np.float64
    mine, its = here.astype(wide), there.astype(wide)
    finite = np.isfinite(mine) & np.isfinite(its)
    if not np.array_equal(mine[~finite], its[~finite], equal_nan=True):
        return float("inf")
    scale = float(np.max(np.abs(its[finite]), initial=0)) or 1.0
    return float(np.max(np.abs(mine[finite] - its[finite]), initial=0)) / scale


def _reference(path: Path, given: Mapping[str, Any]) -> Any:
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator
    return evaluator(str(path)).run(None, given)


def _runtime(path: Path, given: Mapping[str, Any]) -> Any:
    runtime = _installed("onnxruntime")
    return runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, given)


def _torch(path: Path, given: Mapping[str, Any]) -> Any:
    torch = _installed("torch")
    program = path.with_suffix(".pt2")
    if not program.is_file():
        message = f"--compare torch: {program} is not there, and PyTorch reads no ONNX; torch.export.save writes it from the program that was exported"
        raise ModelError(message)
    made = torch.export.load(program).module()(*[torch.from_numpy(each) for each in given.values()])
    return [each.detach().numpy() for each in torch.utils._pytree.tree_leaves(made)]  # noqa: SLF001 - its only way


def _installed(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        message = f"--compare {module}: it is not installed; pip install {module}"
        raise ModelError(message) from None


PEERS: Final[Mapping[str, Callable[[Path, Mapping[str, Any]], Any]]] = {
    "onnx": _reference,
    "onnxruntime": _runtime,
    "torch": _torch,
}
"""How each runs a model, given its path and its inputs by name; returns its outputs in order."""
