"""The programs that the cells of all families need on a GPU."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

import ep_simt
from ep_cuda.compiler.program import PRELUDE

import ep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ep_tools.compiled.record import Row

__all__ = ["grouped", "programs", "stale"]

_GROUP: Final = re.compile(r"[a-z_]+(-[a-z_]+(?=-))?")
_ANY: Final = ep.DeviceInfo("any", "EP", dtypes=frozenset(ep_simt.ELEMENTS))
_DIGITS: Final = 16


def programs() -> list[ep_simt.Program]:
    """Return every program for the cells of the suite, or stages of theirs, that have a body, and the 64-bit form of each strided one."""
    found: dict[ep_simt.Program, None] = {}
    for family in ep.families().values():
        for cell in family.cells():
            for descriptor in _asked(family.sample(cell)):
                for key in (descriptor.key, descriptor.key._replace(wide=descriptor.key.layout == "strided")):
                    found[ep_simt.bodies()[key.family].program(key, ep_simt.GPU)] = None
    return list(found)


def _asked(descriptor: ep.Descriptor) -> Iterator[ep.Descriptor]:
    """Yield a descriptor if it has a body, and else those of its stages that are of no family, and have one."""
    try:
        ep_simt.require(descriptor, _ANY)
    except ep.UnsupportedError:
        for stage in descriptor.lower():
            if stage.descriptor.family not in ep.families():
                yield from _asked(stage.descriptor)
    else:
        yield descriptor


def grouped(found: Iterable[ep_simt.Program]) -> dict[str, list[ep_simt.Program]]:
    """Return programs by family and op, as their names begin."""
    groups: dict[str, list[ep_simt.Program]] = {}
    for program in found:
        match = _GROUP.match(program.name)
        assert match, program.name
        groups.setdefault(match[0], []).append(program)
    return dict(sorted(groups.items()))


def _digest_of(group: Iterable[ep_simt.Program]) -> str:
    """Return a digest over the sources of programs, whatever their order."""
    sources = sorted(hashlib.sha256(program.source(PRELUDE).encode()).digest() for program in group)
    return hashlib.sha256(b"".join(sources)).hexdigest()[:_DIGITS]


def stale(groups: Mapping[str, list[ep_simt.Program]], recorded: Mapping[str, Row]) -> dict[str, str]:
    """Return the digests of the groups that are not recorded as they are."""
    known = {name: row.digest for name, row in recorded.items()}
    digests = {name: _digest_of(group) for name, group in groups.items()}
    return {name: digest for name, digest in digests.items() if known.get(name) != digest}
