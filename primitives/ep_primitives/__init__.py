"""What operations mean: one module a family, rows of ops, references and sample cases.

Importing it loads nothing heavy; the names below are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_primitives.accuracy import Accuracy, Conditioned, Exact, Ulps
    from ep_primitives.add_n import AddN
    from ep_primitives.arg_reduce import ARG_REDUCE_OPS, ArgReduce
    from ep_primitives.attention import Attention
    from ep_primitives.batch_norm import BatchNorm
    from ep_primitives.binary_ops import BINARY_OPS
    from ep_primitives.broadcast_binary import BroadcastBinary
    from ep_primitives.case import Case
    from ep_primitives.cast import Cast
    from ep_primitives.convolution import Convolution
    from ep_primitives.convolution_transposed import ConvolutionTransposed
    from ep_primitives.copy import Copy
    from ep_primitives.cross_entropy import CrossEntropy
    from ep_primitives.dequantize import Dequantize
    from ep_primitives.elementwise_unary import ElementwiseUnary
    from ep_primitives.fill import Fill
    from ep_primitives.gather import Gather
    from ep_primitives.generator import Generator
    from ep_primitives.group_norm import GroupNorm
    from ep_primitives.gru_cell import GruCell
    from ep_primitives.iota import Iota
    from ep_primitives.layer_norm import LayerNorm
    from ep_primitives.lstm_cell import LstmCell
    from ep_primitives.matmul import Matmul
    from ep_primitives.one_hot import OneHot
    from ep_primitives.op import Op
    from ep_primitives.pad import Pad
    from ep_primitives.pad_ops import PAD_OPS
    from ep_primitives.permute import Permute
    from ep_primitives.pool import Pool
    from ep_primitives.pool_ops import POOL_OPS
    from ep_primitives.quantize import Quantize
    from ep_primitives.random_fill import RandomFill
    from ep_primitives.random_ops import RANDOM_OPS
    from ep_primitives.reduce import Reduce
    from ep_primitives.reduce_ops import REDUCE_OPS
    from ep_primitives.reference import Reference
    from ep_primitives.rms_layer_norm import RmsLayerNorm
    from ep_primitives.saturating_cast import SaturatingCast
    from ep_primitives.softmax import LogSoftmax, Softmax
    from ep_primitives.softmax_backward import LogSoftmaxBackward, SoftmaxBackward
    from ep_primitives.tensor_fill import TensorFill
    from ep_primitives.top_k import TOP_K_OPS, TopK
    from ep_primitives.unary_ops import UNARY_OPS
    from ep_primitives.where import Where

__all__ = [
    "ARG_REDUCE_OPS",
    "BINARY_OPS",
    "PAD_OPS",
    "POOL_OPS",
    "RANDOM_OPS",
    "REDUCE_OPS",
    "TOP_K_OPS",
    "UNARY_OPS",
    "Accuracy",
    "AddN",
    "ArgReduce",
    "Attention",
    "BatchNorm",
    "BroadcastBinary",
    "Case",
    "Cast",
    "Conditioned",
    "Convolution",
    "ConvolutionTransposed",
    "Copy",
    "CrossEntropy",
    "Dequantize",
    "ElementwiseUnary",
    "Exact",
    "Fill",
    "Gather",
    "Generator",
    "GroupNorm",
    "GruCell",
    "Iota",
    "LayerNorm",
    "LogSoftmax",
    "LogSoftmaxBackward",
    "LstmCell",
    "Matmul",
    "OneHot",
    "Op",
    "Pad",
    "Permute",
    "Pool",
    "Quantize",
    "RandomFill",
    "Reduce",
    "Reference",
    "RmsLayerNorm",
    "SaturatingCast",
    "Softmax",
    "SoftmaxBackward",
    "TensorFill",
    "TopK",
    "Ulps",
    "Where",
    "ep_families",
]

_MODULES: Final = {
    "ARG_REDUCE_OPS": "arg_reduce",
    "BINARY_OPS": "binary_ops",
    "UNARY_OPS": "unary_ops",
    "Accuracy": "accuracy",
    "AddN": "add_n",
    "ArgReduce": "arg_reduce",
    "Attention": "attention",
    "BatchNorm": "batch_norm",
    "BroadcastBinary": "broadcast_binary",
    "Case": "case",
    "Cast": "cast",
    "Conditioned": "accuracy",
    "Convolution": "convolution",
    "ConvolutionTransposed": "convolution_transposed",
    "Copy": "copy",
    "CrossEntropy": "cross_entropy",
    "Dequantize": "dequantize",
    "ElementwiseUnary": "elementwise_unary",
    "Exact": "accuracy",
    "Fill": "fill",
    "Gather": "gather",
    "Generator": "generator",
    "Iota": "iota",
    "GroupNorm": "group_norm",
    "GruCell": "gru_cell",
    "LayerNorm": "layer_norm",
    "LogSoftmax": "softmax",
    "LogSoftmaxBackward": "softmax_backward",
    "LstmCell": "lstm_cell",
    "Matmul": "matmul",
    "OneHot": "one_hot",
    "Op": "op",
    "PAD_OPS": "pad_ops",
    "POOL_OPS": "pool_ops",
    "Pad": "pad",
    "Permute": "permute",
    "Pool": "pool",
    "RANDOM_OPS": "random_ops",
    "REDUCE_OPS": "reduce_ops",
    "Quantize": "quantize",
    "RandomFill": "random_fill",
    "Reduce": "reduce",
    "Reference": "reference",
    "SaturatingCast": "saturating_cast",
    "RmsLayerNorm": "rms_layer_norm",
    "Softmax": "softmax",
    "SoftmaxBackward": "softmax_backward",
    "TOP_K_OPS": "top_k",
    "TensorFill": "tensor_fill",
    "TopK": "top_k",
    "Ulps": "accuracy",
    "Where": "where",
}


_FAMILIES: Final = (
    ("elementwise_unary", "ElementwiseUnaryFamily"),
    ("broadcast_binary", "BroadcastBinaryFamily"),
    ("where_family", "WhereFamily"),
    ("add_n_family", "AddNFamily"),
    ("cast", "CastFamily"),
    ("fill", "FillFamily"),
    ("tensor_fill", "TensorFillFamily"),
    ("copy", "CopyFamily"),
    ("permute", "PermuteFamily"),
    ("pad", "PadFamily"),
    ("one_hot_family", "OneHotFamily"),
    ("gather_family", "GatherFamily"),
    ("matmul_family", "MatmulFamily"),
    ("random_family", "RandomFillFamily"),
    ("reduce_family", "ReduceFamily"),
    ("arg_reduce_family", "ArgReduceFamily"),
    ("softmax_family", "SoftmaxFamily"),
    ("softmax_family", "LogSoftmaxFamily"),
    ("softmax_family", "SoftmaxBackwardFamily"),
    ("softmax_family", "LogSoftmaxBackwardFamily"),
    ("layer_norm_family", "LayerNormFamily"),
    ("top_k_family", "TopKFamily"),
    ("attention_family", "AttentionFamily"),
    ("group_norm_family", "GroupNormFamily"),
    ("batch_norm_family", "BatchNormFamily"),
    ("rms_layer_norm_family", "RmsLayerNormFamily"),
    ("cross_entropy_family", "CrossEntropyFamily"),
    ("quantization_family", "QuantizeFamily"),
    ("quantization_family", "DequantizeFamily"),
    ("saturating_cast", "SaturatingCastFamily"),
    ("iota_family", "IotaFamily"),
    ("convolution_family", "ConvolutionFamily"),
    ("convolution_transposed_family", "ConvolutionTransposedFamily"),
    ("pool_family", "PoolFamily"),
    ("recurrent_family", "LstmCellFamily"),
    ("recurrent_family", "GruCellFamily"),
)
"""Modules and classes of the families, in the order of the documentation; they load numpy."""


@ep.family_hook
def ep_families() -> Sequence[ep.Family]:
    """Return the families of this package, in the order of the documentation."""
    return tuple([getattr(importlib.import_module(f"ep_primitives.{module}"), name)() for module, name in _FAMILIES])


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        message = f"module 'ep_primitives' has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(importlib.import_module(f"ep_primitives.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
