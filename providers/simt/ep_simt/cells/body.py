"""Cell: one launch over the elements of a state, each by those of its gates."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_simt.body import Body
from ep_simt.dialect import text
from ep_simt.elements import ELEMENTS, has_doubles
from ep_simt.mathematics import mathematics
from ep_simt.plan import Launch, Plan, operands_of
from ep_simt.program import Entry, Parameter, Program, access, number, taken, tensor, type_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.layout.role import Roles
    from ep.work.key import KernelKey
    from ep_primitives.families.recurrent_cell.stages.gates import Gates

    from ep_simt.target import Target

__all__ = ["Cell"]

_BEFORE: Final = "cells/gates.inc"
_BEHIND: Final = "cells/cell.inc"
_ACTIVATIONS: Final = {
    "sigmoid": "EP_OF(sigmoid_of)(x)",
    "tanh": "EP_OF(hyperbolic_tangent)(x)",
    "relu": "(x <= 0 ? 0 : x)",
}
"""The activations' formulas, of x."""
_RUN: Final = 256
"""Elements of a row that a work-item takes where it is a loop of its own."""
_BLOCKS: Final = ("sums", "gates")


class Cell(Body):
    """A program an element type and op, in which only tensors that are there are asked for.

    activations : the words of the formulas, in the order in which `op` has activations
    """

    descriptor: type[Gates]
    activations: tuple[str, ...]

    def words(self, parts: tuple[str, ...]) -> Mapping[str, object]:
        """Return the words of what `op` says beside activations."""
        del parts
        return {}

    def entries(self, key: KernelKey) -> tuple[str, ...]:
        return (key.family,)

    def program(self, key: KernelKey, target: Target) -> Program:
        del target
        parts = tuple(key.op.split("-"))
        formulas = {f"EP_{word}(x)": _ACTIVATIONS[each] for word, each in zip(self.activations, parts, strict=False)}
        words = (*formulas.items(), *self.words(parts[len(formulas) :]).items())
        return _program(_Variant(key.family, key.op, self.descriptor.roles, key.dtypes, key.compute), words)

    def plan(self, descriptor: Gates, target: Target) -> Plan:
        rows, width = descriptor.state.shape
        run = max(min(_RUN, width), 1) if target.group == 1 else 1
        items = rows * -(-width // run)
        present = {role.name: spec for role, spec in descriptor.tensors if spec is not None}
        offsets = [spec.offset if isinstance(spec, ep.TensorSpec) else 0 for spec in descriptor.specs]
        beside = int(all(spec.strides[-1] == 1 for spec in present.values()))
        numbers = [items, run, width, beside]
        for name, spec in present.items():
            *row, step = spec.strides
            numbers += [*(row or [0]), step, *([width * step] if name in _BLOCKS else [])]
        return Plan((Launch(descriptor.family, items, 0, (*operands_of(descriptor, offsets), *numbers)),))


class _Variant(NamedTuple):
    """The properties that decide a program, beside its words.

    roles, dtypes : of the operands; "" for an absent one
    """

    family: str
    op: str
    roles: Roles
    dtypes: tuple[str, ...]
    compute: str

    @property
    def tensors(self) -> dict[str, str]:
        """The element types of the tensors that are there."""
        return {name: ELEMENTS[dtype] for name, dtype in zip(self.roles.names, self.dtypes, strict=True) if dtype}

    @property
    def writes(self) -> frozenset[str]:
        """The tensors that an entry writes."""
        return frozenset(role.name for role in self.roles if role.is_written)


@functools.lru_cache(maxsize=256)
def _program(variant: _Variant, own: tuple[tuple[str, object], ...]) -> Program:
    """Return the program of a variant with words of its own."""
    tensors, compute = variant.tensors, ELEMENTS[variant.compute]
    file = f"families/{variant.family}/{variant.family}.inc"
    words: dict[str, Any] = {
        "EP_HAS_F64": int(has_doubles((compute,))),
        "EP_WIDE": 0,
        **type_words(compute),
        **dict(own),
        **{f"EP_HAS_{name}": int(name in tensors) for name in ("gates", "peephole")},
        "EP_ALL_FROM": " ".join(f"EP_FROM({name})" for name in tensors),
        "EP_CELL_ENTRY": variant.family,
    }
    parameters: list[Parameter] = []
    for name, element in tensors.items():
        words |= access(name, element)
        parameters += tensor(name, element)
    numbers = [number(name, "i64") for name in ("items", "run", "width")] + [number("beside", "i32")]
    for name in tensors:
        parts = ("row", "step", "block") if name in _BLOCKS else ("row", "step")
        numbers += [number(f"{name}_{part}", "i64") for part in parts]
    entry = Entry(variant.family, taken(parameters, numbers), writes=variant.writes)
    source = " ".join((text(file), *(str(meaning) for _, meaning in own)))
    given = "-".join(("alone", *(name for name in ("gates", "peephole") if name in tensors)))
    name = "-".join((variant.family, variant.op, *dict.fromkeys(tensors.values()), given))
    return Program(name, tuple(words.items()), (*mathematics(source, compute), _BEFORE, file, _BEHIND), (entry,))
