"""The summary in Markdown: short whatever the run, and text is text."""

import re

import pytest
import samples
from ep_conformance.judge.outcome import Status
from ep_conformance.report.markdown import markdown_text

EVERY = markdown_text(samples.every_kind())


def outside_code(text):
    """Return Markdown less its code spans, whose fences may be of any length."""
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)


def test_it_begins_with_the_sentence():
    assert EVERY.startswith("## ❌ FAIL (")
    good = samples.report(samples.verdict("runtime/a/b", Status.PASS))
    assert markdown_text(good).startswith("## ✅ PASS: toy 1.2 on toy:0")


def test_counts_are_in_a_table():
    heads, _, numbers = EVERY.splitlines()[2:5]
    found = dict(zip(heads.strip("| ").split(" | "), numbers.strip("| ").split(" | "), strict=True))
    assert found["pass"] == "4"
    assert found["waived"] == found["notice"] == found["crash"] == "1"
    assert found["fail"] == "2", "the waived one is not among them"


def test_failures_waivers_notices_extremes_and_environment_are_there():
    for words in (
        "### 8 cases fail, 2 cases without a verdict",
        "**crash** reduce/sum, 1 case",
        "### Waived",
        "2027-03-01",
        "<https://tracker.example/17>",
        "### Notices: 1 case accepted without a claim, or new and failing",
        "`copy/-/int16/strided`",
        "| `primitives/reduce/sum/float32/dense/half` | 0.5 | `x[3]=0.5` |",
        "| `runtime/event/order` | 0.250 s |",
        "exit code 1",
        "numpy 2.1",
        "76 s with 2 workers",
    ):
        assert words in EVERY, words


def test_every_table_has_one_width():
    blocks = re.findall(r"(?:^\|.*\n)+", EVERY, re.MULTILINE)
    assert len(blocks) >= 4
    for block in blocks:
        rows = [re.sub(r"\\\|", "", line).count("|") for line in block.splitlines()]
        assert len(set(rows)) == 1, block


def test_text_of_vendors_means_nothing():
    plain = outside_code(EVERY)
    assert "<script" not in plain
    assert "<img" not in plain
    assert "@all" not in plain
    assert "@numerics" not in plain
    assert re.findall(r"<(?!/?(?:details|summary|sub|br)>|https://tracker\.example/17>)", plain) == []


@pytest.mark.parametrize(
    "words", ["`", "``a`b``", "a|b", "<b>", "@you", "#12", "\x00", " ", "*x*", "[a](javascript:b)", "a\nb"]
)
def test_provider_of_any_name_is_a_line(words):
    report = samples.report(samples.verdict("runtime/a/b", Status.FAIL, words))
    lines = markdown_text(report).splitlines()
    (line,) = [line for line in lines if line.startswith("- ")]
    assert "runtime/a/b" in line
    assert "<b>" not in outside_code(line)


def test_it_is_short_whatever_the_run():
    long = "x" * 2000
    ops = [f"primitives/family_{at % 40}/op_{at % 977}/float32/dense/{'name' * 40}-{at}" for at in range(5000)]
    report = samples.report(
        *(samples.verdict(op, [*Status][at % 8], long, at=long, margin=2.0, seconds=1.0) for at, op in enumerate(ops))
    )
    text = markdown_text(report)
    assert len(text) <= 60_000
    assert "<sub>exit code 1" in text


def test_failing_cases_of_one_op_are_one_thing():
    verdicts = [samples.verdict(f"case-{at}", Status.FAIL, "wrong") for at in range(500)]
    text = markdown_text(samples.report(*verdicts))
    assert "**fail** reduce/sum, 500 cases" in text
    assert "and 497 more" in text
    assert len(text) < 2000
