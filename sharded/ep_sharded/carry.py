"""carry: one move of a plan at one rank, enqueued on its stream."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ep_collectives import AllGather, AllReduce, AllToAll, ReduceScatter

from ep_sharded.blocks import along, copy, filled, pack, unpack
from ep_sharded.placement import Partial, Split

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ep
    from ep_sharded.mesh import Mesh
    from ep_sharded.plan import Move

__all__ = ["carry"]


def carry(stream: ep.Stream, mesh: Mesh, move: Move, x: ep.Tensor) -> ep.Tensor:
    """Enqueue a move and return this rank's tensor after it, which may share memory with the one before."""
    match move.kind:
        case "all_gather":
            return _all_gather(stream, mesh, move, x)
        case "reduce_scatter":
            return _reduce_scatter(stream, mesh, move, x)
        case "all_to_all":
            return _all_to_all(stream, mesh, move, x)
        case "all_reduce":
            assert isinstance(move.source, Partial)
            out = mesh.device.empty(x.spec)
            AllReduce(move.source.op, x=x.spec, out=out.spec).on(mesh.communicator(move.dimensions))(
                stream, x=x, out=out
            )
            return out
        case "slice":
            assert isinstance(move.target, Split)
            out = mesh.device.empty(move.after.local(mesh.place))
            copy(stream, along(x, move.target.axis, _mine(mesh, move)), out)
            return out
        case "embed":
            assert isinstance(move.source, Split)
            assert isinstance(move.target, Partial)
            out = filled(stream, move.after.local(mesh.place), move.target.identity(x.dtype))
            copy(stream, x, along(out, move.source.axis, _mine(mesh, move)))
            return out
    return _keep(stream, mesh, move, x)


def _keep(stream: ep.Stream, mesh: Mesh, move: Move, x: ep.Tensor) -> ep.Tensor:
    is_first = not any(mesh.place[dimension] for dimension in move.dimensions)
    if isinstance(move.target, Partial) and move.target.is_spread and not is_first:
        return filled(stream, x.spec, move.target.identity(x.dtype))
    return x


def _all_gather(stream: ep.Stream, mesh: Mesh, move: Move, x: ep.Tensor) -> ep.Tensor:
    """Blocks are padded to the longest, since an AllGather has equal ones."""
    assert isinstance(move.source, Split)
    axis = move.source.axis
    cuts = _cuts(mesh, move, axis, split_after=False)
    room = len(cuts[0])
    sent = pack(stream, x, axis, [range(x.shape[axis])], room)
    gather = AllGather.infer(sent.spec, len(cuts))
    gathered = mesh.device.empty(gather.out)
    gather.on(mesh.communicator(move.dimensions))(stream, x=sent, out=gathered)
    return unpack(stream, gathered.reshape(-1), move.after.local(mesh.place).shape, axis, cuts, room)


def _reduce_scatter(stream: ep.Stream, mesh: Mesh, move: Move, x: ep.Tensor) -> ep.Tensor:
    """Blocks are padded to the longest, since a ReduceScatter has equal ones."""
    assert isinstance(move.source, Partial)
    assert isinstance(move.target, Split)
    axis, after = move.target.axis, move.after.local(mesh.place).shape
    cuts = _cuts(mesh, move, axis, split_after=True)
    room = len(cuts[0])
    sent = pack(stream, x, axis, cuts, room)
    part = mesh.device.empty(sent.dtype, (sent.spec.size // len(cuts),))
    ReduceScatter(move.source.op, x=sent.spec, out=part.spec).on(mesh.communicator(move.dimensions))(
        stream, x=sent, out=part
    )
    return unpack(stream, part, after, axis, [range(after[axis])], room)


def _all_to_all(stream: ep.Stream, mesh: Mesh, move: Move, x: ep.Tensor) -> ep.Tensor:
    assert isinstance(move.source, Split)
    assert isinstance(move.target, Split)
    old, new, after = move.source.axis, move.target.axis, move.after.local(mesh.place)
    sent_cuts = _cuts(mesh, move, new, split_after=True)
    got_cuts = _cuts(mesh, move, old, split_after=False)
    sent = pack(stream, x, new, sent_cuts)
    got = mesh.device.empty(x.dtype, (after.size,))
    exchange = AllToAll(
        x=sent.spec,
        out=got.spec,
        sends=_counts(x.shape, new, sent_cuts),
        receives=_counts(after.shape, old, got_cuts),
    )
    exchange.on(mesh.communicator(move.dimensions))(stream, x=sent, out=got)
    return unpack(stream, got, after.shape, old, got_cuts)


def _counts(shape: Sequence[int], axis: int, cuts: Sequence[range]) -> list[int]:
    row = math.prod([*shape[:axis], *shape[axis + 1 :]])
    return [row * len(part) for part in cuts]


def _cuts(mesh: Mesh, move: Move, axis: int, *, split_after: bool) -> list[range]:
    """Return each member's part of an axis that the move splits, or has split, counted from the first part's begin."""
    layout = move.after if split_after else move.before
    found = [layout.box(place)[axis] for place in mesh.members(move.dimensions)]
    first = found[0].start
    return [range(part.start - first, part.stop - first) for part in found]


def _mine(mesh: Mesh, move: Move) -> range:
    """Return this rank's part of the axis of a slice, or of an embedding."""
    layout, split = (move.after, move.target) if isinstance(move.target, Split) else (move.before, move.source)
    assert isinstance(split, Split)
    mine, first = (layout.box(place)[split.axis] for place in (mesh.place, mesh.members(move.dimensions)[0]))
    return range(mine.start - first.start, mine.stop - first.start)
