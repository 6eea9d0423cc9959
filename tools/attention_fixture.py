"""Write examples/tests/attention_pytorch.npz: a causal attention block and its gradients as PyTorch computes them.

    python tools/attention_fixture.py           needs PyTorch, whose version goes into the file

The inputs are those of examples/attention_reference.py, exact in float32. PyTorch answers by its own attention and automatic
differentiation, in float64 and in float32.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_EXAMPLES: Final = Path(__file__).parent.parent / "examples"
_FIXTURE: Final = _EXAMPLES / "tests" / "attention_pytorch.npz"
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


def main() -> int:
    """Write the fixture."""
    sys.path.insert(0, str(_EXAMPLES))
    from attention_reference import problem  # noqa: PLC0415 - the examples are found by the line above

    inputs = problem(_SHAPE, _SEED)
    answers = {
        f"{dtype}/{name}": value
        for dtype in ("float64", "float32")
        for name, value in answer(inputs, _HEADS, dtype).items()
    }
    given = {f"inputs/{name}": value for name, value in inputs.items()}
    np.savez_compressed(_FIXTURE, version=torch.__version__, heads=_HEADS, **given, **answers)
    print(f"{_FIXTURE.name}: PyTorch {torch.__version__}, {_FIXTURE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
