"""The local carrier's table: one implementation serves all collectives that it knows the shares of."""

from __future__ import annotations

from typing import ClassVar, Final

from ep_collectives.carrier.implementation import Carried, table_of
from ep_collectives.local.kernel import LocalKernel

__all__ = ["TABLE", "Shares"]


class Shares(Carried):
    """Each rank does its share in the memories of all ranks."""

    kernel_type: ClassVar[type[LocalKernel]] = LocalKernel


TABLE: Final = table_of(Shares())
