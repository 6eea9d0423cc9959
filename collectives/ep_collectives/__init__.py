"""Collectives: what the ranks of a communicator do together, and carriers for ranks in one process and in many."""

from __future__ import annotations

from ep_collectives.descriptors.barrier import Barrier
from ep_collectives.descriptors.exchange import AllToAll
from ep_collectives.descriptors.pairs import Recv, Send
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.descriptors.rooted import Gather, Scatter
from ep_collectives.descriptors.spreading import AllGather, Broadcast
from ep_collectives.local.group import local_groups
from ep_collectives.mpi.group import mpi_group
from ep_collectives.nccl.group import nccl_group, nccl_unique_id

__all__ = [
    "AllGather",
    "AllReduce",
    "AllToAll",
    "Barrier",
    "Broadcast",
    "Gather",
    "Recv",
    "Reduce",
    "ReduceScatter",
    "Scatter",
    "Send",
    "local_groups",
    "mpi_group",
    "nccl_group",
    "nccl_unique_id",
]
