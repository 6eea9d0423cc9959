"""Ask PyTorch about every op: `docs/reports/second-opinion.md` says where it differs from EP and why.

The list is `ep_primitives/judging/disagreements.py`, and in the families' folders.
"""

from __future__ import annotations

import platform
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import click
from ep_primitives import BINARY_OPS, UNARY_OPS, ep_families
from ep_primitives.judging.disagreements import DISAGREEMENTS, listed
from ep_primitives.judging.family_disagreements import FAMILY_DISAGREEMENTS

from ep_tools.folders import ROOT, TOOLS
from ep_tools.renew import renew

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ep_primitives.judging.disagreement import Disagreement

DOCUMENT: Final = ROOT / "docs" / "reports" / "second-opinion.md"

_PREFACE: Final = """\
# PyTorch as a second opinion

EP's references are its own, so a mistake in one would be a mistake in everything that it judges. `make second-opinion`
therefore asks PyTorch, which shares no code with them, about every op of both tables and about casts between all pairs of
element types: on special values, on designed ones and on random ones of each row's domain, in float32, float64, complex64,
int32, uint8 and bool, gradients by PyTorch's automatic differentiation or its own backward functions. Of the families that
move, select and reduce it is asked the suite's own quick cases, in all types but the three wide unsigned ones and float8,
which it computes next to nothing in, and it is judged by the bounds that a provider is held to. Where these do not show a
difference that is listed, the standard cases are asked, too.

A NaN, an infinity or a zero's sign that only one of the two has is a disagreement, and so is a value that differs by more than
64 ulp (of |z|; for conditioned rows 64 eps S). In families any value outside the bound is one: "rounding" up to 64 times the
bound, else "value". There are these and no others; the command fails if one appears or disappears. What is not listed was
found to be the same: that a NaN wins in extremes, that the first of equals does, what rows of infinities give.

PyTorch runs with its portable kernels, which are the same on every machine, without oneDNN and NNPACK. Its vectorised ones differ a little more: fmod
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
    from ep_tools.peers.pytorch.cast import cast_findings  # noqa: PLC0415 - the document needs no PyTorch
    from ep_tools.peers.pytorch.comparison import FATAL, ROWS, TYPES, findings  # noqa: PLC0415 - as above
    from ep_tools.peers.pytorch.families import FAMILIES  # noqa: PLC0415 - as above
    from ep_tools.peers.pytorch.family_comparison import judged  # noqa: PLC0415 - as above

    names = list(ops) or [*ROWS, "cast", *FAMILIES]
    found: dict[tuple[str, str], dict[str, Any]] = {
        (op, kind): {**findings(op, kind)} for op in names if op in ROWS for kind in TYPES
    }
    found |= cast_findings() if "cast" in names else {}
    wanted = {key: reasons for key, reasons in listed().items() if key[0].split("/")[0] in names}
    for family in FAMILIES:
        if family in names:
            judgement = judged(family)
            click.echo(f"{family}: {judgement}")
            found |= judgement.findings
            unseen = {
                (key, how)
                for key, reasons in wanted.items()
                for how in reasons
                if key[0].split("/")[0] == family and how not in found.get(key, {})
            }
            # What the quick cases do not show the others may: a listed difference is gone if none does.
            others = judged(family, "standard").findings if unseen else {}
            for key, how in unseen:
                if how in others.get(key, {}):
                    found.setdefault(key, {})[how] = others[key][how]
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
        f"import torch; from ep_tools.peers.pytorch.expressions import EXPRESSIONS as e; "
        f"e['{op}'](torch.tensor([-2**31], dtype=torch.int32), torch.tensor([-1], dtype=torch.int32))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, cwd=TOOLS)  # noqa: S603 - ourselves
    return done.returncode == -signal.SIGFPE


def _short(op: str) -> str:
    return op.replace("_backward_with_", "_")


@click.command()
@click.argument("ops", nargs=-1, metavar="[OP]...")
@click.option("--document", "writes", is_flag=True, help="Write docs/reports/second-opinion.md, and ask nothing.")
@click.option(
    "--check", is_flag=True, help="Exit 1 if docs/reports/second-opinion.md is not of today, and ask nothing."
)
def command(ops: tuple[str, ...], *, writes: bool, check: bool) -> None:
    """Ask PyTorch about these ops, `cast` and families, or all; exit 1 if the differences are not those listed."""
    if writes or check:
        renew(DOCUMENT, document(), check=check, name="second-opinion --document")
        return
    if unknown := sorted({*ops} - {*UNARY_OPS, *BINARY_OPS, *(family.name for family in ep_families())}):
        message = f"no op or family: {', '.join(unknown)}; docs/families has the names"
        raise click.UsageError(message)
    lines = [*compare(ops)]
    click.echo("\n".join([*lines, f"{len(lines)} differences are not as listed"]))
    if lines:
        raise click.exceptions.Exit(1)
