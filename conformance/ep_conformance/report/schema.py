"""The published JSON schema of reports, report.schema.json, and a report's violations of it."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["problems", "read_schema"]

_LONGEST: Final = 200


def read_schema() -> dict[str, Any]:
    """Return the schema: JSON Schema, draft 2020-12."""
    text = resources.files("ep_conformance").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def problems(report: Any) -> Iterator[str]:
    """Yield a report's violations of the schema, one line each: the place and the fault."""
    for error in Draft202012Validator(read_schema()).iter_errors(report):
        said = " ".join(error.message.split())
        said = said if len(said) <= _LONGEST else f"{said[: _LONGEST // 2]} ... {said[-_LONGEST // 2 :]}"
        yield f"{error.json_path}: {said}"
