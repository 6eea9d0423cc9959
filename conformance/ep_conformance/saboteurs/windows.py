"""Planted defects of windows that share elements, and of what is made of windows: convolutions and pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_primitives.families.convolution import reference as convolution_reference
from ep_primitives.families.convolution_transposed import reference as convolution_transposed_reference
from ep_primitives.families.pool import reference as pool_reference
from ep_primitives.judging import layout

from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    import ep

__all__: list[str] = []


def _is_windows(spec: ep.TensorSpec) -> bool:
    """Say whether elements are shared although each dimension leads to others."""
    return spec.overlaps_itself and 0 not in spec.strides


@killed_by("primitives/copy/-/float32/strided/windows-2d")
class CopiesTheSpan(Defect):
    """Copy what lies between the first element of windows and the last, as if each had its own."""

    meets = "copy/-/float32/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x: Any = self.descriptor.specs[0]
        if _is_windows(x):
            span = np.zeros(x.nbytes, np.uint8)
            layout.scatter(x, given["x"], span)
            out[...] = np.resize(span.view(out.dtype), out.shape)


@killed_by("primitives/reduce/sum/float32/strided/windows")
class KeepsADimensionAStride(Defect):
    """Keep dimensions by their strides, so that of two with one stride, where windows begin and within them, one is left."""

    meets = "reduce/sum/float32/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if _is_windows(of.x):
            kept = [axis for axis in range(of.x.ndim) if axis not in of.axes]
            within = {of.x.strides[axis] for axis in of.axes}
            first = tuple(
                slice(1) if axis in kept and of.x.strides[axis] in within else slice(None) for axis in range(of.x.ndim)
            )
            sums = given["x"][first].sum(of.axes, keepdims=out.ndim == of.x.ndim, dtype=out.dtype)
            out[...] = np.broadcast_to(sums, out.shape)


class _Convolved(Defect):
    """Convolves other operands than it was given."""

    owns = ("convolution",)

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        inputs = {name: array for name, array in given.items() if name not in of.outputs}
        out[...] = convolution_reference.reference(of, self.instead(of, **inputs)).value.astype(out.dtype)

    def instead(self, of: Any, **inputs: Array) -> dict[str, Array]:
        """Return what is convolved in place of the operands."""
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
    """Take the pads before x for those behind it."""

    owns = ("convolution",)

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        of: Any = descriptor
        if of.family != "convolution" or of.out.dtype != "float64":
            return descriptor
        sliding = of.sliding
        other = sliding._replace(before=sliding.after, after=sliding.before)
        return self.remade(descriptor, descriptor.specs, (*other.attributes, of.groups))


class _Transposed(Defect):
    """Spoils convolutions the other way round."""

    owns = ("convolution_transposed",)


@killed_by("primitives/convolution_transposed/-/float32/dense/image")
class TurnsNoWeights(_Transposed):
    """Convolve what was spread with weights that are not flipped."""

    meets = "convolution_transposed/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        inputs = {name: array for name, array in given.items() if name not in of.outputs}
        inputs["w"] = np.flip(inputs["w"], tuple(range(2, out.ndim)))
        out[...] = convolution_transposed_reference.reference(of, inputs).value.astype(out.dtype)


@killed_by("primitives/convolution_transposed/-/float64/dense/extra")
class LeavesTheExtraOut(_Transposed):
    """Write nothing to elements behind the last that x gives to."""

    meets = "convolution_transposed/-/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        sliding = of.sliding
        for axis, reach in enumerate(sliding.reach(of.x.shape[2:])):
            behind = (slice(None),) * (2 + axis) + (slice(reach - sliding.before[axis] - sliding.after[axis], None),)
            out[behind] = given["y"][behind]


class _Pooled(Defect):
    """Pools other windows than it was asked for."""

    owns = ("pool",)

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = pool_reference.reference(self.instead(self.descriptor), {"x": given["x"]}).value.astype(out.dtype)

    def instead(self, of: Any) -> Any:
        """Return what is computed in place of the descriptor."""
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
