"""The accuracy registry: what every op of every family is held to in each element type, why, and where.

It is read from the families, whose rows hold each bound beside its reason; there is no second list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ep.layout.cells import matches
from ep.plugin.family import by_name
from ep_primitives.elementwise.cells import ElementwiseFamily

from ep_conformance.plan.catalogue import cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ep_primitives.elementwise.domain import Domain
    from ep_primitives.judging.accuracy import Accuracy

    import ep

__all__ = ["Promise", "domains_of", "held_to", "promises", "stated", "worst_margins"]


@dataclass(frozen=True)
class Promise:
    """The accuracy that results of one op in its element types must have.

    name     : family/op/dtypes, a cell without its layout; the output follows if outputs have different accuracies
    accuracy : of a typical descriptor, where the bound depends on the number of terms; `accuracy.why` is the reason
    domains  : for each input the domain of the random data for which the accuracy holds; () for families without
               domains
    """

    name: str
    accuracy: Accuracy
    domains: tuple[Domain, ...]

    def record(self) -> dict[str, Any]:
        """Return the promise for JSON; `narrowed` says of each domain that is not open why."""
        narrowed = {domain.name: domain.why for domain in self.domains if not domain.is_open}
        return {"name": self.name, "accuracy": str(self.accuracy), "why": self.accuracy.why, "narrowed": narrowed}


def promises(pattern: str = "*/*/*") -> Iterator[Promise]:
    """Yield the promise of each family/op/dtypes that matches; in a pattern `*` stays inside a part."""
    seen: set[str] = set()
    for family, cell in cells():
        name = f"{cell.family}/{cell.op}/{cell.dtypes}"
        if name not in seen and matches(pattern, name):
            sample = family.sample(cell)
            for output, accuracy in held_to(sample, family.accuracy(sample)).items():
                yield Promise(f"{name} {output}".rstrip(), accuracy, domains_of(family, cell))
        seen.add(name)


def held_to(descriptor: ep.Descriptor, answer: Any) -> dict[str, Accuracy]:
    """Return a family's accuracy for each output, by name; under "" one accuracy for all outputs."""
    answers = by_name(descriptor, answer)
    accuracies = {name: answers[name] for name in descriptor.outputs}
    first, *others = accuracies.values()
    return {"": first} if all(other == first for other in others) else accuracies


def stated(accuracy: Accuracy, margin: float | None = None) -> str:
    """Return `4 ulp: expm1 3 ulp and a product`; the worst margin that was found follows the bound."""
    measured = "" if margin is None else f" (worst margin {margin:.3f})"
    return f"{accuracy}{measured}: {accuracy.why or 'no reason stated'}"


def worst_margins(cases: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return by family/op/dtypes the largest margin among the cases of a report that passed and were not exact."""
    worst: dict[str, float] = {}
    for case in cases:
        room, _, rest = case["id"].partition("/")
        if room == "primitives" and case["status"] == "pass" and case["margin"] is not None:
            name = "/".join(rest.split("/")[:3])
            worst[name] = max(case["margin"], worst.get(name, 0.0))
    return worst


def domains_of(family: ep.Family, cell: ep.Cell) -> tuple[Domain, ...]:
    """Return the domain of each input's random data in a cell, () for a family that states none."""
    return family.domains(family.signature(cell)) if isinstance(family, ElementwiseFamily) else ()
