"""Conditions of when a launch comes: repeated, in graphs, with what could have been kept from the launch before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.groups import ALONG, BINARY, MOVING, PICKING, WINDOWS
from ep_conformance.saboteurs.strangers.sight import inputs, rows

if TYPE_CHECKING:
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_NUMBERED: Final = ("fill", "iota", "matmul", "one_hot")
_JOINED: Final = ("reduce", *PICKING, *ALONG, "matmul", "attention")
_SECOND: Final = 2
_WRITES: Final = ("dense", "strided", "offset")


def _has_numbers(launch: Launch) -> bool:
    return any(isinstance(spec, ep.Scalar) for spec in launch.descriptor.present.values())


CONDITIONS: Final = (
    Condition(
        "second-launch",
        "Counters and workspaces are zero for the first launch, and are left as it leaves them (ROCm/aiter#4715).",
        (*_JOINED, *BINARY, *WINDOWS, "copy", "random_fill"),
        _WRITES,
        lambda launch: launch.launches == _SECOND and not launch.is_graph,
    ),
    Condition(
        "second-replay",
        "A graph does not record the fill that made a counter zero, and the second replay finds it used (aiter#4916).",
        (*_JOINED, *BINARY, *MOVING, "random_fill"),
        ("dense",),
        lambda launch: launch.is_graph and launch.launches > 1,
    ),
    Condition(
        "first-launch-in-a-graph",
        "A kernel is loaded, or its workspace is made, by the first launch: amid a capture that is not allowed (aiter#5393).",
        (*_JOINED, *BINARY, *WINDOWS, "random_fill"),
        ("dense",),
        lambda launch: launch.is_graph and launch.launches == 1,
    ),
    Condition(
        "numbers-in-a-graph",
        "Numbers of a launch are read when the graph runs, from where the next launch has written its own.",
        _NUMBERED,
        ("dense", "strided"),
        lambda launch: launch.is_graph and _has_numbers(launch),
    ),
    Condition(
        "numbers-again",
        "A number is compiled in, or kept with the arguments of the first launch (quadrants#505: keys without values).",
        _NUMBERED,
        ("dense", "strided"),
        lambda launch: launch.launches > 1 and not launch.is_graph and _has_numbers(launch),
    ),
    Condition(
        "in-place-again",
        "The result of the first launch is its input the next time, and a cached copy of the input is used.",
        (*ALONG, "add_n", "broadcast_binary", "elementwise_unary", "batch_norm"),
        ("inplace",),
        lambda launch: (
            launch.launches > 1
            and any(
                launch.lies.get(name) == launch.lies.get(written)
                and launch.addresses.get(name) == launch.addresses.get(written)
                for name in inputs(launch)
                for written in launch.descriptor.outputs
            )
        ),
    ),
    Condition(
        "many-rows-again",
        "Work is handed out by a counter that the last block resets, unless blocks outnumber those that run at once.",
        ("reduce", "softmax", *PICKING, "layer_norm"),
        ("dense",),
        lambda launch: launch.launches > 1 and rows(launch) > 1 << 10,
    ),
)
"""By theme, each with the mistake that it is taken from."""
