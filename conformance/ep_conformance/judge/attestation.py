"""Evidence that a result came from the device under test, and not from a stand-in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ep

__all__ = ["UNATTESTED", "attest", "implementations_of"]

UNATTESTED: Final = (
    "the values are right, but nothing attests that the device computed them: the implementation that ran is none of "
    "the rows of Provider.implementations, which must return the same objects each time; it is about"
)
"""The reason why right values do not pass; the device's name follows."""


def attest(device: ep.Device, primitive: ep.Primitive, calls_before: int | None) -> str:
    """Return "no", "attested" or "native".

    calls_before : the device's `native_calls` before the launches

    A launch is attested if the implementation that ran is a row of this device's own provider; a lowered one, if each
    of its stages is. It is native if the provider's counter of driver calls advanced, too.
    """
    if not _is_of(device, primitive):
        return "no"
    after = device.native_calls
    return "native" if calls_before is not None and after is not None and after > calls_before else "attested"


def implementations_of(primitive: ep.Primitive) -> tuple[str, ...]:
    """Return the names of the implementations that a primitive's launches run, each once, in order."""
    found: set[str] = set()
    for stage in primitive.stages:
        found.update(implementations_of(stage))
    return tuple(sorted(found or {primitive.implementation.name}))


def _is_of(device: ep.Device, primitive: ep.Primitive) -> bool:
    if primitive.device is not device:
        return False
    if primitive.stages:
        return all(_is_of(device, stage) for stage in primitive.stages)
    rows = device.provider.implementations.get(type(primitive.descriptor), ())
    return any(primitive.implementation is row for row in rows)
