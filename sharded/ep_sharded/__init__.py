"""Sharded tensors: what the ranks of a mesh hold together, how it is converted, and how operations go through it."""

from __future__ import annotations

from ep_sharded.launch import Choice, chosen, launch
from ep_sharded.layout import Layout
from ep_sharded.mesh import Mesh
from ep_sharded.placement import Broadcast, Partial, Placement, Split
from ep_sharded.plan import Move, Plan, plan
from ep_sharded.tensor import ShardedTensor, distribute

__all__ = [
    "Broadcast",
    "Choice",
    "Layout",
    "Mesh",
    "Move",
    "Partial",
    "Placement",
    "Plan",
    "ShardedTensor",
    "Split",
    "chosen",
    "distribute",
    "launch",
    "plan",
]
