"""PyTorch as one more implementation of the families that move, select and reduce: judged as the suite judges a provider."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import ep_primitives
import numpy as np
import torch
from ep.plugin.family import by_name
from ep_conformance.judge.compare import compare
from ep_conformance.judge.ulp import rounded
from ep_primitives.judging.pytorch import tensor, untensor
from ep_primitives.judging.reference import widened

import ep
from ep_tools.peers.pytorch.comparison import Finding, differing
from ep_tools.peers.pytorch.families import BARE, FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.cases.case import Case
    from ep_primitives.judging.reference import Array

__all__ = ["Judgement", "judged"]

_KINDS: Final = {"b": "bool", "i": "integer", "u": "integer", "f": "float", "c": "complex"}
_SCARCE: Final = {"uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"}
"""Element types that PyTorch stores, but computes next to nothing in."""
_FAR: Final = 64
"""How many times the bound of the suite an error is more than rounding."""
_SEED: Final = 5


@dataclass
class Judgement:
    """What PyTorch said to the cases of a family.

    findings : one example each, by (family or family/op, kind of element types) and by what differs
    agreed   : how many cases agree within the bounds that the suite holds a provider to
    differed : how many do not
    silent   : how many PyTorch has no kernel for, by what it says
    """

    findings: dict[tuple[str, str], dict[str, Finding]] = field(default_factory=dict)
    agreed: int = 0
    differed: int = 0
    silent: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        said = f"{self.agreed} cases agree, {self.differed} differ"
        return said + (f", {self.silent.total()} it has no kernel for" if self.silent else "")

    def add(self, finding: Finding) -> None:
        """Keep the first finding of its kind."""
        self.findings.setdefault((finding.op, finding.kind), {}).setdefault(finding.how, finding)


def judged(name: str, profile: str = "quick") -> Judgement:
    """Return what PyTorch says to every case of a family that a profile adds, but those of element types that it hardly computes in."""
    (family,) = (each for each in ep_primitives.ep_families() if each.name == name)
    judgement = Judgement()
    torch.set_num_threads(1)  # so that sums are the same on every machine
    torch.backends.mkldnn.enabled = False  # which has a kernel for each processor
    torch.backends.nnpack.set_flags(False)  # which transforms images before it multiplies
    for cell in family.cells():
        for case in family.cases(cell):
            if case.profile == profile and _SCARCE.isdisjoint(
                spec.dtype for spec in case.descriptor.specs if spec is not None
            ):
                _judge(family, cell, case, judgement)
    return judgement


def _judge(family: ep.Family, cell: ep.Cell, case: Case, judgement: Judgement) -> None:
    descriptor = case.descriptor
    inputs = dict(case.data(np.random.default_rng(_SEED)))
    read = [
        (o, spec) for o, spec in zip(descriptor.operands, descriptor.specs, strict=True) if o in descriptor.roles.read
    ]
    operands = [
        None if spec is None else tensor(spec.dtype, inputs.get(o, descriptor.roles.defaults.get(o)))
        for o, spec in read
    ]

    def found(how: str, here: Any, there: Any, count: int) -> None:
        op = cell.family if cell.op == "-" else f"{cell.family}/{cell.op}"
        place = f"{cell.layout}/{case.name}"
        kind = "any" if how == "error" else _kind(descriptor)
        judgement.add(Finding(op, kind, how, cell.dtypes, (place,), (), here, there, count))

    there = None
    for expression in (BARE.get(cell.family), FAMILIES[cell.family]):
        there, words = _asked(expression, descriptor, operands) if expression else (None, "")
        if "not implemented for" in words:
            judgement.silent[words] += 1
            return
        if words:
            found("error", "a result", words, descriptor.out.size)
    if there is None:
        judgement.differed += 1
        return
    differences = _differences(family, case, inputs, there)
    for how, (here, other, count) in differences.items():
        found(how, here, other, count)
    judgement.differed += bool(differences)
    judgement.agreed += not differences


def _kind(descriptor: Any) -> str:
    dtype = next(reversed([spec.dtype for name, spec in descriptor.present.items() if name not in descriptor.outputs]))
    kind = _KINDS[ep.dtype(dtype).kind]
    return f"narrow {kind}" if dtype in {"float16", "bfloat16"} else kind


def _asked(expression: Callable[..., Any], descriptor: Any, operands: list[torch.Tensor | None]) -> tuple[Any, str]:
    """Return PyTorch's result for each output, by name, or None and the first line of its error."""
    try:
        found = expression(descriptor, *operands)
        named = found if isinstance(found, dict) else dict.fromkeys(descriptor.outputs, found)
        return {name: untensor(spec.dtype, named[name]) for name, spec in descriptor.outputs.items()}, ""
    except (RuntimeError, IndexError) as error:
        return None, str(error).splitlines()[0]


def _differences(
    family: ep.Family, case: Case, inputs: dict[str, Any], found: dict[str, Array]
) -> dict[str, tuple[Any, Any, int]]:
    """Return an example of here and there, and how many there are, by what differs beyond the bounds of the suite."""
    shown: dict[str, tuple[Any, Any, int]] = {}
    for name, there in found.items():
        shown = {**_differing(family, case, inputs, name, there), **shown}
    return shown


def _differing(
    family: ep.Family, case: Case, inputs: dict[str, Any], name: str, there: Array
) -> dict[str, tuple[Any, Any, int]]:
    """Return the same of one output."""
    descriptor, dtype = case.descriptor, case.descriptor.outputs[name].dtype
    here = by_name(descriptor, family.moved(descriptor, inputs))[name]
    if here is not None:
        places = {"value": (_bytes(here, dtype) != _bytes(there, dtype)).any(axis=-1)}
    else:
        known = case.expected() if case.expected else family.reference(descriptor, inputs)
        reference = by_name(descriptor, known)[name]
        accuracy = by_name(descriptor, case.accuracy or family.accuracy(descriptor))[name]
        with np.errstate(all="ignore"):
            comparison = compare(there, reference, accuracy, dtype)
            here = np.broadcast_to(rounded(np.asarray(reference.value), dtype), there.shape)
            sorts = differing(widened(dtype, np.array(here)), widened(dtype, there))
            sorts.pop("value")
        left, places = comparison.fails, {}
        for how, where in {**sorts, "rounding": comparison.ratio < _FAR, "value": np.ones_like(left)}.items():
            places[how] = left & where
            left = left & ~places[how]
    shown = {}
    for how, where in places.items():
        if where.any():
            at = np.unravel_index(int(where.argmax()), where.shape)
            shown[how] = (here[at].item(), there[at].item(), int(where.sum()))
    return shown


def _bytes(array: Array, dtype: str) -> Array:
    """Return the bytes of each element; of a bool whether it is true, because PyTorch has one byte for that."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    found: Array
    if dtype == "bool":
        found = (array.view(np.uint8) != 0)[..., np.newaxis]
    else:
        found = array.reshape(-1).view(np.uint8).reshape(*array.shape, array.itemsize)
    return found
