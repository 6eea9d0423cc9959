"""The page of the report: every field of its published schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ep_conformance.report.schema import read_schema

from ep_tools.markdown import escaped
from ep_tools.website.directive import directive, fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["page", "schema_fields"]

_HEAD: Final = """# {title}

{description} The schema itself, `report.schema.json` (JSON Schema, draft 2020-12), lies in the package `ep_conformance`. In the names
below `[]` stands for each element of a list.
"""


def schema_fields() -> dict[str, Mapping[str, Any]]:
    """Return every field of a report by its path, such as `cases[].status`."""
    schema = read_schema()
    return dict(_walk(schema, schema, ""))


def page() -> str:
    """Return the page."""
    schema = read_schema()
    lines = [_HEAD.format(title=schema["title"], description=escaped(schema["description"]))]
    for path, field in schema_fields().items():
        values = (
            [json.dumps(field["const"])] if "const" in field else [json.dumps(each) for each in field.get("enum", ())]
        )
        kinds = field.get("type", [])
        facts = {
            "type": ", ".join([kinds] if isinstance(kinds, str) else kinds),
            "values": ", ".join(f"`{value}`" for value in values),
            "at least": str(field.get("minimum", "")),
            "pattern": f"`{field['pattern']}`" if "pattern" in field else "",
        }
        lines += directive("field", path, [escaped(field.get("description", "")), *fields(facts)])
    return "\n".join(lines)


def _walk(root: Mapping[str, Any], node: Mapping[str, Any], path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, given in node.get("properties", {}).items():
        field = _resolved(root, given)
        place = f"{path}.{name}" if path else name
        yield place, field
        yield from _walk(root, field, place)
        yield from _walk(root, _resolved(root, field.get("items", {})), f"{place}[]")


def _resolved(root: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a node with what it refers to put in its place; of `null or X` that is X."""
    found = dict(node)
    for choice in found.pop("oneOf", found.pop("anyOf", [])):
        if choice.get("type") != "null":
            found = {**_resolved(root, choice), **found}
    if "$ref" in found:
        target: Any = root
        for part in found.pop("$ref").removeprefix("#/").split("/"):
            target = target[part]
        found = {**_resolved(root, target), **found}
    return found
