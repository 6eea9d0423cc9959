"""What a name of a program stands for, if it is no register: a variable or a parameter somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ep_cuda_emulator.lowering.writer import Writer

__all__ = ["Place"]


class Place(NamedTuple):
    """A variable or parameter.

    space  : "global", "const", "shared", "local", "param" (of the entry) or "argument" (of a call)
    where  : LLVM's name of its memory, for "local" and "argument"; of its symbol, for "global" and "const"
    offset : from the beginning of the space, for "shared" and "param"
    """

    space: str
    where: str = ""
    offset: int = 0

    def address(self, writer: Writer) -> str:
        """Return the variable's address in its space, as i64."""
        if self.space in {"shared", "param"}:
            return str(self.offset)
        return writer.value(f"ptrtoint ptr {self.where} to i64")
