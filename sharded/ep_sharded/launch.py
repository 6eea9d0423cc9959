"""launch: an operation on sharded tensors: its cheapest legal signature, the conversions to it, each rank's part."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ep.ground.glimpse import glimpse

import ep
from ep_sharded.layout import Layout, placements_of
from ep_sharded.mesh import same_mesh
from ep_sharded.placement import Partial, Placement
from ep_sharded.plan import Plan, plan
from ep_sharded.rules import RULES
from ep_sharded.rules.rule import OUT
from ep_sharded.tensor import ShardedTensor, followed, held

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Choice", "chosen", "launch"]


@dataclass(frozen=True, slots=True)
class Choice:
    """How an operation is computed over a mesh. str() prints it.

    plans : the conversion of each tensor to what the operation reads, by operand; that of out from what it writes
    """

    descriptor: ep.Descriptor
    plans: tuple[tuple[str, Plan], ...]

    @property
    def nbytes(self) -> int:
        """Bytes that rank 0 sends in all."""
        return sum(each.nbytes for _, each in self.plans)

    @property
    def cost(self) -> tuple[int, int, int]:
        """The sums of the plans' costs: choices are compared by it."""
        costs = [each.cost for _, each in self.plans]
        return sum(each[0] for each in costs), sum(each[1] for each in costs), sum(each[2] for each in costs)

    def __str__(self) -> str:
        title = f"{self.descriptor.title}: {self.nbytes} bytes"
        return "\n".join([title, *(f"{name}: {each}" for name, each in self.plans)])


def launch(
    stream: ep.Stream, descriptor: ep.Descriptor, *, placements: Sequence[Placement] | None = None, **operands: Any
) -> ShardedTensor:
    """Enqueue an operation on sharded tensors, and return its output, which is new.

    stream     : of the mesh's device; every rank launches, on a stream of its own
    descriptor : of the whole tensors, dense: ElementwiseUnary, BroadcastBinary, Reduce, or Matmul without bias, activation
                 and sum over batches
    placements : of the output, one for each dimension of the mesh; None: whatever costs least
    operands   : a ShardedTensor for each tensor that is read, a number for each Scalar

    Operands are converted to the signature for which rank 0 sends the fewest bytes. Results are within the bounds of the
    operation's row and of AllReduce over the partial terms; those of 16-bit types are rounded once a term.
    Raises UnsupportedError, naming operation and placements, where there is no rule; TypeError, ValueError, and what
    primitives and collectives raise.
    """
    if not isinstance(descriptor, ep.Descriptor):
        message = (
            f"launch: descriptor is {glimpse(descriptor)}, needs one; infer of a family describes the whole tensors"
        )
        raise TypeError(message)
    tensors = {name: each for name, each in operands.items() if isinstance(each, ShardedTensor)}
    mesh = same_mesh(descriptor.title, [each.mesh for each in tensors.values()])
    layouts = tuple(_layouts(descriptor, tensors).items())
    wanted = None if placements is None else _wanted(descriptor, mesh.extents, placements)
    choice, part = _prepared(descriptor, mesh.extents, mesh.place, layouts, wanted)
    for name in RULES[type(descriptor)].refused:
        if operands.get(name):
            message = f"{descriptor.title}: no rule takes placements through {name}, and out is new; leave it out, and add what was there"
            raise ep.UnsupportedError(message)
    *plans, (_, output) = choice.plans
    parts = {name: followed(stream, tensors[name], each).local for name, each in plans}
    local = mesh.device.empty(part.out)
    part.on(mesh.device)(stream, **{**operands, **parts, OUT: local})
    return followed(stream, held(mesh, output.source, local), output)


@functools.lru_cache(4096)
def _prepared(
    descriptor: ep.Descriptor,
    mesh: tuple[int, ...],
    place: tuple[int, ...],
    layouts: tuple[tuple[str, Layout], ...],
    wanted: tuple[Placement, ...] | None,
) -> tuple[Choice, ep.Descriptor]:
    """Return how an operation is computed, and its part at a place."""
    choice = chosen(descriptor, mesh, dict(layouts), wanted)
    *plans, (_, output) = choice.plans
    specs = {name: each.target.local(place) for name, each in plans}
    return choice, RULES[type(descriptor)].part(descriptor, {**specs, OUT: output.source.local(place)})


def chosen(
    descriptor: ep.Descriptor,
    mesh: tuple[int, ...],
    layouts: Mapping[str, Layout],
    placements: Sequence[Placement] | None = None,
) -> Choice:
    """Return how `launch` computes an operation: of layouts alone, so that it can be asked without ranks. Raises as launch."""
    rule = RULES.get(type(descriptor))
    said = ", ".join(f"{name} {each.words}" for name, each in layouts.items())
    if rule is None:
        message = f"{descriptor.title}: no rule takes placements through it: {said}; convert its operands to what each rank can compute alone, and launch it on their local tensors"
        raise ep.UnsupportedError(message)
    wanted = None if placements is None else _wanted(descriptor, mesh, placements)
    choices = _choices(descriptor, mesh, tuple(layouts.items()), wanted)
    choice = min(choices, key=lambda each: each.cost, default=None)
    if choice is None:
        message = f"{descriptor.title}: no rule leads from {said} to {wanted}; convert the operands to Broadcast first"
        raise ep.UnsupportedError(message)
    return choice


def _wanted(descriptor: ep.Descriptor, mesh: tuple[int, ...], placements: Sequence[Placement]) -> tuple[Placement, ...]:
    return placements_of(f"{descriptor.title}: placements", placements, descriptor.out.ndim, mesh)


def _choices(
    descriptor: ep.Descriptor,
    mesh: tuple[int, ...],
    layouts: tuple[tuple[str, Layout], ...],
    wanted: tuple[Placement, ...] | None,
) -> Iterator[Choice]:
    """Yield a choice for each combination of signatures, one for each dimension of the mesh, whose tensors are legal."""
    whole, rule = descriptor.out.dense(), RULES[type(descriptor)]
    multiplies = rule.multiplies(descriptor)
    for combined in itertools.product(rule.signatures(descriptor, math.prod(mesh)), repeat=len(mesh)):
        needed = {name: tuple([each[name] for each in combined]) for name in (*dict(layouts), OUT)}
        if any(_is_mixed(each) for each in needed.values()):
            continue
        if multiplies and any(_is_made_partial(layout, needed[name]) for name, layout in layouts):
            continue
        try:
            out = Layout(whole, mesh, needed[OUT])
            plans = [(name, plan(layout, layout.placed(needed[name]))) for name, layout in layouts]
            yield Choice(descriptor, (*plans, (OUT, plan(out, out.placed(wanted or out.placements)))))
        except ValueError:  # an op that AllReduce lacks for the element type
            continue


def _is_mixed(placements: tuple[Placement, ...]) -> bool:
    return len({each for each in placements if isinstance(each, Partial)}) > 1


def _is_made_partial(layout: Layout, needed: tuple[Placement, ...]) -> bool:
    both = zip(layout.placements, needed, strict=True)
    return any(isinstance(after, Partial) and before != after for before, after in both)


def _layouts(descriptor: ep.Descriptor, tensors: Mapping[str, ShardedTensor]) -> dict[str, Layout]:
    """Return the layouts of the tensors that are read. Raises TypeError or ValueError unless they are the descriptor's."""
    named = zip(descriptor.operands, descriptor.specs, strict=True)
    needed = {name: spec for name, spec in named if isinstance(spec, ep.TensorSpec) and name != OUT}
    if tensors.keys() != needed.keys():
        message = f"{descriptor.title}: sharded tensors are {', '.join(tensors) or 'none'}, needs {', '.join(needed)}; distribute each over the mesh; out is returned"
        raise TypeError(message)
    for name, spec in needed.items():
        if tensors[name].spec != spec:
            message = f"{descriptor.title}: {name} is {glimpse(tensors[name])}, and the descriptor has {spec}; describe the whole tensor, by its spec"
            raise ValueError(message)
    return {name: each.layout for name, each in tensors.items()}
