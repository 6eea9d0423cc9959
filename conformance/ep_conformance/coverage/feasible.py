"""Whether a model's rules leave room for some values: by propagation of what each rule still allows, then by trying what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep_primitives.situations.model import Model, Never

__all__ = ["Feasibility"]

Domains = dict[str, frozenset[str]]


class Feasibility:
    """The rules of a model over domains: the values that each dimension may still have."""

    def __init__(self, model: Model, lacks: Mapping[str, Sequence[str]], *, is_quick: bool) -> None:
        self._rules = model.rules
        self._known: dict[frozenset[tuple[str, str]], tuple[str, ...]] = {}
        self.domains: Domains = {
            each.name: frozenset(each.values) - set(lacks.get(each.name, ())) - set(each.late if is_quick else ())
            for each in model.dimensions
        }

    def reasons(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return why no situation has these values: the reasons of the rules that leave nothing; () if one has them."""
        asked = frozenset(values.items())
        if asked not in self._known:
            self._known[asked] = self._reasons(values)
        return self._known[asked]

    def _reasons(self, values: Mapping[str, str]) -> tuple[str, ...]:
        domains = self.domains | {name: frozenset({value}) for name, value in values.items()}
        if any(not domain <= self.domains[name] for name, domain in domains.items()):
            return ("a value that is not tried here",)
        told: dict[str, None] = {}
        return () if self._has_room(domains, told) else tuple(told)

    def _has_room(self, domains: Domains, told: dict[str, None]) -> bool:
        narrowed = self._propagated(domains, told)
        if narrowed is None:
            return False
        open_rules = [rule for rule in self._rules if _is_open(rule, narrowed)]
        if not open_rules:
            return True
        # Some dimension of the rule may still be outside of it: with what is outside, or without it, less is open.
        name, values = next((n, v) for n, v in open_rules[0].values.items() if not narrowed[n] <= frozenset(v))
        inside = narrowed[name] & frozenset(values)
        return any(self._has_room(narrowed | {name: part}, told) for part in (narrowed[name] - inside, inside))

    def _propagated(self, domains: Domains, told: dict[str, None]) -> Domains | None:
        """Return the domains without what single rules forbid, None if nothing is left of one."""
        is_changed = True
        while is_changed:
            is_changed = False
            for rule in self._rules:
                loose = [name for name, values in rule.values.items() if not domains[name] <= frozenset(values)]
                if not loose:
                    told[rule.why] = None
                    return None
                if len(loose) == 1:
                    (name,) = loose
                    left = domains[name] - frozenset(rule.values[name])
                    if left != domains[name]:
                        told[rule.why] = None
                        domains = domains | {name: left}
                        is_changed = True
        return domains


def _is_open(rule: Never, domains: Domains) -> bool:
    """Say whether a situation within the domains could still break a rule."""
    return all(domains[name] & frozenset(values) for name, values in rule.values.items())
