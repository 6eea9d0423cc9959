"""A product as cuBLASLt sees it: matrices by columns, one stride from each matrix of a batch to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Never

from ep.layout.dims import broadcast_strides

import ep

if TYPE_CHECKING:
    from ep_primitives import Matmul

__all__ = ["Layout", "Problem", "problem_of"]

_A, _B, _BIAS, _OUT = range(4)  # the tensors of Matmul
_MOST: Final = (1 << 31) - 1
_WITH_BIAS: Final = frozenset({"float16", "bfloat16", "float32"})


class Layout(NamedTuple):
    """A matrix by columns: element (i, j) of matrix n lies at i + j * leading + n * step.

    is_transposed : the factor is its transpose
    """

    rows: int
    columns: int
    leading: int
    step: int
    is_transposed: bool = False


class Problem(NamedTuple):
    """out = left @ right, by columns, for each of `batches` matrices.

    places      : of the left and the right factor among Matmul's tensors: b and a, where out is the transpose of Matmul's
    conjugates  : whether the factors are conjugated; one that is, is transposed, too
    """

    left: Layout
    right: Layout
    out: Layout
    batches: int
    places: tuple[int, int]
    conjugates: tuple[bool, bool]


class _Matrix(NamedTuple):
    """A matrix with any strides, in elements; `step` leads to the next of the batch."""

    rows: int
    columns: int
    row: int
    column: int
    step: int

    def transposed(self) -> _Matrix:
        return _Matrix(self.columns, self.rows, self.column, self.row, self.step)

    def by_columns(self) -> Layout | None:
        """Return it as it lies, if it lies by columns."""
        leading = self.column if self.columns > 1 else self.rows
        is_contiguous = self.row == 1 or self.rows == 1
        return Layout(self.rows, self.columns, leading, self.step) if is_contiguous and leading >= self.rows else None


def problem_of(descriptor: Matmul) -> Problem:
    """Return the problem of a product whose matrices lie by rows or by columns. Raises UnsupportedError for any other."""
    if not descriptor.depth or not descriptor.out.size:
        _refuse("a sum over nothing is no product")
    if descriptor.activation != "none":
        _refuse(f"{descriptor.activation} runs after the product, by another kernel")
    a, b, bias, out = _matrices(descriptor)
    places, conjugates = (_A, _B), descriptor.conjugates
    target = out.by_columns()
    if (turned := out.transposed().by_columns()) is not None:  # by rows, as usual: out^T = b^T @ a^T
        target, a, b, bias = turned, b.transposed(), a.transposed(), bias.transposed()
        places, conjugates = (_B, _A), conjugates[::-1]
    if target is None:
        _refuse("out has neither contiguous rows nor contiguous columns")
    if descriptor.bias is not None:
        _check_bias(descriptor, bias)
    factors = _factor("b" if places[0] else "a", a), _factor("b" if places[1] else "a", b)
    for factor, is_conjugated in zip(factors, conjugates, strict=True):
        if is_conjugated and not factor.is_transposed:
            _refuse("a factor is conjugated that it would not transpose")
    if max(max(each) for each in (*factors, target)) > _MOST:
        _refuse("an extent or a stride has more than 31 bits")
    (batches,) = descriptor.geometry.shape or (1,)
    return Problem(*factors, target, batches, places, conjugates)


def _matrices(descriptor: Matmul) -> list[_Matrix]:
    """Return a, b, bias over out, and out."""
    geometry = descriptor.geometry
    if len(geometry.shape) > 1:
        _refuse("the batches lie at more than one stride")
    steps = {name: own[0] if own else 0 for name, own in zip(descriptor.operands, geometry.strides, strict=True)}
    if steps["out"] <= 0 and geometry.shape:
        _refuse("it sums over batches" if not steps["out"] else "a stride is negative")
    specs = (descriptor.a, descriptor.b, descriptor.bias, descriptor.out)
    matrices = []
    for name, spec in zip(("a", "b", "bias", "out"), specs, strict=True):
        whole = descriptor.out if spec is None or name == "bias" else spec
        rows, columns = whole.shape[-2:]
        row, column = (0, 0) if spec is None else broadcast_strides(spec, whole.shape)[-2:]
        if min(row, column, steps[name]) < 0:
            _refuse("a stride is negative")
        matrices.append(_Matrix(rows, columns, row, column, steps[name]))
    return matrices


def _factor(name: str, matrix: _Matrix) -> Layout:
    layout = matrix.by_columns()
    if layout is None:
        layout = matrix.transposed().by_columns()
        layout = None if layout is None else layout._replace(is_transposed=True)
    if layout is None:
        _refuse(f"{name} has neither contiguous rows nor contiguous columns")
    return layout


def _check_bias(descriptor: Matmul, bias: _Matrix) -> None:
    """Refuse what is no vector of a value a row, the same for all columns and matrices."""
    if descriptor.out.dtype not in _WITH_BIAS:
        _refuse(f"it adds no bias of {descriptor.out.dtype}")
    is_vector = (bias.row == 1 or bias.rows == 1) and (bias.column == 0 or bias.columns == 1) and not bias.step
    if not is_vector:
        _refuse("bias is no contiguous vector along the contiguous extent of out")


def _refuse(why: str) -> Never:
    message = f"cuBLASLt: {why}"
    raise ep.UnsupportedError(message)
