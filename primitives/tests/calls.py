"""One right call or more of each family's constructor and `infer`, by keyword, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import ep_primitives as primitives

from ep import Descriptor, Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable

F32 = TensorSpec("float32", (4, 3))
ROW = TensorSpec("float32", (3,))
BOOL = TensorSpec("bool", (4, 3))
NUMBER = Scalar("float32")
INDICES = TensorSpec("int64", (5,))


IMAGES = TensorSpec("float32", (2, 3, 9))
LSTM = {"gates": TensorSpec("float32", (4, 12)), "h": F32, "c": F32, "r": TensorSpec("float32", (12, 3))}
GRU = {"gates": TensorSpec("float32", (4, 9)), "h": F32, "r": TensorSpec("float32", (9, 3))}
_OUTPUTS = {
    "layer_norm": "y",
    "group_norm": "y",
    "batch_norm": "y",
    "rms_layer_norm": "y",
    "top_k": "values",
    "convolution": "y",
    "pool": "y",
    "convolution_transposed": "y",
    "lstm_cell": "h_next",
    "gru_cell": "h_next",
}
"""Of families whose first output has another name than `out`."""


class Call(NamedTuple):
    """A call that succeeds.

    kind       : the descriptor's class
    make       : it, its `infer`, or a function that calls one of them by keyword
    word       : what messages begin with: the op's name, the family's if that has no ops, or both
    is_strict  : True if tensors are specs and nothing else, as the constructor wants them
    arguments  : by keyword, `op` too
    """

    kind: type[Descriptor]
    make: Callable[..., Any]
    word: str
    is_strict: bool
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """The call in words."""
        how = "" if self.is_strict else ".infer-out" if self.output in self.arguments else ".infer"
        return f"{self.kind.__name__}{how}-{self.word}"

    @property
    def output(self) -> str:
        """The keyword of the first output."""
        return _OUTPUTS.get(self.kind.family, "out")


def _both(kind: Any, op: str, strict: dict[str, Any], loose: dict[str, Any], word: str = "") -> list[Call]:
    named = {"op": op} if op != kind.family else {}
    return [
        Call(kind, kind, word or op, True, {**named, **strict}),
        *_inferred(kind, kind.infer, word or op, {**named, **loose}),
    ]


def _inferred(kind: Any, infer: Callable[..., Any], word: str, loose: dict[str, Any]) -> list[Call]:
    """Return the call of an `infer`, and the one that describes its output, too."""
    plain = Call(kind, infer, word, False, loose)
    if plain.output in loose:
        return [plain]
    return [plain, plain._replace(arguments={**loose, plain.output: infer(**loose).out})]


def _add(x0: Any, x1: Any, out: Any) -> Any:
    return primitives.AddN(x0, x1, out=out)


def _infer_add(x0: Any, x1: Any, out: Any = None) -> Any:
    return primitives.AddN.infer(x0, x1, out=out)


CALLS: dict[str, list[Call]] = {
    "elementwise_unary": [
        *_both(primitives.ElementwiseUnary, "elu", {"x": F32, "out": F32, "alpha": 1.0}, {"x": F32, "alpha": 1.0}),
        *_both(primitives.ElementwiseUnary, "is_nan", {"x": F32, "out": BOOL}, {"x": F32}),
    ],
    "broadcast_binary": [
        *_both(primitives.BroadcastBinary, "add", {"a": F32, "b": ROW, "out": F32}, {"a": F32, "b": ROW}),
        *_both(primitives.BroadcastBinary, "less_than", {"a": NUMBER, "b": F32, "out": BOOL}, {"a": NUMBER, "b": F32}),
    ],
    "cast": _both(primitives.Cast, "cast", {"x": F32, "out": TensorSpec("int8", (4, 3))}, {"x": F32, "dtype": "int8"}),
    "copy": _both(primitives.Copy, "copy", {"x": F32, "out": F32}, {"x": F32}),
    "fill": _both(primitives.Fill, "fill", {"value": NUMBER, "out": F32}, {"out": F32}),
    "matmul": _both(
        primitives.Matmul,
        "matmul",
        {
            "a": F32,
            "b": TensorSpec("float32", (3, 5)),
            "out": TensorSpec("float32", (4, 5)),
            "bias": TensorSpec("float32", (5,)),
            "conjugate_a": False,
            "activation": "relu",
        },
        {"a": F32, "b": TensorSpec("float32", (3, 5)), "bias": TensorSpec("float32", (5,)), "activation": "none"},
    ),
    "random_fill": [
        *_both(primitives.RandomFill, "normal", {"out": F32}, {"out": F32}),
        *_both(primitives.RandomFill, "bernoulli", {"out": BOOL, "p": Scalar("float64")}, {"out": BOOL}),
    ],
    "tensor_fill": _both(
        primitives.TensorFill,
        "tensor_fill",
        {"x": TensorSpec("float32", (1,)), "out": F32},
        {"x": TensorSpec("float32", (1,)), "shape": (4, 3)},
    ),
    "permute": _both(
        primitives.Permute,
        "permute",
        {"x": F32, "out": TensorSpec("float32", (3, 4)), "permutation": (1, 0)},
        {"x": F32, "permutation": (1, 0)},
    ),
    "pad": [
        *_both(
            primitives.Pad,
            "constant",
            {"x": F32, "out": TensorSpec("float32", (7, 3)), "before": (1, -1), "after": (2, 1)},
            {"x": F32, "before": (1, -1), "after": (2, 1)},
            "pad/constant",
        ),
        *_both(
            primitives.Pad,
            "reflect",
            {"x": F32, "out": TensorSpec("float32", (7, 4)), "before": (1, 0), "after": (2, 1)},
            {"x": F32, "before": (1, 0), "after": (2, 1)},
            "pad/reflect",
        ),
    ],
    "where": _both(
        primitives.Where,
        "where",
        {"condition": BOOL, "a": F32, "b": NUMBER, "out": F32},
        {"condition": BOOL, "a": F32, "b": NUMBER},
    ),
    "add_n": [
        Call(primitives.AddN, _add, "add_n", True, {"x0": F32, "x1": ROW, "out": F32}),
        *_inferred(primitives.AddN, _infer_add, "add_n", {"x0": F32, "x1": ROW}),
    ],
    "one_hot": _both(
        primitives.OneHot,
        "one_hot",
        {"indices": INDICES, "on": NUMBER, "off": NUMBER, "out": TensorSpec("float32", (5, 7)), "axis": -1, "first": 2},
        {"indices": INDICES, "dtype": "float32", "classes": 7, "axis": 0, "first": 0},
    ),
    "gather": _both(
        primitives.Gather,
        "gather",
        {"x": F32, "indices": INDICES, "out": TensorSpec("float32", (4, 5)), "axis": 1, "batch_dims": 0},
        {"x": F32, "indices": INDICES, "axis": 1, "batch_dims": 0},
    ),
    **{
        kind.family: _both(
            kind,
            kind.family,
            {**dict.fromkeys(kind.roles.names, F32), "axis": -1},
            {**dict.fromkeys(kind.roles.read, F32), "axis": 0},
        )
        for kind in (
            primitives.Softmax,
            primitives.LogSoftmax,
            primitives.SoftmaxBackward,
            primitives.LogSoftmaxBackward,
        )
    },
    "reduce": _both(
        primitives.Reduce,
        "sum",
        {"x": F32, "out": ROW, "axis": (0,)},
        {"x": F32, "axis": (0,), "keepdims": False, "dtype": "float32"},
    ),
    "arg_reduce": _both(
        primitives.ArgReduce,
        "max",
        {"x": F32, "out": TensorSpec("int64", (3,)), "axis": 0},
        {"x": F32, "axis": 0, "keepdims": False, "dtype": "int64"},
        "arg_reduce/max",
    ),
    "layer_norm": _both(
        primitives.LayerNorm,
        "layer_norm",
        {
            "x": F32,
            "scale": ROW,
            "bias": ROW,
            "y": F32,
            "mean": TensorSpec("float32", (4, 1)),
            "rstd": TensorSpec("float32", (4,)),
            "axis": -1,
            "epsilon": 1e-5,
        },
        {
            "x": F32,
            "scale": ROW,
            "bias": ROW,
            "axis": 1,
            "epsilon": 0.5,
            "mean": True,
            "rstd": TensorSpec("float32", (4,)),
        },
    ),
    "top_k": _both(
        primitives.TopK,
        "largest",
        {
            "x": F32,
            "values": TensorSpec("float32", (2, 3)),
            "indices": TensorSpec("int64", (2, 3)),
            "axis": 0,
            "sorted": True,
        },
        {"x": F32, "k": 2, "axis": 0, "sorted": False, "indices": TensorSpec("int64", (2, 3))},
        "top_k/largest",
    ),
    "saturating_cast": _both(
        primitives.SaturatingCast,
        "saturating_cast",
        {"x": F32, "out": TensorSpec("float8_e5m2", (4, 3))},
        {"x": F32, "dtype": "float8_e5m2"},
    ),
    "iota": _both(
        primitives.Iota, "iota", {"start": NUMBER, "step": NUMBER, "out": F32, "axis": 0}, {"out": F32, "axis": -1}
    ),
    "convolution": _both(
        primitives.Convolution,
        "convolution",
        {
            "x": IMAGES,
            "w": TensorSpec("float32", (6, 1, 3)),
            "bias": TensorSpec("float32", (6,)),
            "y": TensorSpec("float32", (2, 6, 4)),
            "strides": 2,
            "dilations": (2,),
            "pads": (1, 2),
            "groups": 3,
        },
        {
            "x": IMAGES,
            "w": TensorSpec("float32", (4, 3, 3)),
            "bias": TensorSpec("float32", (4,)),
            "strides": (2,),
            "dilations": 1,
            "pads": 0,
            "groups": 1,
        },
    ),
    "pool": _both(
        primitives.Pool,
        "average",
        {
            "x": IMAGES,
            "y": TensorSpec("float32", (2, 3, 4)),
            "window": 3,
            "strides": (2,),
            "dilations": (2,),
            "pads": (1, 2),
            "counts_pads": True,
        },
        {
            "x": IMAGES,
            "window": (3,),
            "strides": 2,
            "dilations": 1,
            "pads": 0,
            "counts_pads": False,
        },
        "pool/average",
    ),
    "convolution_transposed": _both(
        primitives.ConvolutionTransposed,
        "convolution_transposed",
        {
            "x": IMAGES,
            "w": TensorSpec("float32", (3, 2, 3)),
            "bias": TensorSpec("float32", (6,)),
            "y": TensorSpec("float32", (2, 6, 19)),
            "strides": 2,
            "dilations": (2,),
            "pads": (1, 2),
            "groups": 3,
        },
        {
            "x": IMAGES,
            "w": TensorSpec("float32", (3, 4, 3)),
            "bias": TensorSpec("float32", (4,)),
            "strides": (2,),
            "dilations": 1,
            "pads": 0,
            "extra": 1,
            "groups": 1,
        },
    ),
    "attention": _both(
        primitives.Attention,
        "attention",
        {
            "q": TensorSpec("float32", (2, 4, 3)),
            "k": TensorSpec("float32", (1, 5, 3)),
            "v": TensorSpec("float32", (1, 5, 6)),
            "mask": TensorSpec("bool", (4, 5)),
            "out": TensorSpec("float32", (2, 4, 6)),
            "scale": 0.5,
            "softcap": 3.0,
            "is_causal": True,
            "offset": 1,
        },
        {"q": F32, "k": F32, "v": F32, "mask": TensorSpec("float32", (4,)), "softcap": 1.0, "is_causal": False},
    ),
    "group_norm": _both(
        primitives.GroupNorm,
        "group_norm",
        {"x": F32, "scale": ROW, "bias": ROW, "y": F32, "groups": 3, "epsilon": 1e-5},
        {"x": F32, "groups": 1, "scale": ROW, "epsilon": 0.5},
    ),
    "batch_norm": _both(
        primitives.BatchNorm,
        "batch_norm",
        {"x": F32, "mean": ROW, "variance": ROW, "scale": ROW, "bias": ROW, "y": F32, "axis": -1, "epsilon": 1e-5},
        {"x": F32, "mean": ROW, "variance": ROW, "bias": ROW, "axis": 1, "epsilon": 0.5},
    ),
    "rms_layer_norm": _both(
        primitives.RmsLayerNorm,
        "rms_layer_norm",
        {"x": F32, "scale": ROW, "y": F32, "axis": -1, "epsilon": 1e-5},
        {"x": F32, "scale": F32, "axis": 0, "epsilon": 0.5},
    ),
    "cross_entropy": _both(
        primitives.CrossEntropy,
        "cross_entropy",
        {
            "x": F32,
            "labels": TensorSpec("int64", (4,)),
            "weights": ROW,
            "out": TensorSpec("float32", (4,)),
            "reduction": "none",
            "ignore_index": -1,
            "is_log": True,
        },
        {"x": F32, "labels": TensorSpec("int32", (4,)), "reduction": "none", "is_log": False},
    ),
    "quantize": _both(
        primitives.Quantize,
        "quantize",
        {
            "x": F32,
            "scale": TensorSpec("float32", (4, 2)),
            "zero_point": TensorSpec("int8", (4, 2)),
            "out": TensorSpec("int8", (4, 3)),
            "axis": -1,
            "block": 2,
        },
        {"x": F32, "scale": ROW, "zero_point": TensorSpec("uint16", (3,)), "dtype": "uint16"},
    ),
    "dequantize": _both(
        primitives.Dequantize,
        "dequantize",
        {
            "x": TensorSpec("int8", (4, 3)),
            "scale": TensorSpec("float32", (2, 3)),
            "zero_point": TensorSpec("int8", (2, 3)),
            "out": F32,
            "axis": 0,
            "block": 2,
        },
        {"x": TensorSpec("int32", (4, 3)), "scale": ROW},
    ),
    "lstm_cell": _both(
        primitives.LstmCell,
        "lstm_cell",
        LSTM | {"peephole": TensorSpec("float32", (9,)), "h_next": F32, "c_next": F32, "gate_activation": "relu"},
        LSTM | {"c_next": F32, "output_activation": "sigmoid"},
    ),
    "gru_cell": _both(
        primitives.GruCell,
        "gru_cell",
        GRU | {"bias": TensorSpec("float32", (9,)), "h_next": F32, "linear_before_reset": True},
        GRU | {"linear_before_reset": False, "candidate_activation": "relu"},
    ),
}
"""By family."""
