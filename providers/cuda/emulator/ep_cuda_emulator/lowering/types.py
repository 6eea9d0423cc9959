"""The types of PTX, and those of LLVM that hold them."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["B32", "B64", "F32", "F64", "PRED", "S32", "TYPES", "U32", "U64", "Type"]


class Type(NamedTuple):
    """A type: "b", "s" or "u" for bits and integers, "f" for floats, "p" for predicates."""

    name: str
    kind: str
    bits: int

    @property
    def ir(self) -> str:
        """LLVM's type. bfloat16 is its bits: the arithmetic of x86 for it flushes subnormals."""
        if self.kind == "f":
            return {"f16": "half", "bf16": "i16", "f32": "float", "f64": "double"}.get(self.name, f"i{self.bits}")
        return f"i{self.bits}"

    @property
    def raw(self) -> str:
        """LLVM's integer of the same size."""
        return f"i{self.bits}"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_signed(self) -> bool:
        return self.kind == "s"

    @property
    def is_pair(self) -> bool:
        """True for two 16-bit floats in one register."""
        return self.name.endswith("x2")

    @property
    def is_half(self) -> bool:
        """True for 16 bits."""
        return self.bits == 16  # noqa: PLR2004 - as the name says

    @property
    def is_wide(self) -> bool:
        """True for 64 bits, as addresses have."""
        return self.bits == 64  # noqa: PLR2004 - as the name says

    @property
    def nbytes(self) -> int:
        return -(-self.bits // 8)


def _of(name: str) -> Type:
    if name == "pred":
        return Type(name, "p", 1)
    if "f" in name:
        bits = 32 if name.endswith("x2") else int(name.lstrip("bf"))
        return Type(name, "f", bits)
    return Type(name, name[0], int(name[1:]))


TYPES: Final = {
    name: _of(name)
    for name in (
        *(f"{kind}{bits}" for kind in "bsu" for bits in (8, 16, 32, 64)),
        *("b128", "f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "pred"),
    )
}
B32: Final = TYPES["b32"]
B64: Final = TYPES["b64"]
F32: Final = TYPES["f32"]
F64: Final = TYPES["f64"]
PRED: Final = TYPES["pred"]
S32: Final = TYPES["s32"]
U32: Final = TYPES["u32"]
U64: Final = TYPES["u64"]
