"""What validation mode refuses: where the suite itself runs with EP_VALIDATE=1, such launches pass by being refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.stream import validation

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["is_refused"]


def is_refused(descriptor: ep.Descriptor, inputs: Mapping[str, Any]) -> bool:
    """Say whether a new stream refuses a launch because of the contents of these inputs."""
    inspected = [role.name for role, spec in descriptor.tensors if role.is_inspected and spec is not None]
    if not inspected or not validation.is_on():
        return False
    try:
        descriptor.check_contents({name: inputs[name] for name in inspected})
    except ValueError:
        return True
    return False
