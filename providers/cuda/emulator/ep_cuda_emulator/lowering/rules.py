"""RULES: for each opcode, the function that writes its LLVM IR, and the modifiers that this function knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.types import TYPES, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction

    Rule = Callable[[Writer, Instruction], None]

__all__ = ["RULES", "lowers", "stranger_of", "type_of", "types_of"]

RULES: Final[dict[str, Rule]] = {}
_KNOWN: Final[dict[str, frozenset[str]]] = {}
_ANY: Final = "*"


def lowers(*opcodes: str, knows: str = "") -> Callable[[Rule], Rule]:
    """Make a function the rule of some opcodes.

    knows : modifiers beside types that the rule obeys, or may ignore, with blanks between; of one with colons, such as
            L2::128B, what stands before them; "*" for a rule that looks at each itself, or does nothing
    """

    def keep(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(opcodes, rule))
        _KNOWN.update(dict.fromkeys(opcodes, frozenset(knows.split())))
        return rule

    return keep


def stranger_of(instruction: Instruction) -> str:
    """Return a modifier that the instruction's rule does not know, and would pass over; "" if there is none."""
    known = _KNOWN[instruction.parts[0]]
    if _ANY in known:
        return ""
    return next(
        (each for each in instruction.parts[1:] if each not in TYPES and each.partition("::")[0] not in known), ""
    )


def types_of(instruction: Instruction) -> list[Type]:
    """Return the types among an instruction's modifiers, in their order."""
    return [TYPES[part] for part in instruction.parts[1:] if part in TYPES]


def type_of(instruction: Instruction) -> Type:
    """Return the last type among an instruction's modifiers: of its sources, if there are two."""
    return types_of(instruction)[-1]
