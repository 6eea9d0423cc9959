"""Elementwise: the body of families that make each element of out from the elements at its place."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_simt.body import Body
from ep_simt.elements import ELEMENTS, kind_of, unknown
from ep_simt.elementwise.rows import Row, rows
from ep_simt.elementwise.visit import Layout
from ep_simt.plan import Given, Launch, Operand, Plan
from ep_simt.program import Entry, Parameter, Program, access, number, taken, tensor

if TYPE_CHECKING:
    from ep.work.key import KernelKey

    from ep_simt.target import Target

__all__ = ["Elementwise"]

_KINDS: Final = ("BOOLEAN", "INTEGER", "FLOATING")
_HEADERS: Final = ("dialect/math.h", "dialect/gauss.h", "elementwise/loops.h")
_ATTRIBUTES: Final = 2
_ROUNDED: Final = ("div", "sqrt")


class Elementwise(Body):
    """One launch over all elements; families with ops have an entry a row of their .def file, the others one."""

    def __init__(self, descriptor: type[ep.Descriptor], *, moves_bits: bool = False) -> None:
        """Take the kind of descriptor.

        moves_bits : True if elements are words of their length, so that all types of one length share a program
        """
        self.descriptor = descriptor
        self._moves_bits = moves_bits

    def reason(self, key: KernelKey) -> str:
        if lacking := unknown(key.dtypes):
            return lacking
        if self.entries(key)[0] not in self._variant(key).entries:
            return f"{key.family}.def has no row {key.op} for {', '.join(key.dtypes)}"
        return ""

    def rounds(self, key: KernelKey) -> bool:
        return key.op in _ROUNDED and key.dtypes[0] == "float32"

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (key.family if key.op == "-" else f"{key.family}_{key.op}",)

    def program(self, key: KernelKey, target: Target) -> Program:
        del target
        return _program(self._variant(key))

    def plan(self, descriptor: Any, target: Target) -> Plan:
        key, space = descriptor.key, descriptor.geometry
        visit = _layout(key).visit(space, target)
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

    def _variant(self, key: KernelKey) -> _Variant:
        if self._moves_bits:
            compute = f"u{8 * ep.dtype(key.dtypes[0]).itemsize}"
            elements: tuple[str, ...] = (compute,) * len(key.dtypes)
        else:
            elements, compute = tuple(ELEMENTS[dtype] for dtype in key.dtypes), ELEMENTS[key.compute]
        names = tuple(self.descriptor.roles.names)
        return _Variant(key.family, names, elements, compute, key.scalars, _layout(key))


def _layout(key: KernelKey) -> Layout:
    strided = key.layout == "strided"
    return Layout(strided, strided and key.wide)


class _Variant(NamedTuple):
    """The properties that decide a program.

    names     : of the operands
    elements  : of every operand, as called in C after `ep_`
    compute   : of the values
    scalars   : for each operand True if it is a number given at launch
    """

    family: str
    names: tuple[str, ...]
    elements: tuple[str, ...]
    compute: str
    scalars: tuple[bool, ...]
    layout: Layout

    @property
    def ops(self) -> tuple[Row, ...]:
        """The rows that are entries of this program; none for a family without ops."""
        kind = kind_of(self.elements[0])
        return tuple(row for row in rows(self.family) if row.kind == kind and self.gives(row.result))

    @property
    def entries(self) -> tuple[str, ...]:
        return tuple(f"{self.family}_{row.op}" for row in self.ops) or (self.family,)

    @property
    def attribute(self) -> str:
        return "f64" if self.compute == "f64" else "f32"

    def gives(self, result: str) -> bool:
        return self.elements[-1] == ("bool" if result == "TEST" else self.elements[0])

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        operands = zip(self.names, self.elements, self.scalars, strict=True)
        found = taken(*((number(name, self.compute),) if given else tensor(name, own) for name, own, given in operands))
        attributes = [number(f"p{place}", self.attribute) for place in range(_ATTRIBUTES * bool(rows(self.family)))]
        return taken(found, attributes, self.layout.parameters)


@functools.lru_cache(maxsize=4096)
def _program(variant: _Variant) -> Program:
    """Return the program of a variant."""
    family, names, elements, compute, scalars, layout = variant
    words: dict[str, object] = {
        "EP_HAS_F64": int("f64" in elements),
        **layout.words,
        "EP_C": f"ep_{compute}",
        "EP_P": f"ep_{variant.attribute}",
        "EP_R": "ep_bool" if elements[-1] == "bool" else f"ep_{compute}",
        "EP_OF(name)": f"name##_{compute}",
        "EP_CONVERT(value)": f"ep_{elements[-1]}_{compute}(value)",
    }
    words |= {f"EP_RESULT_{result}(row)": "row" if variant.gives(result) else "" for result in ("SAME", "TEST")}
    words |= {f"EP_KIND_{each}(row)": "row" if each == kind_of(elements[0]) else "" for each in _KINDS}
    for name, element, given in zip(names, elements, scalars, strict=True):
        words |= {f"EP_LOAD_{name}(i)": name} if given else access(name, element)
    how = "".join("s" if given else "t" for given in scalars)
    return Program(
        "-".join((family, *elements, how, layout.name)),
        tuple(words.items()),
        (*_HEADERS, f"families/{family}/{family}.inc"),
        tuple(Entry(name, variant.parameters) for name in variant.entries),
    )
