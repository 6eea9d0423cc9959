"""Planted defects of LayerNorm: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ep.layout.cells import matches
from ep_conformance.saboteurs.kernel import Array, ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


class _Norm(ArrayKernel):
    """Works honestly, then spoils the outputs of the cells that it is meant for.

    meets : pattern of cells, as in claims.toml
    """

    meets: ClassVar[str]

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of: Any = self.descriptor
        if not matches(self.meets, of.cell):
            super().run(cpu, operands)
            return
        given = {name: np.array(self.array(operands, name)) for name in of.roles.read if name in operands}
        super().run(cpu, operands)
        with np.errstate(all="ignore"):
            self.spoil(given.pop("x"), given, {name: self.array(operands, name) for name in of.outputs})

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        """Write the defect's results from x, scale and bias over the right results in the outputs."""
        raise NotImplementedError

    def normalize(
        self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array], mean: Array, rstd: Array
    ) -> None:
        """Write y of other means and roots, of shape (rows, 1), and these too."""
        rows = x.reshape(len(mean), -1)
        y = (rows - mean) * rstd
        for name, change in (("scale", np.multiply), ("bias", np.add)):
            y = change(y, given[name].reshape(-1)) if name in given else y
        for name, value in (("y", y), ("mean", mean), ("rstd", rstd)):
            if name in made:
                made[name][...] = value.reshape(made[name].shape)

    def rows(self, x: Array) -> Array:
        """Return x as rows."""
        of: Any = self.descriptor
        return x.reshape(-1, of.terms)


@killed_by("primitives/layer_norm/-/float32/dense/far-from-zero-4099")
class SubtractsSquares(_Norm):
    """Take the mean of the squares less the square of the mean for the variance, in one pass over a row."""

    meets = "layer_norm/-/float32/dense"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        of: Any = self.descriptor
        rows = self.rows(x)
        mean = rows.mean(1, keepdims=True)
        variance = np.maximum((rows * rows).mean(1, keepdims=True) - mean * mean, 0)
        self.normalize(x, given, made, mean, 1 / np.sqrt(variance + np.float32(of.epsilon)))


@killed_by("primitives/layer_norm/-/float32/dense/small")
class AddsEpsilonToTheDeviation(_Norm):
    """Add epsilon after the root, to the standard deviation."""

    meets = "layer_norm/-/float32/dense"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        of: Any = self.descriptor
        rows = self.rows(x)
        self.normalize(
            x, given, made, rows.mean(1, keepdims=True), 1 / (rows.std(1, keepdims=True) + np.float32(of.epsilon))
        )


@killed_by("primitives/layer_norm/-/float64/dense/4x17")
class DividesByOneLess(_Norm):
    """Divide the sum of squares by n - 1, as for a sample."""

    meets = "layer_norm/-/float64/dense"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        of: Any = self.descriptor
        rows = self.rows(x)
        variance = rows.var(1, keepdims=True) * of.terms / max(of.terms - 1, 1)
        self.normalize(x, given, made, rows.mean(1, keepdims=True), 1 / np.sqrt(variance + of.epsilon))


@killed_by("primitives/layer_norm/-/float64/dense/epsilon-3")
class AddsTheUsualEpsilon(_Norm):
    """Add 1e-5 instead of epsilon."""

    meets = "layer_norm/-/float64/dense"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        rows = self.rows(x)
        self.normalize(x, given, made, rows.mean(1, keepdims=True), 1 / np.sqrt(rows.var(1, keepdims=True) + 1e-5))


@killed_by("primitives/layer_norm/-/float32/strided/transposed")
class GivesTheDeviation(_Norm):
    """Write the standard deviation where its reciprocal is meant."""

    meets = "layer_norm/-/float32/strided"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        del x, given
        if "rstd" in made:
            made["rstd"][...] = 1 / made["rstd"]


@killed_by("primitives/layer_norm/-/bfloat16->bfloat16,float32,float32/dense/3x16")
class RoundsTheMean(_Norm):
    """Round the mean of a 16-bit row to 16 bits."""

    meets = "layer_norm/-/bfloat16->bfloat16,float32,float32/*"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        del given
        made["mean"][...] = made["mean"].astype(x.dtype)


@killed_by("primitives/layer_norm/-/float16/dense/no-bias-3x513")
class AddsABiasThatIsAbsent(_Norm):
    """Add the scale where there is no bias, as by counting operands."""

    meets = "layer_norm/-/float16/dense"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        del x
        if "scale" in given and "bias" not in given:
            made["y"][...] += given["scale"]


@killed_by("primitives/layer_norm/-/float32/dense/special-rows")
class SparesTheRowOfAnInfinity(_Norm):
    """Let an infinity make 0 of the other elements of its row, as if nothing but its own place were NaN."""

    meets = "layer_norm/-/float32/dense"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        del given
        y, finite = self.rows(made["y"]), np.isfinite(self.rows(x))
        y[np.isinf(self.rows(x)).any(1, keepdims=True) & finite] = 0


@killed_by("primitives/layer_norm/-/float32/empty/rows-of-none")
class LeavesRowsOfNothing(_Norm):
    """Write zeros for the mean and the root of rows of nothing."""

    meets = "layer_norm/-/float32/empty"

    def spoil(self, x: Array, given: Mapping[str, Array], made: Mapping[str, Array]) -> None:
        del x, given
        for array in made.values():
            array[...] = 0
