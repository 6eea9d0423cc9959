"""The samples of Matmul: squares from small to large, odd ones, one row, many small products, a layer with its activation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ep import TensorSpec
from ep_primitives.cases.sample import Sample, between, usual
from ep_primitives.descriptors.window import windowed
from ep_primitives.families.matmul import Matmul
from ep_primitives.judging.reference import array_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ep_primitives.judging.reference import Array

__all__ = ["SAMPLES"]

_FEW: Final = 16


def _sample(dtype: str, m: int, k: int, n: int, batches: tuple[int, ...] = ()) -> Sample:
    name = f"{m}x{k}x{n}" if m != n or k != n else str(n)
    a, b = TensorSpec(dtype, (*batches, m, k)), TensorSpec(dtype, (*batches, k, n))
    contents = dict.fromkeys("ab", between(-128, 128)) if dtype == "int8" else {}
    name = "x".join([*map(str, batches), name]) if batches else name
    is_quick = n <= 64  # noqa: PLR2004 - what takes no time
    return Sample(name, Matmul.infer(a, b), contents, is_quick=is_quick, parts=_rows)


def _rows(whole: Matmul) -> Iterator[Matmul]:
    """Yield the first rows and the last ones of a matrix, or of all matrices."""
    *batches, rows, columns = whole.out.shape
    for first in {0, max(0, rows - _FEW)}:
        kept = [(0, extent) for extent in batches]
        part = (first, min(_FEW, rows))
        a = windowed(whole.a, (*kept, part, (0, whole.depth)))
        yield Matmul(a=a, b=whole.b, out=windowed(whole.out, (*kept, part, (0, columns))))


def _squares(dtype: str, sizes: Iterable[int]) -> list[Sample]:
    return [_sample(dtype, size, size, size) for size in sizes]


def _layer(dtype: str, rows: int) -> Sample:
    """Return a few rows by weights that lie as PyTorch's layers have them: by columns."""
    turned = TensorSpec(dtype, (4096, 4096), (1, 4096))
    return Sample(f"{rows}x4096x4096-transposed", Matmul.infer(TensorSpec(dtype, (rows, 4096)), turned))


def _weights(rng: np.random.Generator, spec: TensorSpec) -> Array:
    """Return weights as layers begin with: sums over a row of inputs of size one have size one, in which gelu is of use."""
    weights: Array = usual(rng, spec) / np.sqrt(spec.shape[0])
    return weights.astype(array_dtype(spec.dtype))


_TURNED: Final = TensorSpec("float32", (1024, 1024), (1, 1024))
_ROW: Final = TensorSpec("float32", (3072,))

SAMPLES: Final = [
    *(each for dtype in ("float32", "bfloat16", "float16", "int8") for each in _squares(dtype, (64, 256, 1024))),
    *(each for dtype in ("float32", "bfloat16") for each in _squares(dtype, (2048,))),
    *_squares("float64", (512,)),
    *_squares("complex64", (256,)),
    *(_sample(dtype, 33, 65, 129) for dtype in ("float32", "bfloat16")),
    *(_sample(dtype, 1, 4096, 4096) for dtype in ("float32", "bfloat16", "float16")),
    _sample("float32", 4, 4096, 4096),
    _sample("float32", 4096, 4096, 4),
    *(_layer("float32", rows) for rows in (1, 4)),
    _sample("bfloat16", 16, 4096, 4096),
    _layer("bfloat16", 4),
    *(_sample(dtype, 16, 16, 16, (1000,)) for dtype in ("float32", "bfloat16")),
    Sample("1024-transposed", Matmul.infer(TensorSpec("float32", (1024, 1024)), _TURNED)),
    Sample(
        "128x768x3072-bias-gelu",
        Matmul.infer(
            TensorSpec("float32", (128, 768)), TensorSpec("float32", (768, 3072)), bias=_ROW, activation="gelu"
        ),
        {"b": _weights},
    ),
]
