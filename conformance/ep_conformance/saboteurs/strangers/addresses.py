"""Conditions of where operands lie: alignment, neighbours, the output in the memory of an input, offsets."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import ALONG, BINARY, ELEMENTWISE, MOVING, NORMS, PICKING, WINDOWS
from ep_conformance.saboteurs.strangers.sight import begin, end, inputs, source, tensors

if TYPE_CHECKING:
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_VECTOR: Final = 16
_PAGE: Final = 4096
_PLACED: Final = ("dense", "offset")


def _first(launch: Launch) -> str:
    return next(iter(inputs(launch)), "")


def _out(launch: Launch) -> str:
    return next(iter(launch.descriptor.outputs), "")


def _rests(launch: Launch) -> tuple[int, int]:
    """Return how far the first input and the output are from a vector's boundary."""
    return begin(launch, _first(launch)) % _VECTOR, begin(launch, _out(launch)) % _VECTOR


def _is_one_place(launch: Launch, one: str, other: str) -> bool:
    return launch.lies.get(one) == launch.lies.get(other) and begin(launch, one) == begin(launch, other)


def _is_in_place(launch: Launch) -> bool:
    return any(_is_one_place(launch, name, _out(launch)) for name in inputs(launch))


def _reads_twice(launch: Launch) -> bool:
    held = inputs(launch)
    return any(held[one] == held[other] and _is_one_place(launch, one, other) for one, other in combinations(held, 2))


def _touch(launch: Launch, one: str, other: str) -> bool:
    """Say whether a tensor begins where another one of its allocation ends."""
    return launch.lies.get(one) == launch.lies.get(other) and end(launch, one) == begin(launch, other) > 0


CONDITIONS: Final = (
    Condition(
        "input-unaligned-alone",
        "The output's alignment decides about vector loads of the input (tilelang#2526).",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, *PICKING, *WINDOWS, "reduce", "matmul", "attention", "gather"),
        _PLACED,
        lambda launch: _rests(launch)[0] > 0 == _rests(launch)[1],
    ),
    Condition(
        "output-unaligned-alone",
        "The inputs' alignment decides about vector stores (intel/torch-xpu-ops#1285).",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, *PICKING, *WINDOWS, "reduce", "matmul", "attention", "gather"),
        _PLACED,
        lambda launch: _rests(launch)[1] > 0 == _rests(launch)[0],
    ),
    Condition(
        "both-unaligned-alike",
        "A loop's head is peeled up to the boundary, and its elements are done twice or not at all (torch-xpu-ops#1241).",
        (*ELEMENTWISE, *ALONG, *NORMS, "copy", "batch_norm"),
        (*_PLACED, "inplace"),
        lambda launch: _rests(launch)[0] == _rests(launch)[1] > 0,
    ),
    Condition(
        "second-input-unaligned-alone",
        "Alignment is asked of the first operand and of the output, never of the others.",
        (*BINARY, *NORMS, "softmax_backward", "log_softmax_backward", "matmul", "attention", "batch_norm", "gather"),
        _PLACED,
        lambda launch: (
            _rests(launch) == (0, 0) and any(begin(launch, name) % _VECTOR for name in [*inputs(launch)][1:2])
        ),
    ),
    Condition(
        "half-a-vector-off",
        "An address at 8 bytes from a boundary passes a test for two lanes, and four are loaded (sglang#23087).",
        (*ELEMENTWISE, *ALONG, "copy", "reduce", "matmul"),
        _PLACED,
        lambda launch: _rests(launch)[0] == _VECTOR // 2,
    ),
    Condition(
        "output-behind-input",
        "Whole vectors are read past the input's end, after the output there has been written.",
        (*ELEMENTWISE, *MOVING, *ALONG, "reduce", "matmul"),
        ("dense",),
        lambda launch: _touch(launch, _first(launch), _out(launch)),
    ),
    Condition(
        "input-behind-output",
        "Whole vectors are stored past the output's end, into an input that others still read.",
        (*ELEMENTWISE, *MOVING, *ALONG, "reduce", "matmul"),
        ("dense",),
        lambda launch: any(_touch(launch, _out(launch), name) for name in inputs(launch)),
    ),
    Condition(
        "input-given-twice",
        "x + x: one memory is bound to two arguments, and the second binding replaces the first.",
        (*BINARY, "matmul", "attention", "softmax_backward", "log_softmax_backward"),
        ("dense", "strided"),
        _reads_twice,
    ),
    Condition(
        "all-of-one-allocation",
        "Buffers are told apart by their allocation, and an operand's place in it is forgotten (torch-spyre#3851).",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, "reduce", "matmul", "convolution"),
        _PLACED,
        lambda launch: (
            len({launch.lies.get(name) for name in tensors(launch)}) == 1
            and len({begin(launch, name) for name in tensors(launch)}) > 1
        ),
    ),
    Condition(
        "in-place-of-the-second",
        "The output is tested for being the first input, and reuses the second while it is read (PyTorch#48401).",
        ("add_n", "broadcast_binary", "softmax_backward", "log_softmax_backward"),
        ("inplace",),
        lambda launch: (
            any(_is_one_place(launch, name, _out(launch)) for name in [*inputs(launch)][1:])
            and not _is_one_place(launch, _first(launch), _out(launch))
        ),
    ),
    Condition(
        "in-place-with-a-tail",
        "The tail is done by the last whole vector once more, over results already written (dotnet/runtime#92820).",
        (*ELEMENTWISE, *ALONG, *NORMS, "batch_norm"),
        ("inplace",),
        lambda launch: _is_in_place(launch) and source(launch).size > _VECTOR and source(launch).size % _VECTOR > 0,
    ),
    Condition(
        "in-place-with-gaps",
        "An output in place is copied to a dense temporary, and never copied back (PyTorch#110120).",
        (*ELEMENTWISE, *ALONG, *NORMS),
        ("inplace",),
        lambda launch: _is_in_place(launch) and not launch.descriptor.out.is_dense,
    ),
    Condition(
        "offsets-differ",
        "One offset is passed to the kernel for all operands.",
        (*ELEMENTWISE, *MOVING, *ALONG, *NORMS, *PICKING, *WINDOWS, "reduce", "matmul", "gather"),
        ("offset",),
        lambda launch: len({spec.lo for spec in tensors(launch).values() if spec.lo}) > 1,
    ),
    Condition(
        "offset-of-the-output-alone",
        "Views at an offset are made dense on their way in, and the output's offset is lost on the way out.",
        (*ELEMENTWISE, *MOVING, *ALONG, *PICKING, "reduce", "matmul", "fill", "iota", "one_hot"),
        ("offset",),
        lambda launch: launch.descriptor.out.lo > 0 and not any(spec.lo for spec in inputs(launch).values()),
    ),
    Condition(
        "offset-past-a-page",
        "Offsets are added to buffers in units of pages or of descriptors, and the rest is cut to 12 bits.",
        (*ELEMENTWISE, *MOVING, *ALONG, "reduce", "matmul", "gather"),
        ("offset",),
        lambda launch: source(launch).lo * source(launch).itemsize > _PAGE,
    ),
)
"""By theme, each with the mistake that it is taken from."""
