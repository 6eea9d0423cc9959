"""docs/reports/accuracy.md against the rows: every floating row stands there, with the promise that it makes today."""

import re
from pathlib import Path

import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS
from ep_primitives.judging.accuracy import NARROW, Exact, Ulps

DOCUMENT = Path(__file__).parents[3] / "docs" / "reports" / "accuracy.md"


def lines():
    rows = [
        re.split(r"(?<!\\)\|", line.strip("|"))
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line[:2] == "| "
    ]
    header, *body = [[cell.strip() for cell in row] for row in rows]
    return [dict(zip(header, row, strict=True)) for row in body if row[0] != "op"]


@pytest.fixture(scope="module")
def document():
    return {line["op"]: line for line in lines()}


@pytest.mark.parametrize("row", [*UNARY_OPS.values(), *BINARY_OPS.values()], ids=lambda row: row.name)
def test_document_states_what_the_row_promises(document, row):
    floating = [dtype for dtype in row.dtypes if dtype.startswith(("float", "bfloat", "complex"))]
    if row.out == "bool" or not floating:
        assert row.name not in document
        return
    why = document[row.name]["why"].replace("\\", "")
    for dtype in floating:
        accuracy, text = row.accuracy_of(dtype), document[row.name][dtype]
        assert "?" not in text, "never measured"
        if isinstance(accuracy, Exact):
            assert text == "exact"
        elif isinstance(accuracy, Ulps):
            assert text.split(" / ")[1].split()[0] == f"{accuracy.n:g}"
        else:
            assert text.endswith(f" of {accuracy.k:g} eps S")
        assert accuracy == NARROW or accuracy.why.replace("*", "") in why.replace("*", "")
