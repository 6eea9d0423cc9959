"""The rows of a family, an entry an op: all that a row says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_tools.documents.rows import Row, dtypes_text
from ep_tools.markdown import escaped
from ep_tools.website.directive import directive, fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import ep

__all__ = ["entries", "rows_of"]

_LARGEST: Final = 3.4028234663852886e38
_SMALLEST: Final = 1.1754943508222875e-38
"""Of float32: the largest value, and the smallest that is normal."""


def rows_of(family: ep.Family) -> Mapping[str, Any]:
    """Return the rows of a family by the name of the op, none of a family without ops."""
    found: Mapping[str, Any] = getattr(family, "rows", {})
    return found


def entries(family: ep.Family) -> Iterator[str]:
    """Yield an entry a row, in the order of the rows."""
    dtypes: dict[str, dict[tuple[str, str], None]] = {}
    since: dict[str, str] = {}
    first: dict[str, ep.Cell] = {}
    for cell in family.cells():
        given, _, out = cell.dtypes.partition("->")
        dtypes.setdefault(cell.op, {})[given, out or given] = None
        since.setdefault(cell.op, family.since(cell))
        first.setdefault(cell.op, cell)
    for op, row in rows_of(family).items():
        cells = Row(op, row, [*dtypes[op]])
        accuracy, why = cells.cell("accuracy"), cells.cell("why")
        if not accuracy:  # the row makes no promise of its own: it has that of its family
            promise = family.accuracy(family.sample(first[op]))
            accuracy, why = str(promise), escaped(promise.why)
        facts = {
            "element types": cells.cell("dtypes"),
            "output": cells.cell("out"),
            "accuracy": accuracy,
            "why": why,
            "domain": "; ".join(dict.fromkeys(_domain(each) for each in getattr(row, "domain", ()))),
            "special values": ", ".join(f"`{word}`" for word in getattr(row, "special", "").split()),
            "attributes": ", ".join(_attribute(each) for each in getattr(row, "attributes", ())),
            "a launch gives": ", ".join(_number(*each) for each in getattr(row, "numbers", ())),
            "counts": escaped(getattr(row, "limit", "")),
            "reference": _error(row),
            "source": cells.cell("source"),
            "note": cells.cell("note"),
            "PyTorch differs": " ".join(
                dict.fromkeys(f"{escaped(each.reason)} ({each.kind})" for each in _differences(row))
            ),
            "since": f"suite {since[op]}",
        }
        yield from directive("row", f"{family.name}/{op}", [cells.cell("definition"), *fields(facts)])


def _domain(domain: Any) -> str:
    low, high = domain.interval(_LARGEST, _SMALLEST)
    text = f"{domain.name}: values are dense from {low:.4g} to {high:.4g} (float32)"
    return (
        f"{text}, with every other magnitude among them"
        if domain.is_open
        else f"{text}, and the accuracy is promised there alone: {escaped(domain.why)}"
    )


def _attribute(attribute: Any) -> str:
    held = "float64" if attribute.wide else "the element type" if attribute.stored else "the compute type"
    usual = "" if attribute.default is None else f", {attribute.default:g} if left out, as in {attribute.source}"
    return f"`{attribute.name}`, held in {held}{usual} (cases try {', '.join(f'{value:g}' for value in attribute.samples)})"


def _number(name: str, dtype: str) -> str:
    return f"`{name}`, {dtype or 'of the element type'}"


def _error(row: Any) -> str:
    """Return how far the reference itself may be off, "" where it is exact."""
    error = getattr(row, "error", 0)
    if not isinstance(error, float | int):
        return "; ".join(
            f"off by {ulps:g} ulp at most in {dtype or 'float64'}" for dtype, ulps in error.items() if ulps
        )
    wide = [dtype for dtype in getattr(row, "dtypes", ()) if dtype in {"float64", "complex128"}]
    return f"off by {error:g} ulp at most in {dtypes_text(wide)}" if error and wide else ""


def _differences(row: Any) -> Iterator[Any]:
    yield from getattr(row, "disagreements", ())
