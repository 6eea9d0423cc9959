"""Write examples/tests/attention_pytorch.npz: a causal attention block and its gradients as PyTorch computes them.

The version of PyTorch goes into the file. The inputs are those of examples/attention_reference.py, exact in float32. PyTorch answers by its own attention and automatic
differentiation, in float64 and in float32.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np
import torch

from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_EXAMPLES: Final = ROOT / "examples"
FIXTURE: Final = _EXAMPLES / "tests" / "attention_pytorch.npz"
_SHAPE: Final = (2, 17, 24)
_HEADS: Final = 3
_SEED: Final = 5


def answer(inputs: Mapping[str, NDArray[Any]], heads: int, dtype: str) -> dict[str, NDArray[Any]]:
    """Return y and the gradients of sum(y dy) by x, w_in, b_in, w_out and b_out, computed in an element type.

    Results of types that NumPy lacks, or that are narrower than float32, come as float32.
    """
    tensors = {name: torch.tensor(each, dtype=getattr(torch, dtype)) for name, each in inputs.items()}
    dy = tensors.pop("dy")
    x, w_in, b_in, w_out, b_out = (each.requires_grad_() for each in tensors.values())
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in (x @ w_in + b_in).chunk(3, -1))
    joined = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2)
    y = x + joined @ w_out + b_out
    y.backward(dy)
    gradients = {f"d{name}": each.grad for name, each in tensors.items()}
    widened = {
        name: each.to(torch.promote_types(each.dtype, torch.float32)) for name, each in {"y": y, **gradients}.items()
    }
    return {name: each.detach().numpy() for name, each in widened.items()}


@click.command()
def command() -> None:
    """Write the fixture."""
    sys.path.insert(0, str(_EXAMPLES))
    from attention_reference import problem  # noqa: PLC0415 - the examples are found by the line above

    inputs = problem(_SHAPE, _SEED)
    arrays: dict[str, Any] = {"version": torch.__version__, "heads": _HEADS}
    arrays |= {f"inputs/{name}": value for name, value in inputs.items()}
    for dtype in ("float64", "float32"):
        arrays |= {f"{dtype}/{name}": value for name, value in answer(inputs, _HEADS, dtype).items()}
    np.savez_compressed(FIXTURE, **arrays)
    click.echo(f"{FIXTURE.name}: PyTorch {torch.__version__}, {FIXTURE.stat().st_size} bytes")
