"""A form is a few launches of kernels, and the memory between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_benchmarks.peers.opencl.plain.program import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import ep

    Form = Callable[[Any], "Work | None"]

__all__ = ["Form", "Launch", "Work", "over", "parameters", "row_launch"]

_GROUP: Final = 64
"""Work-items of a group: a multiple of what any GPU runs in step, and on PoCL as quick as groups of 4096."""


class Launch(NamedTuple):
    """One launch of a kernel.

    texts    : the files of its program in `kernels/`, without `.cl`, the kernel's last
    kernel   : its name there
    operands : by the name that the text gives each argument, in their order, the operand
    sizes    : work-items by dimension, the one of neighbours first
    group    : work-items of a group by dimension; None leaves them to the driver
    words    : what the text leaves open, by name: extents, strides, formulas
    """

    texts: Sequence[str]
    kernel: str
    operands: Mapping[str, str]
    sizes: tuple[int, ...]
    group: tuple[int, ...] | None
    words: Mapping[str, Any]


class Work(NamedTuple):
    """The launches of a descriptor in their order.

    between : by name, the operands that one launch writes and another one reads
    """

    launches: Sequence[Launch]
    between: Mapping[str, ep.TensorSpec] = {}


def over(
    text: str,
    operands: Iterable[str],
    sizes: Sequence[int],
    words: Mapping[str, Any],
    group: tuple[int, ...] | None = None,
) -> Work:
    """Return one launch of a work-item for each element of a range.

    text  : the file, named as its kernel is
    sizes : extents, the one of neighbours first
    group : _GROUP neighbours if it is None, and such divide the range
    """
    kernel = text.rpartition("/")[2]
    launch = Launch([text], kernel, {name: name for name in operands}, tuple(sizes), group or _groups(sizes), words)
    return Work([launch])


def _groups(sizes: Sequence[int]) -> tuple[int, ...] | None:
    """Return groups that take whole extents before they take a part of the next one, None if there are none such."""
    left, group = _GROUP, []
    for size in sizes:
        group.append(math.gcd(size, left))
        left //= group[-1]
        if left > 1 and group[-1] < size:
            return None
    return None if left > 1 else tuple(group)


def row_launch(  # noqa: PLR0913, PLR0917 - a launch with its range made
    kernel: str,
    operands: Mapping[str, str],
    rows: int,
    of: ep.TensorSpec,
    words: Mapping[str, Any],
    group: int = _GROUP,
) -> Launch:
    """Return one launch of a group for each row.

    of    : the operand whose numbers are computed with
    words : WIDTH, the elements of a row, among them
    group : work-items of a group
    """
    given = {"NUMBER": number_of(of), "GROUP": group, **words}
    return Launch(["rows/group", f"rows/{kernel}"], kernel, operands, (rows * group,), (group,), given)


def parameters(names: Iterable[str]) -> str:
    """Return how a text lists its parameters."""
    return ", ".join(f"{name.upper()}_PARAMETER" for name in names)
