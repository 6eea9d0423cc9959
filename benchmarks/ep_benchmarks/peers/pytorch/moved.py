"""PyTorch's forms of the families that move, select and make elements."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

__all__ = ["FORMS"]


def _copy(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del descriptor
    return partial(outs["out"].copy_, given["x"])


def _permute(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    return partial(outs["out"].copy_, given["x"].permute(descriptor.permutation))


def _fill(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any]:
    del descriptor
    return partial(outs["out"].fill_, given["value"])


def _iota(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    start, step, out = given["start"], given["step"], outs["out"]
    if descriptor.out.ndim != 1:
        return None
    return lambda: torch.arange(start, start + step * out.numel(), step, out=out)


def _pad(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, out = given["x"], outs["out"]
    if descriptor.op == "constant":
        value, inner = given["value"], out
        for dimension, (before, extent) in enumerate(zip(descriptor.before, x.shape, strict=True)):
            inner = inner.narrow(dimension, before, extent)

        def pad() -> None:
            out.fill_(value)
            inner.copy_(x)

        return pad
    flat = [side for pair in zip(descriptor.before[:-3:-1], descriptor.after[:-3:-1], strict=True) for side in pair]
    if descriptor.op != "reflect" or x.ndim != 4 or any(descriptor.before[:2]):  # noqa: PLR2004 - images
        return None
    return lambda: torch._C._nn.reflection_pad2d(x, flat, out=out)  # noqa: SLF001 - its only name with out=


def _gather(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    x, indices, axis, out = given["x"], given["indices"], descriptor.axis, outs["out"]
    if indices.ndim != 1 or descriptor.batch_dims:
        return None
    return lambda: torch.index_select(x, axis, indices, out=out)


def _one_hot(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    indices, out, on, off = given["indices"].unsqueeze(-1), outs["out"], given["on"], given["off"]
    if descriptor.first or descriptor.axis != descriptor.out.ndim - 1:
        return None

    def mark() -> None:
        out.fill_(off)
        out.scatter_(-1, indices, on)

    return mark


def _random(descriptor: Any, given: Mapping[str, Any], outs: Mapping[str, Tensor]) -> Callable[[], Any] | None:
    out = outs["out"]
    forms = {"uniform": out.uniform_, "normal": out.normal_, "bernoulli": partial(out.bernoulli_, given.get("p"))}
    return forms.get(descriptor.op)


FORMS: Final = {
    "copy": _copy,
    "tensor_fill": _copy,
    "permute": _permute,
    "fill": _fill,
    "iota": _iota,
    "pad": _pad,
    "gather": _gather,
    "one_hot": _one_hot,
    "random_fill": _random,
}
