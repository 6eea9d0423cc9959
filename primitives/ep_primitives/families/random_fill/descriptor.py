"""Family RandomFill: random numbers from a generator whose state lies in device memory and is advanced by each launch.

shapes       : out of any shape and strides; bytes between its elements stay
dtypes       : the row's
accumulation : none
generator    : Philox-4x32-10. Word n of a seed's sequence, n and seed of 64 bits, is word n mod 4 of the block whose counter
               is n div 4, in the two low words of four, and whose key is the seed, low half first. After word 2^64 - 1 comes
               word 0. For a seed below 2^32 the sequence is the one of C++26's std::philox4x32(seed) from its first call on
state        : uint64[2], the seed and the number of the next word. Read when the stream gets there; then the second number
               grows by the words taken, modulo 2^64, before later work of the stream sees it. The seed stays
elements     : element i, in row-major order of out whatever its strides, takes words [k i, k i + k) from the next word on;
               k = 2 for elements of 8 bytes, of which the first word is the low half, else 1
values       : a row each, see `rows`: words, uniform, normal, bernoulli, integers
NaN          : never drawn; p of bernoulli must not be one; words are bits, not numbers
infinities   : never drawn; normal numbers are finite
signed zero  : uniform draws +0; normal draws neither zero
empty        : an output without elements is legal, nothing is launched and the state stays
determinism  : words, uniform, bernoulli and integers are the same bits on every provider; all are the same bits for any
               number of threads and any split of a sequence into launches
in place     : state and out share no byte
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.dtypes import DTYPES
from ep.ground.glimpse import glimpse
from ep.layout.dims import merge

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.descriptors.validation import check_dtype, check_output, chosen_row, described
from ep_primitives.families.random_fill.rows import RANDOM_OPS, words_each

if TYPE_CHECKING:
    from ep.layout.dims import Geometry

__all__ = ["STATE", "RandomFill"]

STATE: Final = TensorSpec("uint64", (2,))
"""How a generator's state lies in its memory: the seed, then the number of the next word."""

_MODULUS: Final = 2**64


class RandomFill(Descriptor):
    """out = numbers of a distribution, made of the words that the state names.

    op        : a name in RANDOM_OPS
    state     : STATE; read, and advanced by `words`
    p         : of bernoulli, Scalar float64; at launch from 0 to 1
    low, high : of integers, Scalars of the dtype of out; at launch low <= high, the ends of the range, both possible
    out       : one of the row's dtypes; written

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "random_fill"

    def __init__(self, op: str, *, out: TensorSpec, state: TensorSpec = STATE, **numbers: Scalar) -> None:
        row = chosen_row(self.family, op, RANDOM_OPS)
        check_output(op, out)
        check_dtype(op, "out", out, row.dtypes)
        if type(state) is not TensorSpec or state != STATE:
            message = (
                f"{op}: state is {glimpse(state)}, needs {STATE!r}; give a view of the memory that begins with the seed"
            )
            raise ValueError(message)
        needed = {name: Scalar(dtype or out.dtype) for name, dtype in row.numbers}
        if unlike := [
            name for name in numbers if type(numbers[name]) is not Scalar or numbers[name] != needed.get(name)
        ]:
            name = unlike[0]
            wanted = (
                f"needs {needed[name]!r}" if name in needed else f"needs only {', '.join(needed) or 'state and out'}"
            )
            message = f"{op}: {name} is {glimpse(numbers[name])}, {wanted}; leave it out, and give the number at launch"
            raise ValueError(message)
        self._freeze(op, (state, *needed.values(), out))

    @classmethod
    def infer(cls, op: str, out: Any) -> Self:
        """Return the descriptor that fills `out`, a TensorSpec or an array."""
        chosen_row(cls.family, op, RANDOM_OPS)
        return cls(op, out=described(op, "out", out))

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # the numbers differ from op to op
        """The roles of the operands."""
        return _roles(self.op)

    @property
    def words(self) -> int:
        """The words that a launch takes."""
        return self.out.size * words_each(self.out.dtype)

    @property
    def compute(self) -> str:
        """The compute type of the output."""
        return DTYPES[self.out.dtype].compute

    @property
    def geometry(self) -> Geometry:
        """The merged extents of out in the order of its elements; all other operands have strides and offsets of 0."""
        geometry = self._geometry
        if geometry is None:
            numbers = [Scalar(spec.dtype) for spec in self.specs[:-1]]
            geometry = merge(self.out, [*numbers, self.out], keeps_order=True)
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell: out's layout."""
        out = self.out
        if not out.size:
            return "empty"
        if out.lo:
            return "offset"
        if not out.shape:
            return "rank0"
        return "dense" if out.is_dense else "strided"

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        return f"{self.family}/{self.op}/{self.out.dtype}/{self.layout}"

    def check_numbers(self, numbers: tuple[Any, ...]) -> None:
        """Raise ValueError unless p is a probability, or low is at most high."""
        if self.op == "bernoulli" and not 0 <= numbers[0] <= 1:
            message = f"bernoulli: p is {glimpse(numbers[0])}, needs a probability; give a number from 0 to 1"
            raise ValueError(message)
        if self.op == "integers" and numbers[0] > numbers[1]:
            low, high = numbers
            message = f"integers: low {low} is above high {high}; give the ends of the range in order, both included"
            raise ValueError(message)

    def limits(self, numbers: tuple[Any, ...]) -> tuple[int, int]:
        """Return a launch's numbers as kernels take them: two integers below 2^64.

        bernoulli : (0, least word that gives false, 2^32 if none does); integers : (low modulo 2^64, high - low)
        """
        if self.op == "bernoulli":
            return 0, math.ceil(numbers[0] * 2**32)
        if self.op == "integers":
            low, high = numbers
            return low % _MODULUS, high - low
        return 0, 0


@cache
def _roles(op: str) -> Roles:
    numbers = [Role.number(name) for name, _ in RANDOM_OPS[op].numbers]
    return Roles(Role.state("state"), *numbers, Role.output("out"))
