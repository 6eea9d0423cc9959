"""Base of families that construct cases: it deals the situations of their models to their cells."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections import defaultdict
from functools import cached_property, lru_cache, partial
from itertools import cycle, islice, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.situations.array import array_of
from ep_primitives.situations.manner import Manner, manner_of, start_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from ep_primitives.cases.case import Profile
    from ep_primitives.situations.model import Model, Situation

__all__ = ["Row", "SituatedFamily"]

SINCE: Final = "1.1"

_MADE: Final = ("describe", "data", "inplace", "shift", "expected", "accuracy", "summands", "fill")
"""Fields of a case that `situated` states."""


class Row(NamedTuple):
    """A situation of an array.

    tier   : of `TIERS`
    starts : operands whose memories begin somewhere else than at an aligned place, with the word that says where
    """

    text: str
    tier: str
    situation: Situation
    manner: Manner
    starts: Mapping[str, str]


class _Dealt(NamedTuple):
    """A situation that a signature was dealt."""

    row: Row
    profile: Profile


class Constructed(Case):
    """A case of a situation; its descriptor and data are made when one of them is asked for: a list needs the names alone."""

    __slots__ = ("make",)
    make: Callable[[], Case]

    def __getattr__(self, name: str) -> Any:
        if name not in _MADE:
            raise AttributeError(name)
        made = self.make()
        for each in _MADE:
            object.__setattr__(self, each, getattr(made, each))
        return getattr(self, name)


class SituatedFamily(SignatureFamily):
    """A family that states a model of situations for its layouts, and makes a case of a situation.

    In profile quick all situations of a layout go to the signatures that share a kernel, each to one, and each signature gets
    at least one. Profile standard deals them once more among the signatures that share a body, and triples among those of a kernel.
    """

    @abstractmethod
    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout, None if its cases are all made by hand."""

    @abstractmethod
    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation: descriptor, data and shared input. `constructed` adds what all such cases have."""

    def kernel(self, signature: Signature) -> Hashable:
        """Return what a kernel is made for in profile quick: by default the sizes of the elements of all operands."""
        return tuple(ep.dtype(dtype).itemsize for dtype in (*signature.inputs, signature.out))

    def body(self, signature: Signature) -> Hashable:
        """Return what a kernel is made for in profile standard: by default the element types."""
        return (*signature.inputs, signature.out)

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:  # noqa: ARG002 - for families that have some
        """Return the values, by dimension, that a signature cannot have."""
        return {}

    def shared(self, signature: Signature, layout: str) -> Hashable:
        """Return what is equal for all signatures among which the situations of a layout are dealt in profile quick."""
        lacks = self.lacks(signature, layout)
        return self.kernel(signature), tuple((name, *values) for name, values in lacks.items() if values)

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands with their element types."""
        return tuple(zip(self.descriptor.roles.names, (*signature.inputs, signature.out), strict=True))

    def constructed(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of the situations that a signature was dealt."""
        sizes = tuple((name, ep.dtype(dtype).itemsize) for name, dtype in self.named(signature))
        if layout not in self._dealt:
            has_some = layout in self.layouts and self.model(layout) is not None
            self._dealt[layout] = self._deal(layout) if has_some else {}
        for dealt in self._dealt[layout].get(signature, ()):
            yield self._case(signature, layout, dealt, sizes)

    def array(self, layout: str, lacks: Mapping[str, Sequence[str]] = MappingProxyType({})) -> list[Row]:
        """Return the situations of a layout, those of profile quick first; what a kernel lacks, something else is in place of.

        So no pair is lost but of values that are lacking.
        """
        model = self.model(layout)
        if model is None:
            return []
        found: dict[str, Row] = {}
        for tier, texts in array_of(self, layout).items():
            for text in texts:
                situation = _without(model, model.situation(text), lacks)
                if situation is not None:
                    row = _row(model.text(situation), tier, situation)
                    found.setdefault(row.text, row)
        return [*found.values()]

    def kernels(self, layout: str) -> Mapping[Hashable, Sequence[Signature]]:
        """Return the signatures that have a layout, by the kernel that they share."""
        found: dict[Hashable, list[Signature]] = defaultdict(list)
        for signature in self.signatures():
            if self.has(signature, layout):
                found[self.shared(signature, layout)].append(signature)
        return found

    def _case(
        self, signature: Signature, layout: str, dealt: _Dealt, sizes: tuple[tuple[str, int], ...], seed: int = 0
    ) -> Case:
        row, profile = dealt
        case = Constructed.__new__(Constructed)
        stated: dict[str, Any] = {
            "make": partial(self.situated, signature, layout, row, seed),
            "name": row.text,
            "profile": profile,
            "starts": _starts(tuple(row.starts.items()), sizes),
            "manner": row.manner,
            "situation": row.situation,
            "since": SINCE,
            "vary": partial(self._case, signature, layout, dealt, sizes),
        }
        for name, value in stated.items():
            object.__setattr__(case, name, value)
        return case

    @cached_property
    def _dealt(self) -> dict[str, dict[Signature, list[_Dealt]]]:
        """What was dealt, by the layouts that were asked for: a process that runs one case needs one."""
        return {}

    def _deal(self, layout: str) -> dict[Signature, list[_Dealt]]:
        dealt: dict[Signature, dict[str, _Dealt]] = defaultdict(dict)
        arrays: dict[Hashable, list[Row]] = {}

        def deal(signatures: Sequence[Signature], rows: Sequence[Row], count: int, profile: Profile) -> None:
            for signature, row in islice(zip(cycle(signatures), cycle(rows)), count):
                dealt[signature].setdefault(row.text, _Dealt(row, profile))

        for signatures in self.kernels(layout).values():
            tiers: dict[str, list[Row]] = defaultdict(list)
            lacks = self.lacks(signatures[0], layout)
            key = tuple((name, *values) for name, values in lacks.items())
            if key not in arrays:
                arrays[key] = self.array(layout, lacks)
            for row in arrays[key]:
                tiers[row.tier].append(row)
            quick, pairs = tiers["quick"], [*tiers["quick"], *tiers["late"]]
            order = sorted(signatures, key=_dice)
            deal(order, quick, max(len(order), len(quick)), "quick")
            deal(order, tiers["triples"], len(tiers["triples"]), "standard")
            bodies: dict[Hashable, list[Signature]] = defaultdict(list)
            for signature in reversed(order):
                bodies[self.body(signature)].append(signature)
            for body in bodies.values():
                deal(body, pairs, len(pairs), "standard")
        return {signature: [*mine.values()] for signature, mine in dealt.items()}


def _without(model: Model, situation: Situation, lacks: Mapping[str, Sequence[str]]) -> Situation | None:
    """Return a situation with the first other values in place of those that are lacking; None if the rules leave none."""
    gone = [each for each in model.dimensions if situation[each.name] in lacks.get(each.name, ())]
    if not gone:
        return situation
    others = product(*([value for value in each.values if value not in lacks[each.name]] for each in gone))
    tried = ({**situation, **{each.name: value for each, value in zip(gone, values, strict=True)}} for values in others)
    return next((each for each in tried if model.broken(each) is None), None)


def _dice(signature: Signature) -> int:
    return zlib.crc32(f"{signature.op}/{signature.dtypes}".encode())


def _row(text: str, tier: str, situation: Situation) -> Row:
    words = {
        name.partition("-")[2]: word for name, word in situation.items() if name.startswith("start-") and word != "0"
    }
    return Row(text, tier, situation, manner_of(situation), words)


@lru_cache(maxsize=4096)
def _starts(words: tuple[tuple[str, str], ...], sizes: tuple[tuple[str, int], ...]) -> dict[str, int]:
    itemsizes = dict(sizes)
    return {name: start_bytes(word, itemsizes[name]) for name, word in words if name in itemsizes}
