"""What the CPU can do: descriptor type -> implementations, best first. The ops are the rows of native/*.def."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import (
    AddN,
    ArgReduce,
    BroadcastBinary,
    Cast,
    Copy,
    ElementwiseUnary,
    Fill,
    Gather,
    Iota,
    LayerNorm,
    LogSoftmax,
    LogSoftmaxBackward,
    Matmul,
    OneHot,
    Pad,
    RandomFill,
    Reduce,
    SaturatingCast,
    Softmax,
    SoftmaxBackward,
    TopK,
    Where,
)

from ep_cpu.add_n import BlockSum
from ep_cpu.arg_reduce import LaneSearch
from ep_cpu.elementwise import VectorLoop
from ep_cpu.gather import RunGather
from ep_cpu.iota import PlaceCount
from ep_cpu.layer_norm import RowNorm
from ep_cpu.matmul import PanelMatmul
from ep_cpu.one_hot import RowOneHot
from ep_cpu.pad import RowRuns
from ep_cpu.random_fill import CounterFill
from ep_cpu.reduce import ChunkTree
from ep_cpu.softmax import ChunkedRows
from ep_cpu.top_k import Selection
from ep_cpu.transpose import BlockTranspose
from ep_cpu.where import VectorSelect

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["IMPLEMENTATIONS"]

IMPLEMENTATIONS: Final[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = {
    ElementwiseUnary: (VectorLoop(),),
    BroadcastBinary: (VectorLoop(),),
    Where: (VectorSelect(),),
    AddN: (BlockSum(),),
    Cast: (VectorLoop(),),
    Fill: (VectorLoop(),),
    Copy: (BlockTranspose(), VectorLoop()),
    Pad: (RowRuns(),),
    OneHot: (RowOneHot(),),
    Gather: (RunGather(),),
    Matmul: (PanelMatmul(),),
    RandomFill: (CounterFill(),),
    Reduce: (ChunkTree(),),
    Softmax: (ChunkedRows(),),
    LogSoftmax: (ChunkedRows(),),
    SoftmaxBackward: (ChunkedRows(),),
    LogSoftmaxBackward: (ChunkedRows(),),
    ArgReduce: (LaneSearch(),),
    LayerNorm: (RowNorm(),),
    TopK: (Selection(),),
    SaturatingCast: (VectorLoop(),),
    Iota: (PlaceCount(),),
}
