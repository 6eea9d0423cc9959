"""A cell is the unit of capability: family/op/dtypes/layout. Claims, capabilities and case ids are written in cells."""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["LAYOUTS", "Cell", "dtypes_name", "matches"]

LAYOUTS: Final = (
    "dense",
    "strided",
    "broadcast",
    "scalar-left",
    "scalar-right",
    "inplace",
    "offset",
    "empty",
    "rank0",
)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One square of the capability matrix; its text is `elementwise_unary/exp/float32/strided`.

    op      : "-" for a family without ops
    dtypes  : of the inputs in operand order, one name if all are equal; "->" and those of the outputs follow if they differ
    layout  : one of LAYOUTS
    """

    family: str
    op: str
    dtypes: str
    layout: str

    def __str__(self) -> str:
        return f"{self.family}/{self.op}/{self.dtypes}/{self.layout}"


def dtypes_name(inputs: Sequence[str], *outputs: str) -> str:
    """Return the dtypes part of a cell: `float32`, `float32->bool`, `int8,int32->int32`, `float32->float32,int64`.

    Without inputs it is that of the outputs.
    """
    names, written = (_joined(dtypes) for dtypes in (inputs, outputs))
    return written if names in {"", written} else f"{names}->{written}"


def _joined(dtypes: Sequence[str]) -> str:
    """Return the names of element types, one name if all are equal."""
    return ",".join(dtypes if len(set(dtypes)) > 1 else dtypes[:1])


def matches(pattern: str, name: str) -> bool:
    """Say whether a cell or case name matches a pattern of as many parts; `*` and `?` stay inside one part."""
    tests, parts = _tests(pattern), name.split("/")
    return len(tests) == len(parts) and all(test is None or test(part) for test, part in zip(tests, parts, strict=True))


@functools.lru_cache(maxsize=4096)
def _tests(pattern: str) -> tuple[Callable[[str], object] | None, ...]:
    """Return what each part must pass, None for anything: cells by the ten thousand meet patterns by the hundred."""
    return tuple(_test(part) for part in pattern.split("/"))


def _test(part: str) -> Callable[[str], object] | None:
    if part == "*":
        return None
    if not set(part) & set("*?["):
        return part.__eq__
    return re.compile(fnmatch.translate(part)).match
