"""Launch, the third step of a case: a checked launch or a bound step, and a download of the memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ep
    from ep_conformance.judge.operand import Image
    from ep_conformance.run.steps.placed import Placed

__all__ = ["launch"]


def launch(primitive: ep.Primitive, placed: Placed) -> dict[str, Image]:
    """Return the contents of the operands' allocations after a launch, by the names of the draw's tensors.

    Raises CaseError for a write beside the scratch.
    """
    stream, scratch = placed.stream, placed.scratch
    if placed.is_bound:
        step = primitive.bind(**placed.operands)
        step(stream)
        step.close()
    else:
        primitive(stream, **placed.operands)
    images = {name: held.download(stream) for name, held in placed.tensors.items()}
    if scratch is not None:
        image = scratch.download(stream)
        stream.synchronize()
        scratch.operand.check(image, is_written=True)
    stream.synchronize()
    return images
