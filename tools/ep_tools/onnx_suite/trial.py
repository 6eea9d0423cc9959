"""One of ONNX's tests on a device of EP, compared as ONNX's runner compares."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import ep_onnx
from onnx import OptionalProto, SequenceProto, TensorProto, numpy_helper

import ep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_tools.onnx_suite.cases import Case

__all__ = ["Verdict", "run"]

_LONGEST: Final = 200
"""Characters of a reason."""


@dataclass(frozen=True)
class Verdict:
    """How a test ended.

    reason : why it did not pass, None if it did
    """

    reason: str | None
    is_on_host: bool = False


def run(case: Case, device: ep.Device) -> Verdict:
    """Run one test."""
    try:
        session = ep_onnx.Session(case.model, device)
        for given, needed in case.sets:
            inputs, outputs = [_plain(each) for each in given], [_plain(each) for each in needed]
            for _ in range(2):
                _compare(session.run(inputs), outputs, case)
        launches = any(segment.steps for plan in session.plans.values() for segment in plan.segments)
        session.close()
    except AssertionError as error:
        return Verdict(f"other values: {_line(error)}")
    except (ep.EpError, ValueError, TypeError) as error:
        return Verdict(_line(error))
    return Verdict(None, is_on_host=not launches)


def _compare(found: Sequence[Any], needed: Sequence[Any], case: Case) -> None:
    runner = importlib.import_module("onnx.backend.test.runner").Runner
    if any(each is None for each in needed):
        assert [each is None for each in found] == [each is None for each in needed]
        return
    assert len(found) == len(needed)
    for here, there in zip(found, needed, strict=True):
        # The runner takes the elements of a sequence for outputs of their own, but not if one has no dimension.
        sides = ([*there], [*here]) if isinstance(there, list) else ([there], [here])
        runner.assert_similar_outputs(*sides, rtol=case.rtol, atol=case.atol)


def _plain(given: Any) -> Any:
    if isinstance(given, TensorProto):
        return numpy_helper.to_array(given)
    if isinstance(given, SequenceProto):
        return numpy_helper.to_list(given)
    if isinstance(given, OptionalProto):
        return numpy_helper.to_optional(given)
    return given


def _line(error: BaseException) -> str:
    if isinstance(error, ep_onnx.LackingError) and error.lacking:
        cells = {tuple(each.rpartition(": ")[2].split("/")[:3]) for each in error.lacking}
        if ("rule", "-") in cells:
            return str(error).splitlines()[0]
        return f"lacks {', '.join(sorted({' '.join([each for each in cell if each != '-']) for cell in cells}))}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:2] if isinstance(error, ep_onnx.LackingError) else lines[:3])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
