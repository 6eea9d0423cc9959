"""Each descriptor class gets a cached `infer`, and constructor errors in EP's words in place of Python's."""

from __future__ import annotations

import functools
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from ep.exchange.tensor import Tensor
from ep.ground.keywords import check_call
from ep.layout.spec import Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["keep_and_explain"]

_MOST_KNOWN: Final = 4096
"""Descriptors that the cache of one family keeps; inferring one of them again costs a look-up."""

_VALUES: Final = frozenset({str, int, bool, NoneType, TensorSpec, Scalar})
"""Types whose equal values mean the same to every family, if the types are equal, too."""
_INTEGER: Final = frozenset({int})


def keep_and_explain(kind: type) -> None:
    """Cache the results of a descriptor class's `infer`, and report wrong arguments in EP's words."""
    infer, construct = vars(kind).get("infer"), vars(kind).get("__init__")
    if type(infer) is classmethod:
        setattr(kind, "infer", classmethod(_kept(infer.__func__)))  # noqa: B010 - to mypy every type lacks it
    if construct is not None:
        setattr(kind, "__init__", _explained(construct))  # noqa: B010 - as above


def _explained(construct: Callable[..., None]) -> Callable[..., None]:
    """Return an `__init__` that raises TypeError, in EP's words, for arguments that it does not have."""

    @functools.wraps(construct)
    def constructed(self: Any, *given: Any, **named: Any) -> None:
        try:
            construct(self, *given, **named)
        except TypeError:
            _explain(type(self), construct, given, named)
            raise

    return constructed


def _kept(infer: Callable[..., Any]) -> Callable[..., Any]:
    """Return an `infer` that looks for earlier results of the same arguments first.

    Arrays of other libraries are inspected each time, because their shape may change. A look-up takes no lock, and a
    signal handler may interrupt it.
    """
    known = functools.lru_cache(_MOST_KNOWN, typed=True)(infer)

    @functools.wraps(infer)
    def inferred(cls: type, *given: Any, **named: Any) -> Any:
        try:
            for thing in (*given, *named.values()) if named else given:
                if type(thing) not in _VALUES and not _is_value(thing):
                    break
            else:
                return known(cls, *given, **named)
            if Tensor in map(type, (*given, *named.values())):
                specs = [thing.spec if type(thing) is Tensor else thing for thing in given]
                others = {name: thing.spec if type(thing) is Tensor else thing for name, thing in named.items()}
                return inferred(cls, *specs, **others)
            return infer(cls, *given, **named)
        except TypeError:
            _explain(cls, infer, given, named)
            raise

    return inferred


def _is_value(thing: Any) -> bool:
    kind = type(thing)
    if kind is float:
        return bool(thing)  # 0.0 and -0.0 are equal and not the same
    return kind is tuple and _INTEGER.issuperset(map(type, thing))


def _explain(cls: Any, function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> None:
    try:
        check_call(cls.family, function, given, named)
    except TypeError as error:
        raise error from None
