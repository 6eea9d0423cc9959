"""Family Matmul: out = activation(alpha op(a) @ op(b) + beta out + bias), where op is nothing or the conjugate.

shapes       : a (..., m, k), b (..., k, n), out (..., m, n), each of rank 2 to 16; the batch extents "..." of all three
               broadcast to one another, from the right; where out has 1, or nothing, and a or b have more, out is the sum
               over those batches. A transposed matrix is a matter of strides: swap the last two of shape and strides
dtypes       : float16 and bfloat16, out the same or float32; float32; float64; complex64; complex128; int8 and uint8, out int32
alpha, beta  : numbers given at launch, 1 and 0 if left out; beta is applied once, also to a sum over batches.
               alpha = 0 reads neither a nor b, beta = 0 does not read out: their contents, NaN included, do not matter
empty        : a sum over nothing (k = 0, no batch) is 0, so out = activation(beta out + bias); an empty out does nothing
accumulation : float32 for float16 and bfloat16, whose result is rounded once; int32, wrapping, for int8 and uint8; else
               the type itself. The order of the sum, with or without fused multiply-add, is open
NaN          : IEEE 754 holds term by term: a NaN, or 0 times an infinity, makes its whole row or column NaN. With complex
               numbers that are not finite, and where a partial sum overflows, the result is unspecified
infinities   : as NaN: inf - inf and 0 inf are NaN, elsewhere an infinity stays
signed zero  : the sign of a zero result is open
determinism  : equal calls on one device give equal bits, whatever the number of threads. Whether a row, a column or one matrix
               of a batch has the same bits when it is computed alone is the provider's choice
in place     : out shares no byte with a, b or bias
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.dtypes import DTYPES
from ep.ground.glimpse import glimpse
from ep.layout.cells import dtypes_name
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, Scalar, Stage, TensorSpec
from ep_primitives.descriptors.validation import (
    check_dtype,
    check_input,
    check_output,
    check_spec,
    chosen_output,
    described,
    flag,
)
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.matmul.shapes import batch_geometry, broadcast, check_rank, check_shapes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.layout.dims import Geometry

__all__ = ["ACTIVATIONS", "MATMUL_DTYPES", "Matmul"]

MATMUL_DTYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "float16": ("float16", "float32"),
    "bfloat16": ("bfloat16", "float32"),
    "float32": ("float32",),
    "float64": ("float64",),
    "complex64": ("complex64",),
    "complex128": ("complex128",),
    "int8": ("int32",),
    "uint8": ("int32",),
}
"""The element types of a and b, and for each those that out may have; the first is usual."""

ACTIVATIONS: Final[Mapping[str, str]] = {
    "none": "iufc",
    "relu": "iuf",
    "gelu": "f",
    "tanh": "f",
    "sigmoid": "f",
    "silu": "f",
}
"""The activations, all rows of ElementwiseUnary but "none", and the kinds of element types that each exists for."""


class Matmul(Descriptor):
    """out = activation(alpha op(a) @ op(b) + beta out + bias).

    a, b        : (..., m, k) and (..., k, n), one dtype of MATMUL_DTYPES; any strides; read
    bias        : broadcasts to out, of its dtype; read; the operand is absent if this is None
    alpha, beta : Scalars of the accumulation type: numbers at launch, 1 and 0 if left out
    out         : (..., m, n); written, and read unless beta is 0; shares no byte with the others
    conjugate_a, conjugate_b : op is the conjugate; of real numbers that is nothing
    activation  : a name in ACTIVATIONS

    Attributes are conjugate_a, conjugate_b (0 or 1) and the position of the activation. Raises TypeError or ValueError
    for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "matmul"
    roles: ClassVar[Roles] = Roles(
        Role.input("a"),
        Role.input("b"),
        Role.input("bias", is_optional=True),
        Role.number("alpha", default=1),
        Role.number("beta", default=0),
        Role.output("out"),
    )

    def __init__(  # noqa: PLR0913 - all by keyword: three tensors, and what a matrix product has everywhere
        self,
        *,
        a: TensorSpec,
        b: TensorSpec,
        out: TensorSpec,
        bias: TensorSpec | None = None,
        conjugate_a: bool = False,
        conjugate_b: bool = False,
        activation: str = "none",
    ) -> None:
        check_output("matmul", out)
        check_spec("matmul", "a", a)
        check_spec("matmul", "b", b)
        check_dtype("matmul", "a", a, tuple(MATMUL_DTYPES))
        check_dtype("matmul", "b", b, (a.dtype,))
        check_dtype("matmul", "out", out, MATMUL_DTYPES[a.dtype])
        check_shapes(a, b, out)
        number = Scalar(DTYPES[out.dtype].compute)
        if bias is not None:
            check_input("matmul", "bias", bias, out)
            check_dtype("matmul", "bias", bias, (out.dtype,))
        kind = DTYPES[a.dtype].kind
        if not issubclass(type(activation), str) or kind not in ACTIVATIONS.get(str.__str__(activation), ""):
            known = ", ".join(name for name, kinds in ACTIVATIONS.items() if kind in kinds)
            message = (
                f"matmul: activation is {glimpse(activation)}, which {a.dtype} does not have; needs one of {known}"
            )
            raise ValueError(message)
        given = (("conjugate_a", conjugate_a), ("conjugate_b", conjugate_b))
        flags = [float(flag("matmul", name, value) and kind == "c") for name, value in given]
        self._freeze("-", (a, b, bias, number, number, out), (*flags, float(list(ACTIVATIONS).index(activation))))

    @classmethod
    def infer(  # noqa: PLR0913 - as the constructor
        cls,
        a: Any,
        b: Any,
        *,
        bias: Any = None,
        conjugate_a: bool = False,
        conjugate_b: bool = False,
        activation: str = "none",
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        a, b, bias : a TensorSpec or an array each; no bias: None
        out        : a TensorSpec or an array; None: dense, of the usual dtype, over the batches that a and b broadcast to
        """
        a, b = described("matmul", "a", a), described("matmul", "b", b)
        bias = None if bias is None else described("matmul", "bias", bias)
        for name, spec in (("a", a), ("b", b)):
            check_rank(name, spec)
        check_dtype("matmul", "a", a, tuple(MATMUL_DTYPES))
        shape = (*broadcast(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        out = chosen_output("matmul", out, MATMUL_DTYPES[a.dtype][0], shape)
        return cls(
            a=a, b=b, out=out, bias=bias, conjugate_a=conjugate_a, conjugate_b=conjugate_b, activation=activation
        )

    @property
    def a(self) -> TensorSpec:
        """The left factor, (..., m, k)."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def b(self) -> TensorSpec:
        """The right factor, (..., k, n)."""
        return self.specs[1]  # type: ignore[return-value]  # never a Scalar

    @property
    def bias(self) -> TensorSpec | None:
        """The tensor that is added, broadcast to out."""
        return self.specs[2]  # type: ignore[return-value]  # never a Scalar

    @property
    def activation(self) -> str:
        """The name of the activation."""
        return list(ACTIVATIONS)[int(self.attributes[2])]

    @property
    def conjugate_a(self) -> bool:
        """Whether a is conjugated."""
        return self.conjugates[0]

    @property
    def conjugate_b(self) -> bool:
        """Whether b is conjugated."""
        return self.conjugates[1]

    @property
    def conjugates(self) -> tuple[bool, bool]:
        """Whether a and b are conjugated."""
        return bool(self.attributes[0]), bool(self.attributes[1])

    @property
    def compute(self) -> str:
        """The accumulation type."""
        return DTYPES[self.out.dtype].compute

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch extents that a, b and out broadcast to."""
        return broadcast(broadcast(self.a.shape[:-2], self.b.shape[:-2]), self.out.shape[:-2])

    @property
    def depth(self) -> int:
        """How many products each element of out is the sum of."""
        batch, kept = self.batch, self.out.shape[:-2]
        if batch == kept:
            return self.a.shape[-1]
        summed, each = math.prod(batch), math.prod(kept)
        return self.a.shape[-1] * (summed // each if each else 1)

    @property
    def geometry(self) -> Geometry:
        """The merged batch extents with the strides of a, b, bias and out over them (0 of the numbers, and of a bias that is absent).

        Where the stride of out is 0, it is the sum over the batches. A sum over no batch has the extents of out alone.
        """
        geometry = self._geometry
        if geometry is None:
            geometry = batch_geometry(self.specs, self.batch if self.depth else self.out.shape[:-2])
            object.__setattr__(self, "_geometry", geometry)
        return geometry

    def lower(self) -> tuple[Stage, ...]:
        """Return the plain product and the steps after it, so that a provider may write only that; () for a plain one.

        An output of 16 bits is rounded once: product, bias and activation are float32 until then.
        """
        if self.bias is None and self.activation == "none":
            return ()
        out, bias = self.out, self.bias
        is_wide = out.dtype in {"float16", "bfloat16"}
        whole = TensorSpec("float32", out.shape) if is_wide else out
        name = "wide" if is_wide else "out"
        a, b = self.conjugates
        product = Matmul(a=self.a, b=self.b, out=whole, conjugate_a=a, conjugate_b=b)
        stages = [Stage(product, a="a", b="b", alpha="alpha", beta="beta", out=name)]
        if is_wide:
            stages.insert(0, Stage(Cast(x=out, out=whole), x="out", out=name))  # beta multiplies it
        if bias is not None:
            added, term = bias, "bias"
            if is_wide:
                added, term = TensorSpec("float32", bias.shape), "wide bias"
                stages.append(Stage(Cast(x=bias, out=added), x="bias", out=term))
            stages.append(Stage(BroadcastBinary("add", a=whole, b=added, out=whole), a=name, b=term, out=name))
        if self.activation != "none":
            stages.append(Stage(ElementwiseUnary(self.activation, x=whole, out=whole), x=name, out=name))
        if is_wide:
            stages.append(Stage(Cast(x=whole, out=out), x=name, out="out"))
        return tuple(stages)

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell; a bias does not count."""
        tensors = (self.a, self.b, self.out)
        if not self.out.size:
            return "empty"
        if any(spec.lo for spec in self.specs if isinstance(spec, TensorSpec)):
            return "offset"
        if any(spec.shape[:-2] != self.batch for spec in tensors):
            return "broadcast"
        return "dense" if all(spec.is_dense for spec in tensors) else "strided"

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell."""
        return f"matmul/-/{dtypes_name([self.a.dtype], self.out.dtype)}/{self.layout}"

    @property
    def flops(self) -> int:
        """A multiplication and an addition a product; of complex numbers four of each."""
        return self.out.size * self.depth * (8 if DTYPES[self.a.dtype].kind == "c" else 2)

    def __repr__(self) -> str:
        tensors = zip(self.operands, self.specs, strict=True)
        parts = [f"{name}={spec!r}" for name, spec in tensors if isinstance(spec, TensorSpec)]
        flags = zip(("conjugate_a", "conjugate_b"), self.conjugates, strict=True)
        parts += [f"{name}=True" for name, flag in flags if flag]
        parts += [] if self.activation == "none" else [f"activation={self.activation!r}"]
        return f"Matmul({', '.join(parts)})"

    def _make_key(self) -> KernelKey:
        outer = []
        for spec in self.specs:
            if isinstance(spec, TensorSpec):
                inner = min(spec.strides[-2:], key=abs, default=1)
                outer.append((spec, tuple(stride for stride in spec.strides if stride != inner)))
        return kernel_key(
            self,
            is_dense=all(spec.is_dense for spec in (self.a, self.b, self.out)),
            size=self.out.size,
            inner=self.out.shape[-1],
            outer=outer,
        )
