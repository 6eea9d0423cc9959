"""Family AddN: out = x0 + x1 + ..., the sum of 1 to 64 tensors, one element at a time.

shapes       : every term broadcasts to out; any strides
dtypes       : all terms and out have one, which is bool, an integer, a float or complex; a sum of bools is true where any of them is
accumulation : float32 for float16 and bfloat16, rounded once; else the type itself, and integers wrap modulo 2^n. The order is
               x0 + x1, then + x2 and so on, left to right. Two terms are rounded right; n terms are within (n - 1) / 2 eps of
               the sum of their sizes. Where a partial sum overflows, the result is unspecified
NaN          : a NaN term gives NaN, as do infinities of both signs; it may have any payload
infinities   : an infinite term gives its infinity, if all infinite terms have one sign
signed zero  : a sum of -0 alone is -0; of one and two terms IEEE 754 holds, of more the sign of another zero is open
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its terms and their order alone
in place     : out may be any term: the same memory, offset, shape and strides
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Final, Self

from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.descriptors.validation import (
    broadcast_shape,
    check_dtype,
    check_input,
    check_output,
    chosen_output,
    described,
)
from ep_primitives.elementwise.op import ALL

__all__ = ["MOST_TERMS", "AddN"]

MOST_TERMS: Final = 64
"""As many tensors can be summed at once."""


class AddN(Descriptor):
    """out = x0 + x1 + ...; the terms are broadcast to the shape of out. A launch names them x0, x1, ...

    x   : 1 to 64 tensors that broadcast to out.shape, one dtype of ALL; read
    out : the dtype of the terms; written; may be the same memory as any of them

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "add_n"

    def __init__(self, *x: TensorSpec, out: TensorSpec) -> None:
        check_output("add_n", out)
        _check_count(x)
        for name, spec in zip(_names(len(x)), x, strict=True):
            check_input("add_n", name, spec, out)
            check_dtype("add_n", name, spec, ALL if name == "x0" else (x[0].dtype,))
        check_dtype("add_n", "out", out, (x[0].dtype,))
        self._freeze("-", (*x, out))

    @classmethod
    def infer(cls, *x: Any, out: Any = None) -> Self:
        """Return the descriptor; the terms and out are TensorSpecs or arrays.

        Without out it is dense, of the shape that all terms broadcast to.
        """
        _check_count(x)
        named = {name: described("add_n", name, thing) for name, thing in zip(_names(len(x)), x, strict=True)}
        shape = broadcast_shape("add_n", {name: spec.shape for name, spec in named.items()})
        return cls(*named.values(), out=chosen_output("add_n", out, named["x0"].dtype, shape))

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # as many as there are terms
        """The roles of the operands."""
        return _roles(len(self.specs) - 1)

    @property
    def flops(self) -> int:
        """An addition for each term but the first; of complex numbers two."""
        return self.out.size * (len(self.specs) - 2) * (2 if self.out.dtype.startswith("complex") else 1)


@cache
def _names(count: int) -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(count))


@cache
def _roles(count: int) -> Roles:
    return Roles(*(Role.input(name, shares=("out",)) for name in _names(count)), Role.output("out"))


def _check_count(x: tuple[Any, ...]) -> None:
    if not 1 <= len(x) <= MOST_TERMS:
        message = f"add_n: {len(x)} terms given, needs 1 to {MOST_TERMS}; give them in order, and add up parts of more"
        raise ValueError(message)
