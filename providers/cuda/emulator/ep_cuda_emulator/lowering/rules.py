"""RULES: for each opcode, the function that writes its LLVM IR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.types import TYPES, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction

    Rule = Callable[[Writer, Instruction], None]

__all__ = ["RULES", "lowers", "type_of", "types_of"]

RULES: Final[dict[str, Rule]] = {}


def lowers(*opcodes: str) -> Callable[[Rule], Rule]:
    """Make a function the rule of some opcodes."""

    def keep(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(opcodes, rule))
        return rule

    return keep


def types_of(instruction: Instruction) -> list[Type]:
    """Return the types among an instruction's modifiers, in their order."""
    return [TYPES[part] for part in instruction.parts[1:] if part in TYPES]


def type_of(instruction: Instruction) -> Type:
    """Return the last type among an instruction's modifiers: of its sources, if there are two."""
    return types_of(instruction)[-1]
