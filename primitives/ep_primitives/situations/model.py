"""A Model states in which dimensions the situations of a family in one layout differ, and which values never meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    Situation = Mapping[str, str]

__all__ = ["USUAL", "Dimension", "Model", "Never"]

USUAL: Final = "usual"
"""The text of the situation all of whose values are usual."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing in which situations differ.

    values        : small words; the first is the usual one, which texts leave out
    late          : those of them that profile standard alone tries
    is_dangerous  : True if standard covers triples of such dimensions, too
    """

    name: str
    values: tuple[str, ...]
    late: tuple[str, ...] = ()
    is_dangerous: bool = False


@dataclass(frozen=True, slots=True)
class Never:
    """Values that never meet: no situation has, for every dimension named, one of its values named.

    why : a reason, as the rest of the sentence "impossible: ..."
    """

    values: Mapping[str, tuple[str, ...]]
    why: str

    def forbids(self, situation: Situation) -> bool:
        """Say whether a situation, perhaps a part of one, has these values."""
        return all(situation.get(name) in values for name, values in self.values.items())


@dataclass(frozen=True, slots=True)
class Model:
    """The dimensions of one layout, and its rules."""

    dimensions: tuple[Dimension, ...]
    rules: tuple[Never, ...] = ()

    def __post_init__(self) -> None:
        known = {dimension.name: dimension.values for dimension in self.dimensions}
        for rule in self.rules:
            for name, values in rule.values.items():
                if not set(values) <= set(known.get(name, ())):
                    message = f"the rule {rule.why!r} names {name}={', '.join(values)}; {name} has {known.get(name)}"
                    raise ValueError(message)

    def broken(self, situation: Situation) -> Never | None:
        """Return the first rule that forbids a situation, or a part of one; None if there is none."""
        return next((rule for rule in self.rules if rule.forbids(situation)), None)

    def is_late(self, situation: Situation) -> bool:
        """Say whether profile quick leaves a situation out."""
        return any(situation[dimension.name] in dimension.late for dimension in self.dimensions)

    def text(self, situation: Situation) -> str:
        """Return a situation's content, the last part of its cases' ids: what is not usual, sorted by dimension."""
        told = {each.name: situation[each.name] for each in self.dimensions if situation[each.name] != each.values[0]}
        return "+".join(f"{name}.{value}" for name, value in sorted(told.items())) or USUAL

    def situation(self, text: str) -> dict[str, str]:
        """Return the situation of a text: a value for each dimension.

        Raises ValueError for a text that the model does not have.
        """
        told = {} if text == USUAL else dict(_pair(text, part) for part in text.split("+"))
        found = {each.name: told.pop(each.name, each.values[0]) for each in self.dimensions}
        wrong = [*told, *(each.name for each in self.dimensions if found[each.name] not in each.values)]
        rule = self.broken(found)
        if wrong or rule is not None:
            why = f"it has no such {wrong[0]}" if rule is None else rule.why
            message = f"the situation {text!r} is not in the model: {why}; write it anew with `python tools situations`"
            raise ValueError(message)
        return found


def _pair(text: str, part: str) -> tuple[str, str]:
    name, dot, value = part.partition(".")
    if not dot:
        message = f"the situation {text!r} has {part!r}, needed are parts such as way.captured, joined by +"
        raise ValueError(message)
    return name, value
