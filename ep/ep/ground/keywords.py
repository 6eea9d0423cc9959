"""Error messages for calls with wrong arguments: they name the operation, where Python would name a function."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from ep.ground.glimpse import glimpse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["check_call"]

_LONGEST_NAME: Final = 100  # of a keyword that is looked for among the known ones


def check_call(operation: str, function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raise TypeError, naming unknown, missing and surplus arguments, unless a function takes these arguments.

    function  : a method, whose first argument is not the caller's
    """
    parameters = [*inspect.signature(function).parameters.values()][1:]
    known = [each.name for each in parameters if each.kind in _NAMED]
    places = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    kinds = {each.kind for each in parameters}
    parts = []
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        parts += [f"{_shown(name, known)} is unknown" for name in named if name not in known]
    taken = places[: len(given)]
    required = [each.name for each in parameters if each.kind in _NAMED and each.default is each.empty]
    parts += [f"{name} is missing" for name in required if name not in named and name not in taken]
    parts += [f"{name} is given twice" for name in taken if name in named]
    if len(given) > len(places) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.append(f"{len(given)} arguments have no name, and {len(places) or 'none'} may lack one")
    if parts:
        message = f"{operation}: {'; '.join(parts)}; its arguments are {', '.join(map(_parameter, parameters))}"
        raise TypeError(message)


def _shown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.5) if len(name) <= _LONGEST_NAME else []
    return f"{glimpse(name)[1:-1]}{f' (near it is {near[0]})' if near else ''}"


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return f"{parameter.name}, {parameter.name}, ..."
    return "those of its row" if parameter.kind is inspect.Parameter.VAR_KEYWORD else parameter.name


_NAMED: Final = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
