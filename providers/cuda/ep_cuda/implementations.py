"""The table: the descriptors that this provider runs, each with its implementations, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_simt
from ep_primitives import Attention, Convolution, Matmul

from ep_cuda.cublas.library import located
from ep_cuda.cublas.matmul import CublasLtMatmul, PortableBeside

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["IMPLEMENTATIONS"]

_FEWEST_FILTERS: Final = 8
"""Of a group, for which a copy of all windows is worth it: the fewest rows of a product."""


def _table() -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    table: dict[type[ep.Descriptor], tuple[ep.Implementation, ...]] = {}
    table.update(ep_simt.implementations(ep_simt.Portable()))
    if located() is not None:
        best = CublasLtMatmul()
        beside = PortableBeside(best)
        table |= {
            Matmul: (best, beside),
            Attention: (beside,),
            Convolution: (PortableBeside(best, _FEWEST_FILTERS),),
        }
    return table


IMPLEMENTATIONS: Final = _table()
