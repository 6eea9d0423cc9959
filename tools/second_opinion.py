"""Ask PyTorch about every op: `docs/second-opinion.md` says where it differs from EP and why.

    python tools/second_opinion.py [OP ...]     compare; exit 1 if a difference is not listed, or a listed one is gone
    python tools/second_opinion.py --document   write docs/second-opinion.md; needs no PyTorch
    python tools/second_opinion.py --check      say whether the document is current; exit 1 if not

The list is `ep_primitives/disagreements.py`.
"""

from __future__ import annotations

import argparse
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.disagreements import DISAGREEMENTS, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DOCUMENT: Final = Path(__file__).parent.parent / "docs" / "second-opinion.md"

_PREFACE: Final = """\
# PyTorch as a second opinion

EP's references are its own, so a mistake in one would be a mistake in everything that it judges. `make second-opinion`
therefore asks PyTorch, which shares no code with them, about every op of both tables and about casts between all pairs of
element types: on special values, on designed ones and on random ones of each row's domain, in float32, float64, complex64,
int32, uint8 and bool, gradients by PyTorch's automatic differentiation or its own backward functions.

A value that differs by more than 64 ulp (of |z|; for conditioned rows 64 eps S), a NaN, an infinity or a zero's sign that
only one of the two has, is a disagreement. There are these and no others; the command fails if one appears or disappears.
PyTorch runs with its portable kernels, which are the same on every machine. Its vectorised ones differ a little more: fmod
and remainder give NaN where the quotient overflows, and cosh and sinh overflow below their last finite value.

"NaN here" is a NaN that EP gives and PyTorch does not, "NaN there" the opposite. `*_dy_x` and `*_dy_y` are the
gradients `*_backward_with_dy_x` and `*_backward_with_dy_y`. `ep_primitives/disagreements.py` is the source of this page.
"""


def document() -> str:
    """Return the text of the page."""
    lines = [_PREFACE]
    kinds = dict.fromkeys("cast" if line.ops == ("cast",) else line.kind for line in DISAGREEMENTS)
    for kind in kinds:
        lines += [f"## {kind.capitalize()}\n", "| what differs | ops | why |", "|---|---|---|"]
        for line in DISAGREEMENTS:
            if kind == ("cast" if line.ops == ("cast",) else line.kind):
                ops = line.kind if kind == "cast" else ", ".join(f"`{_short(op)}`" for op in line.ops)
                lines.append(f"| {line.how} | {ops} | {line.reason} |")
        lines.append("")
    return "\n".join(lines)


def compare(ops: Iterable[str] = ()) -> Iterator[str]:
    """Yield a line for each difference that is not listed, and for each listed one that is gone, of some ops or of all."""
    from pytorch.cast import cast_findings  # noqa: PLC0415 - the document needs no PyTorch
    from pytorch.comparison import FATAL, ROWS, TYPES, findings  # noqa: PLC0415 - as above

    names = list(ops) or [*ROWS, "cast"]
    found: dict[tuple[str, str], dict[str, Any]] = {
        (op, kind): {**findings(op, kind)} for op in names if op in ROWS for kind in TYPES
    }
    found |= cast_findings() if "cast" in names else {}
    wanted = {key: reasons for key, reasons in listed().items() if key[0] in names}
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
    parser.add_argument("ops", nargs="*", metavar="OP", help="ops to compare, also cast; all if there is none")
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
