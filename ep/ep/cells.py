"""A cell is the unit of capability: family/op/dtypes/layout. Claims, capabilities and case ids are written in cells."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    dtypes  : of the inputs in operand order, one name if all are equal; "->out" follows if the output differs
    layout  : one of LAYOUTS
    """

    family: str
    op: str
    dtypes: str
    layout: str

    def __str__(self) -> str:
        return f"{self.family}/{self.op}/{self.dtypes}/{self.layout}"


def dtypes_name(inputs: Sequence[str], out: str) -> str:
    """Return the dtypes part of a cell: `float32`, `float32->bool`, `int8,int32->int32`; without inputs it is `out`."""
    if not inputs:
        return out
    names = inputs[0] if len(set(inputs)) == 1 else ",".join(inputs)
    return names if names == out else f"{names}->{out}"


def matches(pattern: str, name: str) -> bool:
    """Say whether a cell or case name matches a pattern of as many parts; `*` and `?` stay inside one part."""
    patterns, parts = pattern.split("/"), name.split("/")
    return len(patterns) == len(parts) and all(map(fnmatch.fnmatchcase, parts, patterns))
