"""Calls of AddN that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Any, Final

from ep_primitives.cases.call import F32, ROW, Call, inferred
from ep_primitives.families.add_n import AddN

__all__ = ["CALLS"]


def _add(x0: Any, x1: Any, out: Any) -> Any:
    return AddN(x0, x1, out=out)


def _infer_add(x0: Any, x1: Any, out: Any = None) -> Any:
    return AddN.infer(x0, x1, out=out)


CALLS: Final[list[Call]] = [
    Call(AddN, _add, "add_n", is_strict=True, arguments={"x0": F32, "x1": ROW, "out": F32}),
    *inferred(AddN, _infer_add, "add_n", {"x0": F32, "x1": ROW}),
]
