from collections.abc import Sequence

import ep
from ep_primitives.cases.case import Case as Case
from ep_primitives.elementwise.op import Op as Op
from ep_primitives.families.add_n.descriptor import AddN as AddN
from ep_primitives.families.arg_reduce.descriptor import ARG_REDUCE_OPS as ARG_REDUCE_OPS
from ep_primitives.families.arg_reduce.descriptor import ArgReduce as ArgReduce
from ep_primitives.families.attention.descriptor import Attention as Attention
from ep_primitives.families.batch_norm.descriptor import BatchNorm as BatchNorm
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary as BroadcastBinary
from ep_primitives.families.broadcast_binary.rows import BINARY_OPS as BINARY_OPS
from ep_primitives.families.cast.descriptor import Cast as Cast
from ep_primitives.families.convolution.descriptor import Convolution as Convolution
from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed as ConvolutionTransposed
from ep_primitives.families.copy.descriptor import Copy as Copy
from ep_primitives.families.cross_entropy.descriptor import CrossEntropy as CrossEntropy
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary as ElementwiseUnary
from ep_primitives.families.elementwise_unary.rows import UNARY_OPS as UNARY_OPS
from ep_primitives.families.fill.descriptor import Fill as Fill
from ep_primitives.families.gather.descriptor import Gather as Gather
from ep_primitives.families.group_norm.descriptor import GroupNorm as GroupNorm
from ep_primitives.families.iota.descriptor import Iota as Iota
from ep_primitives.families.layer_norm.descriptor import LayerNorm as LayerNorm
from ep_primitives.families.matmul.descriptor import Matmul as Matmul
from ep_primitives.families.one_hot.descriptor import OneHot as OneHot
from ep_primitives.families.pad.descriptor import Pad as Pad
from ep_primitives.families.pad.rows import PAD_OPS as PAD_OPS
from ep_primitives.families.permute.descriptor import Permute as Permute
from ep_primitives.families.pool.descriptor import Pool as Pool
from ep_primitives.families.pool.rows import POOL_OPS as POOL_OPS
from ep_primitives.families.quantization.dequantize import Dequantize as Dequantize
from ep_primitives.families.quantization.quantize import Quantize as Quantize
from ep_primitives.families.random_fill.descriptor import RandomFill as RandomFill
from ep_primitives.families.random_fill.generator import Generator as Generator
from ep_primitives.families.random_fill.rows import RANDOM_OPS as RANDOM_OPS
from ep_primitives.families.recurrent_cell.gru_cell import GruCell as GruCell
from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell as LstmCell
from ep_primitives.families.reduce.descriptor import Reduce as Reduce
from ep_primitives.families.reduce.rows import REDUCE_OPS as REDUCE_OPS
from ep_primitives.families.rms_layer_norm.descriptor import RmsLayerNorm as RmsLayerNorm
from ep_primitives.families.saturating_cast.descriptor import SaturatingCast as SaturatingCast
from ep_primitives.families.scan.descriptor import Scan as Scan
from ep_primitives.families.scan.rows import SCAN_OPS as SCAN_OPS
from ep_primitives.families.softmax.backward import LogSoftmaxBackward as LogSoftmaxBackward
from ep_primitives.families.softmax.backward import SoftmaxBackward as SoftmaxBackward
from ep_primitives.families.softmax.descriptor import LogSoftmax as LogSoftmax
from ep_primitives.families.softmax.descriptor import Softmax as Softmax
from ep_primitives.families.tensor_fill.descriptor import TensorFill as TensorFill
from ep_primitives.families.top_k.descriptor import TOP_K_OPS as TOP_K_OPS
from ep_primitives.families.top_k.descriptor import TopK as TopK
from ep_primitives.families.where.descriptor import Where as Where
from ep_primitives.judging.accuracy import Accuracy as Accuracy
from ep_primitives.judging.accuracy import Conditioned as Conditioned
from ep_primitives.judging.accuracy import Exact as Exact
from ep_primitives.judging.accuracy import Ulps as Ulps
from ep_primitives.judging.reference import Reference as Reference

__all__ = [
    "ARG_REDUCE_OPS",
    "BINARY_OPS",
    "PAD_OPS",
    "POOL_OPS",
    "RANDOM_OPS",
    "REDUCE_OPS",
    "SCAN_OPS",
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
    "Scan",
    "Softmax",
    "SoftmaxBackward",
    "TensorFill",
    "TopK",
    "Ulps",
    "Where",
    "ep_families",
]

def ep_families() -> Sequence[ep.Family]: ...
