"""Packs: neighbours that a work-item fetches and stores as one word, as dialect/packs.h reads it, and rows that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_simt.elements import nbytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ep_simt.target import Target

__all__ = ["held_of", "pack_words", "spread_of"]

_REGISTERS: Final = 32
"""Words of 4 bytes: a quarter of the registers that each work-item of a full group has."""
_WORDS: Final = {1: "ep_u8", 2: "ep_u16", 4: "ep_u32", 8: "ep_u64", 16: "ep_u32x4"}
"""By bytes."""


def spread_of(elements: Iterable[str], target: Target) -> int:
    """Return how many elements a work-item visits at once, of tensors with elements that are called so in C after `ep_`."""
    return max(1, target.spread // max(map(nbytes_of, elements)))


def held_of(itemsize: int) -> int:
    """Return how many numbers of so many bytes, of the rows that it shares, a work-item holds in registers."""
    return _REGISTERS * 4 // itemsize


def pack_words(tensors: Mapping[str, str | None], forms: Iterable[str], spread: int) -> dict[str, object]:
    """Return the words of a program whose entries walk over packs, or where a pack is one element over runs of neighbours.

    tensors : the elements of each operand by its name, in their order, out last; None for one that is read element by element
    forms   : of the first inputs, a letter each: t for a tensor that packs or lines are fetched of, s for any other operand
    """
    words: dict[str, object] = {"EP_SPREAD": spread}
    for name, element in tensors.items():
        if element is None:
            continue
        words |= {f"EP_WORD_{name}": _WORDS[spread * nbytes_of(element)], f"EP_ELEMENT_{name}": f"ep_{element}"}
    *inputs, out = tensors
    for form in forms:
        places = [(place, name) for place, (name, how) in enumerate(zip(inputs, form, strict=False)) if how == "t"]
        if spread == 1:
            reads = [f"EP_READS({name}, {place})" for place, name in places]
            words[f"EP_AHEAD_{form}"] = " ".join((*reads, f"EP_WRITES({out}, {len(inputs)})"))
            continue
        known = [f"EP_IS_PACK_OR_ONE({name}, {place})" for place, name in places]
        words |= {
            f"EP_ARE_PACKS_{form}": " && ".join((f"EP_IS_PACK({out}, {len(inputs)})", *known)),
            f"EP_FETCH_{form}": " ".join(f"EP_FETCH({name}, {place})" for place, name in places),
            f"EP_FETCHED_{form}": " ".join(f"EP_OWN({name}, const)" for _, name in places),
        }
    return words
