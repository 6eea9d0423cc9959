"""Instructions of integers, bits, comparisons, floats and conversions: a row each, with what NumPy says of it."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np
from modifier_rows import modifier_rows
from ptx_references import (
    bytes_of,
    clamped,
    extracted,
    flushed,
    found,
    inserted,
    least,
    most,
    quotient,
    remainder,
    saturated,
    shifted,
    table_logic,
    to,
    to_even,
    to_integer,
    wide,
    wrapped,
)
from ptx_rows import BF16, COUNT, TYPES

INTEGERS = ("s16", "u16", "s32", "u32", "s64", "u64")
WIDE = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}


def integer_rows():
    for kind in INTEGERS:
        bits, signed = TYPES[kind].itemsize * 8, kind[0] == "s"
        two, three = (kind, kind), (kind, kind, kind)
        yield f"add.{kind} %d, %a, %b", kind, two, wrapped(lambda a, b: a + b)
        yield f"sub.{kind} %d, %a, %b", kind, two, wrapped(lambda a, b: a - b)
        yield f"mul.lo.{kind} %d, %a, %b", kind, two, wrapped(lambda a, b: a * b)
        yield f"mul.hi.{kind} %d, %a, %b", kind, two, wrapped(lambda a, b, bits=bits: a * b >> bits)
        yield f"mad.lo.{kind} %d, %a, %b, %c", kind, three, wrapped(lambda a, b, c: a * b + c)
        yield f"mad.hi.{kind} %d, %a, %b, %c", kind, three, wrapped(lambda a, b, c, bits=bits: (a * b >> bits) + c)
        yield f"div.{kind} %d, %a, %b", kind, two, wrapped(quotient)
        yield f"rem.{kind} %d, %a, %b", kind, two, wrapped(remainder)
        yield f"min.{kind} %d, %a, %b", kind, two, wrapped(min)
        yield f"max.{kind} %d, %a, %b", kind, two, wrapped(max)
        yield f"sad.{kind} %d, %a, %b, %c", kind, three, wrapped(lambda a, b, c: c + abs(a - b))
        yield f"shr.{kind} %d, %a, %t8", kind, (kind,), counted(lambda a, n, bits=bits: shifted(a, n, bits, left=False))
        if signed:
            yield f"abs.{kind} %d, %a", kind, (kind,), wrapped(abs)
            yield f"neg.{kind} %d, %a", kind, (kind,), wrapped(lambda a: -a)
        if kind in WIDE:
            more = WIDE[kind]
            yield f"mul.wide.{kind} %d, %a, %b", more, two, to(more, lambda a, b: a * b)
            yield f"mad.wide.{kind} %d, %a, %b, %c", more, (kind, kind, more), to(more, lambda a, b, c: a * b + c)
    for verb, function in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
        exact = wrapped(lambda a, b, function=function: clamped(function(a, b), "s32"))
        yield f"{verb}.sat.s32 %d, %a, %b", "s32", ("s32", "s32"), exact
    yield (
        "mad.hi.sat.s32 %d, %a, %b, %c",
        "s32",
        ("s32",) * 3,
        wrapped(lambda a, b, c: clamped((a * b >> 32) + c, "s32")),
    )
    low = lambda a: a & 0xFFFFFF  # noqa: E731
    yield "mul24.lo.u32 %d, %a, %b", "u32", ("u32", "u32"), wrapped(lambda a, b: low(a) * low(b))
    yield "mul24.hi.u32 %d, %a, %b", "u32", ("u32", "u32"), wrapped(lambda a, b: low(a) * low(b) >> 16)
    yield "mad24.lo.u32 %d, %a, %b, %c", "u32", ("u32",) * 3, wrapped(lambda a, b, c: low(a) * low(b) + c)
    fours = lambda a: [a >> 8 * n & 255 for n in range(4)]  # noqa: E731
    dot = wrapped(lambda a, b, c: c + sum(x * y for x, y in zip(fours(a), fours(b), strict=True)))
    yield "dp4a.u32.u32 %d, %a, %b, %c", "u32", ("u32",) * 3, dot
    twos = lambda a: [a & 0xFFFF, a >> 16]  # noqa: E731
    half = wrapped(lambda a, b, c: c + sum(x * y for x, y in zip(twos(a), fours(b)[2:], strict=True)))
    yield "dp2a.hi.u32.u32 %d, %a, %b, %c", "u32", ("u32",) * 3, half
    # 128-bit sums and differences by the carry, of which the upper word is asked for.
    upper = ("u64", "u64")
    yield "add.cc.u64 %wide, %a, %b; addc.u64 %d, 0, 0", "u64", upper, wrapped(lambda a, b: a + b >> 64)
    yield "sub.cc.u64 %wide, %a, %b; subc.u64 %d, 5, 2", "u64", upper, wrapped(lambda a, b: 3 - (a < b))
    yield (
        "mad.lo.cc.u64 %wide, %a, %b, %a; madc.hi.u64 %d, %a, %b, 0",
        "u64",
        upper,
        wrapped(lambda a, b: a * b + a >> 64),
    )


def counted(function):
    """Give a function the thread's number as its last argument."""
    return lambda *arrays: wrapped(function)(*arrays, np.arange(COUNT))


def bit_rows():
    for kind in ("b16", "b32", "b64"):
        bits = TYPES[kind].itemsize * 8
        for verb, function in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
            yield f"{verb}.{kind} %d, %a, %b", kind, (kind, kind), wrapped(function)
        yield f"not.{kind} %d, %a", kind, (kind,), wrapped(lambda a: ~a)
        yield f"cnot.{kind} %d, %a", kind, (kind,), wrapped(lambda a: int(a == 0))
        yield f"shl.{kind} %d, %a, %t8", kind, (kind,), counted(lambda a, n, bits=bits: shifted(a, n, bits, left=True))
    for kind in ("b32", "b64"):
        bits = TYPES[kind].itemsize * 8
        yield f"popc.{kind} %d, %a", "u32", (kind,), to("u32", int.bit_count)
        yield f"clz.{kind} %d, %a", "u32", (kind,), to("u32", lambda a, bits=bits: bits - a.bit_length())
        reverse = wrapped(lambda a, bits=bits: int(f"{a:0{bits}b}"[::-1], 2))
        yield f"brev.{kind} %d, %a", kind, (kind,), reverse
        insert = wrapped(lambda a, b, n, bits=bits: inserted(a, b, n, 7, bits=bits))
        yield (
            f"bfi.{kind} %d, %a, %b, %t8, 7",
            kind,
            (kind, kind),
            lambda a, b, insert=insert: insert(a, b, np.arange(COUNT)),
        )
    for kind in ("s32", "u32", "s64", "u64"):
        bits, signed = TYPES[kind].itemsize * 8, kind[0] == "s"
        yield f"bfind.{kind} %d, %a", "u32", (kind,), to("u32", lambda a, bits=bits: found(a, bits))
        extract = lambda a, n, bits=bits, signed=signed: extracted(a, n, 9, bits=bits, signed=signed)  # noqa: E731
        yield f"bfe.{kind} %d, %a, %t8, 9", kind, (kind,), counted(extract)
    yield "lop3.b32 %d, %a, %b, %c, 0xCA", "b32", ("b32",) * 3, wrapped(table_logic(0xCA))
    yield "lop3.b32 %d, %a, %b, %c, 0x69", "b32", ("b32",) * 3, wrapped(table_logic(0x69))
    funnel = lambda a, b, n: (b << 32 | a) << (n & 31) >> 32  # noqa: E731
    yield "shf.l.wrap.b32 %d, %a, %b, %t8", "b32", ("b32", "b32"), counted(funnel)
    yield "shf.r.clamp.b32 %d, %a, %b, %t8", "b32", ("b32", "b32"), counted(lambda a, b, n: (b << 32 | a) >> min(n, 32))
    yield "prmt.b32 %d, %a, %b, %c", "b32", ("b32",) * 3, wrapped(bytes_of)
    yield "prmt.b32.rc8 %d, %a, %b, %c", "b32", ("b32",) * 3, wrapped(lambda a, b, c: bytes_of(a, b, (c & 3) * 0x1111))
    mask = wrapped(lambda a, n: 0 if n >= 32 else (1 << min(a, 32)) - 1 << n)
    yield "bmsk.clamp.b32 %d, %t8, %a", "b32", ("b32",), lambda a: mask(a, np.arange(COUNT))
    yield (
        "szext.clamp.s32 %d, %a, %t8",
        "s32",
        ("s32",),
        counted(lambda a, n: extracted(a, 0, min(n, 32), bits=32, signed=True)),
    )
    nth = wrapped(
        lambda a: next((n for n in range(3, 32) if a >> n & 1 and (a >> 3 & (2 << n - 3) - 1).bit_count() == 2), -1)
    )
    yield "fns.b32 %d, %a, 3, 2", "b32", ("b32",), nth
    yield "selp.b32 %d, %a, %b, %p", "b32", ("b32", "b32"), lambda a, b: np.where(a < b, a, b)
    yield "slct.b32.s32 %d, %a, %b, %c", "b32", ("b32", "b32", "s32"), lambda a, b, c: np.where(c >= 0, a, b)
    yield "mov.b32 {%h1, %h2}, %a; mov.b32 %d, {%h2, %h1}", "b32", ("b32",), wrapped(lambda a: a << 16 | a >> 16)


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def comparison_rows():
    chosen = "; selp.u32 %d, 1, 0, %p"
    for kind in ("s16", "u32", "s64", "f32", "f64"):
        for verb, sign in COMPARISONS.items():
            compare = eval(f"lambda a, b: ((a {sign} b) & (a == a) & (b == b)).astype(np.uint32)")
            yield f"setp.{verb}.{kind} %p, %a, %b{chosen}", "u32", (kind, kind), compare
            if kind[0] == "f":
                loose = eval(f"lambda a, b: ((a {sign} b) | (a != a) | (b != b)).astype(np.uint32)")
                yield f"setp.{verb}u.{kind} %p, %a, %b{chosen}", "u32", (kind, kind), loose
    both = lambda a, b: (~(np.isnan(a) | np.isnan(b))).astype(np.uint32)  # noqa: E731
    yield f"setp.num.f32 %p, %a, %b{chosen}", "u32", ("f32", "f32"), both
    yield f"setp.nan.f32 %p, %a, %b{chosen}", "u32", ("f32", "f32"), lambda a, b: 1 - both(a, b)
    yield f"setp.hi.u32 %p, %a, %b{chosen}", "u32", ("u32", "u32"), lambda a, b: (a > b).astype(np.uint32)
    pair = "setp.lt.s32 %q, %a, 100; setp.gt.and.s32 %p|%q, %a, %b, %q; selp.u32 %t1, 2, 0, %q; selp.u32 %d, 1, %t1, %p"
    expect = lambda a, b: np.where((a > b) & (a < 100), 1, np.where(~(a > b) & (a < 100), 2, 0)).astype(np.uint32)  # noqa: E731
    yield pair, "u32", ("s32", "s32"), expect
    yield (
        "set.lt.u32.f32 %d, %a, %b",
        "u32",
        ("f32", "f32"),
        lambda a, b: np.where(a < b, 0xFFFFFFFF, 0).astype(np.uint32),
    )
    yield "set.gt.f32.s32 %d, %a, %b", "f32", ("s32", "s32"), lambda a, b: (a > b).astype(np.float32)
    tests = {"finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan}
    for name, test in tests.items():
        yield f"testp.{name}.f32 %p, %a{chosen}", "u32", ("f32",), lambda a, test=test: test(a).astype(np.uint32)


def float_rows():
    verbs = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
    for kind, ending in (("f32", ".rn"), ("f64", ".rn"), ("f16", ".rn"), ("bf16", ".rn")):
        for verb, function in verbs.items():
            exact = function if kind in {"f32", "f64"} else wide(function)
            yield f"{verb}{ending}.{kind} %d, %a, %b", kind, (kind, kind), exact
        yield f"abs.{kind} %d, %a", kind, (kind,), np.abs
        yield f"neg.{kind} %d, %a", kind, (kind,), np.negative
        yield f"min.{kind} %d, %a, %b", kind, (kind, kind), least
        yield f"max.{kind} %d, %a, %b", kind, (kind, kind), most
        yield (
            f"min.NaN.{kind} %d, %a, %b",
            kind,
            (kind, kind),
            lambda a, b: np.where(np.isnan(a) | np.isnan(b), a + b, least(a, b)),
        )
    for kind in ("f32", "f64"):
        yield f"div.rn.{kind} %d, %a, %b", kind, (kind, kind), np.divide
        yield f"rcp.rn.{kind} %d, %a", kind, (kind,), lambda a: (1 / a).astype(a.dtype)
        yield f"sqrt.rn.{kind} %d, %a", kind, (kind,), np.sqrt
        yield f"copysign.{kind} %d, %a, %b", kind, (kind, kind), lambda a, b: np.copysign(b, a)
    exact = lambda a, b, c: (a.astype(np.longdouble) * b + c).astype(np.float32)  # noqa: E731
    yield "fma.rn.f32 %d, %a, %b, %c", "f32", ("f32",) * 3, exact
    for kind in ("f16", "bf16"):
        yield f"fma.rn.{kind} %d, %a, %b, %c", kind, (kind,) * 3, fused_half
    yield "mul.ftz.f32 %d, %a, %b", "f32", ("f32", "f32"), lambda a, b: flushed(flushed(a) * flushed(b))
    yield "add.sat.f32 %d, %a, %b", "f32", ("f32", "f32"), lambda a, b: saturated(a + b)
    yield (
        "setp.eq.ftz.f32 %p, %a, 0f00000000; selp.f32 %d, 0f3F800000, 0f00000000, %p",
        "f32",
        ("f32",),
        lambda a: (flushed(a) == 0).astype(np.float32),
    )
    for way, limit in (("rz", 0), ("rm", -np.inf), ("rp", np.inf)):
        for kind in ("f32", "f64"):
            for verb in ("add", "sub", "mul", "div"):
                yield f"{verb}.{way}.{kind} %d, %a, %b", kind, (kind, kind), directed(verb, limit)
            yield f"fma.{way}.{kind} %d, %a, %b, %c", kind, (kind,) * 3, directed("fma", limit)
            yield f"sqrt.{way}.{kind} %d, %a", kind, (kind,), directed_root(limit)
    pairs = "mov.b32 %t1, {%a, %b}; mov.b32 %t2, {%b, %a}; add.f16x2 %t3, %t1, %t2; mov.b32 {%h1, %d}, %t3"
    yield pairs, "f16", ("f16", "f16"), wide(np.add)


def fused_half(a, b, c):
    """Round a product and a sum once: in longdouble both are exact for these operands, or so nearly that no tie appears."""
    return (
        (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(np.float64).astype(a.dtype)
    )


EXACT = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "fma": lambda a, b, c: a * b + c,
}


def directed(verb, limit):
    """Round exact fractions towards a limit: below, above, or zero."""
    compute = EXACT[verb]

    def one(*operands):
        kind = type(operands[0])
        plain = compute(*operands)
        if not all(map(np.isfinite, operands)) or (verb == "div" and operands[-1] == 0):
            return plain
        exact = compute(*(Fraction(float(each)) for each in operands))
        if exact == 0:
            return kind(0) * (-1 if zero_is_negative(verb, operands, plain, limit) else 1)
        near = (
            kind(float(exact))
            if abs(exact) <= Fraction(float(np.finfo(kind).max))
            else kind(np.inf) * (1 if exact > 0 else -1)
        )
        if np.isfinite(near):
            back = Fraction(float(near))
            low = near if back <= exact else np.nextafter(near, kind(-np.inf))
            high = near if back >= exact else np.nextafter(near, kind(np.inf))
        else:
            largest = np.finfo(kind).max
            low, high = (largest, near) if exact > 0 else (near, -largest)
        return low if limit < 0 or (limit == 0 and exact > 0) else high

    return lambda *arrays: np.array([one(*each) for each in zip(*arrays, strict=True)], arrays[0].dtype)


def directed_root(limit):
    """Round a root by its square."""

    def one(a):
        near = np.sqrt(a)
        if not np.isfinite(near):
            return near
        square, exact = Fraction(float(near)) ** 2, Fraction(float(a))
        if limit > 0:
            return near if square >= exact else np.nextafter(near, near * 2)
        return near if square <= exact else np.nextafter(near, near * 0)

    return lambda a: np.array([one(each) for each in a], a.dtype)


def zero_is_negative(verb, operands, plain, limit):
    """Say the sign of an exact zero: that of both terms of a sum if they agree, else the direction's."""
    if verb in {"mul", "div"}:
        return np.signbit(plain)
    signs = [bool(np.signbit(each)) for each in operands]
    first, second = (signs[0] != signs[1], signs[2]) if verb == "fma" else (signs[0], signs[1] != (verb == "sub"))
    return first if first == second else limit < 0


def conversion_rows():
    for kind in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
        for other in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
            if kind != other:
                yield f"cvt.{kind}.{other} %d, %a", kind, (other,), to(kind, lambda a: a)
        for real in ("f32", "f64", "f16", "bf16"):
            exact = to_real(real)
            yield f"cvt.rn.{real}.{kind} %d, %a", real, (kind,), exact
        if kind not in {"s8", "u8"}:
            for real in ("f32", "f64", "f16"):
                yield f"cvt.rzi.{kind}.{real} %d, %a", kind, (real,), to_integer(kind, math.trunc)
    for way, function in (("rni", to_even), ("rmi", math.floor), ("rpi", math.ceil)):
        yield f"cvt.{way}.s32.f32 %d, %a", "s32", ("f32",), to_integer("s32", function)
        name = {"rni": np.rint, "rmi": np.floor, "rpi": np.ceil}[way]
        yield f"cvt.{way}.f32.f32 %d, %a", "f32", ("f32",), name
    yield "cvt.sat.u8.s32 %d, %a", "u8", ("s32",), to("u8", lambda a: clamped(a, "u8"))
    yield "cvt.sat.s16.s64 %d, %a", "s16", ("s64",), to("s16", lambda a: clamped(a, "s16"))
    for narrow, broad in (("f32", "f64"), ("f16", "f32"), ("f16", "f64"), ("bf16", "f32")):
        yield f"cvt.rn.{narrow}.{broad} %d, %a", narrow, (broad,), lambda a, narrow=narrow: a.astype(TYPES[narrow])
        yield f"cvt.{broad}.{narrow} %d, %a", broad, (narrow,), lambda a, broad=broad: a.astype(TYPES[broad])
    toward = lambda a: truncated(a, np.float32)  # noqa: E731
    yield "cvt.rz.f32.f64 %d, %a", "f32", ("f64",), toward
    yield "cvt.rz.f16.f32 %d, %a", "f16", ("f32",), lambda a: truncated(a, np.float16)
    yield (
        "cvt.rz.bf16.f32 %d, %a",
        "bf16",
        ("f32",),
        lambda a: np.where(np.isnan(a), np.nan, (a.view(np.uint32) & 0xFFFF0000).view(np.float32)).astype(BF16),
    )
    packed = "cvt.rn.f16x2.f32 %t1, %a, %b; mov.b32 {%h1, %d}, %t1"
    yield packed, "f16", ("f32", "f32"), lambda a, b: a.astype(np.float16)


def truncated(array, dtype):
    near = array.astype(dtype)
    back = near.astype(array.dtype)
    moved = np.where(np.abs(back) > np.abs(array), np.nextafter(near, dtype(0)), near)
    return np.where(np.isinf(near) & np.isfinite(array), np.copysign(np.finfo(dtype).max, array), moved).astype(dtype)


def to_real(kind):
    def compute(array):
        if kind in {"f32", "f64"}:
            return array.astype(TYPES[kind])
        exact = array.astype(np.longdouble)
        # By way of a float that has the sticky bits: odd rounding to float32, then once more.
        near = exact.astype(np.float32)
        odd = near.view(np.uint32) & 1
        wrong = (near.astype(np.longdouble) != exact) & (odd == 0)
        goes = np.where(exact > near, np.inf, -np.inf).astype(np.float32)
        return np.where(wrong, np.nextafter(near, goes), near).astype(TYPES[kind])

    return compute


ROWS = {}
for rows in (integer_rows, bit_rows, comparison_rows, float_rows, conversion_rows, modifier_rows):
    ROWS.update({text: (result, of, function) for text, result, of, function in rows()})
