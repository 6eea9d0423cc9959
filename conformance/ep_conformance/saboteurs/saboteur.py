"""A saboteur: a provider with one planted defect, and the case that must fail because of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from ep_conformance.saboteurs.implementations import HonestKernel
from ep_conformance.saboteurs.provider import HonestProvider

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PLANTED", "Planted", "Saboteur", "killed_by"]

Planted = type[HonestKernel] | type[HonestProvider]
Kind = TypeVar("Kind", bound=Planted)


class Saboteur(NamedTuple):
    """A planted defect and the case that must fail because of it.

    name       : of the provider that is installed for it
    planted    : the provider, or the kernel of an otherwise honest one; its docstring says what is wrong
    killed_by  : case id
    """

    name: str
    planted: Planted
    killed_by: str

    @property
    def defect(self) -> str:
        """What is wrong with it, in a sentence."""
        return (self.planted.__doc__ or "").strip()

    def provider(self) -> HonestProvider:
        """Return the provider with the defect."""
        kind: type[HonestProvider] = (
            self.planted
            if issubclass(self.planted, HonestProvider)
            else type(self.planted.__name__, (HonestProvider,), {"kernel_type": self.planted})
        )
        made = kind()
        made.registered = self.name
        return made


PLANTED: Final[list[Saboteur]] = []
"""Every saboteur whose module was imported, in order."""


def killed_by(case: str) -> Callable[[Kind], Kind]:
    """Return a decorator that makes a kernel or a provider a saboteur, named as its class: LosesNan is loses-nan.

    Raises ValueError for a class whose name another one has.
    """

    def enrol(planted: Kind) -> Kind:
        name = re.sub(r"(?<=.)(?=[A-Z])", "-", planted.__name__).lower()
        for other in PLANTED:
            if other.name == name:
                message = (
                    f"saboteur {name}: {planted.__module__} and {other.planted.__module__} have one each; rename one"
                )
                raise ValueError(message)
        PLANTED.append(Saboteur(name, planted, case))
        return planted

    return enrol
