"""Family Attention: out = softmax(scale q k^T + mask) v, each row of q over all keys.

definition   : s = scale q k^T; with a softcap c above 0, s = c tanh(s / c); a mask of floats is added; where a mask of bools is
               false, and with `is_causal` for every key j > i + offset of query i, the key is left out: s = -inf;
               p = softmax s, over each row; out = p v
shapes       : q (..., L, D), k (..., S, D), v (..., S, E), out (..., L, E), the mask broadcasts to (..., L, S); each but the mask has
               rank 2 to 16. The batch extents "..." are equal but for the last, the number of heads: k and v may
               have fewer, a divisor of q's number; head h then meets head h // (heads of q // heads of k), without a copy (rank 2 to 15). Any strides
dtypes       : float16, bfloat16, float32, float64, the same of q, k, v and out; the mask is of that type, or bool
accumulation : in the compute type: float32 for 16-bit types, whose result is rounded once, else the type itself. Softmax takes
               the maximum of a row first, so that no score is too large for exp; products sum as Matmul's do
NaN          : a NaN in q, or in the mask, makes its row NaN, one in v its column; one in k all rows in which its key is not left out
infinities   : IEEE 754 holds term by term: an infinity in v gives NaN where p = 0; a score of +inf makes its row NaN. A mask of -inf
               leaves the key out. Where scores overflow, and where all keys of a row have -inf without being left out, the row is open
left out     : a row of which every key is left out is 0; its k and v must be finite, else the row is open
signed zero  : the sign of a zero is open
empty        : without keys out is 0; with D = 0 all scores are 0; without elements of out nothing is launched
determinism  : equal calls on one device give equal bits; whether a row's bits depend on the other rows is the
               provider's choice
in place     : no two share a byte

As it lowers, the scores (..., L, S) are a temporary in the compute type, and the peak of memory.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.ground.glimpse import glimpse
from ep.integers import integer
from ep.layout.cells import dtypes_name
from ep.layout.dims import broadcast_strides
from ep.layout.spec import MAX_RANK

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.attribute import TORCH_AND_ONNX, Attribute, Legal
from ep_primitives.descriptors.composed import Composed
from ep_primitives.descriptors.validation import (
    attribute_value,
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    described,
    flag,
)
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.attention.stages import stages

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SCALE", "SOFTCAP", "Attention"]

SCALE: Final = Attribute("scale", (0.25, -1.5, 1.0), None)
"""The factor of q k^T, in the compute type."""

SOFTCAP: Final = Attribute("softcap", (0.0, 5.0), 0.0, TORCH_AND_ONNX, legal=Legal.NOT_NEGATIVE)
"""The limit of the scores; 0 is no limit."""


class Attention(Composed):
    """out = softmax(scale q k^T + mask) v, over each row of scores.

    q         : (..., L, D), a floating element type; read
    k         : (..., S, D), the dtype of q; read
    v         : (..., S, E), the dtype of q; read
    mask      : broadcasts to (..., L, S); the dtype of q, added to the scores, or bool, false leaves out; read; None: none
    out       : (..., L, E), the dtype of q; written
    scale     : a finite number; None is 1 / sqrt D
    softcap   : a number of at least 0: scores become softcap tanh(score / softcap); 0: they stay
    is_causal : query i meets the keys j <= i + offset alone
    offset    : an integer, how many keys come before the first query; 0 unless is_causal

    Attributes are (scale, softcap, is_causal, offset). Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "attention"
    roles: ClassVar[Roles] = Roles(
        Role.input("q"), Role.input("k"), Role.input("v"), Role.input("mask", is_optional=True), Role.output("out")
    )
    words: ClassVar[tuple[str, ...]] = ("scale", "softcap", "is_causal", "offset")

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        q: TensorSpec,
        k: TensorSpec,
        v: TensorSpec,
        out: TensorSpec,
        mask: TensorSpec | None = None,
        scale: float | None = None,
        softcap: float = 0.0,
        is_causal: bool = False,
        offset: int = 0,
    ) -> None:
        op = self.family
        check_output(op, out)
        for name, spec in (("q", q), ("k", k), ("v", v)):
            check_spec(op, name, spec)
            check_dtype(op, name, spec, FLOATS if name == "q" else (q.dtype,))
        check_dtype(op, "out", out, (q.dtype,), is_output=True)
        shape = _shape(op, q, k, v)
        if out.shape != shape:
            message = f"{op}: out has shape {out.shape}, needs {shape} for these q and v; describe out so"
            raise ValueError(message)
        if mask is not None:
            _check_mask(op, mask, q.dtype, (*q.shape[:-1], k.shape[-2]))
        usual = 1 / math.sqrt(q.shape[-1] or 1)
        factor = attribute_value(op, SCALE, usual if scale is None else scale, q.dtype)
        cap = attribute_value(op, SOFTCAP, softcap, q.dtype)
        causal = flag(op, "is_causal", is_causal)
        ahead = integer(f"{op}: offset", offset)
        if ahead and not causal:
            message = f"{op}: offset is {ahead}, needs 0 where is_causal is False; pass is_causal=True"
            raise ValueError(message)
        self._freeze("-", (q, k, v, mask, out), (factor, cap, causal, ahead))

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        q: Any,
        k: Any,
        v: Any,
        mask: Any = None,
        *,
        scale: float | None = None,
        softcap: float = 0.0,
        is_causal: bool = False,
        offset: int = 0,
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        q, k, v, mask                     : TensorSpecs, or arrays that TensorSpec.of reads; no mask: None
        scale, softcap, is_causal, offset : as in the constructor
        out                               : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        q, k, v = described(op, "q", q), described(op, "k", k), described(op, "v", v)
        check_dtype(op, "q", q, FLOATS)
        out = chosen_output(op, out, q.dtype, _shape(op, q, k, v))
        mask = None if mask is None else described(op, "mask", mask)
        words: dict[str, Any] = {"scale": scale, "softcap": softcap, "is_causal": is_causal, "offset": offset}
        return cls(q=q, k=k, v=v, out=out, mask=mask, **words)

    @property
    def q(self) -> TensorSpec:
        """The queries, (..., L, D)."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def k(self) -> TensorSpec:
        """The keys, (..., S, D)."""
        return self.specs[1]  # type: ignore[return-value]  # as above

    @property
    def v(self) -> TensorSpec:
        """The values, (..., S, E)."""
        return self.specs[2]  # type: ignore[return-value]  # as above

    @property
    def mask(self) -> TensorSpec | None:
        """The tensor that is added to the scores; of bools the one that selects them."""
        return self.specs[3]  # type: ignore[return-value]  # as above

    @property
    def scale(self) -> float:
        """The factor of q k^T."""
        return self.attributes[0]

    @property
    def softcap(self) -> float:
        """The limit of the scores; 0 is no limit."""
        return self.attributes[1]

    @property
    def is_causal(self) -> bool:
        """Whether later keys are left out."""
        return bool(self.attributes[2])

    @property
    def offset(self) -> int:
        """How many keys come before the first query."""
        return int(self.attributes[3])

    @property
    def scores(self) -> tuple[int, ...]:
        """The shape of the scores, (..., L, S)."""
        return (*self.q.shape[:-1], self.k.shape[-2])

    @property
    def groups(self) -> int:
        """How many heads of q meet one of k."""
        heads, kept = self.q.shape[-3:-2], self.k.shape[-3:-2]
        return heads[0] // kept[0] if kept and kept[0] else 1

    @property
    def batch(self) -> tuple[int, ...]:
        """The extents that number q's matrices; where k has fewer heads, the last two are k's heads and q's for each."""
        batch, groups = self.q.shape[:-2], self.groups
        return batch if groups == 1 else (*batch[:-1], batch[-1] // groups, groups)

    def steps(self, name: str) -> tuple[int, ...]:
        """Return the strides of an operand over `batch`, rows and columns, in elements; 0 where it is absent."""
        spec, groups = self.present.get(name), self.groups
        if not isinstance(spec, TensorSpec):
            return (0,) * (self.q.ndim + (groups > 1))
        strides = broadcast_strides(spec, self.scores) if name == "mask" else spec.strides
        if groups == 1:
            return tuple(strides)
        *lead, heads, row, column = strides
        return (*lead, *((heads, 0) if name in {"k", "v"} else (heads * groups, heads)), row, column)

    @property
    def leaves_out_rows(self) -> bool:
        """True if some row may have every key left out."""
        return self.mask is not None or (self.is_causal and self.offset < 0)

    def lower(self) -> tuple[Stage, ...]:
        """Return two products with a softmax between them, over a temporary of the scores."""
        return tuple(stages(self))

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell: of the element types q's, and the mask's where that is bool."""
        given = ("bool",) if self.mask is not None and self.mask.dtype == "bool" else ()
        return f"attention/-/{dtypes_name((self.q.dtype, *given), self.q.dtype)}/{self.layout}"

    @property
    def flops(self) -> int:
        """Two operations a product of either matrix product, five an element of the softmax."""
        depth = self.q.shape[-1] + self.v.shape[-1]
        return math.prod(self.scores) * (2 * depth + 5)


def _shape(op: str, q: TensorSpec, k: TensorSpec, v: TensorSpec) -> tuple[int, ...]:
    """Return the shape of out. Raises ValueError, naming the operand, for shapes that do not fit."""
    for name, spec in (("q", q), ("k", k), ("v", v)):
        if spec.ndim < 2:  # noqa: PLR2004 - rows and columns
            message = f"{op}: {name} has rank {spec.ndim}, needs at least 2: (..., rows, columns); add extents of 1"
            raise ValueError(message)
    heads = k.shape[-3:-2]
    if k.ndim == q.ndim and heads and q.shape[-3] % (heads[0] or 1) == 0 and (heads[0] or not q.shape[-3]):
        batch = (*q.shape[:-3], *heads)
    else:
        batch = q.shape[:-2]
    _check_shape(op, "k", k, (*batch, *k.shape[-2:-1], q.shape[-1]), "q")
    _check_shape(op, "v", v, (*batch, k.shape[-2], v.shape[-1]), "k")
    if batch != q.shape[:-2] and heads[0] > 1 and q.ndim == MAX_RANK:
        message = f"{op}: k has {heads[0]} heads and q {q.shape[-3]}, which needs rank {MAX_RANK - 1} at most; merge two batch extents"
        raise ValueError(message)
    return (*q.shape[:-1], v.shape[-1])


def _check_shape(op: str, name: str, spec: TensorSpec, shape: Sequence[int], beside: str) -> None:
    if spec.shape != tuple(shape):
        message = (
            f"{op}: {name} has shape {spec.shape}, needs {tuple(shape)} beside this {beside}; "
            "only the heads, the third extent from the right, may be fewer, and divide those of q"
        )
        raise ValueError(message)


def _check_mask(op: str, mask: Any, dtype: str, shape: tuple[int, ...]) -> None:
    check_spec(op, "mask", mask)
    check_dtype(op, "mask", mask, (dtype, "bool"))
    aligned = shape[len(shape) - mask.ndim :]
    if mask.ndim > len(shape) or any(have not in {1, want} for have, want in zip(mask.shape, aligned, strict=True)):
        message = f"{op}: mask has shape {glimpse(mask.shape)}, which does not broadcast to the scores {shape}; each extent, from the right, must be 1 or equal"
        raise ValueError(message)
