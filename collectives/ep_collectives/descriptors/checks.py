"""The checks that collectives share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep.integers import integer, several
from ep_primitives import REDUCE_OPS
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, chosen_row

if TYPE_CHECKING:
    from ep import TensorSpec

__all__ = ["OPS", "check_multiple", "check_pair", "check_peer", "check_reduced", "number", "numbers"]

OPS: Final = ("sum", "prod", "min", "max", "mean")
"""The reductions over ranks: rows of Reduce, for the element types that these keep."""

_MOST_RANKS: Final = 2**20
"""Beyond all machines: counts that never end do."""


def check_reduced(family: str, op: Any, spec: TensorSpec) -> None:
    """Raise ValueError unless Reduce has the op for the element type, with a result of the same type."""
    row = chosen_row(family, op, {name: REDUCE_OPS[name] for name in OPS})
    check_dtype(f"{family} {op}", "x", spec, tuple([name for name, outs in row.outs.items() if name in outs]))


def check_pair(title: str, x: Any, out: Any) -> None:
    """Raise TypeError or ValueError unless x and out are tensors of one element type."""
    check_spec(title, "x", x)
    check_output(title, out)
    check_dtype(title, "out", out, (x.dtype,))


def check_multiple(title: str, name: str, spec: TensorSpec, part: int, size: int) -> None:
    """Raise ValueError unless a tensor has `part` elements for each of `size` ranks."""
    if spec.size != part * size:
        message = f"{title}: {name} has {spec.size} elements, needs {part} x {size} = {part * size} for {size} ranks; describe {name} so"
        raise ValueError(message)


def check_peer(title: str, name: str, peer: int, size: int) -> None:
    """Raise ValueError unless a number is a rank's."""
    if not 0 <= peer < size:
        message = f"{title}: {name} is {peer}, needs a rank from 0 to {size - 1}"
        raise ValueError(message)


def number(title: str, name: str, value: Any) -> int:
    """Return a rank or a count. Raises TypeError for no integer, ValueError for a negative one."""
    given = integer(f"{title}: {name}", value)
    if given < 0:
        message = f"{title}: {name} is {given}, needs a number from 0 on"
        raise ValueError(message)
    return given


def numbers(title: str, name: str, values: Any) -> tuple[int, ...]:
    """Return counts, one a rank. Raises as `number` does, and TypeError for no sequence."""
    given = several(f"{title}: {name}", values, _MOST_RANKS, "counts")
    return tuple([number(title, name, each) for each in given])
