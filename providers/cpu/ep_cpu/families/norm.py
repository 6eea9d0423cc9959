"""Norms row by row: two sums over each row, or two numbers that are given, and each element from these."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from ep.layout.dims import merge
from ep_primitives import BatchNorm, GroupNorm, LayerNorm, RmsLayerNorm
from ep_primitives.reductions.dimensions import part

import ep
from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ep_cpu.native import Native, Row

__all__ = ["IMPLEMENTATIONS", "ChannelNorm", "GroupRows", "RmsRows", "RowNorm"]

_PLACES: Final = ("x", "scale", "bias", "y", "mean", "rstd")
"""The tensors of a native plan, in its order."""
_SHORTEST: Final = 64
"""Neighbours of one channel, from which on BatchNorm takes them as a row."""


class _Rows(NamedTuple):
    """The merged dimensions that number the rows, and those of a row in their order; strides for each of _PLACES, or the first."""

    across: ep.Geometry
    along: ep.Geometry


class RowNorm(Planned):
    """LayerNorm: sums in one fixed order, whatever the strides and the threads; every floating type."""

    places: ClassVar[tuple[str | None, ...]] = _PLACES
    """The operand that stands at each of _PLACES."""

    def row(self, descriptor: Any) -> Row:
        return descriptor.family, "-", descriptor.x.dtype, descriptor.x.dtype

    def rows(self, descriptor: Any) -> _Rows:
        """Return the rows of a descriptor."""
        return _Rows(descriptor.across, descriptor.along)

    def plan(self, descriptor: Any, native: Native) -> Plan:
        del native
        across, along = self.rows(descriptor)
        numbers = {role.name: number for number, (role, spec) in enumerate(descriptor.tensors) if spec is not None}
        specs = [descriptor.present.get(name) for name in self.places]
        sizes = [0 if spec is None else spec.itemsize for spec in specs]
        fields = {
            "place": [numbers.get(name, -1) for name in self.places],
            "ndim": len(across.shape),
            "inner": len(along.shape) or 1,
            "rows": across.size,
            "terms": along.size,
            "traffic": descriptor.nbytes_moved,
            "epsilon": descriptor.epsilon,
            "offset": [0 if spec is None else spec.offset * spec.itemsize for spec in specs],
            "shape": across.shape,
            "stride": [[stride * size for stride in own] for own, size in zip(across.strides, sizes, strict=False)],
            "extent": along.shape or (1,),
            "step": [
                [stride * size for stride in own or (1,)] for own, size in zip(along.strides, sizes, strict=False)
            ],
        }
        return Plan("ep_norm_plan", fields)


class RmsRows(RowNorm):
    """RmsLayerNorm: as LayerNorm, with 0 for the mean."""

    places = ("x", "scale", None, "y", None, None)

    def rows(self, descriptor: RmsLayerNorm) -> _Rows:
        ends, axes = {"x": descriptor.x, "y": descriptor.out}, range(descriptor.x.ndim)
        across = {name: part(spec, axes[: descriptor.axis]) for name, spec in ends.items()}
        along = {name: part(spec, axes[descriptor.axis :]) for name, spec in ends.items()}
        return _merged(self.places, across, along | dict(descriptor.factors))


class GroupRows(RowNorm):
    """GroupNorm: rows of LayerNorm that are groups; each channel of one has a number of scale and of bias."""

    places = ("x", "scale", "bias", "y", None, None)

    def row(self, descriptor: GroupNorm) -> Row:
        return "layer_norm", "-", descriptor.x.dtype, descriptor.x.dtype


class ChannelNorm(RowNorm):
    """BatchNorm: rows are what lies behind the axis, each with its channel's numbers."""

    places = ("x", "scale", "bias", "y", "mean", "variance")

    def accepts(self, descriptor: BatchNorm, info: ep.DeviceInfo) -> bool:
        along = self.rows(descriptor).along
        extent, *steps = (column[-1] if column else 1 for column in (along.shape, along.strides[0], along.strides[3]))
        if along.size and (extent < _SHORTEST or steps != [1, 1]):
            message = f"{descriptor.title}: no {_SHORTEST} elements of one channel are neighbours in x and y"
            raise ep.UnsupportedError(message)
        return super().accepts(descriptor, info)

    def rows(self, descriptor: BatchNorm) -> _Rows:
        last = descriptor.axis + 1
        axes = range(descriptor.x.ndim)
        across, along = {}, {}
        for name, spec in (("x", descriptor.x), ("y", descriptor.out)):
            across[name], along[name] = part(spec, axes[:last]), part(spec, axes[last:])
        for name, spec in descriptor.parameters:
            strides = (0,) * descriptor.axis + spec.strides
            across[name] = ep.TensorSpec(spec.dtype, descriptor.x.shape[:last], strides, spec.offset)
        return _merged(self.places, across, along)


def _merged(places: Sequence[str | None], across: Mapping[str, Any], along: Mapping[str, Any]) -> _Rows:
    """Return the rows of operands whose dimensions are given by name; those of an absent one have strides of 0."""
    outer, inner = ([own.get(name or "") for name in places] for own in (across, along))
    return _Rows(merge(across["y"], outer), merge(along["y"], inner, keeps_order=True))


IMPLEMENTATIONS: Final = {
    LayerNorm: (RowNorm(),),
    RmsLayerNorm: (RmsRows(),),
    GroupNorm: (GroupRows(),),
    BatchNorm: (ChannelNorm(),),
}
