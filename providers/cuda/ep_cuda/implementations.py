"""The table: the descriptors that this provider runs, each with its implementations, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_simt
from ep_primitives import Attention, Matmul

from ep_cuda.cublas.library import located
from ep_cuda.cublas.matmul import CublasLtMatmul, PortableBeside

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["IMPLEMENTATIONS"]


def _table() -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    table: dict[type[ep.Descriptor], tuple[ep.Implementation, ...]] = {}
    table.update(ep_simt.implementations(ep_simt.Portable()))
    if located() is not None:
        best = CublasLtMatmul()
        beside = PortableBeside(best)
        table |= {Matmul: (best, beside), Attention: (beside,)}
    return table


IMPLEMENTATIONS: Final = _table()
