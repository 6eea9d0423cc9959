"""Instructions with what NumPy says of them: a row each, of the PTX, the types of result and operands, and a function."""

from __future__ import annotations

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"b{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype("float16"),
    "bf16": BF16,
    "f32": np.dtype("float32"),
    "f64": np.dtype("float64"),
}
REGISTERS = {"s8": "b16", "u8": "b16", "b8": "b16", "f16": "b16", "bf16": "b16"}
COUNT = 256


def values(kind, number):
    """Return operands of a type: random ones, small ones, and all that is special."""
    rng = np.random.default_rng(number)
    dtype = TYPES[kind]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        special = [info.min, info.max, 0, 1, info.max // 2, info.max // 3, 7, info.min + 1]
        whole = rng.integers(info.min, info.max, COUNT, dtype, endpoint=True)
        whole[::3] = rng.integers(0, 40, len(whole[::3])).astype(dtype)
        whole[number::17][: len(special)] = np.array(special, dtype)[: len(whole[number::17])]
        return whole
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -2.5, 1e-40, 3e38, 6e-8, 65504.0]
    whole = rng.standard_normal(COUNT) * 10.0 ** rng.integers(-3, 4, COUNT)
    whole[number::11][: len(special)] = special[: len(whole[number::11])]
    with np.errstate(all="ignore"):
        return whole.astype(dtype)


def program(body, to, *of):
    """Return the text of an entry that computes %d from %a, %b and %c, one element a thread."""
    names = "abc"[: len(of)]
    parameters = ", ".join(f".param .u64 p{name}" for name in ("d", *names))
    lines = [f".reg .{REGISTERS.get(kind, kind)} %{name};" for name, kind in zip(("d", *names), (to, *of), strict=True)]
    lines += [".reg .b64 %at<9>; .reg .b64 %wide; .reg .b32 %t<9>; .reg .pred %p, %q; .reg .b16 %h<4>;"]
    lines += ["mov.u32 %t8, %tid.x;"]
    for name, kind in zip(names, of, strict=True):
        size = TYPES[kind].itemsize
        lines += [f"ld.param.u64 %at1, [p{name}];", f"mul.wide.u32 %wide, %t8, {size};", "add.s64 %at2, %at1, %wide;"]
        lines += [f"ld.global.{'b16' if kind in {'f16', 'bf16'} else kind} %{name}, [%at2];"]
    lines += [f"{line};" for line in body.split(";") if line.strip()]
    size = TYPES[to].itemsize
    lines += ["ld.param.u64 %at1, [pd];", f"mul.wide.u32 %wide, %t8, {size};", "add.s64 %at2, %at1, %wide;"]
    lines += [f"st.global.{'b16' if to in {'f16', 'bf16'} else to} [%at2], %d;", "ret;"]
    text = "\n    ".join(lines)
    return f".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry entry({parameters})\n{{\n    {text}\n}}\n"
