"""Edge rules of values: NaN, infinities, zeros, ties, rounding, indices, determinism."""

from __future__ import annotations

from typing import Final

from edge_rule import EdgeRule

__all__ = ["VALUES"]

_ALL: Final = "all families"
_REDUCE: Final = "primitives/reduce"
_ARG: Final = "primitives/arg_reduce/max/float32->int64"
_SOFTMAX: Final = "primitives/softmax/-/float32"
_NORM: Final = "primitives/layer_norm/-/float32"
_ATTENTION: Final = "primitives/attention/-/float32"
_LSTM: Final = "primitives/lstm_cell/-/float32"
_GRU: Final = "primitives/gru_cell/-/float32"
_LOSS: Final = "primitives/cross_entropy/-/float32,int64->float32"
_QUANTIZE: Final = "primitives/quantize/-/float32->int8"
_TOP: Final = "primitives/top_k/largest/float32->float32,int64"
_CONVOLUTION: Final = "primitives/convolution/-/float32"
_POOL: Final = "primitives/pool"
_GATHER: Final = "primitives/gather/-/float32,int64->float32"
_SHIFT: Final = "primitives/broadcast_binary/shift"
_WHERE: Final = "primitives/where/-/bool,float32->float32"

VALUES: Final = (
    EdgeRule(
        "NaN",
        "families that move elements",
        "keeps its payload",
        (f"{_WHERE}/dense/nan-payloads", f"{_GATHER}/dense/elements", "primitives/permute/-/float32/dense/33x17"),
    ),
    EdgeRule(
        "",
        "reduce, add_n",
        "a NaN anywhere in a row gives NaN (any: true; all: it counts as true)",
        (f"{_REDUCE}/max/float32/dense/not-finite", f"{_REDUCE}/all/float32->bool/dense/rows"),
    ),
    EdgeRule("", "arg_reduce", "the first NaN wins, over infinities too", (f"{_ARG}/dense/nan",)),
    EdgeRule("", "softmaxes", "the whole row is NaN", (f"{_SOFTMAX}/dense/special-rows",)),
    EdgeRule(
        "",
        "layer_norm",
        "in a row: mean, rstd and all of y are NaN; in scale or bias: its column",
        (f"{_NORM}/dense/special-rows", f"{_NORM}/dense/not-finite-columns"),
    ),
    EdgeRule(
        "",
        "convolution",
        "in x: all y whose window has it, of all m of its group; in w or bias: all y of its m; met by a pad: open",
        (f"{_CONVOLUTION}/dense/not-finite", f"{_CONVOLUTION}/dense/not-finite-weights"),
    ),
    EdgeRule("", "pool", "in a window: its y is NaN", (f"{_POOL}/max/float32/dense/not-finite",)),
    EdgeRule(
        "",
        "cross_entropy",
        "in a row that counts: its loss; where a label does not count it does not show",
        (f"{_LOSS}/dense/none-ignore-1", f"{_LOSS}/dense/sum-ignore+4"),
    ),
    EdgeRule("", "quantize", "0", (f"{_QUANTIZE}/dense/special", f"{_QUANTIZE}/dense/special-no-zero-point")),
    EdgeRule(
        "",
        "rms_layer_norm",
        "in a row: all of it",
        ("primitives/rms_layer_norm/-/float32/dense/special-rows",),
    ),
    EdgeRule(
        "",
        "group_norm; batch_norm",
        "all of its group; its element, and of a channel's number the channel",
        ("primitives/group_norm/-/float32/dense/special-5", "primitives/batch_norm/-/float32/dense/special-5x12x8"),
    ),
    EdgeRule(
        "",
        "attention",
        "in q or the mask: its row; in k: every row that meets it; in v: its column",
        (f"{_ATTENTION}/dense/not-finite", f"{_ATTENTION}/dense/nan-keys"),
    ),
    EdgeRule(
        "",
        "lstm_cell; gru_cell",
        "in a row of h: that row; in a gate: its element, and in the output gate of an LSTM h_next alone",
        (f"{_LSTM}/dense/not-finite", f"{_GRU}/dense/not-finite", f"{_GRU}/dense/not-finite-linear"),
    ),
    EdgeRule(
        "",
        "top_k",
        "the largest number, of any sign and payload",
        (f"{_TOP}/dense/nan", "primitives/top_k/smallest/float16->float16,int64/dense/nan"),
    ),
    EdgeRule(
        "",
        "cast",
        "0 as an integer, true as a bool",
        ("primitives/cast/-/float32->int8/dense/designed", "primitives/cast/-/float32->bool/dense/designed"),
    ),
    EdgeRule(
        "",
        "saturating_cast",
        "stays NaN",
        ("primitives/saturating_cast/-/float32->float8_e4m3fn/dense/designed",),
    ),
    EdgeRule(
        "infinities",
        "reduce, add_n",
        "of one sign: that one; of both in a sum: NaN",
        (f"{_REDUCE}/sum/float32/dense/not-finite", "primitives/add_n/-/float32/dense/not-finite-of-4"),
    ),
    EdgeRule(
        "",
        "log_sum_exp",
        "+inf gives +inf; -inf alone gives -inf",
        (f"{_REDUCE}/log_sum_exp/float32/dense/not-finite",),
    ),
    EdgeRule(
        "",
        "rms_layer_norm",
        "its own y is NaN, the finite elements of its row are 0",
        ("primitives/rms_layer_norm/-/float32/dense/special-rows-1024",),
    ),
    EdgeRule(
        "",
        "group_norm; batch_norm",
        "all of its group is NaN; IEEE 754 holds, with a scale of 0 NaN",
        ("primitives/group_norm/-/float32/dense/special-15", "primitives/batch_norm/-/float32/dense/not-finite"),
    ),
    EdgeRule(
        "",
        "lstm_cell; gru_cell",
        "an infinite sum opens or closes its gate; 0 times a memory that is infinite is NaN",
        (f"{_LSTM}/dense/saturated", f"{_GRU}/dense/saturated", f"{_LSTM}/dense/not-finite"),
    ),
    EdgeRule(
        "",
        "layer_norm",
        "the mean is that infinity, of both NaN; rstd and all of y are NaN",
        (f"{_NORM}/dense/special-rows", f"{_NORM}/dense/special-rows-1024"),
    ),
    EdgeRule(
        "",
        "saturating_cast",
        "the largest number of their sign",
        (
            "primitives/saturating_cast/-/float32->float8_e4m3fn/dense/designed",
            "primitives/saturating_cast/-/float32->float8_e5m2/dense/designed",
        ),
    ),
    EdgeRule(
        "",
        "iota",
        "an infinite step: NaN at the first place, where it is multiplied by 0",
        ("primitives/iota/-/float32/dense/inf-step",),
    ),
    EdgeRule(
        "softmax rows",
        "softmax, log_softmax",
        "with +inf, or of -inf alone: all NaN",
        (f"{_SOFTMAX}/dense/special-rows", "primitives/log_softmax/-/float32/dense/special-rows"),
    ),
    EdgeRule(
        "",
        "softmax; log_softmax",
        "-inf among finite ones: 0; -inf",
        (f"{_SOFTMAX}/dense/special-rows", "primitives/log_softmax/-/float32/dense/special-rows"),
    ),
    EdgeRule(
        "ties",
        "arg_reduce",
        "the first of equals wins; -0 equals +0",
        (f"{_ARG}/dense/ties", f"{_ARG}/dense/equal", f"{_ARG}/dense/signed-zeros"),
    ),
    EdgeRule(
        "",
        "top_k",
        "the first of equals is chosen, and comes first; -0 equals +0, and each keeps its sign",
        (f"{_TOP}/dense/ties", f"{_TOP}/dense/ties-unsorted", f"{_TOP}/dense/signed-zeros"),
    ),
    EdgeRule(
        "order",
        "top_k",
        "sorted: the best first; else as they stand in the row",
        (f"{_TOP}/dense/rows", f"{_TOP}/dense/unsorted"),
    ),
    EdgeRule(
        "signed zero",
        "reduce: max, min",
        "max(-0, +0) is +0, min is -0",
        (f"{_REDUCE}/max/float32/dense/signed-zeros", f"{_REDUCE}/min/float32/dense/signed-zeros"),
    ),
    EdgeRule(
        "",
        "add_n",
        "a sum of -0 alone is -0",
        ("primitives/add_n/-/float32/dense/zeros-of-1", "primitives/add_n/-/float32/dense/zeros-of-2"),
    ),
    EdgeRule(
        "",
        "families that move elements",
        "kept, of numbers too",
        (f"{_WHERE}/scalar-left/value-negative-zero", "primitives/pad/constant/float32/dense/value-negative-zero"),
    ),
    EdgeRule(
        "index out of range",
        "gather",
        "0, and nothing is read; negative ones do not count from the end",
        (f"{_GATHER}/dense/edges", f"{_GATHER}/rank0/out-of-range"),
    ),
    EdgeRule(
        "", "cross_entropy", "the label does not count", (f"{_LOSS}/dense/sum-no-class", f"{_LOSS}/dense/mean-no-class")
    ),
    EdgeRule(
        "",
        "gather with EP_VALIDATE=1",
        "ValueError that names the index and its place; nothing is enqueued",
        ("runtime/validation/bad-indices-are-refused",),
    ),
    EdgeRule(
        "",
        "one_hot",
        "a row of off",
        ("primitives/one_hot/-/int64->float32/dense/edges", "primitives/one_hot/-/int64->float32/dense/first-edges"),
    ),
    EdgeRule(
        "conditions",
        "where",
        "any byte of a bool but 0, any integer but 0, is true",
        (f"{_WHERE}/dense/conditions", "primitives/where/-/int64,float32->float32/dense/conditions"),
    ),
    EdgeRule(
        "permutations",
        "permute",
        "each dimension once, else ValueError; negative ones count from the end",
        ("primitives/permute/-/float32/dense/rank-3-1-2-0", "primitives/permute/-/float32/dense/rank-16-rotation"),
    ),
    EdgeRule(
        "counts of pad",
        "pad: reflect",
        "the border is not repeated: at most the extent less 1, else ValueError",
        ("primitives/pad/reflect/float32/dense/largest", "primitives/pad/reflect/float32/dense/line"),
    ),
    EdgeRule(
        "",
        "pad: constant",
        "negative ones crop, also into the value; below no extent is ValueError",
        ("primitives/pad/constant/float32/dense/crop", "primitives/pad/constant/float32/dense/crop-to-border"),
    ),
    EdgeRule(
        "ties in rounding", "quantize", "to even", (f"{_QUANTIZE}/dense/ties", f"{_QUANTIZE}/dense/ties-no-zero-point")
    ),
    EdgeRule(
        "overflow",
        "integers of reduce, add_n",
        "wraps modulo 2^n",
        (f"{_REDUCE}/sum/int8/dense/rows", "primitives/add_n/-/int8/dense/size-257-of-8"),
    ),
    EdgeRule("", "integers of iota", "wraps modulo 2^n", ("primitives/iota/-/int8/dense/wraps",)),
    EdgeRule(
        "counts of bits",
        "shift_left, shift_right",
        "negative ones, and from the bits of the type on: 0; of a negative number to the right -1",
        (f"{_SHIFT}_left/int32/dense/hard-pairs", f"{_SHIFT}_right/int32/dense/hard-pairs"),
    ),
    EdgeRule("", "quantize", "saturates", (f"{_QUANTIZE}/dense/tensor", f"{_QUANTIZE}/dense/blocks")),
    EdgeRule(
        "equal launches",
        _ALL,
        "equal bits",
        (f"{_REDUCE}/sum/float32/dense/rows", f"{_SOFTMAX}/dense/rows"),
    ),
    EdgeRule(
        "neighbours",
        "reduce, softmaxes, layer_norm and all elementwise",
        "a row's bits depend on the row alone: not on the other rows, their number, or how threads share them",
        (f"{_REDUCE}/sum/float32/dense/one-sign", f"{_SOFTMAX}/dense/rows", f"{_NORM}/dense/rows"),
    ),
)
