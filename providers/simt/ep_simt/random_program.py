"""The programs of RandomFill: one for each way that an element is stored, with all its distributions as entries."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_primitives.families.random_fill.rows import words_each

import ep
from ep_simt.program import Parameter
from ep_simt.rows import text

if TYPE_CHECKING:
    from ep.layout.dims import Geometry
    from ep.work.descriptor import Descriptor
    from ep.work.key import KernelKey

__all__ = ["ADVANCE", "ADVANCE_PARAMETERS", "RandomProgram", "random_entry_of", "random_program_of"]

ADVANCE: Final = "random_fill_advance"
"""The entry that a launch enqueues behind the fill, with one work-item."""
ADVANCE_PARAMETERS: Final = (Parameter("memory", 0, ""), Parameter("offset", 0, "i64"), Parameter("number", 0, "u64"))
"""The state, and how many words were taken."""

_FLOATS: Final = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
_UNIFORM_BITS: Final = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_FILES: Final = ("dialect.h", "math.h", "loops.h", "philox.h", "normal_quantile.h", "random_fill.inc")


class RandomProgram(NamedTuple):
    """One source text with the fills of outputs that are stored alike, and the entry ADVANCE.

    element  : of the output, as called in C after `ep_`; integers are unsigned, because all wrap
    each     : words that an element takes
    strided  : True if the entries take a geometry, False if they take a count
    wide     : True if the geometry needs 64-bit integers
    """

    element: str
    each: int
    strided: bool
    wide: bool

    @property
    def name(self) -> str:
        """A readable name, for logs and for files."""
        layout = ("wide" if self.wide else "strided") if self.strided else "dense"
        return f"random_fill-{self.element}-{layout}"

    @property
    def ops(self) -> tuple[str, ...]:
        """The distributions that are entries of this program."""
        if self.element == "bool":
            return ("bernoulli",)
        if self.element in _UNIFORM_BITS:
            return ("uniform", "normal")
        return ("words", "integers")

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of the kernels in the source."""
        return (*(f"random_fill_{op}" for op in self.ops), ADVANCE)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of every fill, in order: state, out, the descriptor's `limits`, then the geometry."""
        found = [
            Parameter(role, place, "i64" * (role == "offset")) for place in (0, 1) for role in ("memory", "offset")
        ]
        found += [Parameter("number", place, "u64") for place in (0, 1)]
        if self.strided:
            return (*found, Parameter("geometry", 0, ""))
        return (*found, Parameter("count", 0, "i64"), Parameter("run", 0, "i64"))

    def space_of(self, descriptor: Descriptor) -> Geometry:
        """Return what the entries walk: the output alone, in the order of its elements."""
        space = descriptor.geometry
        return space._replace(strides=space.strides[-1:], offsets=space.offsets[-1:])

    def source(self, prelude: str) -> str:
        """Return the whole text for a compiler whose prelude is given; it includes nothing."""
        defines = (f"#define {word} {meaning}" for word, meaning in self._words().items())
        return "\n".join((*defines, prelude, *map(text, _FILES)))

    def _words(self) -> dict[str, object]:
        is_floating = self.element in _UNIFORM_BITS
        compute = ("f64" if self.element == "f64" else "f32") if is_floating else self.element
        words: dict[str, object] = {
            "EP_HAS_F64": int(self.element == "f64"),
            "EP_STRIDED": int(self.strided),
            "EP_WIDE": int(self.wide),
            "EP_EACH": self.each,
            "EP_ELEMENT": f"ep_{self.element}",
            "EP_STORE": f"ep_store_{self.element}",
            "EP_SHARE": f"ep_share_u{32 * self.each}",
            "EP_C": f"ep_{compute}",
            "EP_OF(name)": f"name##_{compute}",
            "EP_FLOATING": int(is_floating),
            "EP_BOOLEAN": int(self.element == "bool"),
            "EP_INTEGER": int(not is_floating and self.element != "bool"),
        }
        if is_floating:
            normal_bits = 52 if self.each > 1 else 32
            words |= {
                "EP_SIGNED": f"ep_i{32 * self.each}",
                "EP_BITS": _UNIFORM_BITS[self.element],
                "EP_STEP": _power_of_half(_UNIFORM_BITS[self.element], compute),
                "EP_NORMAL_BITS": normal_bits,
                "EP_NORMAL_STEP": _power_of_half(normal_bits, compute),
            }
        return words


def _power_of_half(exponent: int, compute: str) -> str:
    return f"{2.0**-exponent!r}{'f' if compute == 'f32' else ''}"


@functools.lru_cache(maxsize=4096)
def random_program_of(key: KernelKey) -> RandomProgram:
    """Return the program that holds the entry of a kernel key of RandomFill."""
    dtype = key.dtypes[-1]
    element = "bool" if dtype == "bool" else _FLOATS.get(dtype) or f"u{8 * ep.dtype(dtype).itemsize}"
    strided = key.layout == "strided"
    return RandomProgram(element, words_each(dtype), strided, strided and key.wide)


def random_entry_of(key: KernelKey) -> str:
    """Return the name of the fill that runs a kernel key of RandomFill."""
    return f"random_fill_{key.op}"
