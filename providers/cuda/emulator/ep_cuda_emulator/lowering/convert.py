"""Conversions among integers and floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering import floats
from ep_cuda_emulator.lowering.rules import lowers, types_of
from ep_cuda_emulator.lowering.types import B32, F32, TYPES, Type

if TYPE_CHECKING:
    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction

__all__: list[str] = []

_TO_WHOLE: Final = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_MODES: Final = {"rn": 0, "rz": 1, "rm": 2, "rp": 3, "rna": 4}


@lowers("cvt", knows=" ".join((*_TO_WHOLE, *_MODES, "ftz sat relu satfinite")))
def _convert(w: Writer, i: Instruction) -> None:
    try:
        to, of = types_of(i)
    except ValueError:  # 8-bit floats, tf32
        raise w.unsupported(i) from None
    if to.is_pair:
        _pair(w, i, to, of)
        return
    value = w.read(i.operands[1], of)
    if of == F32 and "ftz" in i.parts:
        value = floats.flushed(w, value, of)
    if to.is_float and of.is_float:
        result = _float_to_float(w, i, to, of, value)
    elif to.is_float:
        result = _integer_to_float(w, i, to, of, value)
    elif of.is_float:
        result = _float_to_integer(w, i, to, of, value)
    else:
        result = _integer_to_integer(w, i, to, of, value)
    w.write(i.operands[0], to, result)


def _mode(i: Instruction) -> int:
    return next((_MODES[part] for part in i.parts if part in _MODES), 0)


def _pair(w: Writer, i: Instruction, to: Type, of: Type) -> None:
    """Two floats in one register; the first source comes into the upper half."""
    target, *sources = i.operands
    if of != F32:
        raise w.unsupported(i)
    half = TYPES[to.name.removesuffix("x2")]
    whole = "0"
    for place, operand in zip((16, 0), sources, strict=True):
        result = _float_to_float(w, i, half, of, floats.source(w, i, operand, of))
        moved = w.value(f"shl i32 {w.value(f'zext i16 {w.bits(result, half)} to i32')}, {place}")
        whole = w.value(f"or i32 {whole}, {moved}")
    w.write(target, B32, whole)


def _float_to_float(w: Writer, i: Instruction, to: Type, of: Type, value: str) -> str:
    whole = next((verb for part, verb in _TO_WHOLE.items() if part in i.parts), "")
    if whole:
        spelled = floats.wide_type(of)
        value = floats.wide(w, value, of)
        suffix = {"half": "f16", "float": "f32", "double": "f64"}[spelled]
        value = w.intrinsic(f"llvm.{whole}.{suffix}", spelled, f"{spelled} {value}")
        value = floats.narrow(w, value, of)
    if to != of:
        value = _resized(w, i, to, of, value)
    return floats.finished(w, i, to, value)


def _resized(w: Writer, i: Instruction, to: Type, of: Type, value: str) -> str:
    mode = _mode(i)
    if to.bits >= of.bits and of.bits != to.bits:
        value = floats.wide(w, value, of)
        spelled = floats.wide_type(of)
        return value if spelled == to.ir else w.value(f"fpext {spelled} {value} to {to.ir}")
    if to.name == "bf16" and of == F32 and mode == 0:
        return floats.narrow(w, value, to)
    if mode == 0 and to.name != "bf16" and of.name != "bf16":
        return w.value(f"fptrunc {of.ir} {value} to {to.ir}")
    spelled = floats.wide_type(of)
    double = floats.wide(w, value, of)
    double = double if spelled == "double" else w.value(f"fpext {spelled} {double} to double")
    bits = w.runtime(f"ep_round_{to.name}", "i32", f"double {double}", f"i32 {mode}")
    return w.cast(w.extended(bits, B32, to.bits), to)


def _integer_to_float(w: Writer, i: Instruction, to: Type, of: Type, value: str) -> str:
    if _mode(i) or to.is_half:
        wide = w.extended(value, of, 64)
        arguments = (f"i64 {wide}", f"i32 {int(of.is_signed)}", f"i32 {_mode(i)}")
        bits = w.runtime(f"ep_integer_to_{to.name}", "i64", *arguments)
        result = w.cast(w.extended(bits, TYPES["b64"], to.bits), to)
    else:
        result = w.value(f"{'sitofp' if of.is_signed else 'uitofp'} {of.ir} {value} to {to.ir}")
    return floats.finished(w, i, to, result)


def _float_to_integer(w: Writer, i: Instruction, to: Type, of: Type, value: str) -> str:
    """Convert: what is out of range becomes the nearest; NaN zero, but the highest bit if either side has 64 bits."""
    whole = next((verb for part, verb in _TO_WHOLE.items() if part in i.parts), "trunc")
    spelled = floats.wide_type(of)
    value = floats.wide(w, value, of)
    if spelled == "half":  # as float: LLVM makes the lowest number of 16 bits of NaN on processors with AVX512-FP16
        spelled, value = "float", w.value(f"fpext half {value} to float")
    suffix = {"float": "f32", "double": "f64"}[spelled]
    value = w.intrinsic(f"llvm.{whole}.{suffix}", spelled, f"{spelled} {value}")
    verb = "fptosi" if to.is_signed else "fptoui"
    result = w.intrinsic(f"llvm.{verb}.sat.{to.ir}.{suffix}", to.ir, f"{spelled} {value}")
    if to.is_wide or (of.is_wide and to.raw == "i32"):
        unordered = w.value(f"fcmp uno {spelled} {value}, {value}")
        result = w.value(f"select i1 {unordered}, {to.ir} {1 << to.bits - 1}, {to.ir} {result}")
    return result


def _integer_to_integer(w: Writer, i: Instruction, to: Type, of: Type, value: str) -> str:
    if "sat" not in i.parts:
        return w.extended(value, of, to.bits)
    wide = w.extended(value, of, 128)
    low = -(1 << to.bits - 1) if to.is_signed else 0
    high = (1 << to.bits - to.is_signed) - 1
    wide = w.intrinsic("llvm.smax.i128", "i128", f"i128 {wide}", f"i128 {low}")
    wide = w.intrinsic("llvm.smin.i128", "i128", f"i128 {wide}", f"i128 {high}")
    return w.value(f"trunc i128 {wide} to {to.ir}")
