"""Where a case stands in the matrix of the suite: family, op, element types, layout; read from its id."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["Place"]

_PREFIX: Final = "primitives"
_PARTS: Final = 6
_SHORT: Final = 3


class Place(NamedTuple):
    """The parts of a case id.

    family  : the cell's family; of other cases the first word: runtime, vendor, claims, waivers
    op      : the cell's op; of other cases the area
    dtypes  : the cell's element types, inputs and output; empty of other cases
    layout  : the cell's layout; empty of other cases
    name    : the rest of the id
    """

    family: str
    op: str
    dtypes: str
    layout: str
    name: str

    @classmethod
    def of(cls, identity: str) -> Place:
        """Return the place of a case id."""
        parts = identity.split("/")
        if parts[0] == _PREFIX and len(parts) == _PARTS:
            return cls(*parts[1:])
        if len(parts) == _SHORT and parts[0] not in {"claims", "waivers"}:
            return cls(parts[0], parts[1], "", "", parts[2])
        family, _, name = identity.partition("/")
        return cls(family, "", "", "", name)

    @property
    def is_cell(self) -> bool:
        """True of a case of a cell."""
        return bool(self.layout)

    @property
    def element(self) -> str:
        """The element type under which a matrix shows it: the input's that equals the output's, else the first input's."""
        inputs, _, out = self.dtypes.partition("->")
        given = inputs.split(",")
        return out if out in given else given[0]

    @property
    def cell(self) -> str:
        """The cell, as claims.toml names it; of other cases the id less its name."""
        if self.is_cell:
            return "/".join(self[:-1])
        return "/".join(part for part in (self.family, self.op) if part)

    @property
    def id(self) -> str:
        """The case id."""
        if self.is_cell:
            return "/".join((_PREFIX, *self))
        return "/".join(part for part in (self.family, self.op, self.name) if part)
