"""Each instruction against NumPy, on random and special operands; floats bit for bit, but for which NaN it is."""

from __future__ import annotations

import numpy as np
import pytest
from ep_cuda_emulator.layout import Layout
from ep_cuda_emulator.lowering import entry
from ep_cuda_emulator.lowering.rules import RULES
from ep_cuda_emulator.ptx.module import Module
from ep_cuda_emulator.ptx.words import PtxError
from instruction_rows import ROWS
from ptx_rows import COUNT, TYPES, program, values

WITH_PREDICATE = "setp.lt.u32 %p, %a, %b; "


def _program(text, result, of):
    body = f"{WITH_PREDICATE if text.startswith('selp') else ''}{text}"
    operands = [values(kind, number) for number, kind in enumerate(of)]
    return program(body, result, *of), COUNT, operands, TYPES[result], (COUNT,)


PROGRAMS = {text: _program(text, result, of) for text, (result, of, _) in ROWS.items()}


@pytest.mark.parametrize("text", ROWS)
def test_instruction_is_what_numpy_says(computed, text):
    result, of, function = ROWS[text]
    with np.errstate(all="ignore"):
        wanted = np.asarray(function(*(values(kind, number) for number, kind in enumerate(of))))
    given = computed[text]
    assert wanted.dtype == given.dtype
    bits = f"uint{given.dtype.itemsize * 8}"
    same = given.view(bits) == wanted.view(bits)
    if result in {"f16", "bf16", "f32", "f64"}:
        same |= np.isnan(given.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
    (wrong,) = np.nonzero(~same)
    operands = [values(kind, number)[wrong[:4]] for number, kind in enumerate(of)]
    assert not len(wrong), (operands, given[wrong[:4]], wanted[wrong[:4]])


@pytest.mark.parametrize(
    "text",
    [
        "cvt.pack.sat.u16.s32 %d, %a, %b",
        "fma.rn.oob.f16 %d, %a, %b, %c",
        "max.abs.f32 %d, %a, %b",
        "sub.s8x4 %d, %a, %b",
        "st.async.b32 [%at2], %a, [%at1]",
    ],
)
def test_modifiers_that_no_rule_knows_are_refused(text):
    module = Module(program(text, "b32", "b32", "b32", "b32"))
    with pytest.raises(PtxError, match=r"is not emulated with \.") as refused:
        entry.lower(module, "entry", Layout(*range(8)))
    assert not refused.value.is_supported


ELSEWHERE = {
    *("activemask", "atom", "red", "bar", "barrier", "fence", "membar", "match", "nanosleep", "redux", "shfl", "vote"),
    *("cp", "cvta", "isspacep", "ld", "ldu", "st", "trap", "brkpt"),
    *("cos", "ex2", "lg2", "rsqrt", "sin", "tanh"),
    *("applypriority", "createpolicy", "discard", "griddepcontrol", "pmevent", "prefetch", "prefetchu"),
}
"""Opcodes of threads, memory and approximations, which have tests of their own, and hints, which do nothing."""


def test_every_opcode_has_a_row():
    opcodes = {line.split(".")[0].strip() for text in ROWS for line in text.split(";")}
    assert set(RULES) - opcodes - ELSEWHERE == set()
