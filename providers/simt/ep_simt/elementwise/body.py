"""Elementwise: the body of families that make each element of out from the elements at its place."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, has_doubles, kind_of, nbytes_of, part_of, unknown
from ep_simt.elementwise.rows import row_of, rows
from ep_simt.elementwise.visit import Layout, layouts, long_rows
from ep_simt.mathematics import mathematics
from ep_simt.packs import pack_words, spread_of
from ep_simt.plan import Given, Launch, Operand, Plan
from ep_simt.program import Entry, Parameter, Program, access, number, storage, taken, tensor, type_words

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.elementwise.rows import Row
    from ep_simt.target import Target

__all__ = ["Elementwise"]

_ATTRIBUTES: Final = 2
_LOOPS: Final = ("dialect/packs.h", "elementwise/loops.h")
_HELD: Final = 64
"""Operands that a work-item which is a loop of its own fetches before it computes with them."""
_SHORT: Final = 2
"""Bytes of integers whose quotients float32 has room for; float64 has for those of twice as many."""
_ROUNDED: Final = ("div", "sqrt", "reciprocal", "reciprocal_no_nan")


class Elementwise(Body):
    """One launch over all elements; families with ops have a program a row of their .def file and element type, the others one a type.

    A program has an entry for each form of its inputs and each layout: the front of a compiler takes longer than they do.
    """

    def __init__(
        self, descriptor: type[ep.Descriptor], *, forms: tuple[str, ...] = ("t",), files: tuple[str, ...] = ()
    ) -> None:
        """Take the kind of descriptor.

        forms : of its inputs, a letter each: t for a tensor, s for a number that is given at launch
        files : of this package, which its text needs beside those that its row calls
        """
        self.descriptor = descriptor
        self._forms = forms
        self._files = files

    def reason(self, key: KernelKey) -> str:
        if lacking := unknown(key.dtypes):
            return lacking
        if rows(key.family) and self._variant(key).row is None:
            return f"{key.family}.def has no row {key.op} for {', '.join(key.dtypes)}"
        return ""

    def needs(self, key: KernelKey) -> tuple[str, ...]:
        return (*super().needs(key), *(("float64",) if self._variant(key, doubles=False).is_in_double else ()))

    def rounds(self, key: KernelKey) -> bool:
        return key.op in _ROUNDED and key.dtypes[0] == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        form = "".join("s" if is_number else "t" for is_number in key.scalars[:-1])
        return (self._variant(key).entry(form, key.layout),)

    def program(self, key: KernelKey, target: Target) -> Program:
        variant = self._variant(key, doubles=target.doubles)
        if self.rounds(key) and not target.rounded:
            variant = variant._replace(compute="f64")
        way = _Way(_HELD if target.group == 1 else 1, _spread(variant, target), _quotient(variant.compute, target))
        return _program(variant, self._forms, self._files, way)

    def plan(self, descriptor: Any, target: Target) -> Plan:
        key, space = descriptor.key, descriptor.geometry
        spread = _spread(self._variant(key), target)
        visit = Layout.of(key).visit(long_rows(space, target), target, spread=spread)
        numbers = iter(range(len(descriptor.specs)))
        places = iter(range(len(descriptor.specs)))
        arguments: list[Any] = [
            Given(next(numbers)) if isinstance(spec, ep.Scalar) else Operand(next(places), spec.itemsize, offset)
            for spec, offset in zip(descriptor.specs, space.offsets, strict=True)
        ]
        if rows(key.family):
            arguments += (*descriptor.attributes, 0.0, 0.0)[:_ATTRIBUTES]
        (entry,) = self.entries(key)
        return Plan((Launch(entry, visit.items, 0, (*arguments, *visit.arguments)),))

    def _variant(self, key: KernelKey, *, doubles: bool = True) -> _Variant:
        return _variant_of(self.descriptor.roles.names, key, doubles=doubles)


class _Variant(NamedTuple):
    """The properties that decide a program.

    op        : "-" where a family has none
    names     : of the operands
    elements  : of every operand, as called in C after `ep_`
    compute   : of the values
    doubles   : whether it may compute in double, where it has a choice
    """

    family: str
    op: str
    names: tuple[str, ...]
    elements: tuple[str, ...]
    compute: str
    wide: bool
    doubles: bool

    @property
    def row(self) -> Row | None:
        """The row of the op; None if there is none that gives this type."""
        found = row_of(self.family, self.op, self.elements[0])
        return found if found and self.elements[-1] == found.result_of(self.elements[0]) else None

    @property
    def is_in_double(self) -> bool:
        """True if it computes in double, whatever its elements are."""
        if has_doubles((self.compute, *self.elements)):
            return True
        return self.row is not None and (self.row.is_in_double if self.doubles else self.row.needs_doubles)

    @property
    def attribute(self) -> str:
        return "f64" if self.is_in_double else "f32"

    @property
    def result(self) -> str:
        """The type of the value that is stored, as called in C after `ep_`."""
        return self.compute if self.row is None else self.row.result_of(self.compute)

    def entry(self, *parts: str) -> str:
        """Return the name of an entry, or of the program."""
        return "_".join((self.family, *(() if self.op == "-" else (self.op,)), *parts))

    def parameters(self, form: str, layout: Layout) -> tuple[Parameter, ...]:
        """Return what an entry takes."""
        operands = zip(self.names, self.elements, f"{form}t", strict=True)
        found = taken(
            *((number(name, self.compute),) if how == "s" else tensor(name, own) for name, own, how in operands)
        )
        attributes = [number(f"p{place}", self.attribute) for place in range(_ATTRIBUTES * bool(rows(self.family)))]
        return taken(found, attributes, layout.parameters)


class _Way(NamedTuple):
    """The properties of a device that decide a program.

    held     : operands that a work-item fetches before it computes with them
    spread   : elements that it visits where neighbours fetch together
    quotient : the floats by which integers are divided, as called in C after `ep_`; "" if they are divided as they are
    """

    held: int
    spread: int
    quotient: str

    def words(self, compute: str) -> dict[str, object]:
        """Return the words of division, which only integers have."""
        if kind_of(compute) != "INTEGER":
            return {}
        truncated = compute if self.quotient == "f64" else "i32"
        floats = {"EP_QUOTIENT": f"ep_{self.quotient}", "EP_TRUNCATED": f"ep_{truncated}"} if self.quotient else {}
        return {"EP_DIVIDES_FLOATS": int(bool(self.quotient)), **floats}


@functools.lru_cache(maxsize=4096)
def _variant_of(names: tuple[str, ...], key: KernelKey, *, doubles: bool) -> _Variant:
    """Return the properties that a key, with operands of these names, decides."""
    elements, compute = tuple(ELEMENTS[dtype] for dtype in key.dtypes), ELEMENTS[key.compute]
    row = row_of(key.family, key.op, elements[0])
    if row is not None and row.kind == "COMPLEX":
        compute = "c128"
    return _Variant(key.family, key.op, names, elements, compute, Layout.of(key).wide, doubles)


@functools.lru_cache(maxsize=4096)
def _spread(variant: _Variant, target: Target) -> int:
    """Return how many elements a work-item visits where neighbours fetch together."""
    if variant.row and variant.row.is_in_double:
        return 1
    return spread_of(variant.elements, target)


def _quotient(compute: str, target: Target) -> str:
    """Return the floats by which a device divides integers faster, as called in C after `ep_`; "" if it does not."""
    if target.group > 1 or kind_of(compute) != "INTEGER":
        return ""
    nbytes = nbytes_of(compute)
    if nbytes <= _SHORT:
        return "f32" if target.rounded else ""
    return "f64" if nbytes == 2 * _SHORT and target.doubles else ""


@functools.lru_cache(maxsize=4096)
def _program(variant: _Variant, forms: tuple[str, ...], files: tuple[str, ...], way: _Way) -> Program:
    """Return the program of a variant."""
    family, _, names, elements, compute, wide, _ = variant
    row = variant.row
    words: dict[str, object] = {
        "EP_HAS_F64": int(variant.is_in_double or way.quotient == "f64"),
        "EP_WIDE": int(wide),
        **pack_words(dict(zip(names, elements, strict=True)), forms, way.spread),
        **type_words(compute),
        "EP_P": f"ep_{variant.attribute}",
        "EP_R": f"ep_{variant.result}",
        "EP_ENTRY(which)": variant.entry("##which"),
    }
    called: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    if row is None:
        words |= {"EP_CONVERT(value)": f"ep_to_{elements[-1]}(value)", "EP_GREATEST": f"ep_greatest_{elements[-1]}"}
    else:
        given = "".join(f"const EP_P {name} = p{place}; " for place, name in enumerate(row.attributes))
        called, values = _called(row.expression, compute, doubles=variant.is_in_double), ("elementwise/values.h",)
        words |= {"EP_VALUE": row.expression, "EP_ATTRIBUTES": given}
        words |= {"EP_IS_STEPPED": int(row.is_stepped), "EP_IS_LIGHT": int(row.is_light), "EP_HELD": way.held}
        words |= way.words(compute)
    for name, element in zip(names, elements, strict=True):
        words |= access(name, element, compute if row else "")
    entries = tuple(
        Entry(variant.entry(form, kind), variant.parameters(form, layout), f"EP_TAKES_{form}_{kind}")
        for form in forms
        for kind, layout in layouts(wide=wide).items()
    )
    return Program(
        "-".join((variant.entry(), *elements, "wide" if wide else "narrow")),
        tuple(words.items()),
        (*storage(elements), *files, *called, *_LOOPS, *values, f"families/{family}/{family}.inc"),
        entries,
    )


def _called(expression: str, compute: str, *, doubles: bool) -> tuple[str, ...]:
    """Return the files that define what a row's expression calls."""
    if kind_of(compute) in {"FLOATING", "COMPLEX"}:
        return mathematics(expression, part_of(compute), doubles=doubles)
    return ("dialect/integers.h",) if kind_of(compute) == "INTEGER" else ()
