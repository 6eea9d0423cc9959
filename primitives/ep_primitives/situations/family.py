"""Base of families that construct cases: it deals the situations of their models to their cells."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections import defaultdict
from functools import cached_property, lru_cache, partial
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


class Row(NamedTuple):
    """A situation of an array.

    starts : operands whose memories begin somewhere else than at an aligned place, with the word that says where
    """

    text: str
    situation: Situation
    manner: Manner
    starts: Mapping[str, str]
    is_late: bool


class SituatedFamily(SignatureFamily):
    """A family that states a model of situations for its layouts, and makes a case of a situation.

    In profile quick all situations of a layout go to the signatures that share a kernel, each to one, and each signature gets
    at least one. Profile standard deals them once more among the signatures of equal element types.
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

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands with their element types."""
        return tuple(zip(self.descriptor.roles.names, (*signature.inputs, signature.out), strict=True))

    def constructed(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of the situations that a signature was dealt."""
        sizes = tuple((name, ep.dtype(dtype).itemsize) for name, dtype in self.named(signature))
        for row, profile in self._dealt.get(layout, {}).get(signature, ()):
            yield self._case(signature, layout, row, profile, sizes)

    def rows(self, layout: str) -> tuple[Row, ...]:
        """Return the situations of a layout, those of profile standard last."""
        model = self.model(layout)
        return () if model is None else _rows(model, array_of(self, layout))

    def kernels(self, layout: str) -> Mapping[Hashable, Sequence[Signature]]:
        """Return the signatures that have a layout, by the kernel that they share."""
        found: dict[Hashable, list[Signature]] = defaultdict(list)
        for signature in self.signatures():
            if self.has(signature, layout):
                found[self.kernel(signature)].append(signature)
        return found

    def _case(
        self, signature: Signature, layout: str, row: Row, profile: Profile, sizes: tuple[tuple[str, int], ...], seed: int = 0
    ) -> Case:
        case = self.situated(signature, layout, row, seed)
        more: dict[str, Any] = {
            "name": row.text,
            "profile": profile,
            "starts": _starts(tuple(row.starts.items()), sizes),
            "manner": row.manner,
            "situation": row.situation,
            "since": SINCE,
            "vary": partial(self._case, signature, layout, row, profile, sizes),
        }
        for name, value in more.items():
            object.__setattr__(case, name, value)
        return case

    @cached_property
    def _dealt(self) -> dict[str, dict[Signature, list[tuple[Row, Profile]]]]:
        return {layout: self._deal(layout) for layout in self.layouts if self.model(layout) is not None}

    def _deal(self, layout: str) -> dict[Signature, list[tuple[Row, Profile]]]:
        rows = self.rows(layout)
        kernels = self.kernels(layout)
        dealt: dict[Signature, dict[Row, Profile]] = defaultdict(dict)
        quick = [row for row in rows if not row.is_late]
        for signatures in kernels.values():
            order = sorted(signatures, key=_dice)
            for number in range(max(len(order), len(quick))):
                dealt[order[number % len(order)]][quick[number % len(quick)]] = "quick"
        bodies: dict[tuple[str, ...], list[Signature]] = defaultdict(list)
        for signature in (each for signatures in kernels.values() for each in signatures):
            bodies[*signature.inputs, signature.out].append(signature)
        for signatures in bodies.values():
            order = sorted(signatures, key=_dice, reverse=True)
            for number, row in enumerate(rows):
                dealt[order[number % len(order)]].setdefault(row, "standard")
        return {signature: list(mine.items()) for signature, mine in dealt.items()}


def _dice(signature: Signature) -> int:
    return zlib.crc32(f"{signature.op}/{signature.dtypes}".encode())


@lru_cache(maxsize=512)
def _rows(model: Model, texts: tuple[str, ...]) -> tuple[Row, ...]:
    rows = [_row(model, text) for text in texts]
    return tuple(sorted(rows, key=lambda row: row.is_late))


def _row(model: Model, text: str) -> Row:
    situation = model.situation(text)
    words = {name.partition("-")[2]: word for name, word in situation.items() if name.startswith("start-") and word != "0"}
    return Row(text, situation, manner_of(situation), words, model.is_late(situation))


@lru_cache(maxsize=4096)
def _starts(words: tuple[tuple[str, str], ...], sizes: tuple[tuple[str, int], ...]) -> dict[str, int]:
    itemsizes = dict(sizes)
    return {name: start_bytes(word, itemsizes[name]) for name, word in words if name in itemsizes}
