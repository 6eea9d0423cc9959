"""The cells of AddN, its reference and its bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import ep
from ep import Descriptor, TensorSpec
from ep_primitives.cases.arrangement import Arrangement, Form, arrangements, dense
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import ALL
from ep_primitives.families.add_n.data import CONTENTS
from ep_primitives.families.add_n.descriptor import AddN
from ep_primitives.families.add_n.situations import TERMS, add_n_model, planned
from ep_primitives.judging.accuracy import EXACT, INTEGRAL, REPRESENTABLE, ROUNDED_ONCE, Accuracy, Conditioned
from ep_primitives.judging.layout import settled
from ep_primitives.judging.origin import broadcast_origin
from ep_primitives.judging.reference import Reference, widened
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives.judging.origin import Index
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["AddNFamily"]

_ROUNDED_RIGHT: Final = 2
"""So many terms have one rounding."""
_WHY: Final = (
    "(n - 1) / 2 for n - 1 roundings in any order, S = |x0| + |x1| + ...: Higham, Accuracy and Stability of Numerical "
    "Algorithms, 2002, section 4.2"
)
_MOST_QUICK: Final = 257 << 10
"""Bytes: elements of one byte are still counted past 16 bits."""
_USUAL: Final = 3
"""Terms of most cases: one that begins, one that goes on, one that ends."""

_WIDER: Final[Mapping[str, Any]] = {"float64": np.longdouble, "complex128": np.clongdouble}
_LONG_EPS: Final = float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
"""2^-11 where a long double has 64 bits of fraction; 1 where it is no wider, and a reference as inexact as a result."""


@dataclass(frozen=True)
class _Plan:
    """Layouts of terms and output, the terms' contents by name in CONTENTS, and the kinds of types with the case."""

    arrangement: Arrangement
    contents: str = ""
    kinds: str = "biufc"
    is_exact: bool = False
    summands: int = 0


class AddNFamily(PlannedFamily):
    """Each element type in each layout, with few and many terms."""

    name: ClassVar[str] = "add_n"
    descriptor: ClassVar[type[Descriptor]] = AddN
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "broadcast", "inplace", "offset", "empty", "rank0")
    has_one_kernel: ClassVar[bool] = True
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "integers-of-8": ("float16", "float32"),
        "integers-of-64": ("bfloat16", "complex64"),
        "cancelling-of-8": ("float32", "complex64"),
        "one-sign-of-3": ("float32", "bfloat16"),
        "one-sign-of-64": ("float16", "float32"),
        "zeros-of-1": ("float32", "float16"),
        "zeros-of-2": ("float32",),
        "zeros-of-5": ("float32",),
        "not-finite-of-4": ("float32", "bfloat16"),
        "size-65-of-64": ("int32",),
        "size-257-of-4": ("bool",),
        "x5-of-6": ("float32",),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in ALL)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return add_n_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return _case(_Plan(planned(layout, row, seed)), signature.out)

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands whose places differ, with their element types."""
        return tuple((name, signature.out) for name in (*TERMS, "out"))

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the arrangements of three terms, then cases of other numbers of terms and of certain contents."""
        dtype = ep.dtype(signature.out)
        for plan in _plans(layout):
            if dtype.kind in plan.kinds and (dtype.itemsize == 1 or not plan.arrangement.is_bytes):
                yield _case(plan, signature.out).quick_up_to(_MOST_QUICK)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the sum in a wider type, and the sum of sizes."""
        dtype, shape = descriptor.out.dtype, descriptor.out.shape
        terms = [widened(dtype, inputs[name]) for name in descriptor.roles.read]
        with np.errstate(all="ignore"):
            if len(terms) <= _ROUNDED_RIGHT or dtype not in _WIDER:
                total = reduce(np.logical_or if dtype == "bool" else np.add, terms)
                is_long = False
            else:
                total = reduce(np.add, [term.astype(_WIDER[dtype]) for term in terms])
                is_long = True
            value = np.asarray(total).astype(terms[0].dtype)
            if ep.dtype(dtype).kind not in "fc":
                return Reference(np.broadcast_to(value, shape))
            scale = np.asarray(reduce(np.add, [np.abs(term) for term in terms]), np.float64)
        scale = scale * (1 + _LONG_EPS) if is_long else scale
        return Reference(np.broadcast_to(value, shape), np.broadcast_to(scale, shape), 0.5 if is_long else 0.0)

    def origin(
        self, descriptor: Descriptor, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of each input that meets it."""
        del inputs, output
        return broadcast_origin(descriptor, at)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:
        """Return exact, of three floats and more Conditioned((n - 1) / 2) over S = |x0| + |x1| + ...

        A term passes through at most n - 1 additions, in any order, each of relative error u = eps / 2: |error| <=
        gamma_(n-1) S, that is (n - 1) / 2 eps S to first order (Higham, Accuracy and Stability of Numerical Algorithms,
        2002, section 4.2). Both parts of a complex sum are within it, and so is the modulus, because the sums of their
        sizes are the sides of a triangle, and its longest side is at most S. Additions that underflow are exact.
        """
        terms = len(descriptor.specs) - 1
        if ep.dtype(descriptor.out.dtype).kind not in "fc":
            return INTEGRAL
        return ROUNDED_ONCE if terms <= _ROUNDED_RIGHT else Conditioned((terms - 1) / 2, why=_WHY)

    def parts(self, descriptor: Descriptor) -> Iterator[AddN]:
        """Yield the first element, the last and all but the first along the widest dimension of a sum that rounds."""
        if self.accuracy(descriptor) != EXACT:
            for window in rows(descriptor.out.shape, range(descriptor.out.ndim)):
                *terms, out = (windowed(spec, window) for spec in descriptor.specs if isinstance(spec, TensorSpec))
                yield AddN(*terms, out=out)


def _case(plan: _Plan, dtype: str) -> Case:
    arrangement = plan.arrangement
    *terms, out = (TensorSpec(dtype, *form) for form in arrangement.forms if form is not None)
    return Case(
        arrangement.name,
        AddN(*terms, out=out),
        partial(_data, plan.contents, terms),
        inplace=None if arrangement.inplace is None else f"x{arrangement.inplace}",
        profile=arrangement.profile,
        shift=arrangement.shift * out.itemsize,
        accuracy=REPRESENTABLE if plan.is_exact else None,
        summands=plan.summands,
        fill="exact" if plan.is_exact else "designed" if plan.contents else "random",
    )


def _data(contents: str, specs: list[TensorSpec], rng: np.random.Generator) -> dict[str, Any]:
    # A repeated term has few values of its own, however large the tensor.
    shapes = [
        tuple(extent if stride else min(extent, 1) for extent, stride in zip(spec.shape, spec.strides, strict=True))
        for spec in specs
    ]
    terms = CONTENTS[contents](rng, specs[0].dtype, shapes)
    pairs = zip(specs, terms, strict=True)
    return {f"x{place}": settled(spec, np.broadcast_to(term, spec.shape)) for place, (spec, term) in enumerate(pairs)}


def _plans(layout: str) -> Iterator[_Plan]:
    for arrangement in arrangements(layout, _terms(_USUAL)):
        yield _Plan(arrangement)
    if layout in _MORE:
        yield from _MORE[layout]


def _terms(count: int) -> list[str]:
    return [f"x{number}" for number in range(count)]


def _named(layout: str, name: str, count: int) -> _Plan:
    """Return an arrangement of a layout for another number of terms."""
    arrangement = next(each for each in arrangements(layout, _terms(count)) if each.name == name)
    return _Plan(Arrangement(f"{name}-of-{count}", arrangement.forms, arrangement.inplace, arrangement.shift))


def _held(contents: str, size: int, count: int, **more: Any) -> _Plan:
    return _Plan(dense(f"{contents}-of-{count}", (size,), count), contents, **more)


_WHOLE: Final = Form((9, 65))
_MORE: Final[Mapping[str, tuple[_Plan, ...]]] = {
    "dense": (
        *(_named("dense", f"size-{size}", count) for count in (1, 2, 4) for size in (257, 1025)),
        _named("dense", "size-257", 8),
        _named("dense", "size-65", 64),
        _held("integers", 257, 8, kinds="fc", is_exact=True),
        _held("integers", 65, 64, kinds="fc", is_exact=True),
        _held("cancelling", 257, 8, kinds="fc"),
        _held("cancelling", 65, 64, kinds="fc"),
        _held("one-sign", 1025, 3, kinds="f", summands=3),
        _held("one-sign", 257, 64, kinds="f", summands=64),
        _held("zeros", 257, 1, kinds="f", is_exact=True),
        _held("zeros", 257, 2, kinds="f", is_exact=True),
        _held("zeros", 257, 5, kinds="f", is_exact=True),
        _held("not-finite", 625, 4, kinds="f", is_exact=True),
    ),
    "strided": (_named("strided", "transposed", 8), _named("strided", "negative-strides", 2)),
    "broadcast": (
        _named("broadcast", "outer", 8),
        _named("broadcast", "ranks", 64),
        _named("broadcast", "row-right", 2),
        _named("broadcast", "row", 1),
        _Plan(Arrangement("mixed-of-5", (Form((65,)), Form(()), Form((9, 1)), _WHOLE, Form((1, 1)), _WHOLE))),
    ),
    "inplace": (
        _named("inplace", "x0", 1),
        _named("inplace", "x1", 2),
        _named("inplace", "x0-broadcast", 8),
        _named("inplace", "x5", 6),
        _named("inplace", "x63-broadcast", 64),
    ),
    "offset": (_named("offset", "odd", 5),),
    "rank0": (_named("rank0", "one", 1), _named("rank0", "one", 64)),
}
"""By layout, the plans beside the one of three random terms."""
