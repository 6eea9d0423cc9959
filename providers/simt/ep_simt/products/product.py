"""Products as programs: the properties that decide one, the words of its texts, and its launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ep_simt.elements import ELEMENTS, kind_of, part_of
from ep_simt.plan import Launch, Operand, Plan
from ep_simt.products.matrices import product_parameter
from ep_simt.products.tile import line_of, tile_of
from ep_simt.program import Entry, access, number, taken, tensor
from ep_simt.rows.geometry import rows_parameter, rows_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep.work.key import KernelKey

    from ep_simt.products.matrices import Matrices
    from ep_simt.products.tile import Line, Tile
    from ep_simt.program import Parameter
    from ep_simt.target import Target

__all__ = ["FINISH", "TILES", "Arguments", "Product", "Way", "way_of_tiles"]

TILES, FINISH = "product_tiles", "product_finish"

_COLUMNS: Final = 4
"""Tensors of the geometry: a, b, bias and out; as many memories come before the scratch."""

_ENOUGH: Final = {True: 8, False: 256}
"""Groups with which the depth is left whole, where they are single work-items and where not."""

_LEAST: Final = 128
"""The depth that a part has at least."""

_ARITHMETIC: Final = {
    "FLOATING": {"EP_TIMES(a, b)": "((a) * (b))", "EP_PLUS(a, b)": "((a) + (b))"},
    "INTEGER": {
        "EP_TIMES(a, b)": "((ep_i32)((ep_u32)(a) * (ep_u32)(b)))",
        "EP_PLUS(a, b)": "((ep_i32)((ep_u32)(a) + (ep_u32)(b)))",
    },
}


class Way(NamedTuple):
    """How the groups go about a product.

    groups  : that a part of the depth takes
    depth   : elements of a block of it
    """

    entry: str
    groups: int
    depth: int


class Arguments(NamedTuple):
    """What a launch is given beside the matrices.

    tensors   : a, b, bias, which is out where there is none, and out
    has_bias  : True if the bias is one
    scales    : of the sum, and of what was there
    number    : matrices of out
    beside    : the geometry of the batches, and what else the program takes
    """

    tensors: tuple[Operand, Operand, Operand, Operand]
    has_bias: bool
    scales: tuple[Any, Any]
    number: int
    beside: tuple[bytes, ...]


class Product(NamedTuple):
    """The properties that decide a program; elements as called in C after `ep_`, of complex numbers those of their parts.

    given       : of a and b
    made        : of out and bias
    compute     : of the sums over the depth
    is_complex  : True if elements are pairs of parts
    """

    given: str
    made: str
    compute: str
    is_complex: bool
    wide: bool
    target: Target

    @classmethod
    def of(cls, key: KernelKey, target: Target) -> Self:
        """Return the product of a key whose first element type is that of the factors, and whose last one is the output's."""
        given, made, compute = (part_of(ELEMENTS[dtype]) for dtype in (key.dtypes[0], key.dtypes[-1], key.compute))
        return cls(given, made, compute, kind_of(ELEMENTS[key.compute]) == "COMPLEX", key.wide, target)

    @property
    def tile(self) -> Tile:
        """The tile of a group."""
        return tile_of(self.target.group, self.itemsize, is_complex=self.is_complex)

    @property
    def line(self) -> Line:
        """The cells of a work-item."""
        return line_of(self.target.group, self.itemsize, is_complex=self.is_complex)

    @property
    def itemsize(self) -> int:
        """Bytes of a sum, of one part if it is complex."""
        return 8 if self.compute == "f64" else 4

    @property
    def parts(self) -> int:
        """Numbers of an element."""
        return 2 if self.is_complex else 1

    def entries(self, files: Mapping[str, str], *beside: Parameter) -> tuple[Entry, ...]:
        """Return the entries of a program; files : of each, by its name; beside : what the program takes beside a product."""
        parameters, writes = (*self.parameters, *beside), frozenset({"parts", "out"})
        return tuple(Entry(entry, parameters, writes=writes, file=file) for entry, file in files.items())

    @property
    def name(self) -> str:
        """The part of a program's name that says it."""
        kind = f"{self.given}-{self.made}{'-complex' * self.is_complex}"
        return f"{kind}-{'wide' if self.wide else 'narrow'}-{self.target.group}"

    def words(self, activated: str = "x") -> dict[str, Any]:
        """Return the words that the texts need; `activated` is the expression of x that is stored."""
        words: dict[str, Any] = {
            "EP_HAS_F64": int(self.compute == "f64"),
            "EP_C": f"ep_{self.compute}",
            # Bytes are multiplied in float32, which holds the sums of 258 products exactly.
            "EP_A": f"ep_{'f32' if self.compute == 'i32' else self.compute}",
            "EP_GIVEN": f"ep_{self.given}",
            "EP_PARTS": self.parts,
            "EP_RUN": self.target.run,
            "EP_ACTIVATED": activated,
            **_ARITHMETIC[kind_of(self.compute)],
            **rows_words(_COLUMNS, self.target.group, wide=self.wide),
            **self.tile.words,
            **self.line.words,
        }
        for name, element in self._elements():
            words |= access(name, element)
        return words

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of every entry, in the order of the arguments that `plan` gives."""
        tensors = (tensor(name, element) for name, element in self._elements())
        numbers = (
            number(name, self.compute) for scale in ("alpha", "beta") for name in (scale, f"{scale}_im")[: self.parts]
        )
        return taken(*tensors, numbers, (product_parameter(wide=self.wide), rows_parameter(_COLUMNS, wide=self.wide)))

    def plan(self, way: Way, matrices: Matrices, blocks: int, arguments: Arguments) -> Plan:
        """Return the launches of a product of so many blocks of the depth: one, or a second one where groups share them."""
        target, count = self.target, arguments.number * matrices.m * matrices.n
        parts, share = _shared(way, blocks, target)
        itemsize = self.itemsize * self.parts
        *factors, out = arguments.tensors
        sums = Operand(_COLUMNS, self.itemsize) if parts > 1 else out
        product = matrices.packed((blocks, parts, share), has_bias=arguments.has_bias, wide=self.wide)
        given = (*factors, sums, out, *arguments.scales, product, *arguments.beside)
        launch = Launch(way.entry, way.groups * parts * target.group, target.group, given)
        if parts == 1:
            return Plan((launch,))
        finish = Launch(FINISH, -(-count // target.run), 0, given)
        return Plan((launch, finish), parts * count * itemsize)

    def _elements(self) -> Iterator[tuple[str, str]]:
        yield from (("a", self.given), ("b", self.given), ("bias", self.made))
        yield from (("parts", self.compute), ("out", self.made))


def way_of_tiles(matrices: Matrices, count: int, tile: Tile) -> Way:
    """Return the way by tiles, of so many matrices."""
    return Way(TILES, count * -(-matrices.m // tile.rows) * -(-matrices.n // tile.columns), tile.depth)


def _shared(way: Way, blocks: int, target: Target) -> tuple[int, int]:
    """Return the parts that the depth is in, and the blocks of the depth that each has."""
    wanted = min(_ENOUGH[target.group == 1] // way.groups, blocks * way.depth // _LEAST)
    share = -(-blocks // max(wanted, 1))
    return max(-(-blocks // max(share, 1)), 1), share
