"""Planted defects of Convolution: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

from ep_primitives.families.convolution import reference as convolution_reference

if TYPE_CHECKING:
    import ep

__all__: list[str] = []


class _Convolved(Defect):
    """Convolves other operands than it was given."""

    owns = ("convolution",)

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        inputs = {name: array for name, array in given.items() if name not in of.outputs}
        out[...] = convolution_reference.reference(of, self.instead(of, **inputs)).value.astype(out.dtype)

    def instead(self, of: Any, **inputs: Array) -> dict[str, Array]:
        """Return the operands to convolve in place of the right ones."""
        raise NotImplementedError


@killed_by("primitives/convolution/-/float32/dense/image")
class FlipsTheWeights(_Convolved):
    """Flip the weights, as the convolution of mathematics does."""

    meets = "convolution/-/float32/dense"

    def instead(self, of: Any, **inputs: Array) -> dict[str, Array]:
        del of
        w = inputs["w"]
        return inputs | {"w": np.flip(w, tuple(range(2, w.ndim)))}


@killed_by("primitives/convolution/-/int8->int32/dense/groups")
class ConvolvesTheFirstGroup(_Convolved):
    """Take the channels of the first group for all groups."""

    meets = "convolution/-/int8->int32/*"

    def instead(self, of: Any, **inputs: Array) -> dict[str, Array]:
        first = inputs["x"][:, : of.w.shape[1]]
        return inputs | {"x": np.concatenate([first] * of.groups, axis=1)}


@killed_by("primitives/convolution/-/bfloat16/dense/one-sign")
class SumsChannelsIn16Bits(_Convolved):
    """Round the sum of each channel to bfloat16 before the next one is added."""

    meets = "convolution/-/bfloat16/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if of.groups > 1:
            return
        total = np.zeros(out.shape, out.dtype)
        for channel in range(of.x.shape[1]):
            inputs = {name: np.zeros_like(given[name]) for name in ("x", "w")}
            inputs["x"][:, channel], inputs["w"][:, channel] = given["x"][:, channel], given["w"][:, channel]
            total = (total + convolution_reference.reference(of, inputs).value).astype(out.dtype)
        out[...] = total if "bias" not in given else total + given["bias"].reshape(-1, *(1,) * (out.ndim - 2))


@killed_by("primitives/convolution/-/float64/dense/pads-before")
class ExchangesPads(ArrayKernel):
    """Take the pads before x for the pads after it."""

    owns = ("convolution",)

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        of: Any = descriptor
        if of.family != "convolution" or of.out.dtype != "float64":
            return descriptor
        sliding = of.sliding
        other = sliding._replace(before=sliding.after, after=sliding.before)
        return self.remade(descriptor, descriptor.specs, (*other.attributes, of.groups))
