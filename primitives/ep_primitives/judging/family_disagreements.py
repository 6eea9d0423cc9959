"""Where EP and PyTorch differ in the families that move, select and reduce, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement

__all__ = ["FAMILY_DISAGREEMENTS"]

_ONE_BY_ONE: Final = (
    "PyTorch adds one term after another here; EP's bound is that of a tree of pairs, which errs less in long sums."
)
_NARROW: Final = "PyTorch rounds steps of the computation to the narrow type; EP computes in float32 and rounds once."

FAMILY_DISAGREEMENTS: Final = (
    Disagreement(
        "complex",
        "NaN there",
        ("add_n",),
        "PyTorch multiplies each next term by alpha = 1 + 0i, which makes NaN of an infinite part.",
    ),
    Disagreement(
        "complex",
        "value",
        ("add_n",),
        "PyTorch's factor alpha = 1 + 0i makes two parts that are NaN of a term with one; a sum of parts has one (C17, annex G.5.2).",
    ),
    Disagreement(
        "any",
        "error",
        ("pad/constant",),
        "EP lets one side crop more than there is if the other side brings it back; PyTorch crops before it pads, and raises.",
    ),
    Disagreement(
        "any",
        "error",
        ("one_hot",),
        "An index that is no class gives a row of off in EP, which is what a part of the classes is made of; PyTorch raises.",
    ),
    Disagreement(
        "any",
        "error",
        ("gather",),
        "An index out of range gives 0 in EP, and an error in validation mode, because no device can raise; PyTorch raises.",
    ),
    Disagreement(
        "any",
        "error",
        ("reduce/max", "reduce/min", "reduce/norm_inf"),
        "Of nothing EP gives the identity: the type's lowest or highest value, and norm 0; PyTorch raises.",
    ),
    Disagreement(
        "any",
        "error",
        ("arg_reduce/max", "arg_reduce/min"),
        "An output without elements has no extremes to find, so an empty axis does no harm; PyTorch raises all the same.",
    ),
    *(
        Disagreement(
            kind,
            "sign of zero",
            ("reduce/max", "reduce/min"),
            "EP follows IEEE 754-2019, where -0 is below +0; for PyTorch they are equal, and any of them stays.",
        )
        for kind in ("float", "narrow float")
    ),
    *(Disagreement(kind, "rounding", ("reduce/norm_1", "reduce/norm_2"), _ONE_BY_ONE) for kind in ("float", "complex")),
    *(
        Disagreement(kind, how, ("reduce/norm_2",), reason)
        for kind in ("float", "narrow float", "complex")
        for how, reason in (
            ("infinity", "PyTorch's squares overflow although the norm is in range; EP scales such rows."),
            ("value", "The squares of tiny numbers vanish in PyTorch, so that their norm is 0; EP scales such rows."),
        )
    ),
    Disagreement(
        "narrow float",
        "rounding",
        ("reduce/norm_2",),
        "PyTorch's squares of tiny numbers are subnormal and have few digits left; EP scales such rows.",
    ),
    Disagreement("narrow float", "rounding", ("reduce/prod", "reduce/log_sum_exp", "softmax", "log_softmax"), _NARROW),
    Disagreement(
        "narrow float",
        "value",
        ("reduce/prod", "log_softmax"),
        "PyTorch rounds each step to the narrow type: the errors of long products add up, and those of results near 0 are as large as they.",
    ),
    Disagreement(
        "float",
        "rounding",
        ("softmax", "log_softmax", "softmax_backward", "log_softmax_backward"),
        _ONE_BY_ONE,
    ),
    *(
        Disagreement(
            kind,
            how,
            ("group_norm",),
            "PyTorch folds mean, root, scale and bias into two numbers of a channel, whose difference loses digits, and is NaN for an infinite scale.",
        )
        for kind in ("float", "narrow float")
        for how in ("NaN there", "value")
    ),
    Disagreement("any", "error", ("batch_norm",), "Without channels EP has nothing to do; PyTorch raises."),
    Disagreement(
        "any",
        "error",
        ("convolution", "convolution_transposed", "pool/max", "pool/average", "pool/norm_1", "pool/norm_2"),
        "Images of no channels, and weights that make none, give an output without elements in EP; PyTorch raises.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("pool/max",),
        "EP follows IEEE 754-2019, where -0 is below +0; for PyTorch they are equal, and the first of them stays.",
    ),
    *(
        Disagreement(
            kind,
            "value",
            ("pool/norm_1", "pool/norm_2"),
            "PyTorch sums powers of x, with p = 1 of its sign, too, as a mean times the size of a window, also where one that is rounded up has less.",
        )
        for kind in ("float", "narrow float")
    ),
    Disagreement("narrow float", "rounding", ("convolution_transposed", "pool/norm_1", "pool/norm_2"), _NARROW),
    Disagreement(
        "narrow float",
        "value",
        ("convolution_transposed",),
        "PyTorch rounds what an element of y is given by each weight's place to the narrow type; errors of sums near 0 are as large as they.",
    ),
)
