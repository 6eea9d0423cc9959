"""A ShardedTensor is one rank's part of a tensor that the ranks of a mesh hold together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep.exchange.tensor import on_the_host
from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied

import ep
from ep_sharded.carry import carry
from ep_sharded.layout import Layout, placements_of, slice_of
from ep_sharded.mesh import check_mesh
from ep_sharded.placement import Partial
from ep_sharded.plan import Plan, plan

if TYPE_CHECKING:
    from ep_sharded.mesh import Mesh
    from ep_sharded.placement import Placement

__all__ = ["ShardedTensor", "distribute", "followed", "held"]


class ShardedTensor(Uncopied):
    """One rank's part, by hand; `distribute` makes one of an array.

    mesh       : this rank's
    spec       : of the whole tensor, dense, the same at every rank
    placements : one for each dimension of the mesh, the same at every rank
    local      : this rank's tensor, of the shape `layout.local(mesh.place)`, dense; held, never written by ep_sharded, and
                 shared with tensors that conversions without a move make of it

    A launch takes it by `ep_sharded.launch`, `infer` by its `spec`. Raises TypeError or ValueError.
    """

    def __init__(self, mesh: Mesh, spec: ep.TensorSpec, placements: Any, local: ep.Tensor) -> None:
        check_mesh("ShardedTensor", mesh)
        layout = Layout(spec, mesh.extents, placements)
        needed = layout.local(mesh.place)
        if not isinstance(local, ep.Tensor) or local.device is not mesh.device or local.spec != needed:
            message = f"ShardedTensor: local is {glimpse(local)}, needs a Tensor of {needed} on {mesh.device.name}: the part at place {mesh.place} of {layout}"
            raise ValueError(message)
        self.mesh = mesh
        self.layout = layout
        self.local = local

    @property
    def spec(self) -> ep.TensorSpec:
        """Of the whole tensor."""
        return self.layout.spec

    @property
    def placements(self) -> tuple[Placement, ...]:
        """One for each dimension of the mesh."""
        return self.layout.placements

    def plan(self, *placements: Placement) -> Plan:
        """Return how `to` would convert it; str() prints it. Raises TypeError or ValueError."""
        chosen = placements_of("ShardedTensor.to", placements, self.spec.ndim, self.mesh.extents)
        return plan(self.layout, self.layout.placed(chosen))

    def to(self, stream: ep.Stream, *placements: Placement) -> ShardedTensor:
        """Enqueue the conversion to other placements, and return the result; itself if it has them.

        stream     : of the mesh's device; every rank converts, on a stream of its own
        placements : one for each dimension of the mesh

        Raises TypeError, ValueError, and what its collectives raise.
        """
        return followed(stream, self, self.plan(*placements))

    def __repr__(self) -> str:
        return f"<ShardedTensor {self.layout}, place {self.mesh.place} on {self.mesh.device.name}>"


def held(mesh: Mesh, layout: Layout, local: ep.Tensor) -> ShardedTensor:
    """Return a sharded tensor of parts that are known to fit, without the checks of its constructor."""
    made = ShardedTensor.__new__(ShardedTensor)
    made.mesh, made.layout, made.local = mesh, layout, local
    return made


def followed(stream: ep.Stream, tensor: ShardedTensor, plan: Plan) -> ShardedTensor:
    """Enqueue the moves of a plan from a tensor's layout, and return the result; the tensor itself if there are none."""
    if not plan.moves:
        return tensor
    local = tensor.local
    for move in plan.moves:
        local = carry(stream, tensor.mesh, move, local)
    return held(tensor.mesh, plan.target, local)


def distribute(stream: ep.Stream, mesh: Mesh, array: Any, *placements: Placement) -> ShardedTensor:
    """Return this rank's part of an array that every rank has on its host. Nothing is sent.

    array      : of NumPy or another library, in host memory, equal at all ranks
    placements : one for each dimension of the mesh. Of a partial tensor the first rank holds the array and the others
                 identities, or all hold it, as a conversion from Broadcast would give

    Raises TypeError or ValueError.
    """
    check_mesh("distribute", mesh)
    whole = on_the_host("distribute: array", array)
    layout = Layout(ep.TensorSpec(whole.dtype.name, whole.shape), mesh.extents, placements)
    part = whole[tuple(map(slice_of, layout.box(mesh.place)))]
    for number, each in zip(mesh.place, layout.placements, strict=True):
        if number and isinstance(each, Partial) and each.is_spread:
            part = np.full_like(part, each.identity(layout.spec.dtype))
    return ShardedTensor(mesh, layout.spec, layout.placements, mesh.device.tensor(np.asarray(part, order="C"), stream))
