"""Matrix products, and operations that are a product with a constant matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from ep_onnx.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_onnx.interpreter import Call
    from ep_onnx.trace import Trace
    from ep_onnx.value import Value

__all__ = ["product"]

_PRODUCTS: Final = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def product(do: Trace, a: Value, b: Value) -> Value:
    """Append a @ b with NumPy's rules for vectors and batches."""
    left = do.reshape(a, (1, *a.shape)) if a.ndim == 1 else a
    right = do.reshape(b, (*b.shape, 1)) if b.ndim == 1 else b
    made = multiplied(do, left, right) if a.dtype in _PRODUCTS else _plain(do, left, right)
    if a.ndim > 1 and b.ndim > 1:
        return made
    index = (..., *([0] if a.ndim == 1 else []), *([slice(None)] if a.ndim == 1 and b.ndim > 1 else []))
    made = made[index] if a.ndim == 1 else made
    return made[(..., 0)] if b.ndim == 1 else made


def multiplied(do: Trace, a: Value, b: Value, bias: Value | None = None, alpha: float = 1.0) -> Value:
    """Append alpha a @ b + bias; a later bias or activation may join it."""
    made = do.matmul(a, b, bias=bias, alpha=alpha)
    made.instead["activation"] = lambda name: do.matmul(a, b, bias=bias, alpha=alpha, activation=name)
    if bias is None:
        made.instead["bias"] = lambda row: multiplied(do, a, b, row, alpha)
    return made


def _plain(do: Trace, a: Value, b: Value) -> Value:
    """Append an integers' product as a sum of products: the family Matmul has none of them."""
    columns = b.permute((*range(b.ndim - 2), -1 + b.ndim, -2 + b.ndim))
    rows = do.reshape(a, (*a.shape[:-1], 1, a.shape[-1]))
    terms = do.binary("mul", rows, do.reshape(columns, (*columns.shape[:-2], 1, *columns.shape[-2:])))
    return do.reduce("sum", terms, [-1], keeps=False, dtype=a.dtype)


@rule("MatMul")
def _matmul(do: Trace, node: Call, a: Value, b: Value) -> Value:
    return product(do, a, b)


@rule("Gemm")
def _gemm(do: Trace, node: Call, a: Value, b: Value, c: Value | None = None) -> Value:
    a = a.permute((1, 0)) if node.get("transA", 0) else a
    b = b.permute((1, 0)) if node.get("transB", 0) else b
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    shape = (a.shape[0], b.shape[1])
    if a.dtype not in _PRODUCTS:
        return _gemm_of_integers(do, _plain(do, a, b), c if beta else None, alpha, beta)
    if c is None or not beta:
        return multiplied(do, a, b, alpha=alpha)
    if beta == 1 and c.shape in {(shape[1],), (1, shape[1])}:
        return multiplied(do, a, b, do.reshape(c, (shape[1],)), alpha)
    made = do.matmul(a, b, alpha=alpha)
    return do.binary("add", made, c if beta == 1 else do.binary("mul", c, do.constant(beta, c.dtype)))


def _gemm_of_integers(do: Trace, product: Value, c: Value | None, alpha: float, beta: float) -> Value:
    """Append alpha product + beta c, in float64 where a factor is no whole number."""
    dtype = product.dtype
    wide = dtype if float(alpha).is_integer() and float(beta).is_integer() else "float64"
    made = do.cast(product, wide)
    if alpha != 1:
        made = do.binary("mul", made, do.constant(alpha, wide))
    if c is not None:
        addend = do.cast(c, wide)
        made = do.binary("add", made, addend if beta == 1 else do.binary("mul", addend, do.constant(beta, wide)))
    return do.cast(made, dtype)


@rule("Einsum")
def _einsum(do: Trace, node: Call, *x: Value) -> Value:
    equation = node.get("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = _named(left.split(","), x)
    if arrow:
        (wanted,) = _named([right], [max(x, key=lambda each: each.ndim)], lengths=[None])
    else:
        once = sorted({name for name in "".join(left) if name.isalpha() and left.count(name) == 1})
        dots = sorted({name for term in terms for name in term if isinstance(name, int)})
        wanted = [*dots, *once]
    dots = sorted({name for term in terms for name in term if isinstance(name, int)})
    wanted = [each for name in wanted for each in (dots if name == "..." else [name])]
    values = _repeated([_diagonal(each, term) for each, term in zip(x, terms, strict=True)])
    while len(values) > 1:
        later = {name for _, names in values[2:] for name in names} | set(wanted)
        values = [_contracted(do, values[0], values[1], later), *values[2:]]
    value, names = values[0]
    gone = [place for place, name in enumerate(names) if name not in wanted]
    if gone:
        value, names = _summed(do, value, gone), [name for name in names if name in wanted]
    return value.permute([names.index(name) for name in wanted])


def _summed(do: Trace, x: Value, axes: list[int]) -> Value:
    return do.reduce("sum", x, axes, keeps=False, dtype=x.dtype)


def _named(terms: Sequence[str], x: Sequence[Value], lengths: Any = ()) -> list[list[Any]]:
    """Return the names of each term's dimensions; for `...` they are numbers that count from the end."""
    named = []
    for term, each in zip(terms, x, strict=True):
        letters = term.replace("...", "")
        hidden = (
            [] if "..." not in term else ["..."] if lengths else [-n for n in range(each.ndim - len(letters), 0, -1)]
        )
        begin = term.index("...") if "..." in term else len(letters)
        named.append([*letters[:begin], *hidden, *letters[begin:]])
    return named


def _diagonal(x: Value, names: list[Any]) -> tuple[Value, list[Any]]:
    """Return x with each name once: dimensions of one name are walked together."""
    unique = [*dict.fromkeys(names)]
    if len(unique) == len(names):
        return x, unique
    spec = x.spec
    extents = [spec.shape[names.index(name)] for name in unique]
    strides = [sum(s for n, s in zip(names, spec.strides, strict=True) if n == name) for name in unique]
    return x.windows(extents, strides), unique


def _repeated(terms: list[tuple[Value, list[Any]]]) -> list[tuple[Value, list[Any]]]:
    """Return terms whose dimensions under `...` have the extents of the others': those of 1 are repeated."""
    extents = {
        name: extent
        for value, names in terms
        for name, extent in zip(names, value.shape, strict=True)
        if isinstance(name, int) and extent != 1
    }
    return [
        (value.expand([extents.get(name, extent) for name, extent in zip(names, value.shape, strict=True)]), names)
        for value, names in terms
    ]


def _contracted(do: Trace, first: Any, second: Any, later: set[Any]) -> tuple[Value, list[Any]]:
    """Append the product of two terms, summed over the names that no later term or result has."""
    (a, of_a), (b, of_b) = first, second
    for names, other in ((of_a, of_b), (of_b, of_a)):
        gone = [place for place, name in enumerate(names) if name not in later and name not in other]
        if gone:
            value = a if names is of_a else b
            value = _summed(do, value, gone)
            if names is of_a:
                a, of_a = value, [name for name in names if names.index(name) not in gone]
            else:
                b, of_b = value, [name for name in names if names.index(name) not in gone]
    batch = [name for name in of_a if name in of_b and name in later]
    summed = [name for name in of_a if name in of_b and name not in later]
    rows = [name for name in of_a if name not in of_b]
    columns = [name for name in of_b if name not in of_a]
    extents = dict(zip(of_b, b.shape, strict=True)) | dict(zip(of_a, a.shape, strict=True))

    def formed(value: Value, names: list[Any], *groups: list[Any]) -> Value:
        turned = value.permute([names.index(name) for group in groups for name in group])
        return do.reshape(turned, [math.prod(extents[name] for name in group) for group in groups])

    left, right = formed(a, of_a, batch, rows, summed), formed(b, of_b, batch, summed, columns)
    made = do.matmul(left, right) if a.dtype in _PRODUCTS else _plain(do, left, right)
    names = [*batch, *rows, *columns]
    return do.reshape(made, [extents[name] for name in names]), names
