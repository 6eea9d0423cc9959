"""Planted defects that no case chosen by hand had met: each needs one value of a situation, or a pair of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []

_LANES: Final = 4
_HALF: Final = 16
_VECTOR: Final = 32
_BLOCKS: Final = 65535 * 32
_DIMENSIONS: Final = 3


@killed_by(
    "primitives/broadcast_binary/mul/float32/dense/size.thousands+start-b.32B+stream.first+tail.2+values-a.special"
)
class LosesTheSecondOfATail(Defect):
    """Leave the last element as it was, where two are behind the last vector of four."""

    meets = "broadcast_binary/mul/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.size % _LANES == _LANES // 2:
            out.reshape(-1)[-1:] = given["out"].reshape(-1)[-1:]


@killed_by(
    "primitives/elementwise_unary/sin/float32/dense/memory.one+rank.4+start-x.16B+stream.first+tail.0+values-x.huge"
)
class PeelsByTheOutputAlone(ArrayKernel):
    """Skip the first elements where the input lies amid a vector whose output is aligned."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        super().run(cpu, operands)
        if of.family == "elementwise_unary" and of.op == "sin" and of.out.is_dense and of.out.size:
            x, out = (np.frombuffer(operands[name].host(), np.uint8).ctypes.data for name in ("x", "out"))
            if x % _VECTOR == _HALF and not out % _VECTOR:
                self.array(operands, "out").reshape(-1)[: _HALF // of.out.itemsize] = 0


@killed_by(
    "primitives/broadcast_binary/div/int64/broadcast/form-b.padded+inner.4k2+rank.6+repeats-a.even+repeats-b.even+"
    "start-a.1+start-b.1+start-out.8B+values-a.huge+values-b.tiny"
)
class BroadcastsThreeDimensions(Defect):
    """Walk the last three dimensions, and repeat their first block along the others."""

    meets = "broadcast_binary/div/int64/broadcast"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        if out.ndim > _DIMENSIONS and out.size:
            out[...] = np.array(out[(0,) * (out.ndim - _DIMENSIONS)])


@killed_by(
    "primitives/matmul/-/float32/broadcast/alpha.0.75+beta.-1.5+form-b.permuted+form-out.permuted+m.4k+"
    "repeats.first-of-b+stream.asynchronous+way.moved"
)
class CountsBatchesThrough(Defect):
    """Take for batch n of the output batch n of b modulo their number, where b repeats a batch between others."""

    meets = "matmul/-/float32/broadcast"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        batches = given["b"].shape[:-2]
        if 1 in batches[1:-1] and out.ndim == given["b"].ndim:
            turned = np.roll(out.reshape(-1, *out.shape[-2:]), 1, 0)
            out[...] = turned.reshape(out.shape)


@killed_by(
    "primitives/softmax_backward/-/float32/strided/axis.middle+form-dy.step+form-out.padded+rank.16+row.4k2+"
    "start-dy.8B+start-out.8B+start-y.16B+stream.last+way.moved"
)
class ReadsGradientsAsResultsLie(ArrayKernel):
    """Read dy by the strides of y."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "softmax_backward" or descriptor.out.dtype != "float32":
            return descriptor
        dy, y, out = descriptor.specs
        assert isinstance(y, ep.TensorSpec)
        assert isinstance(dy, ep.TensorSpec)
        taken = ep.TensorSpec(dy.dtype, dy.shape, y.strides, dy.offset)
        if not taken.size or taken.lo < 0 or taken.hi > dy.hi:
            return descriptor
        return self.remade(descriptor, (taken, y, out), descriptor.attributes)


@killed_by(
    "primitives/broadcast_binary/max/float32/dense/rank.8+size.past+start-a.16B+start-b.16B+stream.asynchronous+tail.5+"
    "values-a.huge+way.moved"
)
class EndsAfter65535Blocks(Defect):
    """Launch 65,535 blocks of 32 elements at most."""

    meets = "broadcast_binary/max/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out.reshape(-1)[_BLOCKS:] = given["out"].reshape(-1)[_BLOCKS:]


@killed_by(
    "primitives/where/-/bool,float32->float32/dense/memory.one+rank.2+size.thousands+start-b.16B+tail.3+values-a.special+"
    "values-b.tiny+values-condition.special+way.moved"
)
class FlushesWhatItMoves(Defect):
    """Write 0 for subnormal elements, although the device says that nothing flushes."""

    meets = "where/-/bool,float32->float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        is_subnormal = (np.abs(out) < np.finfo(np.float32).smallest_normal) & (out != 0)
        out[is_subnormal] = np.copysign(np.float32(0), out[is_subnormal])
