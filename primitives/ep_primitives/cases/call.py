"""A call of a descriptor that succeeds: by keyword, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep import Descriptor, Roles, Scalar, TensorSpec
from ep_primitives.families import parts

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BOOL", "F32", "IMAGES", "INDICES", "NUMBER", "ROW", "Call", "both", "calls", "inferred"]

F32: Final = TensorSpec("float32", (4, 3))
ROW: Final = TensorSpec("float32", (3,))
BOOL: Final = TensorSpec("bool", (4, 3))
NUMBER: Final = Scalar("float32")
INDICES: Final = TensorSpec("int64", (5,))
IMAGES: Final = TensorSpec("float32", (2, 3, 9))


class Call(NamedTuple):
    """A call that succeeds.

    kind       : the descriptor's class
    make       : it, its `infer`, or a function that calls one of them by keyword
    word       : the first words of messages: the op's name, the family's if it has no ops, or both
    is_strict  : True if tensors are specs and nothing else, as the constructor wants them
    arguments  : by keyword, `op` too
    """

    kind: type[Descriptor]
    make: Callable[..., Any]
    word: str
    is_strict: bool
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """The call in words."""
        how = "" if self.is_strict else ".infer-out" if self.output in self.arguments else ".infer"
        return f"{self.kind.__name__}{how}-{self.word}"

    @property
    def output(self) -> str:
        """The keyword of the first output."""
        roles = self.kind.roles
        # Those of AddN depend on how many terms there are.
        return roles.names[roles.outputs[0]] if isinstance(roles, Roles) else "out"


def both(kind: Any, op: str, strict: dict[str, Any], loose: dict[str, Any], word: str = "") -> list[Call]:
    """Return calls of the constructor and of `infer`, with and without its output."""
    named = {"op": op} if op != kind.family else {}
    return [
        Call(kind, kind, word or op, is_strict=True, arguments={**named, **strict}),
        *inferred(kind, kind.infer, word or op, {**named, **loose}),
    ]


def inferred(kind: Any, infer: Callable[..., Any], word: str, loose: dict[str, Any]) -> list[Call]:
    """Return the call of an `infer`, and the one that describes its output, too."""
    plain = Call(kind, infer, word, is_strict=False, arguments=loose)
    if plain.output in loose:
        return [plain]
    return [plain, plain._replace(arguments={**loose, plain.output: infer(**loose).out})]


def calls() -> dict[str, list[Call]]:
    """Return the calls that the families' folders give as examples, in `calls`, by family."""
    found: dict[str, list[Call]] = {}
    for module in parts("calls"):
        for call in module.CALLS:
            found.setdefault(call.kind.family, []).append(call)
    return found
