"""What instructions mean, as functions of exact integers and of NumPy's arrays."""

from __future__ import annotations

import math

import numpy as np
from ptx_rows import TYPES


def wrapped(function):
    """Return exact integers as the type of the first operand."""

    def compute(*arrays):
        exact = [function(*map(int, each)) for each in zip(*arrays, strict=True)]
        bits = arrays[0].dtype.itemsize * 8
        return np.array([value & (1 << bits) - 1 for value in exact], f"uint{bits}").view(arrays[0].dtype)

    return compute


def to(kind, function):
    """Return exact integers as a type."""
    bits = TYPES[kind].itemsize * 8

    def compute(*arrays):
        exact = [function(*map(int, each)) for each in zip(*arrays, strict=True)]
        return np.array([value & (1 << bits) - 1 for value in exact], f"uint{bits}").view(TYPES[kind])

    return compute


def clamped(value, kind):
    info = np.iinfo(TYPES[kind])
    return min(max(value, int(info.min)), int(info.max))


def quotient(a, b):
    return -1 if b == 0 else math.trunc(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return a if b == 0 else (abs(a) % abs(b)) * (-1 if a < 0 else 1)


def shifted(a, count, bits, *, left):
    if left:
        return 0 if count >= bits else a << count
    return a >> min(count, bits) if a < 0 else 0 if count >= bits else a >> count


def found(a, bits):
    a = ~a if a < 0 else a
    return a.bit_length() - 1 if a else -1


def extracted(a, place, length, *, bits, signed):
    place, length = place & 255, length & 255
    if not length:
        return 0
    a &= (1 << bits) - 1
    sign = a >> min(place + length - 1, bits - 1) & 1 if signed else 0
    return sum((a >> place + bit & 1 if bit < length and place + bit < bits else sign) << bit for bit in range(bits))


def inserted(field, word, place, length, *, bits):
    for bit in range(length & 255):
        if (place & 255) + bit < bits:
            one = 1 << (place & 255) + bit
            word = word | one if field >> bit & 1 else word & ~one
    return word


def table_logic(table):
    return lambda a, b, c: sum(
        (table >> ((a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)) & 1) << bit for bit in range(32)
    )


def bytes_of(a, b, chosen):
    both = [*a.to_bytes(4, "little"), *b.to_bytes(4, "little")]
    result = []
    for place in range(4):
        pick = chosen >> 4 * place & 15
        byte = both[pick & 7]
        result.append((255 if byte & 128 else 0) if pick & 8 else byte)
    return int.from_bytes(bytes(result), "little")


def wide(function, dtype=np.float64):
    """Compute wider than the type, and round once."""
    return lambda *arrays: function(*(each.astype(dtype) for each in arrays)).astype(arrays[0].dtype)


def flushed(array):
    return np.where(np.abs(array) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), array), array)


def saturated(array):
    return np.where(np.isnan(array), 0, np.clip(array, 0, 1)).astype(array.dtype)


def least(a, b):
    chosen = np.where((a == b) & np.signbit(a), a, np.where(a == b, b, np.minimum(a, b)))
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen)).astype(a.dtype)


def most(a, b):
    return -least(-a, -b)


def to_integer(kind, function):
    def compute(array):
        info, bits = np.iinfo(TYPES[kind]), TYPES[kind].itemsize * 8
        of_nan = 1 << bits - 1 if bits == 64 or (array.dtype == np.float64 and bits == 32) else 0
        result = []
        for value in array.astype(np.float64):
            if math.isnan(value):
                result.append(of_nan)
            elif math.isinf(value):
                result.append(int(info.max if value > 0 else info.min))
            else:
                result.append(clamped(int(function(value)), kind))
        return np.array([value & (1 << bits) - 1 for value in result], f"uint{bits}").view(TYPES[kind])

    return compute


def to_even(value):
    return float(np.rint(value))
