"""Say in words what a case does, without a device."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ep.layout.cells import matches
from ep_primitives.cases.case import FILLS

import ep
from ep_conformance.collective import ranks_of
from ep_conformance.plan.accuracies import domains_of, held_to, stated
from ep_conformance.plan.catalogue import CellCase, cells, find, list_ids, named_cases
from ep_conformance.plan.nearest import nearest
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.plan.sweep import Sweep
from ep_conformance.replay.file import file_name, read_replay

if TYPE_CHECKING:
    from ep_primitives.cases.case import Case

    from ep_conformance.runtime import RuntimeCase

__all__ = ["explain_case"]

_MOST_LISTED: Final = 5


def explain_case(identity: str) -> str:
    """Return an explanation of a case, of a stale claim or waiver, or of a replay file.

    identity : a case id, `claims/PATTERN`, `waivers/GLOB`, or the path of a replay file

    Raises KeyError with a sentence for an id that names none, ReplayError for a file that cannot be used.
    """
    area, _, pattern = identity.partition("/")
    if identity.endswith(".json"):
        replay = read_replay(Path(identity))
        was = f"{replay.status} on {replay.device['name']}, seed {replay.seed}: {replay.reason}"
        return f"{_explained(replay.case)}\n{_fact('then', was)}\n{_fact('again', f'ep-conformance replay {identity}')}"
    if area == "claims" and pattern:
        return _explain_claim(pattern)
    if area == "waivers" and pattern:
        return _explain_waiver(pattern)
    return _explained(identity)


def _explained(identity: str) -> str:
    try:
        found = find(identity)
    except KeyError as error:
        near = nearest(identity)
        message = f"{error.args[0]}; near it are {', '.join(near)}" if near else error.args[0]
        raise KeyError(message) from None
    if not isinstance(found, CellCase):
        return _explain_body(found)
    return f"{_explain_cell(identity, found)}\n{_again(identity, found.case.profile)}"


def _explain_body(found: RuntimeCase) -> str:
    whose = f"every provider that has {found.needs}" if found.needs else "every provider"
    kind = "optional: it counts only if claimed" if found.optional else f"mandatory for {whose}"
    if ranks := ranks_of(found.id):
        kind = f"expected of {whose}, where it is asked by --ranks {ranks}"
    standing = f"{kind}; since suite {found.since}; profile {found.profile}"
    body = found.body.func if isinstance(found.body, functools.partial) else found.body
    area = inspect.getdoc(inspect.getmodule(body)) or ""
    try:
        source = inspect.getsource(body)
    except (OSError, TypeError):
        source = "(its source is not there)"
    parts = (found.id, inspect.cleandoc(found.claim), standing, area, source, _again(found.id, found.profile))
    return "\n\n".join(part.strip("\n") for part in parts if part)


def _again(identity: str, profile: str) -> str:
    """Return how to run a case by itself, and a failure of it elsewhere."""
    words = "--quick" if profile == "quick" else f"--profile {profile}"
    return "\n".join(
        (
            _fact("run", f"ep-conformance run --provider NAME {words} --filter '{identity}' --json report.json"),
            _fact(
                "replay", f"ep-conformance replay report-failures/{file_name(identity)} [--provider OTHER] [--script]"
            ),
        )
    )


def _explain_claim(pattern: str) -> str:
    names = [name for name in [*(str(cell) for _, cell in cells()), *named_cases()] if matches(pattern, name)]
    lines = [
        f"claims/{pattern}",
        "",
        "A pattern of the provider's claims.toml. It is `missing`, and fails the run, where it matches no case of the suite,",
        "because then the cells that it was to claim are not judged. Mend it, or remove it.",
        "",
        _fact("matches", _listed(names, "cells and abilities")),
    ]
    return "\n".join(lines)


def _explain_waiver(pattern: str) -> str:
    lines = [
        f"waivers/{pattern}",
        "",
        "A pattern of the provider's waivers.toml. It is `missing`, and fails the run, once it has expired, and where it matches no",
        "case that is expected of the device. Repair the defect, have the owner renew it, mend it, or remove it.",
        "",
        _fact("matches", _listed([*list_ids(PROFILES[-1], pattern)], "cases")),
    ]
    return "\n".join(lines)


def _listed(names: list[str], what: str) -> str:
    more = f", and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{len(names)} {what}{': ' if names else ''}{', '.join(names[:_MOST_LISTED])}{more}"


def _fact(name: str, text: str) -> str:
    return f"{name:<11} {text}"


def _situation(case: Case) -> str:
    """Return the values that a case was constructed from; extents and gaps are of the seed."""
    return ", ".join(f"{name} {value}" for name, value in case.situation.items())


def _explain_cell(identity: str, found: CellCase) -> str:
    case, descriptor = found.case, found.case.descriptor
    if isinstance(case, Sweep):
        return _explain_sweep(identity, found, case)
    lines = [
        identity,
        "",
        f"cell        {found.cell}  (since suite {found.family.since(found.cell)})",
        f"descriptor  {descriptor!r}",
        *(f"  {name:<9} {_spec(spec)}" for name, spec in descriptor.present.items()),
        *(
            f"accuracy    {f'{output}: ' if output else ''}{stated(accuracy)}"
            for output, accuracy in held_to(descriptor, case.accuracy or found.family.accuracy(descriptor)).items()
        ),
        *(
            f"narrowed    {domain.name}: {domain.why}"
            for domain in dict.fromkeys(domains_of(found.family, found.cell))
            if not domain.is_open
        ),
        *([_fact("situation", _situation(case))] if case.situation else []),
        *(
            [f"bias        the errors of sums of {case.summands} terms have to cancel, and be no larger than by chance"]
            if case.summands
            else []
        ),
        f"parts       {sum(1 for _ in found.family.parts(descriptor))}, launched by themselves, have to give the same bits",
        f"data        {case.fill}: {FILLS[case.fill]}",
        f"reference   {'results that come with the case' if case.expected else f'{found.family.name} family reference'}",
        f"in place    {f'{case.target} is the memory of {case.inplace}' if case.inplace else 'no'}",
        f"memory      views start {case.shift} bytes after an aligned place, between red zones",
        f"profile     {case.profile}",
    ]
    return "\n".join(lines)


def _explain_sweep(identity: str, found: CellCase, case: Sweep) -> str:
    lines = [
        identity,
        "",
        f"cell        {found.cell}  (since suite {found.family.since(found.cell)})",
        f"inputs      the 2**26 float32 whose bits, as an integer, begin at {case.first:#010x}, {case.domain.name}",
        f"descriptor  {case.descriptor!r} of each launch" + _others(case),
        f"accuracy    {stated(found.family.accuracy(case.descriptor))}",
        f"profile     {case.profile}",
    ]
    return "\n".join(lines)


def _others(case: Sweep) -> str:
    """Return which attributes other launches take in turn, "" if there are none."""
    return "".join(f"\n            and with {each.attributes}" for each in case.descriptors[1:])


def _spec(spec: ep.TensorSpec | ep.Scalar) -> str:
    if isinstance(spec, ep.Scalar):
        return f"a {spec.dtype} number given at launch"
    return f"{spec.dtype} {spec.shape}, strides {spec.strides}, offset {spec.offset}"
