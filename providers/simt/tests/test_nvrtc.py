"""Checks that PoCL cannot make: every body compiles for CUDA's architectures, and its PTX keeps numbers in their memories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ep_simt.dialect import text
from ep_tools.compiled import check, record
from ep_tools.compiled.check import fault_of, searched
from ep_tools.compiled.programs import grouped, programs, stale

_DEFINES = "#define EP_HAS_F64 {f64}\n#define EP_WIDE 0\n#define EP_STRIDED 0\n"


@pytest.fixture(scope="module")
def groups(nvrtc):
    """Return all programs, by family and op."""
    return grouped(programs())


@pytest.fixture(scope="module")
def changed(groups):
    """Return the programs that are not recorded as they are."""
    return [program for name in stale(groups, record.read()) for program in groups[name]]


def spread(found, count):
    """Return so many of the programs, or all there are, as far from each other as they stand."""
    return [found[place * len(found) // count] for place in range(min(count, len(found)))] if found else []


def test_record_knows_no_family_or_op_that_is_gone(groups):
    assert not record.read().keys() - groups.keys(), "python tools cuda-programs"


def test_programs_that_changed_since_they_were_recorded_compile_for_every_architecture(changed):
    assert [fault for program in spread(changed, 12) if (fault := fault_of(program))] == []


def test_more_of_them_have_in_their_ptx_what_they_should(changed):
    assert [fault for program in spread(changed, 65) if (fault := fault_of(program, ()))] == []


@pytest.mark.thorough
def test_all_programs_that_changed_compile_for_every_architecture(changed):
    assert [fault for program in changed if (fault := fault_of(program))] == []


def test_some_programs_compile_as_recorded(groups):
    every = [program for group in groups.values() for program in group]
    assert [fault for program in spread(every, 12) if (fault := fault_of(program))] == []


def test_what_a_program_should_not_have_is_found(groups):
    (program, *_) = groups["softmax"]
    entries = "".join(f".visible .entry {entry.name}(" for entry in program.entries)
    good = f"{entries} .shared"
    assert searched(program, good) == []
    assert searched(program, good.replace("softmax_", "other_"))[0].startswith("its entries are ['other_")
    assert searched(program, f"{good} .local") == ["an array went to thread-local memory"]
    assert searched(program, entries) == ["shared memory is for groups, and theirs is shared"]
    assert searched(program, f"{good} .f64") == ["a double slipped into a program without doubles"]


def test_program_that_does_not_compile_is_a_fault(monkeypatch, groups):
    monkeypatch.setattr(check, "PRELUDE", "#error no words\n")
    (program, *_) = groups["softmax"]
    assert fault_of(program).startswith(f"{program.name}: NVRTC")


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
