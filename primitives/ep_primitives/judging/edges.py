"""The edge rules that several kinds of families share, and the collection of all families' rules."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.families import parts
from ep_primitives.judging.edge import EDGES, EdgeRule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

__all__ = ["edge_rules", "proofs"]

_SHARED: Final = (
    EdgeRule(
        "no output elements",
        "all families",
        "legal; nothing is launched",
        (
            "primitives/where/-/bool,float32->float32/empty/size-0",
            "primitives/softmax/-/float32/empty/no-rows",
            "primitives/gather/-/float32,int64->float32/empty/no-indices",
        ),
    ),
    EdgeRule(
        "rows of nothing",
        "group_norm; rms_layer_norm",
        "no y",
        (
            "primitives/group_norm/-/float32/empty/channels-of-none",
            "primitives/rms_layer_norm/-/float32/empty/rows-of-none",
        ),
    ),
    EdgeRule(
        "rows of nothing",
        "convolution, convolution_transposed",
        "of no channels y is the bias",
        (
            "primitives/convolution/-/float32/dense/no-channels",
            "primitives/convolution_transposed/-/float32/dense/no-channels",
        ),
    ),
    EdgeRule(
        "axes of one element",
        "reduce; arg_reduce; softmax",
        "the element; place 0; 1 where it is finite",
        (
            "primitives/reduce/max/float32/dense/only-extents-1",
            "primitives/arg_reduce/max/float32->int64/dense/only-extent-1",
            "primitives/softmax/-/float32/dense/9x1",
        ),
    ),
    EdgeRule(
        "axes of one element",
        "layer_norm; top_k",
        "y is the bias, the mean the element; the element and place 0",
        ("primitives/layer_norm/-/float32/dense/9x1", "primitives/top_k/largest/float32->float32,int64/dense/1-of-1"),
    ),
    EdgeRule(
        "rank 0 and 16",
        "all families",
        "legal; rank 0 has one element; 17 is ValueError",
        (
            "primitives/softmax/-/float32/rank0/one",
            "primitives/gather/-/float32,int64->float32/dense/x-of-rank-0",
            "primitives/reduce/sum/float32/strided/rank-16",
        ),
    ),
    EdgeRule(
        "negative strides",
        "all families",
        "legal for inputs and outputs",
        (
            "primitives/gather/-/float32,int64->float32/strided/negative-x",
            "primitives/softmax/-/float32/strided/negative-out",
            "primitives/arg_reduce/max/float32->int64/strided/negative",
        ),
    ),
    EdgeRule(
        "zero strides",
        "all families",
        "legal for inputs; an output that overlaps itself is ValueError",
        (
            "primitives/gather/-/float32,int64->float32/strided/stride-0-axis",
            "primitives/reduce/sum/float32/strided/stride-0-row",
        ),
    ),
    EdgeRule(
        "windows that share elements: strides smaller than extents",
        "all families",
        "legal for inputs, in several dimensions at once; an output that overlaps itself is ValueError",
        (
            "primitives/reduce/max/float32/strided/windows-2d",
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
            "primitives/where/-/bool,float32->float32/inplace/a",
            "primitives/add_n/-/float32/inplace/x63-broadcast-of-64",
            "primitives/softmax/-/float32/inplace/x",
            "primitives/layer_norm/-/float32/inplace/x-long",
            "primitives/lstm_cell/-/float32/inplace/c",
        ),
    ),
    EdgeRule(
        "in place", "all others", "ValueError, before anything is enqueued", ("runtime/primitive/launches-are-checked",)
    ),
    EdgeRule(
        "NaN",
        "families that move elements",
        "keeps its payload",
        (
            "primitives/where/-/bool,float32->float32/dense/nan-payloads",
            "primitives/gather/-/float32,int64->float32/dense/elements",
            "primitives/permute/-/float32/dense/33x17",
        ),
    ),
    EdgeRule(
        "NaN",
        "group_norm; batch_norm",
        "all of its group; its element, and of a channel's number the channel",
        ("primitives/group_norm/-/float32/dense/special-5", "primitives/batch_norm/-/float32/dense/special-5x12x8"),
    ),
    EdgeRule(
        "infinities",
        "reduce, add_n",
        "of one sign: that one; of both in a sum: NaN",
        ("primitives/reduce/sum/float32/dense/not-finite", "primitives/add_n/-/float32/dense/not-finite-of-4"),
    ),
    EdgeRule(
        "infinities",
        "group_norm; batch_norm",
        "all of its group is NaN; IEEE 754 holds, with a scale of 0 NaN",
        ("primitives/group_norm/-/float32/dense/special-15", "primitives/batch_norm/-/float32/dense/not-finite"),
    ),
    EdgeRule(
        "signed zero",
        "families that move elements",
        "kept, of numbers too",
        (
            "primitives/where/-/bool,float32->float32/scalar-left/value-negative-zero",
            "primitives/pad/constant/float32/dense/value-negative-zero",
        ),
    ),
    EdgeRule(
        "index out of range",
        "gather with EP_VALIDATE=1",
        "ValueError that names the index and its place; nothing is enqueued",
        ("runtime/validation/bad-indices-are-refused",),
    ),
    EdgeRule(
        "overflow",
        "integers of reduce, add_n",
        "wraps modulo 2^n",
        ("primitives/reduce/sum/int8/dense/rows", "primitives/add_n/-/int8/dense/size-257-of-8"),
    ),
    EdgeRule(
        "equal launches",
        "all families",
        "equal bits",
        ("primitives/reduce/sum/float32/dense/rows", "primitives/softmax/-/float32/dense/rows"),
    ),
    EdgeRule(
        "neighbours",
        "reduce, softmaxes, layer_norm and all elementwise",
        "a row's bits depend on the row alone: not on the other rows, their number, or how threads share them",
        (
            "primitives/reduce/sum/float32/dense/one-sign",
            "primitives/softmax/-/float32/dense/rows",
            "primitives/layer_norm/-/float32/dense/rows",
        ),
    ),
)


def edge_rules() -> list[EdgeRule]:
    """Return every rule, edge by edge: the shared ones, then the families' own, from the `edges` of their folders."""
    rules = [*_SHARED, *[rule for module in parts("edges") for rule in module.RULES]]
    return sorted(rules, key=lambda rule: EDGES.index(rule.edge) if rule.edge in EDGES else len(EDGES))


@cache
def proofs() -> Mapping[str, AbstractSet[str]]:
    """Return the names of the cases that prove the rules, by cell: profile quick runs them all."""
    found: dict[str, set[str]] = defaultdict(set)
    for rule in edge_rules():
        for case in rule.cases:
            _, _, rest = case.partition("/")
            cell, _, name = rest.rpartition("/")
            found[cell].add(name)
    return dict(found)
