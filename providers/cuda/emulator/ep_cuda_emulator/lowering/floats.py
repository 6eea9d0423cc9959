"""Arithmetic of floats.

Results of 16 and 32 bits that are no number are the canonical one, as on the hardware; those of float64 are x86's, which
are equal to it. Operations that are only approximate there are the runtime's functions (native/machine/approximate.cpp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.rules import lowers, type_of
from ep_cuda_emulator.lowering.types import TYPES, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction, Operand

    Compute = Callable[[Type, list[str]], str]

__all__ = [
    "apply",
    "binary",
    "canonical",
    "extreme",
    "finished",
    "flushed",
    "fused",
    "halves",
    "quotient",
    "sign",
    "source",
    "wide",
    "wide_type",
]

_DIRECTED: Final = {"rz", "rm", "rp"}


def source(w: Writer, i: Instruction, operand: Operand, kind: Type) -> str:
    """Return an operand, without subnormals if the instruction says so."""
    value = w.read(operand, kind)
    return flushed(w, value, kind) if "ftz" in i.parts else value


def flushed(w: Writer, value: str, kind: Type) -> str:
    """Return zero, with its sign, in place of a subnormal."""
    return w.intrinsic(f"ep.flush.{kind.name}", kind.ir, f"{kind.ir} {value}") if kind.name in {"f32", "f16"} else value


def canonical(w: Writer, value: str, kind: Type) -> str:
    """Return the canonical NaN in place of any other."""
    return w.intrinsic(f"ep.canonical.{kind.name}", kind.ir, f"{kind.ir} {value}") if kind.name != "f64" else value


def wide_type(kind: Type) -> str:
    """Return the type that LLVM computes in."""
    return "float" if kind.name == "bf16" else kind.ir


def wide(w: Writer, value: str, kind: Type) -> str:
    """Return a value in that type."""
    return w.intrinsic("ep.wide.bf16", "float", f"i16 {value}") if kind.name == "bf16" else value


def narrow(w: Writer, value: str, kind: Type) -> str:
    """Round what `wide` made wide."""
    return w.intrinsic("ep.round.bf16", "i16", f"float {value}") if kind.name == "bf16" else value


def apply(w: Writer, i: Instruction, compute: Compute, *, operands: tuple[Operand, ...] | None = None) -> None:
    """Compute from the sources, each half for itself if they are pairs; then saturate, and make NaNs canonical."""
    kind = type_of(i)
    sources = operands or i.operands[1:]
    if not kind.is_pair:
        result = compute(kind, [source(w, i, each, kind) for each in sources])
        w.write(i.operands[0], kind, finished(w, i, kind, result))
        return
    half = TYPES[kind.name.removesuffix("x2")]
    values = [halves(w, i, each, half) for each in sources]
    result = "0"
    for place, parts in zip((0, 16), zip(*values, strict=True), strict=True):
        found = w.bits(finished(w, i, half, compute(half, list(parts))), half)
        moved = w.value(f"shl i32 {w.value(f'zext i16 {found} to i32')}, {place}")
        result = w.value(f"or i32 {result}, {moved}")
    w.write(i.operands[0], TYPES["b32"], result)


def halves(w: Writer, i: Instruction, operand: Operand, half: Type) -> list[str]:
    """Return the lower and the upper float of a pair, without subnormals if the instruction says so."""
    whole = w.read(operand, TYPES["b32"])
    found = []
    for place in (0, 16):
        moved = w.value(f"lshr i32 {whole}, {place}")
        value = w.cast(w.value(f"trunc i32 {moved} to i16"), half)
        found.append(flushed(w, value, half) if "ftz" in i.parts else value)
    return found


def finished(w: Writer, i: Instruction, kind: Type, value: str) -> str:
    """Return a result as the instruction's modifiers want it."""
    if "ftz" in i.parts and (i.parts[0] != "cvt" or kind.name == "f32"):  # conversions flush float32 alone
        value = flushed(w, value, kind)
    if "satfinite" in i.parts:
        value = _finite(w, value, kind)
    if "sat" in i.parts or "relu" in i.parts:
        whole = wide(w, value, kind)
        spelled = wide_type(kind)
        suffix = f"f{16 if spelled == 'half' else 64 if spelled == 'double' else 32}"
        ordered = w.value(f"fcmp ord {spelled} {whole}, {whole}")
        if "sat" in i.parts:  # NaN becomes zero
            whole = w.value(f"select i1 {ordered}, {spelled} {whole}, {spelled} 0.0")
            whole = w.intrinsic(f"llvm.minimumnum.{suffix}", spelled, f"{spelled} {whole}", f"{spelled} 1.0")
        low = w.intrinsic(f"llvm.maximumnum.{suffix}", spelled, f"{spelled} {whole}", f"{spelled} 0.0")
        whole = low if "sat" in i.parts else w.value(f"select i1 {ordered}, {spelled} {low}, {spelled} {whole}")
        value = narrow(w, whole, kind)
    return canonical(w, value, kind)


def _finite(w: Writer, value: str, kind: Type) -> str:
    """Return the largest number, with the sign, in place of an infinity of 16 bits."""
    infinity = {"f16": 0x7C00, "bf16": 0x7F80}[kind.name]
    bits = w.bits(value, kind)
    is_infinite = w.value(f"icmp eq i16 {w.value(f'and i16 {bits}, 32767')}, {infinity}")
    return w.cast(w.value(f"select i1 {is_infinite}, i16 {w.value(f'sub i16 {bits}, 1')}, i16 {bits}"), kind)


def _direction(i: Instruction) -> str:
    return next((part for part in i.parts if part in _DIRECTED), "")


def binary(w: Writer, i: Instruction) -> None:
    """Write a sum, difference or product."""
    verb, direction = i.parts[0], _direction(i)

    def compute(kind: Type, values: list[str]) -> str:
        spelled = wide_type(kind)
        a, b = (wide(w, each, kind) for each in values)
        if direction:
            return w.runtime(f"ep_{verb}_{kind.name}_{direction}", spelled, f"{spelled} {a}", f"{spelled} {b}")
        return narrow(w, w.value(f"f{verb} {spelled} {a}, {b}"), kind)

    apply(w, i, compute)


@lowers("fma", knows="rn rz rm rp ftz sat relu")
def fused(w: Writer, i: Instruction) -> None:
    """Write a product and a sum that are rounded once."""
    direction = _direction(i)

    def compute(kind: Type, values: list[str]) -> str:
        arguments = [f"{kind.ir} {each}" for each in values]
        if direction:
            return w.runtime(f"ep_fma_{kind.name}_{direction}", kind.ir, *arguments)
        if kind.is_half:
            bits = [f"i16 {w.bits(each, kind)}" for each in values]
            return w.cast(w.runtime(f"ep_fma_{kind.name}", "i16", *bits), kind)
        return w.intrinsic(f"llvm.fma.{kind.name}", kind.ir, *arguments)

    apply(w, i, compute)


def quotient(w: Writer, i: Instruction) -> None:
    """Write a quotient, rounded or rough."""
    direction = _direction(i)

    def compute(kind: Type, values: list[str]) -> str:
        arguments = [f"{kind.ir} {each}" for each in values]
        if direction:
            return w.runtime(f"ep_div_{kind.name}_{direction}", kind.ir, *arguments)
        if "approx" in i.parts or "full" in i.parts:
            return w.runtime("ep_div_full" if "full" in i.parts else "ep_div_approx", kind.ir, *arguments)
        return w.value(f"fdiv {kind.ir} {values[0]}, {values[1]}")

    apply(w, i, compute)


@lowers("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", knows="approx rn rz rm rp ftz")
def _function(w: Writer, i: Instruction) -> None:
    verb, direction = i.parts[0], _direction(i)

    def compute(kind: Type, values: list[str]) -> str:
        if "approx" in i.parts:
            return _approximate(w, verb, kind, values[0])
        if direction:
            if verb == "rcp":
                return w.runtime(f"ep_div_{kind.name}_{direction}", kind.ir, f"{kind.ir} 1.0", f"{kind.ir} {values[0]}")
            return w.runtime(f"ep_sqrt_{kind.name}_{direction}", kind.ir, f"{kind.ir} {values[0]}")
        if verb == "rcp":
            return w.value(f"fdiv {kind.ir} 1.0, {values[0]}")
        if verb == "sqrt":
            return w.intrinsic(f"llvm.sqrt.{kind.name}", kind.ir, f"{kind.ir} {values[0]}")
        raise w.unsupported(i)

    apply(w, i, compute)


def _approximate(w: Writer, verb: str, kind: Type, value: str) -> str:
    if kind.is_half:
        whole = wide(w, value, kind) if kind.name == "bf16" else w.value(f"fpext half {value} to float")
        found = w.runtime(f"ep_{verb}_approx_{kind.name}", "float", f"float {whole}")
        return narrow(w, found, kind) if kind.name == "bf16" else w.value(f"fptrunc float {found} to half")
    return w.runtime(f"ep_{verb}_approx_{kind.name}", kind.ir, f"{kind.ir} {value}")


def sign(w: Writer, i: Instruction) -> None:
    """Write abs or neg, which change a bit and nothing else."""
    verb = i.parts[0]

    def compute(kind: Type, values: list[str]) -> str:
        mask, joint = ((1 << kind.bits - 1) - 1, "and") if verb == "abs" else (1 << kind.bits - 1, "xor")
        return w.cast(w.value(f"{joint} {kind.raw} {w.bits(values[0], kind)}, {mask}"), kind)

    kind = type_of(i)
    if kind.is_pair:
        if "ftz" in i.parts:
            raise w.unsupported(i)
        mask = 0x7FFF7FFF if verb == "abs" else 0x80008000
        value = w.read(i.operands[1], TYPES["b32"])
        w.write(i.operands[0], TYPES["b32"], w.value(f"{'and' if verb == 'abs' else 'xor'} i32 {value}, {mask}"))
    else:
        w.write(i.operands[0], kind, compute(kind, [source(w, i, i.operands[1], kind)]))


@lowers("copysign")
def _copysign(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    a, b = (w.read(each, kind) for each in i.operands[1:])
    w.write(i.operands[0], kind, w.intrinsic(f"llvm.copysign.{kind.name}", kind.ir, f"{kind.ir} {b}", f"{kind.ir} {a}"))


def extreme(w: Writer, i: Instruction) -> None:
    """Write min or max: of a number and a NaN the number, or NaN if the instruction says so; -0 is less than 0."""
    verb = f"{i.parts[0]}imum"

    def compute(kind: Type, values: list[str]) -> str:
        spelled = wide_type(kind)
        suffix = f"f{32 if kind.name == 'bf16' else kind.bits}"
        name = f"llvm.{verb}.{suffix}" if "NaN" in i.parts else f"llvm.{verb}num.{suffix}"
        result = wide(w, values[0], kind)
        for other in values[1:]:
            result = w.intrinsic(name, spelled, f"{spelled} {result}", f"{spelled} {wide(w, other, kind)}")
        return narrow(w, result, kind)

    apply(w, i, compute)
