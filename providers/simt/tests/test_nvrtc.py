"""Checks that PoCL cannot make: every body compiles for CUDA, and its PTX keeps numbers in their memories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ep_simt.dialect import text

_DEFINES = "#define EP_HAS_F64 {f64}\n#define EP_WIDE 0\n#define EP_STRIDED 0\n"


def test_program_compiles_with_all_its_entries_and_only_the_memory_it_names(nvrtc, prelude, program):
    ptx = nvrtc.ptx(program.source(prelude))
    assert sorted(re.findall(r"\.entry (\w+)", ptx)) == sorted(entry.name for entry in program.entries)
    assert ".local" not in ptx, "an array went to thread-local memory"
    assert (".shared" in ptx) == ("EP_GROUP" in dict(program.words)), (
        "shared memory is for groups, and theirs is shared"
    )
    if not dict(program.words)["EP_HAS_F64"]:
        assert ".f64" not in ptx, "a double slipped into a program without doubles"


def test_f64_search_finds_doubles(nvrtc, prelude):
    source = _DEFINES.format(f64=1) + prelude + text("dialect/dialect.h")
    source += "EP_KERNEL planted(EP_GLOBAL ep_f32 *x) { x[0] = (ep_f32)(x[0] * 0.1); }"
    assert ".f64" in nvrtc.ptx(source)


def test_local_search_finds_arrays_of_a_work_item(nvrtc, prelude):
    source = _DEFINES.format(f64=0) + prelude + text("dialect/dialect.h")
    source += "EP_KERNEL planted(EP_GLOBAL int *x) { int a[64]; for (int i = 0; i < 64; ++i) a[i] = x[i * 3];"
    source += " x[0] = a[x[1] & 63] + a[x[2] & 63]; }"
    assert ".local" in nvrtc.ptx(source)


@pytest.fixture(scope="module")
def words(nvrtc, prelude):
    """Return the PTX of each kernel of words.inc, by name."""
    source = _DEFINES.format(f64=0) + prelude + text("dialect/dialect.h")
    ptx = nvrtc.ptx(source + Path(__file__).with_name("words.inc").read_text(encoding="utf-8"))
    parts = re.split(r"(?=\.visible \.entry )", ptx)
    return {re.match(r"\.visible \.entry (\w+)", part)[1]: part for part in parts[1:]}


def test_shared_array_is_shared_and_nothing_else_is(words):
    assert {name for name, body in words.items() if ".shared" in body} == {"word_shared"}
    assert "bar.sync" in words["word_shared"] or "barrier.sync" in words["word_shared"]


def test_words_use_no_local_memory_and_no_doubles(words):
    assert words
    for name, body in words.items():
        assert ".local" not in body, name
        assert ".f64" not in body, name


def test_products_and_sums_are_not_contracted(words):
    assert "fma" not in words["word_rounding"]
