"""Family RmsNorm: out = x / sqrt(mean(x^2) + epsilon) * scale, over rows of the last dimension.

shapes       : x and out of one shape, of rank 1 to 16, any strides; scale has one element a column
dtypes       : float32 and float64, the same of all operands
accumulation : in the type itself, in any order
NaN          : one in a row makes the whole row NaN
infinities   : one in a row makes its own place NaN and all others 0
signed zero  : the sign of a zero is open
empty        : an output without elements is legal and nothing is launched
determinism  : equal launches on one device give equal bits
in place     : out may be x

The operation of Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019). It lowers to no family of EP, so a
provider must bring it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from ep_primitives import Case, Reference, Ulps
from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, described
from ep_primitives.judging.layout import settled

from ep import Descriptor, Role, Roles, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["RmsNorm", "RmsNormFamily"]

_DTYPES: Final = ("float32", "float64")
_EPSILON: Final = 1e-5


class RmsNorm(Descriptor):
    """out = x / sqrt(mean(x^2) + epsilon) * scale for each row; a row has the elements along the last dimension.

    x       : (..., n), one of float32 and float64; read
    scale   : (n,), of the dtype of x; read
    out     : the shape and dtype of x; written; may be the same memory as x
    epsilon : a number above 0, float64

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "rms_norm"
    roles: ClassVar[Roles] = Roles(Role.input("x", shares=("out",)), Role.input("scale"), Role.output("out"))

    def __init__(self, *, x: TensorSpec, scale: TensorSpec, out: TensorSpec, epsilon: float = _EPSILON) -> None:
        check_output("rms_norm", out)
        check_spec("rms_norm", "x", x)
        check_spec("rms_norm", "scale", scale)
        check_dtype("rms_norm", "x", x, _DTYPES)
        for name, spec, shape in (("scale", scale, x.shape[-1:]), ("out", out, x.shape)):
            check_dtype("rms_norm", name, spec, (x.dtype,))
            if not shape or spec.shape != shape:
                message = (
                    f"rms_norm: {name} has shape {spec.shape}, x {x.shape}; needed are scale (n,), x and out (..., n)"
                )
                raise ValueError(message)
        if not isinstance(epsilon, Real) or isinstance(epsilon, bool) or not 0 < epsilon < math.inf:
            message = f"rms_norm: epsilon is {epsilon!r}, needs a finite number above 0; give a float"
            raise (ValueError if isinstance(epsilon, Real) else TypeError)(message)
        self._freeze("-", (x, scale, out), (float(epsilon),))

    @classmethod
    def infer(cls, x: Any, scale: Any, epsilon: float = _EPSILON) -> Self:
        """Return the descriptor with a dense output; x and scale are TensorSpecs or arrays."""
        x, scale = described("rms_norm", "x", x), described("rms_norm", "scale", scale)
        return cls(x=x, scale=scale, out=x.dense(), epsilon=epsilon)

    @property
    def layout(self) -> str:
        """The layout part of this descriptor's cell, of x and out."""
        x, _, out = self.specs
        assert isinstance(x, TensorSpec)
        assert isinstance(out, TensorSpec)
        if not out.size:
            return "empty"
        return "offset" if x.lo or out.lo else "dense" if x.is_dense and out.is_dense else "strided"


class RmsNormFamily(SignatureFamily):
    """The cells of RmsNorm: both element types in each layout."""

    name: ClassVar[str] = "rms_norm"
    descriptor: ClassVar[type[Descriptor]] = RmsNorm
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "inplace", "offset", "empty")

    def signatures(self) -> Iterator[Signature]:
        """Yield both element types."""
        return (Signature("-", (dtype,), dtype) for dtype in _DTYPES)

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a layout: rows of many lengths, and the numbers that tell wrong kernels from right ones."""
        x = partial(TensorSpec, signature.out)
        if layout == "dense":
            for shape in ((3, 5, 17), (1,), (4, 1), (7, 256), (2, 1025)):
                yield _case("x".join(map(str, shape)), x(shape), x(shape))
            yield _case("epsilon", x((5, 9)), x((5, 9)), epsilon=3.0)
            yield _case("zeros-and-nan", x((4, 33)), x((4, 33)), draw=_special)
        elif layout == "strided":
            yield _case("columns", x((5, 17), (1, 5)), x((5, 17)))
            yield _case("backwards", x((5, 17), (-17, -1), 84), x((5, 17), (20, 1)))
            yield _case("one-row-many-times", x((5, 17), (0, 1)), x((5, 17)))
        elif layout == "offset":
            yield _case("odd", x((5, 17), None, 3), x((5, 17), None, 1))
        else:
            shape = (3, 0) if layout == "empty" else (5, 17)
            yield replace(_case("rows", x(shape), x(shape)), inplace="x" if layout == "inplace" else None)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the definition in extended precision, where the host has it."""
        x, scale = (np.asarray(inputs[name], np.longdouble) for name in ("x", "scale"))
        with np.errstate(invalid="ignore"):
            squares = np.sum(x * x, axis=-1, keepdims=True)
            value = x / np.sqrt(squares / max(x.shape[-1], 1) + descriptor.attributes[0]) * scale
        return Reference(value.astype(np.float64), None, 1.0)

    def accuracy(self, descriptor: Descriptor) -> Ulps:
        """Return half an ulp for each two terms of the sum, which the root halves, and 4 for all else."""
        return Ulps(
            4 + descriptor.out.shape[-1] / 4,
            why="half an ulp for each two terms of the sum, which the root halves, and 4",
        )


def _case(
    name: str,
    x: TensorSpec,
    out: TensorSpec,
    epsilon: float = _EPSILON,
    draw: Callable[[TensorSpec, np.random.Generator], Any] | None = None,
) -> Case:
    scale = TensorSpec(x.dtype, x.shape[-1:])
    descriptor = RmsNorm(x=x, scale=scale, out=out, epsilon=epsilon)
    return Case(name, descriptor, partial(_drawn, x, draw or _usual))


def _drawn(
    x: TensorSpec, draw: Callable[[TensorSpec, np.random.Generator], Any], rng: np.random.Generator
) -> dict[str, Any]:
    scale = rng.uniform(0.5, 2, x.shape[-1:]).astype(x.dtype)
    return {"x": settled(x, draw(x, rng).astype(x.dtype)), "scale": scale}


def _usual(x: TensorSpec, rng: np.random.Generator) -> Any:
    sizes = np.exp2(rng.integers(-6, 7, (*x.shape[:-1], 1)))  # a row of its own size each, near epsilon too
    return rng.standard_normal(x.shape) * sizes


def _special(x: TensorSpec, rng: np.random.Generator) -> Any:
    values = rng.standard_normal(x.shape)
    values[0] = 0
    values[1, 7] = np.nan
    values[2, 5] = np.inf
    return values
