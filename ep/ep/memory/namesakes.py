"""Errors about an argument of another device, including an earlier device of the same name that was closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ep.errors import ClosedError

if TYPE_CHECKING:
    from ep.stream.device import Device

__all__ = ["refuse_device"]


def refuse_device(operation: str, argument: str, its: Device, mine: Device, needed: str) -> NoReturn:
    """Raise the error that an argument belongs to device `its`, and an object of device `mine` cannot take it.

    argument  : the beginning of the sentence, such as "stream is of"
    needed    : the end of the sentence

    Raises ClosedError where one of the two was closed, or is of before fork(); else ValueError.
    """
    mine._check_fork(operation)
    its._check_fork(operation)
    if mine.is_closed:
        message = (
            f"{operation}: was made for a device {mine.name} that was closed; make it anew for ep.device({mine.name!r})"
        )
        raise ClosedError(message)
    if its.is_closed:
        message = f"{operation}: {argument} a device {its.name} that was closed; make a new one on {mine.name}"
        raise ClosedError(message)
    message = f"{operation}: {argument} {its.name}, needs {needed}"
    raise ValueError(message)
