"""LayerNorm: rows as they are, with the mean and the scatter of each if they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import LayerNorm

from ep_simt.families.layer_norm.norm import Norm, NormRows, are_neighbours

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]

_ALONG: Final = 4
"""Tensors with elements along a row; those after them have one a row."""


class _LayerNorm(Norm):
    descriptor = LayerNorm

    def rows(self, descriptor: LayerNorm) -> NormRows:
        space, first = descriptor.geometry, len(descriptor.across.shape)
        x, scale, bias, y, mean, rstd = space.strides
        along = zip(descriptor.specs[:_ALONG], space.strides, strict=False)
        own = [strides[first:] for spec, strides in along if spec is not None]
        return NormRows(space.shape, (x, y, _added(scale, mean), _added(bias, rstd)), first, are_neighbours(own))


BODY: Final[Body] = _LayerNorm()


def _added(along: tuple[int, ...], across: tuple[int, ...]) -> tuple[int, ...]:
    """Return one column for two tensors, one of which has strides along a row alone and the other across rows alone."""
    return tuple(one + other for one, other in zip(along, across, strict=True))
