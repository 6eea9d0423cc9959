"""BatchNorm: one launch over the channels, which leaves two numbers for each in scratch, and one over the elements."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep.layout.dims import merge
from ep_primitives import BatchNorm
from ep_primitives.descriptors.channels import spread

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS
from ep_simt.elementwise.visit import Layout, long_rows
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Launch, Operand, Plan, operands_of
from ep_simt.program import Entry, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["BODY"]

_FILES: Final = ("dialect/packs.h", "elementwise/loops.h", "families/batch_norm/batch_norm.inc")
_CHANNELWISE: Final = ("mean", "variance", "scale", "bias")
_ABSENT: Final = {"EP_LOAD_scale(i)": "1", "EP_LOAD_bias(i)": "0"}


class _Variant(NamedTuple):
    """The properties that decide a program; types as called in C after `ep_`.

    given  : the operands of one number a channel that are there
    """

    element: str
    given: tuple[str, ...]
    compute: str
    wide: bool
    target: Target


class _BatchNorm(Body):
    """Two launches: over channels, then over the elements of y."""

    descriptor = BatchNorm

    def rounds(self, key: KernelKey) -> bool:
        return key.compute == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        del key
        return "batch_norm_factors", "batch_norm"

    def program(self, key: KernelKey, target: Target) -> Program:
        _, *own, _ = key.dtypes
        given = tuple(name for name, dtype in zip(_CHANNELWISE, own, strict=True) if dtype)
        return _program(_Variant(ELEMENTS[key.dtypes[0]], given, ELEMENTS[key.compute], key.wide, target))

    def plan(self, descriptor: BatchNorm, target: Target) -> Plan:
        x, y, axis, wide = descriptor.x, descriptor.out, descriptor.axis, descriptor.key.wide
        channels, itemsize = x.shape[axis], ep.dtype(descriptor.compute).itemsize
        factors = Operand(len(descriptor.tensors), itemsize)
        numbers = spread(ep.TensorSpec(descriptor.compute, (channels,)), axis, x.ndim)
        space = merge(y, (x, numbers, y))
        first, *own, last = operands_of(descriptor, descriptor.geometry.offsets)
        steps = [spec.strides[0] if isinstance(spec, ep.TensorSpec) else 0 for spec in descriptor.specs[1:-1]]
        run = max(target.run, 1)
        over_channels = Launch(
            "batch_norm_factors", -(-channels // run), 0, (*own, factors, descriptor.epsilon, *steps, channels, run)
        )
        each = spread_of((ELEMENTS[x.dtype],), target)
        visit = Layout(strided=True, wide=wide).visit(long_rows(space, target), target, spread=each)
        over_elements = Launch("batch_norm", visit.items, 0, (first, factors, last, channels, *visit.arguments))
        return Plan((over_channels, over_elements), 2 * channels * itemsize)


BODY: Final[Body] = _BatchNorm()


@functools.lru_cache(maxsize=1024)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    element, given, compute, wide, target = variant
    words: dict[str, Any] = {
        **_ABSENT,
        **target.rounding_words(compute),
        "EP_C": f"ep_{compute}",
        "EP_OF(name)": f"name##_{compute}",
        "EP_WIDE": int(wide),
        **pack_words({"x": element, "factors": None, "y": element}, ("ts",), spread_of((element,), target)),
        **access("factors", compute),
    }
    for name in ("x", *given, "y"):
        words |= access(name, element)
    over_channels = taken(
        *(tensor(name, element) for name in given),
        tensor("factors", compute),
        [number("epsilon", compute)],
        [number(f"{name}_step", "i64") for name in _CHANNELWISE],
        Layout(strided=False, wide=False).parameters,
    )
    over_elements = taken(
        tensor("x", element),
        tensor("factors", compute),
        tensor("y", element),
        [number("channels", "i64")],
        Layout(strided=True, wide=wide).parameters,
    )
    entries = (
        Entry("batch_norm_factors", over_channels, "EP_FACTORS_TAKES", frozenset({"factors"})),
        Entry("batch_norm", over_elements, writes=frozenset({"y"})),
    )
    name = "-".join(("batch_norm", element, *given[2:], "wide" if wide else "narrow"))
    return Program(name, tuple(words.items()), _FILES, entries)
