"""Ask PyTorch about every op: `docs/second-opinion.md` says where it differs from EP and why.

    python tools/second_opinion.py [OP ...]     compare; exit 1 if a difference is not listed, or a listed one is gone
    python tools/second_opinion.py --document   write docs/second-opinion.md; needs no PyTorch
    python tools/second_opinion.py --check      say whether the document is current; exit 1 if not

The list is `ep_primitives/judging/disagreements.py`. Families are named beside ops: `second_opinion.py reduce`.
"""

from __future__ import annotations

import argparse
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.judging.disagreements import DISAGREEMENTS, listed
from ep_primitives.judging.family_disagreements import FAMILY_DISAGREEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ep_primitives.judging.disagreement import Disagreement

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "second-opinion.md"

_PREFACE: Final = """\
# PyTorch as a second opinion

EP's references are its own, so a mistake in one would be a mistake in everything that it judges. `make second-opinion`
therefore asks PyTorch, which shares no code with them, about every op of both tables and about casts between all pairs of
element types: on special values, on designed ones and on random ones of each row's domain, in float32, float64, complex64,
int32, uint8 and bool, gradients by PyTorch's automatic differentiation or its own backward functions. Of the families that
move, select and reduce it is asked the suite's own quick cases, in all types but the three wide unsigned ones and float8,
which it computes next to nothing in, and it is judged by the bounds that a provider is held to.

A NaN, an infinity or a zero's sign that only one of the two has is a disagreement, and so is a value that differs by more than
64 ulp (of |z|; for conditioned rows 64 eps S). In families any value outside the bound is one: "rounding" up to 64 times the
bound, else "value". There are these and no others; the command fails if one appears or disappears. What is not listed was
found to be the same: that a NaN wins in extremes, that the first of equals does, what rows of infinities give.

PyTorch runs with its portable kernels, which are the same on every machine. Its vectorised ones differ a little more: fmod
and remainder give NaN where the quotient overflows, and cosh and sinh overflow below their last finite value.

"NaN here" is a NaN that EP gives and PyTorch does not, "NaN there" the opposite. `*_dy_x` and `*_dy_y` are the
gradients `*_backward_with_dy_x` and `*_backward_with_dy_y`. `ep_primitives/judging/disagreements.py` and the folders of the families
are the source of this page.
"""


_HEAD: Final = "| what differs | ops | why |\n|---|---|---|"
_HEADS: Final = {"families": "| what differs | families | element types | why |\n|---|---|---|---|"}


def document() -> str:
    """Return the text of the page."""
    lines = [_PREFACE]
    sections: dict[str, list[Disagreement]] = {}
    for line in DISAGREEMENTS:
        section = "cast" if line.ops == ("cast",) else "families" if line in FAMILY_DISAGREEMENTS else line.kind
        sections.setdefault(section, []).append(line)
    for section, about in sections.items():
        lines += [f"## {section.capitalize()}\n", _HEADS.get(section, _HEAD)]
        for line in about:
            ops = ", ".join(f"`{_short(op)}`" for op in line.ops)
            of = {"cast": line.kind, "families": f"{ops} | {line.kind}"}.get(section, ops)
            lines.append(f"| {line.how} | {of} | {line.reason} |")
        lines.append("")
    return "\n".join(lines)


def compare(ops: Iterable[str] = ()) -> Iterator[str]:
    """Yield a line for each difference that is not listed, and for each listed one that is gone, of some ops or of all.

    Prints how many cases of each family agree.
    """
    from pytorch.cast import cast_findings  # noqa: PLC0415 - the document needs no PyTorch
    from pytorch.comparison import FATAL, ROWS, TYPES, findings  # noqa: PLC0415 - as above
    from pytorch.families import FAMILIES  # noqa: PLC0415 - as above
    from pytorch.family_comparison import judged  # noqa: PLC0415 - as above

    names = list(ops) or [*ROWS, "cast", *FAMILIES]
    found: dict[tuple[str, str], dict[str, Any]] = {
        (op, kind): {**findings(op, kind)} for op in names if op in ROWS for kind in TYPES
    }
    found |= cast_findings() if "cast" in names else {}
    for family in FAMILIES:
        if family in names:
            judgement = judged(family)
            print(f"{family}: {judgement}")
            found |= judgement.findings
    wanted = {key: reasons for key, reasons in listed().items() if key[0].split("/")[0] in names}
    for op in FATAL:
        if op in names and _ends_the_process(op):
            found[op, "integer"]["ends the process"] = f"{op} of the smallest integer and -1 ends the process"
    for key in {**found, **wanted}:
        here, reasons = found.get(key, {}), wanted.get(key, {})
        yield from (f"not listed: {here[how]}" for how in here if how not in reasons)
        yield from (f"no longer so: {' '.join(key)}: {how}" for how in reasons if how not in here)


def _ends_the_process(op: str) -> bool:
    """Say whether PyTorch ends the process at MIN / -1. Only processors whose division traps do; others agree with EP."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return True
    program = (
        f"import torch; from pytorch.expressions import EXPRESSIONS as e; "
        f"e['{op}'](torch.tensor([-2**31], dtype=torch.int32), torch.tensor([-1], dtype=torch.int32))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, cwd=Path(__file__).parent)  # noqa: S603 - ourselves
    return done.returncode == -signal.SIGFPE


def _short(op: str) -> str:
    return op.replace("_backward_with_", "_")


def main() -> int:
    """Compare, write or check; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "ops", nargs="*", metavar="OP", help="ops to compare, also cast and families; all if there is none"
    )
    parser.add_argument("--document", action="store_true", help="write docs/second-opinion.md")
    parser.add_argument("--check", action="store_true", help="say whether docs/second-opinion.md is current")
    arguments = parser.parse_args()
    if arguments.document:
        DOCUMENT.parent.mkdir(exist_ok=True)
        DOCUMENT.write_text(document())
        return 0
    if arguments.check:
        is_current = DOCUMENT.exists() and DOCUMENT.read_text() == document()
        print(
            "current" if is_current else "docs/second-opinion.md is not current; run tools/second_opinion.py --document"
        )
        return 0 if is_current else 1
    lines = list(compare(arguments.ops))
    print("\n".join([*lines, f"{len(lines)} differences are not as listed"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
