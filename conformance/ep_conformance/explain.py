"""Say in words what a case does, without a device."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from ep_primitives.case import FILLS

import ep
from ep_conformance.accuracies import domains_of
from ep_conformance.catalogue import CellCase, find
from ep_conformance.sweep import Sweep

if TYPE_CHECKING:
    from ep_primitives.accuracy import Accuracy

__all__ = ["explain_case"]


def explain_case(identity: str) -> str:
    """Return what a case checks and how. Raises KeyError with a sentence for an id that names none."""
    found = find(identity)
    if not isinstance(found, CellCase):
        whose = f"every provider that has {found.needs}" if found.needs else "every provider"
        kind = "optional: it counts only if claimed" if found.optional else f"mandatory for {whose}"
        claim = inspect.cleandoc(found.claim)
        source = inspect.getsource(found.body)
        area = inspect.getdoc(inspect.getmodule(found.body)) or ""
        standing = f"{kind}; since suite {found.since}; profile {found.profile}"
        return f"{identity}\n\n{claim}\n\n{standing}\n\n{area}\n\n{source}"
    case, descriptor = found.case, found.case.descriptor
    if isinstance(case, Sweep):
        return _explain_sweep(identity, found, case)
    lines = [
        identity,
        "",
        f"cell        {found.cell}  (since suite {found.family.since(found.cell)})",
        f"descriptor  {descriptor!r}",
        *(f"  {name:<9} {_spec(spec)}" for name, spec in zip(descriptor.operands, descriptor.specs, strict=True)),
        f"accuracy    {_promised(case.accuracy or found.family.accuracy(descriptor))}",
        *(
            f"narrowed    {domain.name}: {domain.why}"
            for domain in dict.fromkeys(domains_of(found.family, found.cell))
            if not domain.is_open
        ),
        *(
            [f"bias        the errors of sums of {case.summands} terms have to cancel, and be no larger than by chance"]
            if case.summands
            else []
        ),
        f"parts       {sum(1 for _ in found.family.parts(descriptor))}, launched by themselves, have to give the same bits",
        f"data        {case.fill}: {FILLS[case.fill]}",
        f"reference   {'results that come with the case' if case.expected else f'{found.family.name} family reference'}",
        f"in place    {f'out is the memory of {case.inplace}' if case.inplace else 'no'}",
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
        f"descriptor  {case.descriptor!r} of each launch",
        f"accuracy    {_promised(found.family.accuracy(case.descriptor))}",
        f"profile     {case.profile}",
    ]
    return "\n".join(lines)


def _promised(accuracy: Accuracy) -> str:
    return f"{accuracy}: {accuracy.why}"


def _spec(spec: ep.TensorSpec | ep.Scalar) -> str:
    if isinstance(spec, ep.Scalar):
        return f"a {spec.dtype} number given at launch"
    return f"{spec.dtype} {spec.shape}, strides {spec.strides}, offset {spec.offset}"
