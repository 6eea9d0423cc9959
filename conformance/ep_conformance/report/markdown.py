"""The report of a run as Markdown: short enough for a comment on a pull request, whatever the run."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from ep_conformance.judge.outcome import Status
from ep_conformance.plan.place import Place
from ep_conformance.report.columns import counts
from ep_conformance.report.groups import grouped
from ep_conformance.report.report import Report, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ep_conformance.run.verdict import Verdict

__all__ = ["markdown_text", "write_markdown"]

_LONGEST: Final = 60_000
"""Characters: a comment on GitHub may have 65,536."""

_MOST: Final = {"groups": 25, "cases": 3, "waived": 30, "notices": 15, "bits": 30, "nearest": 10, "slowest": 5}
_SHORTENED: Final = "\n(shortened: the JSON report and its HTML page have all)"
_REASON: Final = 280
_WORD: Final = 160
_SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>&|~])")
_CALLS: Final = re.compile(r"([@#])(?=\w)")
_PIPE: Final = r"\|"
_LINK: Final = re.compile(r"https?://[^\s<>|`\\]+")


def write_markdown(report: Report, path: Path) -> None:
    """Write the report as one Markdown file."""
    write_text(path, markdown_text(report))


def markdown_text(report: Report) -> str:
    """Return the report in Markdown, of at most 60,000 characters; a vendor's text is shown as plain text."""
    head, tail = _head(report), _tail(report)
    left = _LONGEST - len(head) - len(tail) - len(_SHORTENED) - 3
    blocks = []
    for block in itertools.chain(_failing(report), _bits(report), _waived(report), _notices(report), _extremes(report)):
        left -= len(block) + 1
        if left < 0:
            blocks.append(_SHORTENED)
            break
        blocks.append(block)
    return "\n".join([head, *blocks, tail]) + "\n"


def _head(report: Report) -> str:
    found = {word: number for word, number in counts(report.verdicts).items() if number}
    row = [f"{number:,}" for number in found.values()]
    title = f"## {'✅' if report.is_good else '❌'} {_text(report.sentence)}\n"
    return "\n".join([title, *_table([*found], [row], numbers=range(len(found)))]) if found else title


def _tail(report: Report) -> str:
    environment, device = report.environment, report.subject.device
    words = [
        f"exit code {report.exit_code}",
        f"suite {report.suite}",
        f"profile {report.profile}",
        f"seed {report.seed}",
    ]
    words += [f"only {_code(report.pattern)}"] if report.pattern is not None else []
    words += [f"one element type of {report.every}"] if report.every > 1 else []
    words += [_text(str(device[name])) for name in ("name", "model", "driver") if device.get(name)]
    words += [_text(f"{name} {environment[name]}") for name in ("ep", "numpy") if name in environment]
    words += [_text(environment[name]) for name in ("python", "platform") if name in environment]
    words += [f"{report.seconds:.0f} s with {report.jobs} worker{'' if report.jobs == 1 else 's'}", report.started]
    return f"\n<sub>{' · '.join(word for word in words if word)}</sub>"


def _failing(report: Report) -> Iterator[str]:
    groups = grouped(report.failures)
    missing = sum(verdict.status is Status.MISSING for verdict in report.failures)
    failing = len(report.failures) - missing
    words = [f"{_cases(failing)} fail{'s' if failing == 1 else ''}"] if failing else []
    words += [f"{_cases(missing)} without a verdict"] if missing else []
    if words:
        yield f"\n### {', '.join(words)}"
    for group in groups[: _MOST["groups"]]:
        yield f"\n**{group.status}** {_text(group.title)}, {_cases(len(group.verdicts))}\n"
        for verdict in group.verdicts[: _MOST["cases"]]:
            reason = verdict.outcome.reason or "no reason was given"
            yield f"- {_code(verdict.id)}<br>{_code(reason)}"
        more = len(group.verdicts) - _MOST["cases"]
        if more > 0:
            yield f"- and {more:,} more"
    if len(groups) > _MOST["groups"]:
        yield f"\nand {len(groups) - _MOST['groups']:,} more ops and areas"


def _bits(report: Report) -> Iterator[str]:
    bits = report.bits
    if bits is None:
        return
    yield f"\n### Bits of {_text(bits.other)}: {bits.equal:,} of {_cases(bits.compared)} equal\n"
    rows = [["different", _code(op), f"{number:,}"] for op, number in bits.different.items()]
    rows += [["not comparable", _code(why), f"{number:,}"] for why, number in bits.incomparable.items()]
    if rows:
        yield from _table(["", "op or reason", "cases"], rows[: _MOST["bits"]], numbers=[2])
        yield from _rest(len(rows), _MOST["bits"])


def _waived(report: Report) -> Iterator[str]:
    waivers = Counter(verdict.waiver for verdict in report.verdicts if verdict.waiver is not None)
    if waivers:
        yield "\n### Waived\n"
        rows = [
            [_code(w.cases), f"{number:,}", str(w.expires), _code(w.owner), _code(w.reason), _link(w.link)]
            for w, number in waivers.items()
        ]
        heads = ["cases", "number", "expires", "owner", "reason", "link"]
        yield from _table(heads, rows[: _MOST["waived"]], numbers=[1])
        yield from _rest(len(rows), _MOST["waived"])


def _notices(report: Report) -> Iterator[str]:
    if report.notices:
        cells: dict[str, list[Verdict]] = {}
        for verdict in report.notices:
            cells.setdefault(Place.of(verdict.id).cell, []).append(verdict)
        yield f"\n### Notices: {_cases(len(report.notices))} accepted without a claim, or new and failing\n"
        rows = [
            [_code(cell), f"{len(seen):,}", _code(seen[0].outcome.reason, _WORD)]
            for cell, seen in itertools.islice(cells.items(), _MOST["notices"])
        ]
        yield from _table(["cell", "cases", "the first"], rows, numbers=[1])
        yield from _rest(len(cells), _MOST["notices"])


def _extremes(report: Report) -> Iterator[str]:
    """Yield the cases that passed nearest to their bounds, one for each op, and the slowest cases."""
    nearest: dict[tuple[str, str], Verdict] = {}
    ranked = [verdict for verdict in report.verdicts if verdict.outcome.margin and verdict.status is Status.PASS]
    for verdict in sorted(ranked, key=lambda verdict: -(verdict.outcome.margin or 0.0)):
        place = Place.of(verdict.id)
        nearest.setdefault((place.family, place.op), verdict)
    if nearest:
        rows = [
            [_code(v.id), _figure(v.outcome.margin or 0.0), _code(v.outcome.at, _WORD) if v.outcome.at else ""]
            for v in itertools.islice(nearest.values(), _MOST["nearest"])
        ]
        yield _folded("Nearest to the bound", _table(["case", "margin", "operands"], rows, numbers=[1]))
    slowest = sorted(report.verdicts, key=lambda verdict: -verdict.outcome.seconds)[: _MOST["slowest"]]
    if slowest and slowest[0].outcome.seconds:
        rows = [[_code(v.id), f"{v.outcome.seconds:.3f} s"] for v in slowest]
        yield _folded("Slowest", _table(["case", "time"], rows, numbers=[1]))


def _figure(margin: float) -> str:
    """Return a margin in three digits; what is less than 1 never reads as 1."""
    return "> 0.999" if 0.9995 <= margin < 1 else f"{margin:.3g}"  # noqa: PLR2004 - from there on it is rounded to 1


def _folded(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"\n<details><summary>{title}</summary>\n", *lines, "\n</details>"])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int]) -> Iterator[str]:
    right = set(numbers)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---:' if at in right else '---' for at in range(len(heads)))}|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', _PIPE) for cell in row)} |"


def _rest(total: int, most: int) -> Iterator[str]:
    if total > most:
        yield f"\nand {total - most:,} more"


def _cases(number: int) -> str:
    return f"{number:,} case{'' if number == 1 else 's'}"


def _text(words: str) -> str:
    """Return words in which Markdown and HTML see text alone: no link, no mention, no tag."""
    return _CALLS.sub("\\1\u2060", _SIGNS.sub(r"\\\1", _short(words, _REASON)))


def _code(words: str, most: int = _REASON) -> str:
    """Return words as code, in which nothing has a meaning; the fence is longer than any in them."""
    short = _short(words, most) or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", short)), default=0) + 1)
    pad = " " if "`" in (short[0], short[-1]) else ""
    return f"{fence}{pad}{short}{pad}{fence}"


def _link(words: str) -> str:
    return f"<{words}>" if len(words) <= _REASON and _LINK.fullmatch(words) else _code(words)


def _short(words: str, most: int) -> str:
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())
    return line if len(line) <= most else f"{line[: most - 4]} ..."
