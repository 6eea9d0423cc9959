"""Launch, the third step of a case: by a checked launch, a step or a graph, and a download of the memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import ep
    from ep_conformance.judge.operand import Image
    from ep_conformance.run.steps.placed import Placed

__all__ = ["launch"]

_OFTEN: Final = 40
"""Launches before the one that counts: more than short rings of arguments have places; `runtime/depth` has the long ones."""


def launch(primitive: ep.Primitive, placed: Placed) -> dict[str, Image]:
    """Return the contents of the operands' allocations after a launch, by the names of the draw's tensors.

    Raises CaseError for a write beside the scratch.
    """
    stream, scratch = placed.stream, placed.scratch
    graph = _WAYS[placed.way](primitive, placed)
    images = {name: held.download(stream) for name, held in placed.tensors.items()}
    if scratch is not None:
        image = scratch.download(stream)
        stream.synchronize()
        scratch.operand.check(image, is_written=True)
    stream.synchronize()
    if graph is not None:
        graph.close()
    return images


def _checked(primitive: ep.Primitive, placed: Placed) -> None:
    primitive(placed.stream, **placed.operands)


def _bound(primitive: ep.Primitive, placed: Placed) -> None:
    step = primitive.bind(**placed.operands)
    step(placed.stream)
    step.close()


def _often(primitive: ep.Primitive, placed: Placed) -> None:
    """Run a step many times, and once more over the operands as they were."""
    stream = placed.stream
    step = primitive.bind(**placed.operands)
    for _ in range(_OFTEN):
        step(stream)
    for held in placed.tensors.values():
        stream.upload(held.whole, held.operand.image)
    step(stream)
    step.close()


def _captured(primitive: ep.Primitive, placed: Placed) -> ep.Graph:
    """Run a graph in the memories that it was captured with, and again over operands as they were; what is only read is frozen."""
    stream = placed.stream
    frozen = {name: placed.tensors[name].whole for name in _only_read(primitive, placed)} if placed.is_apart else {}
    for memory in frozen.values():
        memory.freeze()
    with stream.capture() as graph:
        primitive(stream, **placed.operands)
    graph.launch(stream)
    for name, held in placed.tensors.items():
        if name not in frozen:
            stream.upload(held.whole, held.operand.image)
    graph.launch(stream)
    return graph


def _moved(primitive: ep.Primitive, placed: Placed) -> ep.Graph:
    """Run a graph in other memories than it was captured with, of which those that are only read were frozen."""
    for name in _only_read(primitive, placed):
        placed.elsewhere[name].freeze()
    elsewhere = {name: held.within(placed.elsewhere[name]) for name, held in placed.tensors.items()}
    with placed.stream.capture() as graph:
        primitive(placed.stream, **{**placed.operands, **{name: elsewhere[its] for name, its in placed.places.items()}})
    for name, memory in elsewhere.items():
        graph.slot(name, memory)
    graph.launch(placed.stream, **{name: placed.tensors[name].memory for name in elsewhere})
    return graph


def _only_read(primitive: ep.Primitive, placed: Placed) -> set[str]:
    """Return the names of the tensors that the launch does not write."""
    written = {
        placed.places[role.name] for role, spec in primitive.asked.tensors if spec is not None and role.is_written
    }
    return placed.tensors.keys() - written


_WAYS: Final[Mapping[str, Callable[[ep.Primitive, Placed], ep.Graph | None]]] = {
    "checked": _checked,
    "bound": _bound,
    "captured": _captured,
    "moved": _moved,
    "often": _often,
}
