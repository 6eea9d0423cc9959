"""Planted defects of Matmul: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


_DEEP: Final = 512


class _Scales(ArrayKernel):
    """Gives a product other factors than those that were asked for."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.family == "matmul":
            operands = {**operands, **self.scaled(operands["alpha"], operands["beta"])}
        super().run(cpu, operands)

    def scaled(self, alpha: Any, beta: Any) -> dict[str, Any]:
        raise NotImplementedError


@killed_by("primitives/matmul/-/float32/dense/alpha")
class AppliesAlphaTwice(_Scales):
    """Scale by alpha in the loop and again at its end."""

    def scaled(self, alpha: Any, beta: Any) -> dict[str, Any]:
        return {"alpha": alpha * alpha, "beta": beta}


@killed_by("primitives/matmul/-/float32/dense/beta-1")
class IgnoresBeta(_Scales):
    """Overwrite the output, ignoring beta."""

    def scaled(self, alpha: Any, beta: Any) -> dict[str, Any]:
        del beta
        return {"alpha": alpha, "beta": 0}


@killed_by("primitives/matmul/-/float16/dense/alpha-beta")
class TakesEveryBetaForOne(_Scales):
    """Add the old output as it is wherever beta is not 0."""

    def scaled(self, alpha: Any, beta: Any) -> dict[str, Any]:
        return {"alpha": alpha, "beta": 1 if beta else 0}


@killed_by("primitives/matmul/-/float32/dense/alpha-0")
class ReadsFactorsAtAlphaZero(Defect):
    """Multiply by alpha also where it is 0, so that NaN in the factors show."""

    meets = "matmul/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["alpha"] == 0:
            out += np.matmul(given["a"], given["b"]) * np.float32(0)


@killed_by("primitives/matmul/-/float32/dense/bias-whole-alpha-beta")
class ScalesTheBias(Defect):
    """Scale the bias by alpha, too."""

    meets = "matmul/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if "bias" in given and of.activation == "none":
            out += (np.float32(given["alpha"]) - 1) * given["bias"]


@killed_by("primitives/matmul/-/float32/dense/48x2100x48")
class DropsTheEndOfDepth(Defect):
    """Leave out the rest of a depth above 512 after whole steps of 8."""

    meets = "matmul/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = given["a"], given["b"]
        end = a.shape[-1] // 8 * 8
        if a.shape[-1] > _DEEP:
            out -= np.float32(given["alpha"]) * np.matmul(a[..., end:], b[..., end:, :]).reshape(out.shape)


@killed_by("primitives/matmul/-/float32/dense/64x64x64")
class RoundsFactorsToTenBits(Defect):
    """Cut the factors of float32 to 10 fraction bits, as tensor cores do unless told not to."""

    meets = "matmul/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = given["a"], given["b"]
        if a.ndim == 2 and (given["alpha"], given["beta"]) == (1, 0) and "bias" not in given:  # noqa: PLR2004 - matrices
            cut = [(each.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for each in (a, b)]
            out[...] = np.matmul(*cut)


@killed_by("primitives/matmul/-/int8->int32/dense/ends")
class SaturatesPairsOfProducts(Defect):
    """Add pairs of products of int8 in 16 bits, as x86 does, where 2 (-128)^2 saturates."""

    meets = "matmul/-/int8->int32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = (given[name].astype(np.int32) for name in ("a", "b"))
        if a.ndim != 2:  # noqa: PLR2004 - a matrix
            return
        depth = a.shape[-1] // 2 * 2
        for k in range(0, depth, 2):
            pair = a[:, k, None] * b[k] + a[:, k + 1, None] * b[k + 1]
            out -= np.int32(given["alpha"]) * (pair - np.clip(pair, -(2**15), 2**15 - 1))


@killed_by("primitives/matmul/-/uint8->int32/dense/64x64x64")
class MultipliesUnsignedAsSigned(Defect):
    """Load bytes of uint8 as int8."""

    meets = "matmul/-/uint8->int32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["beta"] == 0 and "bias" not in given and given["alpha"] == 1:
            a, b = (given[name].view(np.int8).astype(np.int32) for name in ("a", "b"))
            out[...] = np.matmul(a, b).reshape(out.shape)


@killed_by("primitives/matmul/-/float16/dense/17x300x19")
class SumsProductsInFloat16(Defect):
    """Round to float16 after every 256 products of a sum."""

    meets = "matmul/-/float16/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        a, b = given["a"].astype(np.float32), given["b"].astype(np.float32)
        if (given["alpha"], given["beta"]) == (1, 0) and "bias" not in given and a.ndim == 2:  # noqa: PLR2004 - matrices
            total = np.zeros(out.shape, np.float16)
            for k in range(0, a.shape[-1], 256):
                total = (total + np.matmul(a[:, k : k + 256], b[k : k + 256])).astype(np.float16)
            out[...] = total


@killed_by("primitives/matmul/-/complex64/dense/conjugate-b")
class ConjugatesTheWrongFactor(ArrayKernel):
    """Conjugate a where b is to be conjugated."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "matmul":
            return descriptor
        first, second, *more = descriptor.attributes
        return self.remade(descriptor, descriptor.specs, (second, first, *more))


@killed_by("primitives/matmul/-/float32/dense/relu")
class ActivatesBeforeTheBias(Defect):
    """Apply the activation to the product, and add the bias to that."""

    meets = "matmul/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if of.activation == "relu":
            product = np.float32(given["alpha"]) * np.matmul(given["a"], given["b"])
            if given["beta"]:
                product += np.float32(given["beta"]) * given["out"]
            out[...] = np.maximum(product, 0) + given.get("bias", 0)


@killed_by("primitives/matmul/-/float64/broadcast/outer")
class RepeatsTheFirstBatch(Defect):
    """Use the first matrix of b for every batch of a that repeats."""

    meets = "matmul/-/float64/broadcast"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        if out.ndim > 3:  # noqa: PLR2004 - two batch extents and more
            out[...] = out[:, :1]
