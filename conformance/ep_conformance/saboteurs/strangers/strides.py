"""Conditions of how operands lie: transposed, reversed and repeated dimensions, gaps, long strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import ALONG, BINARY, ELEMENTWISE, MOVING, NORMS, PICKING
from ep_conformance.saboteurs.strangers.sight import extents, inputs, source, tensors

if TYPE_CHECKING:
    import ep
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_MOST_16: Final = (1 << 15) - 1
_RANK_4: Final = 4


def _crossed(spec: ep.TensorSpec) -> list[tuple[int, int]]:
    """Return extent and stride of the dimensions that have more than one element."""
    return [pair for pair in zip(spec.shape, spec.strides, strict=True) if pair[0] > 1]


def _is_transposed(spec: ep.TensorSpec) -> bool:
    """Say whether the last two dimensions lie as those of a transposed matrix."""
    matrix = _crossed(spec)[-2:]
    return len(matrix) > 1 and matrix[0][1] == 1 and matrix[1][1] >= matrix[0][0]


def _has_padded_rows(spec: ep.TensorSpec) -> bool:
    """Say whether the last dimension has no gaps, and there are gaps between its rows."""
    matrix = _crossed(spec)[-2:]
    return len(matrix) > 1 and matrix[1][1] == 1 and matrix[0][1] > matrix[1][0]


def _has_its_heads_inside(spec: ep.TensorSpec) -> bool:
    """Say whether a tensor (..., heads, places, channels) lies as (..., places, heads, channels)."""
    last = _crossed(spec)[-3:]
    return len(last[2:]) > 0 and last[2][1] == 1 and last[0][1] >= last[2][0] and last[1][1] >= last[0][1] * last[0][0]


def _repeats_inside(spec: ep.TensorSpec) -> bool:
    strides = [stride for _, stride in _crossed(spec)]
    return any(not stride and strides[at] and strides[at + 2] for at, stride in enumerate(strides[1:-1]))


def _is_broadcast_inside(spec: ep.TensorSpec, out: ep.TensorSpec) -> bool:
    alike = [have == want for have, want in zip(reversed(spec.shape), reversed(out.shape), strict=False) if want > 1]
    return any(not same and alike[at] and alike[at + 2] for at, same in enumerate(alike[1:-1]))


def _is_outer_product(launch: Launch) -> bool:
    out = launch.descriptor.out.shape
    held = [(*(1,) * (len(out) - spec.ndim), *spec.shape) for spec in inputs(launch).values()]
    short = [{at for at, extent in enumerate(out) if shape[at] < extent} for shape in held]
    return any(one - other and other - one for one in short for other in short)


def _differ(launch: Launch) -> bool:
    found = {(spec.shape, spec.strides) for spec in inputs(launch).values()}
    return len(found) > len({shape for shape, _ in found})


def _side_is_strided(launch: Launch) -> bool:
    others = [*inputs(launch).values()][1:]
    return source(launch).is_dense and any(spec.ndim == 1 and not spec.is_dense for spec in others)


CONDITIONS: Final = (
    Condition(
        "input-transposed",
        "A left operand that is a transposed view is walked row by row (tracel-ai/burn#5304, triton#2150).",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, *PICKING, "reduce", "matmul", "gather"),
        ("strided",),
        lambda launch: _is_transposed(source(launch)),
    ),
    Condition(
        "output-transposed",
        "The result is written as if the output were row-major (dpnp#1871, PyTorch#110120).",
        (*ELEMENTWISE, *MOVING, *ALONG, "matmul", "fill", "iota", "random_fill", "reduce"),
        ("strided",),
        lambda launch: _is_transposed(launch.descriptor.out),
    ),
    Condition(
        "output-rows-padded",
        "The leading dimension of an output that is part of a wider one is ignored (PyTorch#104832).",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, "matmul", "fill", "gather", "top_k"),
        ("strided",),
        lambda launch: _has_padded_rows(launch.descriptor.out),
    ),
    Condition(
        "same-gaps-on-both-sides",
        "Equal strides are taken for equal dense blocks, and as many bytes are moved in one piece (PyTorch#189961).",
        (*ELEMENTWISE, *ALONG, "copy"),
        ("strided",),
        lambda launch: (
            source(launch).strides == launch.descriptor.out.strides
            and source(launch).shape == launch.descriptor.out.shape
            and source(launch).hi - source(launch).lo > source(launch).size
            and 0 not in source(launch).strides
        ),
    ),
    Condition(
        "inner-reversed",
        "A vector load goes up where the stride is -1.",
        (*ELEMENTWISE, *MOVING, *ALONG, *PICKING, "reduce", "matmul"),
        ("strided",),
        lambda launch: -1 in source(launch).strides[-1:],
    ),
    Condition(
        "outer-reversed",
        "Only the innermost stride is kept with a sign; the others are unsigned (state-spaces/mamba#880).",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, "reduce"),
        ("strided",),
        lambda launch: source(launch).ndim > 1 and source(launch).strides[0] < 0 < source(launch).strides[-1],
    ),
    Condition(
        "repeated-inside",
        "A dimension of stride 0 between others is merged with its neighbour (NVIDIA/Fuser#806).",
        (*ELEMENTWISE, "copy", "permute", "reduce", "softmax"),
        ("strided",),
        lambda launch: _repeats_inside(source(launch)),
    ),
    Condition(
        "broadcast-inside",
        "A broadcast dimension between two that are not loses its place when dimensions are merged (csarofeen/pytorch#1741).",
        (*ELEMENTWISE, "copy"),
        ("broadcast",),
        lambda launch: any(_is_broadcast_inside(spec, launch.descriptor.out) for spec in inputs(launch).values()),
    ),
    Condition(
        "broadcast-both-ways",
        "Two inputs are each broadcast where the other is not, and one of them decides the loop (csarofeen/pytorch#230).",
        BINARY,
        ("broadcast",),
        _is_outer_product,
    ),
    Condition(
        "equal-strides",
        "Dimensions are sorted by their strides, and two of a sliding view have the same one.",
        (*ELEMENTWISE, "copy", "permute", "reduce", "softmax"),
        ("strided",),
        lambda launch: (
            len({stride for _, stride in _crossed(source(launch)) if stride})
            < sum(stride != 0 for _, stride in _crossed(source(launch)))
        ),
    ),
    Condition(
        "stride-past-16-bits",
        "Strides are given to the kernel as 16 bits, or their products are made in too few (onnxruntime#32299).",
        (*ELEMENTWISE, *ALONG, "copy", "permute", "reduce", "matmul"),
        ("strided",),
        lambda launch: any(abs(stride) > _MOST_16 for _, stride in _crossed(source(launch))),
    ),
    Condition(
        "one-dimension-with-gaps",
        "A vector that is a column of a matrix is read as if its increment were one.",
        (*ELEMENTWISE, *ALONG, *PICKING, "reduce", "copy", "gather"),
        ("strided",),
        lambda launch: source(launch).ndim == 1 and source(launch).strides[0] > 1,
    ),
    Condition(
        "heads-inside",
        "A view (B, H, L, D) of memory (B, L, H, D) is read as if it were its own layout (iree-turbine#635).",
        ("attention", "matmul", "softmax", "copy", "permute", "broadcast_binary"),
        ("strided",),
        lambda launch: _has_its_heads_inside(source(launch)),
    ),
    Condition(
        "inputs-lie-differently",
        "The strides of the first input are taken for all (ROCm/aiter#5292 forwards some of them alone).",
        (*BINARY, "softmax_backward", "log_softmax_backward", "lstm_cell", "attention"),
        ("strided",),
        _differ,
    ),
    Condition(
        "channels-last",
        "The layout of images is guessed from the stride of the channels (oneDNN's nhwc, MPS: PyTorch#79383).",
        ("convolution", "convolution_transposed", "pool", "batch_norm", "group_norm", "permute"),
        ("strided",),
        lambda launch: (
            source(launch).ndim == _RANK_4
            and min(extents(launch)[1:]) > 1
            and source(launch).strides[1] == 1 != source(launch).strides[-1]
        ),
    ),
    Condition(
        "parameters-with-gaps",
        "Only the large operand has its strides passed on; those of scale or bias are taken for dense (oneDNN#5908).",
        (*NORMS, "batch_norm", "group_norm", "convolution", "cross_entropy"),
        ("strided",),
        _side_is_strided,
    ),
    Condition(
        "dense-input-strided-output",
        "The dense path is chosen by looking at the inputs alone (PyTorch#110120).",
        (*ELEMENTWISE, *ALONG, *NORMS, *PICKING, "matmul", "copy", "reduce", "batch_norm"),
        ("strided",),
        lambda launch: (
            not launch.descriptor.out.is_dense
            and all(spec.is_dense for name, spec in tensors(launch).items() if name not in launch.descriptor.written)
        ),
    ),
)
"""By theme, each with the mistake that it is taken from."""
