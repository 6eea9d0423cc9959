"""Every edge rule and the cases that prove it: what family_documents writes into one table, and a test holds to the suite."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["EDGE_RULES", "EdgeRule"]


class EdgeRule(NamedTuple):
    """What happens at an edge.

    edge   : the name of it
    where  : the families that it is a matter of
    result : what happens there
    cases  : ids of quick cases, each of which fails where it does not
    """

    edge: str
    where: str
    result: str
    cases: tuple[str, ...]


_ALL: Final = "all families"
_REDUCE: Final = "primitives/reduce"
_ARG: Final = "primitives/arg_reduce/max/float32->int64"
_SOFTMAX: Final = "primitives/softmax/-/float32"
_NORM: Final = "primitives/layer_norm/-/float32"
_ATTENTION: Final = "primitives/attention/-/float32"
_LOSS: Final = "primitives/cross_entropy/-/float32,int64->float32"
_QUANTIZE: Final = "primitives/quantize/-/float32->int8"
_TOP: Final = "primitives/top_k/largest/float32->float32,int64"
_CONVOLUTION: Final = "primitives/convolution/-/float32"
_TRANSPOSED: Final = "primitives/convolution_transposed/-/float32"
_POOL: Final = "primitives/pool"
_GATHER: Final = "primitives/gather/-/float32,int64->float32"
_SHIFT: Final = "primitives/broadcast_binary/shift"
_WHERE: Final = "primitives/where/-/bool,float32->float32"

EDGE_RULES: Final = (
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
        "elementwise, where, add_n, cast of equal size, softmaxes, norms",
        "the same tensor: allowed; any other common byte is ValueError",
        (
            f"{_WHERE}/inplace/a",
            "primitives/add_n/-/float32/inplace/x63-broadcast-of-64",
            f"{_SOFTMAX}/inplace/x",
            f"{_NORM}/inplace/x-long",
        ),
    ),
    EdgeRule("", "all others", "ValueError, before anything is enqueued", ("runtime/primitive/launches-are-checked",)),
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
