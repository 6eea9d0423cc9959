"""How much memory a case takes, from its descriptor alone, so that one that does not fit is named and not tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep
from ep_conformance.fixture.capacity import capacity
from ep_conformance.plan.sweep import Sweep
from ep_conformance.run.memory import free_memory

if TYPE_CHECKING:
    from ep_conformance.plan.catalogue import CellCase

__all__ = ["LARGE", "lack_of_memory", "lack_on_device", "needed_memory", "size_text"]

_BASE: Final = 64 << 20
"""What any case may take: its data in parts, its decoys, its few elements."""

_SMALL: Final = 1 << 20
_ASKED: Final = 512 << 20
"""Cases that need less do not ask the system for its free memory."""

LARGE: Final = 96 << 20
"""After cases that need more the process frees its caches: two workers would fill 2 GiB with unused memory."""

_PER_ELEMENT: Final = {"f": 96, "c": 192}
"""Bytes of the reference and the comparison for an element of the output, by the widest kind of its operands."""

_EXACT: Final = 4
"""The same for exact types, in itemsizes."""


def needed_memory(found: CellCase, *, is_on_host: bool, is_compared: bool = False) -> int:
    """Return about how many bytes of this machine's memory a case takes at most.

    is_on_host  : True if the device's memory is this machine's
    is_compared : True if its work is done on another device, too

    Measured over 170 cases of the standard profile and 36 of the large one at 1/64 of their size: of spans S and the widest of them W,
    cases take 3 S + 2 W (image, memory, what came back; the masks of one comparison), one S more if parts are launched.
    """
    case = found.case
    if isinstance(case, Sweep):
        return _BASE
    descriptor = case.descriptor
    tensors = [spec for spec in descriptor.specs if isinstance(spec, ep.TensorSpec)]
    spans = [spec.nbytes for spec in tensors]
    if sum(spans) + descriptor.out.size < _SMALL:
        return _BASE
    copies = 2 + is_on_host + 2 * is_compared + any(True for _ in found.family.parts(descriptor))
    kinds = {ep.dtype(spec.dtype).kind for spec in tensors}
    widest = max(_PER_ELEMENT.get(kind, 0) for kind in kinds)
    compared = sum(out.size * max(widest, _EXACT * out.itemsize) for out in descriptor.outputs.values())
    return _BASE + copies * sum(spans) + 2 * max(spans) + compared


def lack_on_device(found: CellCase, device: ep.Device) -> str:
    """Return "" if the device can hold the operands of a case, else the needed and the available bytes in words."""
    specs = () if isinstance(found.case, Sweep) else found.case.descriptor.specs
    needed = sum(spec.nbytes for spec in specs if isinstance(spec, ep.TensorSpec))
    total = capacity(device) if needed > _SMALL else None
    if total is None or needed <= total:
        return ""
    return f"not run: its operands take {needed} bytes of the device's memory, and {device.name} has {total}"


def lack_of_memory(needed: int, limit: int | None) -> str:
    """Return "" if there is room for a case that needs so many bytes, else the needed and the free bytes in words.

    limit : bytes that the user gives a worker, None for all that is free
    """
    if limit is not None and needed > max(limit, _BASE):
        return f"not run: it needs about {size_text(needed)} of memory, and --memory-limit leaves a worker {size_text(limit)}"
    if needed <= _ASKED:
        return ""
    free = free_memory()
    if free is None or needed <= free:
        return ""
    return f"not run: it needs about {size_text(needed)} of memory, and {size_text(free)} are free on this machine"


def size_text(nbytes: int) -> str:
    """Return a number of bytes for people: "19.2 GiB", "64 MiB"."""
    gib = nbytes / (1 << 30)
    return f"{gib:.1f} GiB" if gib >= 1 else f"{nbytes / (1 << 20):.0f} MiB"
