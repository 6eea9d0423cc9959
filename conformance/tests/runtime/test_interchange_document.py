"""docs/interchange.md names what holds each row of its table."""

import re
from pathlib import Path

from ep_conformance.runtime import runtime_cases

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "interchange.md").read_text()


def test_every_row_of_the_stream_table_names_a_case_or_a_test_that_exists():
    rows = [row for row in TEXT.splitlines() if re.match(r"\| (any|CPU|OpenCL|CUDA|ROCm) \|.*\|.*\|.*\|", row)]
    last = [row.rstrip(" |").rpartition("|")[2].strip() for row in rows]
    assert len(rows) == 15
    tests = (ROOT / "ep" / "tests" / "exchange" / "test_export.py").read_text()
    for words in last:
        kind, _, name = words.partition(" `")
        name = name.rstrip("`")
        if kind == "case":
            assert f"runtime/export/{name}" in runtime_cases()
        elif kind == "test":
            assert f"def {name}(" in tests
        else:
            assert words == "the same"


def test_every_case_of_interchange_can_be_told_from_its_claim():
    areas = ("runtime/interchange/", "runtime/export/")
    claims = [case.claim for name, case in runtime_cases().items() if name.startswith(areas)]
    assert len(claims) == len(set(claims)) >= 16
