"""Planted defects of Pool: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

from ep_primitives.families.convolution import reference as convolution_reference
from ep_primitives.families.pool import reference as pool_reference

__all__: list[str] = []


class _Pooled(Defect):
    """Pools other windows than it was asked for."""

    owns = ("pool",)

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = pool_reference.reference(self.instead(self.descriptor), {"x": given["x"]}).value.astype(out.dtype)

    def instead(self, of: Any) -> Any:
        """Return the descriptor to compute in place of the right one."""
        raise NotImplementedError


@killed_by("primitives/pool/average/float32/dense/image")
class DividesByTheWindow(_Pooled):
    """Divide by the size of the window, also where part of it lies beside x."""

    meets = "pool/average/float32/*"

    def instead(self, of: Any) -> Any:
        return self.remade(of, of.specs, (*of.attributes[:-1], 1))


@killed_by("primitives/pool/norm_2/float64/dense/dilations")
class PoolsNeighbours(_Pooled):
    """Take the elements of a window side by side, however far apart they are to be."""

    meets = "pool/norm_2/float64/*"

    def instead(self, of: Any) -> Any:
        near = of.sliding._replace(dilations=(1,) * len(of.window))
        return self.remade(of, of.specs, (*near.attributes, *of.attributes[-len(of.window) - 1 :]))


@killed_by("primitives/pool/max/float32/dense/below-zero")
class PadsMaximaWithZeros(Defect):
    """Let a maximum meet zeros beside x."""

    owns = ("pool",)
    meets = "pool/max/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        beside = convolution_reference.padded(np.zeros_like(given["x"]), of.sliding, out.shape[2:], 1)
        seen = convolution_reference.windows(beside, of.sliding, out.shape[2:])
        out[...] = np.where(seen.any(tuple(range(2, out.ndim))), np.maximum(out, np.float32(0)), out)


@killed_by("primitives/pool/max/int8/dense/ceil")
class LeavesTheLastWindowOut(Defect):
    """Write the lowest value for windows that reach beyond the pads."""

    owns = ("pool",)
    meets = "pool/max/int8/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        of: Any = self.descriptor
        least = of.sliding.counts("", of.x.shape[2:])
        for axis, count in enumerate(least, 2):
            out[(slice(None),) * axis + (slice(count, None),)] = np.iinfo(out.dtype).min
