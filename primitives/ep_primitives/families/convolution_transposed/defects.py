"""Planted defects of ConvolutionTransposed: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

from ep_primitives.families.convolution_transposed import reference as convolution_transposed_reference

__all__: list[str] = []


class _Transposed(Defect):
    """Spoils convolutions the other way round."""

    owns = ("convolution_transposed",)


@killed_by("primitives/convolution_transposed/-/float32/dense/image")
class TurnsNoWeights(_Transposed):
    """Convolve the spread x with weights that are not flipped."""

    meets = "convolution_transposed/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        inputs = {name: array for name, array in given.items() if name not in of.outputs}
        inputs["w"] = np.flip(inputs["w"], tuple(range(2, out.ndim)))
        out[...] = convolution_transposed_reference.reference(of, inputs).value.astype(out.dtype)


@killed_by("primitives/convolution_transposed/-/float64/dense/extra")
class LeavesTheExtraOut(_Transposed):
    """Write nothing to the elements after the last to which x is added."""

    meets = "convolution_transposed/-/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        sliding = of.sliding
        for axis, reach in enumerate(sliding.reach(of.x.shape[2:])):
            behind = (slice(None),) * (2 + axis) + (slice(reach - sliding.before[axis] - sliding.after[axis], None),)
            out[behind] = given["y"][behind]
