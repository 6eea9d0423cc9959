"""Repeat, the last step of a case: an equal launch must write the same bits, and so must a part of it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.judge.determinism import check_again, check_part
from ep_conformance.judge.expression import as_expression

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ep
    from ep_conformance.judge.draw import Draw
    from ep_conformance.judge.operand import Image

__all__ = ["check_repeated", "check_repeated_part"]


def check_repeated(
    family: ep.Family, descriptor: ep.Descriptor, drawn: Draw, images: Sequence[Mapping[str, Image]]
) -> None:
    """Fail the case unless equal launches wrote equal bits.

    images : of each launch the contents of the allocations after it
    """
    with as_expression(family, descriptor, drawn.inputs):
        for again in images[1:]:
            for name in (*drawn.outputs, *drawn.states):
                check_again(drawn.tensors[name], images[0][name], again[name])


def check_repeated_part(
    family: ep.Family, part: ep.Descriptor, drawn: Draw, whole: Mapping[str, Image], alone: Mapping[str, Image]
) -> None:
    """Fail the case unless a part of the work, launched by itself, wrote the bits that the whole wrote there."""
    with as_expression(family, part, drawn.inputs_of(part)):
        for name in part.outputs:
            check_part(part, drawn.tensors[name], whole[name], alone[name])
