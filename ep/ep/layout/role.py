"""A Role describes one operand of a descriptor; Roles are all operands of a descriptor, stated once as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

from ep.ground.glimpse import glimpse
from ep.layout.spec import Scalar, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.dtypes import Number

__all__ = ["INPUT", "NUMBER", "OUTPUT", "SCRATCH", "STATE", "CollectiveRoles", "Role", "Roles"]

INPUT: Final = "input"
NUMBER: Final = "number"
STATE: Final = "state"
OUTPUT: Final = "output"


class Role(NamedTuple):
    """The use of one operand; made by `Role.input`, `number`, `state` and `output`.

    name          : its keyword
    use           : INPUT is read; a NUMBER is given at launch and its spec is a Scalar; a STATE is read and written;
                    an OUTPUT is written
    default       : the number's value in launches that leave it out; None if no launch may
    is_optional   : True if the spec may be None: then the operand is absent, and launches do not give it
    shares        : the outputs that may be the very same tensor as this input: memory, offset, shape and strides
    is_inspected  : True if its contents have limits, which EP_VALIDATE=1 checks: see `Descriptor.check_contents`
    """

    name: str
    use: str
    default: Number | None = None
    is_optional: bool = False
    shares: tuple[str, ...] = ()
    is_inspected: bool = False

    @classmethod
    def input(
        cls, name: str, *, shares: tuple[str, ...] = (), is_optional: bool = False, is_inspected: bool = False
    ) -> Self:
        """Return the role of a tensor that is read; where its spec is a Scalar, of a number."""
        return cls(name, INPUT, None, is_optional, shares, is_inspected)

    @classmethod
    def number(cls, name: str, *, default: Number | None = None, is_optional: bool = False) -> Self:
        """Return the role of a number that is given at launch."""
        return cls(name, NUMBER, default, is_optional)

    @classmethod
    def state(cls, name: str, *, is_inspected: bool = False) -> Self:
        """Return the role of a tensor that is read, and written before later work sees it."""
        return cls(name, STATE, None, False, (), is_inspected)  # noqa: FBT003 - fields in their order

    @classmethod
    def output(cls, name: str, *, is_optional: bool = False) -> Self:
        """Return the role of a tensor that is written."""
        return cls(name, OUTPUT, None, is_optional)

    @property
    def is_written(self) -> bool:
        """True for outputs and states."""
        return self.use in {STATE, OUTPUT}


SCRATCH: Final = Role.state("scratch")
"""The role of scratch: memory that a kernel needs beside its operands. A launch may give it, else EP allocates it."""


class Roles(tuple[Role, ...]):  # noqa: SLOT001 - a tuple has no slots for what is found out once
    """The roles of a descriptor's operands, in the order of its specs and of kernels' memories and numbers.

    names    : the keywords of a launch
    read     : the keywords of all operands but the outputs
    outputs  : the places of the outputs in that order; the first of them is never absent
    written  : the names of states and outputs

    Raises ValueError for a repeated name, a first output that is optional or missing, and shares that name no output.
    """

    names: tuple[str, ...]
    read: tuple[str, ...]
    outputs: tuple[int, ...]
    written: tuple[str, ...]
    _hash: int
    _needs_output: ClassVar[bool] = True

    def __new__(cls, *roles: Role) -> Self:
        self = super().__new__(cls, roles)
        self.names = tuple([role.name for role in roles])
        self.read = tuple([role.name for role in roles if role.use != OUTPUT])
        self.outputs = tuple([place for place, role in enumerate(roles) if role.use == OUTPUT])
        self.written = tuple([role.name for role in roles if role.is_written])
        self._hash = hash(tuple(roles))
        self._check()
        return self

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(self)

    @property
    def defaults(self) -> Mapping[str, Number]:
        """The numbers that a launch may leave out, and their defaults."""
        return {role.name: role.default for role in self if role.default is not None}

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the operands that are read and written."""
        return tuple([role.name for role in self if role.use == STATE])

    @property
    def inspected(self) -> tuple[str, ...]:
        """The names of the tensors whose contents have limits."""
        return tuple([role.name for role in self if role.is_inspected])

    def check_specs(self, kind: str, specs: tuple[Any, ...]) -> None:
        """Raise TypeError unless a descriptor has a spec of the right kind for each role.

        kind : the descriptor's name in messages
        """
        if len(specs) != len(self):
            message = f"{kind}: {len(specs)} specs for {len(self)} roles ({', '.join(self.names)}); give one a role, None for an absent one"
            raise TypeError(message)
        for role, spec in zip(self, specs, strict=True):
            is_number = type(spec) is Scalar and not role.is_written
            is_tensor = type(spec) is TensorSpec and role.use != NUMBER
            if not is_number and not is_tensor and not (spec is None and role.is_optional):
                message = f"{kind}: the spec of {role.name}, an {role.use}, is {glimpse(spec)}; give a TensorSpec, a Scalar for a number, None where is_optional"
                raise TypeError(message)

    def _check(self) -> None:
        if len(set(self.names)) < len(self):
            message = f"roles {', '.join(self.names)}: a name stands twice; each operand needs its own"
            raise ValueError(message)
        if SCRATCH.name in self.names:
            message = f"roles {', '.join(self.names)}: every launch takes {SCRATCH.name}; give the operand another name"
            raise ValueError(message)
        if self._needs_output and (not self.outputs or self[self.outputs[0]].is_optional):
            message = (
                f"roles {', '.join(self.names)}: the first output is missing or optional; give one that is always there"
            )
            raise ValueError(message)
        outputs = {self.names[place] for place in self.outputs}
        for role in self:
            if not outputs.issuperset(role.shares) or (role.shares and role.use != INPUT):
                message = f"roles: {role.name} shares {', '.join(role.shares)}; an input may share outputs, here {', '.join(sorted(outputs))}"
                raise ValueError(message)


class CollectiveRoles(Roles):
    """The roles of a collective's operands at one rank: there may be no output, where results are other ranks' alone."""

    _needs_output: ClassVar[bool] = False
