"""The samples of AddN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.descriptors.window import windowed
from ep_primitives.families.add_n import AddN

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SAMPLES"]

_FEW: Final = 1 << 15


def _sample(count: int, dtype: str, size: str) -> Sample:
    return Sample(f"{count}x{size}", AddN.infer(*[TensorSpec(dtype, (SIZES[size],))] * count), parts=_ends)


def _ends(whole: AddN) -> Iterator[AddN]:
    """Yield the first elements and the last ones."""
    for first in (0, whole.out.size - _FEW):
        *terms, out = (windowed(spec, ((first, _FEW),)) for spec in whole.specs if isinstance(spec, TensorSpec))
        yield AddN(*terms, out=out)


SAMPLES: Final = [_sample(4, "float32", "1Mi"), _sample(4, "float32", "16Mi"), _sample(4, "bfloat16", "16Mi")]
