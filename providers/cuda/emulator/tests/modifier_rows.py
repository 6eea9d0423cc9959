"""Modifiers, pairs and literals that an instruction's name leaves open, as rows of instruction_rows.py have it."""

from __future__ import annotations

import numpy as np
from ptx_references import clamped, flushed, wrapped
from ptx_rows import BF16, TYPES

_HALF = {"f16": 0x3C00, "bf16": 0x3F80}


def _lanes(function, kind):
    """Apply a function to both 16-bit integers of two registers."""
    return lambda *arrays: function(*(each.view(TYPES[kind]) for each in arrays)).astype(TYPES[kind]).view(np.uint32)


def _compared(kind, truth):
    """Say of both floats of two registers whether they are less, or no numbers."""

    def compute(a, b):
        a, b = (each.view(TYPES[kind]).astype(np.float32) for each in (a, b))
        return np.where(~(a >= b), truth, 0).astype(np.uint16).view(np.uint32)

    return compute


def _finite(array, kind, most):
    near = array.astype(TYPES[kind])
    return np.where(np.isinf(near), np.copysign(most, array), near).astype(TYPES[kind])


def modifier_rows():
    words, bits = ("s32", "s32"), ("b32", "b32")
    for verb, function in (("min", min), ("max", max)):
        compute = wrapped(lambda a, b, function=function: max(function(a, b), 0))
        yield f"{verb}.relu.s32 %d, %a, %b", "s32", words, compute
        for kind in ("s16", "u16"):
            extreme = np.minimum if verb == "min" else np.maximum
            yield f"{verb}.{kind}x2 %d, %a, %b", "b32", bits, _lanes(extreme, kind)
        positive = lambda a, b, extreme=extreme: np.maximum(extreme(a, b), 0)  # noqa: E731
        yield f"{verb}.relu.s16x2 %d, %a, %b", "b32", bits, _lanes(positive, "s16")
    yield "add.u16x2 %d, %a, %b", "b32", bits, _lanes(lambda a, b: a + b, "u16")
    low = lambda a: (a & 0xFFFFFF ^ 0x800000) - 0x800000  # noqa: E731
    product = wrapped(lambda a, b, c: clamped((low(a) * low(b) >> 16) + c, "s32"))
    yield "mad24.hi.sat.s32 %d, %a, %b, %c", "s32", ("s32",) * 3, product
    for kind, half in _HALF.items():
        yield f"set.ltu.{kind}x2.{kind}x2 %d, %a, %b", "b32", bits, _compared(kind, half)
        yield f"set.ltu.u32.{kind}x2 %d, %a, %b", "b32", bits, _compared(kind, 0xFFFF)
    yield "set.lt.bf16.bf16 %d, %a, %b", "bf16", ("bf16", "bf16"), lambda a, b: (a < b).astype(BF16)
    yield "cvt.rn.satfinite.f16.f32 %d, %a", "f16", ("f32",), lambda a: _finite(a * 1, "f16", 65504)
    yield "cvt.rn.sat.f32.s32 %d, %a", "f32", ("s32",), lambda a: np.clip(a, 0, 1).astype(np.float32)
    # Conversions flush float32 alone: subnormals of float16 stay.
    yield "cvt.ftz.f32.f16 %d, %a", "f32", ("f16",), lambda a: a.astype(np.float32)
    small = "mul.f32 %a, %a, 0f37800000; cvt.rn.ftz.f16.f32 %d, %a"  # 2 to the -16th
    yield small, "f16", ("f32",), lambda a: flushed(a * np.float32(2**-16)).astype(np.float16)
    signed = "slct.ftz.f32.f32 %d, %a, %b, %c"
    yield signed, "f32", ("f32",) * 3, lambda a, b, c: np.where(flushed(c) >= 0, a, b)
    for text, value in (("1.5", 1.5), ("-1.25e-2", -0.0125), ("1e2", 100), ("-0f3F800000", -1)):
        yield f"add.f32 %d, %a, {text}", "f32", ("f32",), lambda a, value=value: a + np.float32(value)
    for text, value in (("017", 15), ("0b101", 5), ("-1U", -1), ("WARP_SZ", 32)):
        yield f"add.s32 %d, %a, {text}", "s32", ("s32",), wrapped(lambda a, value=value: a + value)
    yield "{; .reg.b32 x; mov.b32 x, %a; mov.b32 %d, x; }", "b32", ("b32",), lambda a: a
