"""A descriptor as the call that makes it: in files, where only validated descriptors may come from, and in scripts."""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Construction", "construction_of", "construction_read"]


@dataclass(frozen=True)
class Construction:
    """The arguments of a family's descriptor: specs, scalars, numbers, texts and tuples of integers.

    positional : those without a name: the op, and the terms of a sum
    keywords   : the others
    """

    family: str
    positional: tuple[Any, ...]
    keywords: Mapping[str, Any]

    def build(self) -> ep.Descriptor:
        """Return the descriptor. Raises ValueError, TypeError or KeyError if the family does not take it."""
        return ep.families()[self.family].descriptor(*self.positional, **self.keywords)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; `construction_read` gives it back."""
        return {
            "family": self.family,
            "positional": [_json(value) for value in self.positional],
            "keywords": {name: _json(value) for name, value in self.keywords.items()},
        }

    def __str__(self) -> str:
        """Return it as Python, less the import."""
        given = [*map(_text, self.positional), *(f"{name}={_text(value)}" for name, value in self.keywords.items())]
        return f"{ep.families()[self.family].descriptor.__name__}({', '.join(given)})"

    @property
    def module(self) -> str:
        """Where the class is imported from: its package, if that shows it."""
        kind = ep.families()[self.family].descriptor
        package = kind.__module__.partition(".")[0]
        shown = getattr(importlib.import_module(package), kind.__name__, None)
        return package if shown is kind else sys.modules[kind.__module__].__name__


def construction_of(descriptor: ep.Descriptor) -> Construction | None:
    """Return the call that makes a descriptor, None if its public parts do not suffice to make it again.

    Each parameter of the class is an operand or an attribute of the value. A `**keywords` parameter takes the row's
    attributes, and Scalars without a parameter of their own.
    """
    try:
        found = _found(descriptor)
        again = construction_read(found.as_json()).build()
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return found if again == descriptor else None


def _found(descriptor: ep.Descriptor) -> Construction:
    specs = dict(zip(descriptor.operands, descriptor.specs, strict=True))
    parameters = [*inspect.signature(type(descriptor).__init__).parameters.values()][1:]
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += [specs[name] for name in descriptor.roles.read]
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords |= _free(descriptor, specs.keys() - {each.name for each in parameters})
        elif parameter.name == "op":
            positional.append(descriptor.op)
        else:
            value = specs[parameter.name] if parameter.name in specs else getattr(descriptor, parameter.name)
            if value != parameter.default:
                keywords[parameter.name] = value
    return Construction(descriptor.family, tuple(positional), keywords)


def _free(descriptor: ep.Descriptor, rest: set[str]) -> dict[str, Any]:
    """Return the arguments of a `**keywords` parameter: Scalars in operand order, then the row's attributes."""
    specs = descriptor.present.items()
    numbers = {name: spec for name, spec in specs if name in rest and isinstance(spec, ep.Scalar)}
    if not descriptor.attributes:
        return numbers
    row = ep.families()[descriptor.family].rows[descriptor.op]  # type: ignore[attr-defined]  # of families with rows
    names = [attribute.name for attribute in row.attributes]
    return numbers | dict(zip(names, descriptor.attributes, strict=True))


def construction_read(table: Any) -> Construction:
    """Return what `as_json` made. Raises KeyError, TypeError or ValueError for anything else."""
    positional, keywords = table["positional"], table["keywords"]
    if not isinstance(positional, list) or not isinstance(keywords, dict) or table["family"] not in ep.families():
        message = f"{table['family']!r} is no installed family, or its arguments are none"
        raise ValueError(message)
    given = {str(name): _value(value) for name, value in keywords.items()}
    return Construction(table["family"], tuple(map(_value, positional)), given)


def _json(value: Any) -> Any:
    if isinstance(value, ep.TensorSpec):
        return {"dtype": value.dtype, "shape": [*value.shape], "strides": [*value.strides], "offset": value.offset}
    if isinstance(value, ep.Scalar):
        return {"scalar": value.dtype}
    if isinstance(value, tuple):
        return [_json(each) for each in value]
    if isinstance(value, float):
        return {"float": value.hex()}
    if value is None or isinstance(value, bool | int | str):
        return value
    message = f"{value!r} is nothing that a descriptor is made of"
    raise TypeError(message)


def _value(value: Any) -> Any:
    match value:
        case {"dtype": str(dtype), "shape": list(shape), "strides": list(strides), "offset": int(offset)}:
            return ep.TensorSpec(dtype, tuple(shape), tuple(strides), offset)
        case {"scalar": str(dtype)}:
            return ep.Scalar(dtype)
        case {"float": str(digits)}:
            return float.fromhex(digits)
        case list():
            return tuple(map(_value, value))
        case None | bool() | int() | str():
            return value
    message = f"{value!r} is nothing that a descriptor is made of"
    raise TypeError(message)


def _text(value: Any) -> str:
    if isinstance(value, ep.TensorSpec | ep.Scalar):
        return f"ep.{value!r}"
    return repr(value)
