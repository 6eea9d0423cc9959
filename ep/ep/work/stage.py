"""A Stage is one step of a lowered descriptor: its operands are operands of the whole descriptor, or temporaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, final

from ep.layout.overlap import is_same, overlap
from ep.layout.role import OUTPUT, Role
from ep.layout.spec import TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep.dtypes import Number
    from ep.work.descriptor import Descriptor

__all__ = ["Lifetime", "Stage", "check_stages", "lifetimes"]


@final
class Stage:
    """One step of what a descriptor lowers to: `Stage(Reduce(...), x="x", out="mean")`.

    descriptor : what the step computes
    operands   : for each of its keywords the name of an operand of the whole, or of a temporary; for a number perhaps
                 its value. The first stage that names a temporary writes it. Numbers with a default may be left out. No
                 operands at all: those of the whole, by the same names. A temporary may have an absent operand's name

    A spec places the step's elements in the memory of the whole's operand, or of the temporary, which is as large as
    its stages need. EP takes temporaries from the launch's scratch.
    """

    __slots__ = ("descriptor", "operands")

    def __init__(self, descriptor: Descriptor, **operands: str | Number) -> None:
        self.descriptor = descriptor
        self.operands: Mapping[str, str | Number] = operands or {name: name for name in descriptor.present}

    @property
    def tensors(self) -> Iterator[tuple[Role, TensorSpec, str]]:
        """For each present tensor of the step its role, its spec, and its name in the whole."""
        for role, spec in self.descriptor.tensors:
            if spec is not None:
                yield role, spec, str(self.operands[role.name])

    def is_all_of(self, whole: Descriptor) -> bool:
        """Say whether the step alone does what the whole does, with operands of the same names, uses and order."""
        roles, its = whole.roles, self.descriptor.roles
        return (
            all(name == given for name, given in self.operands.items())
            and [(role.name, role.use) for role in roles] == [(role.name, role.use) for role in its]
            and list(map(type, whole.specs)) == list(map(type, self.descriptor.specs))
        )

    def __repr__(self) -> str:
        given = [f"{name}={operand!r}" for name, operand in self.operands.items()]
        return f"Stage({', '.join([repr(self.descriptor), *given])})"


class Lifetime:
    """The first and the last stage that need the bytes of a temporary."""

    __slots__ = ("first", "last", "nbytes")

    def __init__(self, first: int, last: int, nbytes: int) -> None:
        self.first, self.last, self.nbytes = first, last, nbytes


def lifetimes(whole: Descriptor, stages: Sequence[Stage]) -> dict[str, Lifetime]:
    """Return for each temporary when its bytes are needed."""
    found: dict[str, Lifetime] = {}
    for place, stage in enumerate(stages):
        for _, spec, name in stage.tensors:
            if name not in whole.present:
                lifetime = found.setdefault(name, Lifetime(place, place, 0))
                lifetime.last, lifetime.nbytes = place, max(lifetime.nbytes, spec.nbytes)
    return found


def check_stages(whole: Descriptor, stages: Any) -> None:
    """Raise TypeError or ValueError, naming stage and operand, unless the stages' operands fit the whole's."""
    if not isinstance(stages, Sequence) or not all(type(stage) is Stage for stage in stages):
        message = f"{whole.family}.lower returned {stages!r}, needs a sequence of ep.Stage; () for nothing"
        raise TypeError(message)
    if len(stages) == 1 and stages[0].is_all_of(whole):
        _Check(whole, 0, stages[0]).tensors(set())
        return  # the one stage's own roles decide what may be in place
    written: set[str] = set()
    for place, stage in enumerate(stages):
        check = _Check(whole, place, stage)
        check.names()
        check.tensors(written)
        check.numbers()
        check.sharing()
        written.update(name for role, _, name in stage.tensors if role.is_written)
    for role, spec in whole.tensors:
        for shared in role.shares:
            other = whole.present.get(shared)
            if isinstance(spec, TensorSpec) and isinstance(other, TensorSpec) and is_same(spec, other):
                _check_in_place(whole, stages, role.name, shared)


def _check_in_place(whole: Descriptor, stages: Sequence[Stage], read: str, written: str) -> None:
    """Refuse stages that read an operand after a stage wrote an operand that may be in the same memory."""
    is_written = False
    for place, stage in enumerate(stages):
        check = _Check(whole, place, stage)
        if is_written and any(name == read for _, _, name in stage.tensors):
            check.refuse(f"reads {read} after {written}, which may be the same memory, was written")
        check.sharing({read: written})
        is_written = is_written or any(name == written and role.is_written for role, _, name in stage.tensors)


class _Check:
    """The checks of one stage."""

    def __init__(self, whole: Descriptor, place: int, stage: Stage) -> None:
        self._whole, self._place, self._stage = whole, place, stage

    def names(self) -> None:
        """Refuse operands that are missing or unknown."""
        descriptor, given = self._stage.descriptor, self._stage.operands
        needed = {name for name in descriptor.present if name not in descriptor.roles.defaults}
        if not needed <= given.keys() <= descriptor.present.keys():
            names = ", ".join(descriptor.present)
            self.refuse(f"is given {', '.join(given) or 'nothing'}, needs each of {names} that has no default")

    def tensors(self, written: set[str]) -> None:
        """Refuse an unwritten temporary, and operands of the whole that are numbers, too small, or only read."""
        named = zip(self._whole.roles, self._whole.specs, strict=True)
        roles = {role.name: (role, spec) for role, spec in named if spec is not None}
        for role, spec, name in self._stage.tensors:
            if name not in roles:
                if name not in written and role.use != OUTPUT:
                    self.refuse(f"reads the temporary {name} for {role.name}, which no stage before it writes")
                continue
            its, whole = roles[name]
            if not isinstance(whole, TensorSpec):
                self.refuse(f"names {name} for {role.name}, which is a number of the whole's")
            if spec.nbytes > whole.nbytes:
                self.refuse(f"touches {spec.nbytes} bytes of {name}, which has {whole.nbytes}")
            if role.is_written and not its.is_written:
                self.refuse(f"writes {name}, which the whole only reads; write a temporary")

    def numbers(self) -> None:
        """Refuse a number of the whole of another type."""
        for role, spec in self._stage.descriptor.numbers:
            name = self._stage.operands.get(role.name)
            if spec is not None and isinstance(name, str) and self._whole.present.get(name) != spec:
                its = self._whole.present.get(name)
                self.refuse(f"takes the number {name} for {role.name} as {spec}, and the whole has {its}")

    def sharing(self, same: Mapping[str, str] | None = None) -> None:
        """Refuse two operands in one memory of which one is written, unless they are disjoint or exactly in place.

        same : operands of the whole that stand for others
        """
        places = [(role, spec, (same or {}).get(name, name)) for role, spec, name in self._stage.tensors]
        for target, target_spec, memory in places:
            for role, spec, name in places:
                if role is target or name != memory or not target.is_written:
                    continue
                in_place = is_same(spec, target_spec) and target.name in role.shares
                if not in_place and overlap(spec, target_spec, 0) is not False:
                    self.refuse(f"has {role.name} and {target.name} in {name}, which {target.name} writes")

    def refuse(self, why: str) -> NoReturn:
        """Raise ValueError."""
        message = f"{self._whole.family}.lower: stage {self._place}, {self._stage.descriptor.cell}, {why}"
        raise ValueError(message)
