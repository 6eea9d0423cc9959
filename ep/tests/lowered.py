"""A descriptor that no device has a kernel for, and its stages."""

from __future__ import annotations

import manual
from graphs import SPEC

import ep


def add(**specs):
    return manual.Add(**dict.fromkeys(("a", "b", "out"), SPEC) | specs)


class Mix(ep.Descriptor):
    """out = -(x + spare or x) + x, other = x + x; as many temporaries as there are stages."""

    family = "mix"
    roles = ep.Roles(
        ep.Role.input("x", shares=("out",)),
        ep.Role.input("spare", is_optional=True),
        ep.Role.output("out"),
        ep.Role.output("other", is_optional=True),
    )
    __slots__ = ("stages",)

    def __init__(self, *stages, spare=None, other=SPEC):
        object.__setattr__(self, "stages", stages)
        self._freeze("-", (SPEC, spare, SPEC, other))

    def lower(self):
        second = "spare" if "spare" in self.present else "x"
        other = [ep.Stage(add(), a="x", b="x", out="other")] if "other" in self.present else []
        return self.stages or (
            ep.Stage(add(), a="x", b=second, out="sum"),
            ep.Stage(manual.Negate(x=SPEC, out=SPEC), x="sum", out="negated"),
            *other,
            ep.Stage(add(), a="negated", b="x", out="out"),
        )
