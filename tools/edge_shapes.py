"""Edge rules of shapes and memory: what is empty, of one element, of many dimensions, strided, in place."""

from __future__ import annotations

from typing import Final

from edge_rule import EdgeRule

__all__ = ["SHAPES"]

_ALL: Final = "all families"
_REDUCE: Final = "primitives/reduce"
_ARG: Final = "primitives/arg_reduce/max/float32->int64"
_SOFTMAX: Final = "primitives/softmax/-/float32"
_NORM: Final = "primitives/layer_norm/-/float32"
_ATTENTION: Final = "primitives/attention/-/float32"
_LOSS: Final = "primitives/cross_entropy/-/float32,int64->float32"
_TOP: Final = "primitives/top_k/largest/float32->float32,int64"
_CONVOLUTION: Final = "primitives/convolution/-/float32"
_TRANSPOSED: Final = "primitives/convolution_transposed/-/float32"
_POOL: Final = "primitives/pool"
_GATHER: Final = "primitives/gather/-/float32,int64->float32"
_WHERE: Final = "primitives/where/-/bool,float32->float32"

SHAPES: Final = (
    EdgeRule(
        "no output elements",
        _ALL,
        "legal; nothing is launched",
        (f"{_WHERE}/empty/size-0", f"{_SOFTMAX}/empty/no-rows", f"{_GATHER}/empty/no-indices"),
    ),
    EdgeRule(
        "rows of nothing",
        "reduce: sum, sum_of_squares, norms",
        "0",
        (f"{_REDUCE}/sum/float32/empty/no-terms", f"{_REDUCE}/norm_inf/float32/empty/no-terms"),
    ),
    EdgeRule("", "reduce: prod", "1", (f"{_REDUCE}/prod/float32/empty/no-terms",)),
    EdgeRule("", "reduce: mean", "NaN", (f"{_REDUCE}/mean/float32/empty/no-terms",)),
    EdgeRule(
        "",
        "reduce: max, log_sum_exp",
        "-inf; of integers the lowest, of bool false",
        (f"{_REDUCE}/max/float32/empty/no-terms", f"{_REDUCE}/max/int8/empty/no-terms"),
    ),
    EdgeRule(
        "",
        "reduce: min",
        "+inf; of integers the highest, of bool true",
        (f"{_REDUCE}/min/float32/empty/no-terms", f"{_REDUCE}/min/int8/empty/no-terms"),
    ),
    EdgeRule(
        "",
        "reduce: any; all",
        "false; true",
        (f"{_REDUCE}/any/float32->bool/empty/no-terms", f"{_REDUCE}/all/float32->bool/empty/no-terms"),
    ),
    EdgeRule(
        "",
        "arg_reduce",
        "ValueError when it is described, unless there are no rows either",
        ("primitives/arg_reduce/max/float32->int64/empty/no-rows-of-none",),
    ),
    EdgeRule("", "softmax and its kin", "rows without elements stay so", (f"{_SOFTMAX}/empty/rows-of-none",)),
    EdgeRule(
        "",
        "group_norm; rms_layer_norm",
        "no y",
        (
            "primitives/group_norm/-/float32/empty/channels-of-none",
            "primitives/rms_layer_norm/-/float32/empty/rows-of-none",
        ),
    ),
    EdgeRule("", "layer_norm", "no y; mean and rstd are NaN", (f"{_NORM}/empty/rows-of-none",)),
    EdgeRule(
        "",
        "top_k",
        "k can only be 0, which is legal for all rows",
        (f"{_TOP}/empty/none-of-none", f"{_TOP}/empty/none-of-5"),
    ),
    EdgeRule(
        "",
        "attention",
        "without keys 0; without columns of q and k the mean of the values",
        (f"{_ATTENTION}/empty/no-keys", f"{_ATTENTION}/empty/no-depth"),
    ),
    EdgeRule(
        "", "matmul", "a product over nothing is 0, then beta out", ("primitives/matmul/-/float32/dense/depth-0",)
    ),
    EdgeRule(
        "",
        "convolution, convolution_transposed",
        "of no channels y is the bias",
        (f"{_CONVOLUTION}/dense/no-channels", f"{_TRANSPOSED}/dense/no-channels"),
    ),
    EdgeRule("", "convolution_transposed", "to which x gives nothing: the bias", (f"{_TRANSPOSED}/dense/extra",)),
    EdgeRule(
        "",
        "cross_entropy",
        "a sum of no labels is 0, a mean NaN",
        (f"{_LOSS}/empty/no-samples-sum", f"{_LOSS}/empty/no-samples-mean"),
    ),
    EdgeRule("", "gather", "every index is out of range", (f"{_GATHER}/dense/extent-0",)),
    EdgeRule(
        "", "pad", "constant: the value everywhere; else nothing", ("primitives/pad/constant/float32/dense/empty-x",)
    ),
    EdgeRule("", "one_hot", "no classes are legal", ("primitives/one_hot/-/int64->float32/empty/no-classes",)),
    EdgeRule(
        "axes of one element",
        "reduce; arg_reduce; softmax",
        "the element; place 0; 1 where it is finite",
        (f"{_REDUCE}/max/float32/dense/only-extents-1", f"{_ARG}/dense/only-extent-1", f"{_SOFTMAX}/dense/9x1"),
    ),
    EdgeRule(
        "",
        "layer_norm; top_k",
        "y is the bias, the mean the element; the element and place 0",
        (f"{_NORM}/dense/9x1", f"{_TOP}/dense/1-of-1"),
    ),
    EdgeRule(
        "rows of equal elements",
        "layer_norm",
        "the variance is 0 up to rounding, never below: rstd is 1 / sqrt(epsilon)",
        (f"{_NORM}/dense/equal", f"{_NORM}/strided/stride-0-columns"),
    ),
    EdgeRule(
        "windows beyond x",
        "convolution",
        "meet zeros, also where pads are wider than x, or all there is; a window larger than x with its pads is ValueError",
        (f"{_CONVOLUTION}/dense/pads-more-than-x", f"{_CONVOLUTION}/dense/empty-x"),
    ),
    EdgeRule(
        "",
        "pool",
        "see no element there: an average divides by those of x, with counts_pads by pads, too, never by what is behind the pads",
        (
            f"{_POOL}/max/float32/dense/below-zero",
            f"{_POOL}/average/float32/dense/image",
            f"{_POOL}/average/float32/dense/pads-count-ceil",
        ),
    ),
    EdgeRule(
        "windows of no element",
        "pool",
        "max: -inf, of integers the lowest; average NaN; norms 0",
        (f"{_POOL}/max/int8/dense/pads-more-than-x", f"{_POOL}/average/float32/dense/pads-more-than-x"),
    ),
    EdgeRule(
        "rows that masks leave nothing",
        "attention",
        "0",
        (
            f"{_ATTENTION}/dense/causal-4",
            f"{_ATTENTION}/dense/mask",
            "primitives/attention/-/float32,bool->float32/dense/mask",
        ),
    ),
    EdgeRule(
        "rank 0 and 16",
        _ALL,
        "legal; rank 0 has one element; 17 is ValueError",
        (f"{_SOFTMAX}/rank0/one", f"{_GATHER}/dense/x-of-rank-0", f"{_REDUCE}/sum/float32/strided/rank-16"),
    ),
    EdgeRule(
        "negative strides",
        _ALL,
        "legal for inputs and outputs",
        (f"{_GATHER}/strided/negative-x", f"{_SOFTMAX}/strided/negative-out", f"{_ARG}/strided/negative"),
    ),
    EdgeRule(
        "zero strides",
        _ALL,
        "legal for inputs; an output that overlaps itself is ValueError",
        (f"{_GATHER}/strided/stride-0-axis", f"{_REDUCE}/sum/float32/strided/stride-0-row"),
    ),
    EdgeRule(
        "windows that share elements: strides smaller than extents",
        _ALL,
        "legal for inputs, in several dimensions at once; an output that overlaps itself is ValueError",
        (
            f"{_REDUCE}/max/float32/strided/windows-2d",
            "primitives/copy/-/float32/strided/windows-2d",
            "primitives/permute/-/float32/strided/windows-2d-dilated",
            "primitives/matmul/-/float32/strided/windows-2d",
        ),
    ),
    EdgeRule(
        "in place",
        "elementwise, where, add_n, cast of equal size, softmaxes, norms, the memory of lstm_cell",
        "the same tensor: allowed; any other common byte is ValueError",
        (
            f"{_WHERE}/inplace/a",
            "primitives/add_n/-/float32/inplace/x63-broadcast-of-64",
            f"{_SOFTMAX}/inplace/x",
            f"{_NORM}/inplace/x-long",
            "primitives/lstm_cell/-/float32/inplace/c",
        ),
    ),
    EdgeRule("", "all others", "ValueError, before anything is enqueued", ("runtime/primitive/launches-are-checked",)),
)
