"""Programs: the source text that a kernel key needs, its entries and their parameters, for any vendor's prelude.

One program holds all ops of a (family, dtypes, layout class) as entries, because compilers take far longer to begin
than to compile one more entry. A vendor supplies the prelude's text and a compile function; see README.md.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill

import ep
from ep_simt.rows import Row, rows, text

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.descriptor import Descriptor
    from ep.work.key import KernelKey

__all__ = ["ELEMENTS", "Parameter", "Program", "entry_of", "program_of", "require"]

ELEMENTS: Final = {"bool": "bool", "int32": "i32", "float16": "f16", "float32": "f32", "float64": "f64"}
"""The element types that the dialect computes with, and how they are called in C after `ep_`."""

_OPERANDS: Final = {
    family.family: family.roles.names for family in (BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill)
}

_KINDS: Final = ("BOOLEAN", "INTEGER", "FLOATING")

_ATTRIBUTES: Final = 2


class Parameter(NamedTuple):
    """One parameter of an entry.

    role     : "memory" and "offset" (in elements) for a tensor, "scalar", "attribute", then "count" and "run" of a dense
               program or the "geometry" of a strided one
    place    : which operand, or which attribute, counted from 0
    element  : how a number is called in C after `ep_`, such as "f32"; "" for a memory and a geometry
    """

    role: str
    place: int
    element: str


class Program(NamedTuple):
    """One source text with all its entries.

    elements  : of every operand, as called in C after `ep_`
    compute   : of the values
    scalars   : for each operand True if it is a number given at launch
    strided   : True if the entries take a geometry, False if they take a count
    wide      : True if the geometry needs 64-bit integers
    """

    family: str
    elements: tuple[str, ...]
    compute: str
    scalars: tuple[bool, ...]
    strided: bool
    wide: bool

    @property
    def name(self) -> str:
        """A readable name, for logs and for files."""
        layout = ("wide" if self.wide else "strided") if self.strided else "dense"
        scalars = "".join("s" if scalar else "t" for scalar in self.scalars)
        return "-".join((self.family, *self.elements, scalars, layout))

    @property
    def ops(self) -> tuple[Row, ...]:
        """The rows that are entries of this program; none for a family without ops."""
        kind = _kind_of(self.elements[0])
        return tuple(row for row in rows(self.family) if row.kind == kind and self._gives(row.result))

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the kernels in the source."""
        return tuple(f"{self.family}_{row.op}" for row in self.ops) or (self.family,)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of every entry, in order."""
        found = []
        for place, is_scalar in enumerate(self.scalars):
            if is_scalar:
                found.append(Parameter("scalar", place, self.compute))
            else:
                found += [Parameter("memory", place, ""), Parameter("offset", place, "i64")]
        if rows(self.family):
            found += [Parameter("attribute", place, self._attribute) for place in range(_ATTRIBUTES)]
        if self.strided:
            return (*found, Parameter("geometry", 0, ""))
        return (*found, Parameter("count", 0, "i64"), Parameter("run", 0, "i64"))

    def space_of(self, descriptor: Descriptor) -> Geometry:
        """Return what the entries walk: all operands."""
        return descriptor.geometry

    def source(self, prelude: str) -> str:
        """Return the whole text for a compiler whose prelude is given; it includes nothing."""
        files = ("dialect.h", "math.h", "gauss.h", "loops.h", f"{self.family}.inc")
        return "\n".join((self._defines(), prelude, *map(text, files)))

    def _gives(self, result: str) -> bool:
        return self.elements[-1] == ("bool" if result == "TEST" else self.elements[0])

    @property
    def _attribute(self) -> str:
        return "f64" if self.compute == "f64" else "f32"

    def _defines(self) -> str:
        words = {
            "EP_HAS_F64": int("f64" in self.elements),
            "EP_STRIDED": int(self.strided),
            "EP_WIDE": int(self.wide),
            "EP_C": f"ep_{self.compute}",
            "EP_P": f"ep_{self._attribute}",
            "EP_R": "ep_bool" if self.elements[-1] == "bool" else f"ep_{self.compute}",
            "EP_OF(name)": f"name##_{self.compute}",
            "EP_CONVERT(value)": f"ep_{self.elements[-1]}_{self.compute}(value)",
        }
        kind = _kind_of(self.elements[0])
        words |= {f"EP_RESULT_{result}(row)": "row" if self._gives(result) else "" for result in ("SAME", "TEST")}
        words |= {f"EP_KIND_{each}(row)": "row" if each == kind else "" for each in _KINDS}
        for name, element, scalar in zip(_OPERANDS[self.family], self.elements, self.scalars, strict=True):
            words |= _operand(name, element, self.compute, scalar=scalar)
        return "\n".join(f"#define {word} {meaning}".rstrip() for word, meaning in words.items())


def _operand(name: str, element: str, compute: str, *, scalar: bool) -> dict[str, str]:
    if scalar:
        return {f"EP_PARAMETER_{name}": f"const ep_{compute} {name}", f"EP_LOAD_{name}(i)": name}
    if name == "out":
        return {
            "EP_PARAMETER_out": f"EP_GLOBAL ep_{element} *out, const ep_i64 out_at",
            "EP_STORE_out(i, value)": f"ep_store_{element}(out, out_at + (i), value)",
        }
    return {
        f"EP_PARAMETER_{name}": f"EP_GLOBAL const ep_{element} *{name}, const ep_i64 {name}_at",
        f"EP_LOAD_{name}(i)": f"ep_load_{element}({name}, {name}_at + (i))",
    }


def _kind_of(element: str) -> str:
    return "BOOLEAN" if element == "bool" else "FLOATING" if element[0] == "f" else "INTEGER"


@functools.lru_cache(maxsize=4096)
def program_of(key: KernelKey) -> Program:
    """Return the program that holds the entry of a kernel key; keys that differ only in the op share it."""
    if key.family == "copy":
        # A copy moves bits, so that element types of one length share a program.
        compute = f"u{8 * ep.dtype(key.dtypes[0]).itemsize}"
        elements: tuple[str, ...] = (compute, compute)
    else:
        elements = tuple(ELEMENTS[dtype] for dtype in key.dtypes)
        compute = ELEMENTS[key.compute]
    strided = key.layout == "strided"
    return Program(key.family, elements, compute, key.scalars, strided, strided and key.wide)


def entry_of(key: KernelKey) -> str:
    """Return the name of the entry that runs a kernel key."""
    return key.family if key.op == "-" else f"{key.family}_{key.op}"


def require(descriptor: Descriptor, info: ep.DeviceInfo) -> None:
    """Raise UnsupportedError, saying why, unless a body exists for the descriptor, and the device has its element types."""
    key = descriptor.key
    is_random = key.family == "random_fill"
    reason = "" if is_random else _reason(key)
    # Random numbers are made of words, and stored as any element type; only float64 is computed with.
    used = [dtype for dtype in key.dtypes if dtype == "float64"] if is_random else key.dtypes
    lacking = [dtype for dtype in used if dtype not in info.dtypes]
    if reason or lacking:
        raise ep.UnsupportedError(reason or f"{info.name} has no {lacking[0]}")


@functools.lru_cache(maxsize=4096)
def _reason(key: KernelKey) -> str:
    """Return why no body exists for a key, "" if one does."""
    if key.family not in _OPERANDS:
        return f"the portable bodies have no family {key.family}"
    unknown = sorted({dtype for dtype in key.dtypes if dtype not in ELEMENTS})
    if unknown:
        return f"the dialect has no {', '.join(unknown)}; it has {', '.join(ELEMENTS)}"
    if entry_of(key) not in program_of(key).entries:
        return f"{key.family}.def has no row {key.op} for {', '.join(key.dtypes)}"
    return ""
