"""Elementwise rows: any axis may be split, and linear rows keep partial sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import BINARY_OPS, UNARY_OPS, BroadcastBinary, ElementwiseUnary

import ep
from ep_sharded.placement import LINEAR, Partial
from ep_sharded.rules.rule import OUT, Rule, Signature, aligned, everywhere

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BINARY", "UNARY"]

_LINEAR_UNARY: Final = {"identity", "negative"}
_ADDITIVE: Final = {"add", "sub"}
_EXTREMES: Final = {"max", "min"}


def _tensors(descriptor: ep.Descriptor) -> dict[str, ep.TensorSpec]:
    named = zip(descriptor.operands, descriptor.specs, strict=True)
    return {name: spec for name, spec in named if isinstance(spec, ep.TensorSpec) and name != OUT}


def _split(descriptor: ep.Descriptor) -> list[Signature]:
    """Return the signature without parts, and for each axis of out the one that splits it."""
    tensors, shape = _tensors(descriptor), descriptor.out.shape
    found = [everywhere([*tensors])]
    for axis, extent in enumerate(shape):
        named = {**tensors, OUT: descriptor.out}
        found.append({name: aligned(spec, len(shape), axis, extent) for name, spec in named.items()})
    return found


def _unary(descriptor: ElementwiseUnary, ranks: int) -> list[Signature]:
    del ranks
    found = _split(descriptor)
    if descriptor.op in _LINEAR_UNARY:
        found += [everywhere(["x"], Partial(op)) for op in LINEAR]
    return found


def _binary(descriptor: BroadcastBinary, ranks: int) -> list[Signature]:
    del ranks
    op, found = descriptor.op, _split(descriptor)
    tensors = [*_tensors(descriptor)]
    if op in _ADDITIVE and len(tensors) > 1:
        found += [everywhere(tensors, Partial(each)) for each in LINEAR]
    if op in _EXTREMES and len(tensors) > 1:
        found.append(everywhere(tensors, Partial(op)))
    # One factor is partial, and each of its terms meets all of the other. Integers' quotients are cut, so not linear.
    is_quotient = op == "div" and ep.dtype(descriptor.out.dtype).kind in "fc"
    for name in ("a", "b") if op == "mul" else ("a",) if is_quotient else ():
        if name in tensors:
            found += [{**everywhere(tensors), name: Partial(each), OUT: Partial(each)} for each in LINEAR]
    return found


def _unary_part(descriptor: ElementwiseUnary, specs: Mapping[str, ep.TensorSpec]) -> ep.Descriptor:
    names = [attribute.name for attribute in UNARY_OPS[descriptor.op].attributes]
    return ElementwiseUnary(
        descriptor.op, x=specs["x"], out=specs[OUT], **dict(zip(names, descriptor.attributes, strict=True))
    )


def _binary_part(descriptor: BroadcastBinary, specs: Mapping[str, ep.TensorSpec]) -> ep.Descriptor:
    names = [attribute.name for attribute in BINARY_OPS[descriptor.op].attributes]
    a, b = (specs.get(name, spec) for name, spec in zip("ab", descriptor.specs, strict=False))  # a Scalar stays
    attributes = dict(zip(names, descriptor.attributes, strict=True))
    return BroadcastBinary(descriptor.op, a=a, b=b, out=specs[OUT], **attributes)


UNARY: Final = Rule(_unary, _unary_part)
BINARY: Final = Rule(_binary, _binary_part, multiplies=lambda descriptor: descriptor.op in {"mul", "div"})
