"""Windows that slide over the spatial dimensions of a tensor, all after the first two, for Convolution and Pool.

Elements of x are counted from 0 in each dimension; window i begins at i stride - before, its elements are a dilation apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ep.ground.glimpse import glimpse
from ep.integers import integer, taken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep import TensorSpec

__all__ = ["MOST_DIMENSIONS", "Sliding", "check_spatial", "counts_of", "window_of"]

MOST_DIMENSIONS: Final = 6
"""Windows seen where they lie have a dimension for each of x's, one more for each spatial one, and one for groups: 15."""
_LEADING: Final = 2
_BITS: Final = 48


class Sliding(NamedTuple):
    """How windows lie, a number for each spatial dimension.

    window        : elements of a window
    strides       : elements from where one window begins to where the next one does
    dilations     : elements from one of a window to its next
    before, after : how many elements x is continued by on either side
    """

    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    @classmethod
    def of(cls, window: tuple[int, ...], attributes: tuple[Any, ...]) -> Self:
        """Return a descriptor's Sliding: its attributes begin with strides, dilations, counts before and after."""
        d = len(window)
        return cls(window, *(tuple(attributes[d * part : d * (part + 1)]) for part in range(4)))

    @classmethod
    def checked(  # noqa: PLR0913 - all that a caller says of windows
        cls, op: str, name: str, window: tuple[int, ...], *, strides: Any, dilations: Any, pads: Any
    ) -> Self:
        """Return a caller's Sliding: an integer, or one a dimension; pads on both sides. Raises TypeError, ValueError.

        name : the operand or argument that says the window
        """
        count = len(window)
        if not all(extent > 0 for extent in window):
            message = f"{op}: {name} has extents {window} of a window, needs at least 1 of each; give a larger one"
            raise ValueError(message)
        before, after = _sides(op, "pads", pads, count)
        return cls(
            window, _numbers(op, "strides", strides, count), _numbers(op, "dilations", dilations, count), before, after
        )

    @property
    def attributes(self) -> tuple[int, ...]:
        """The attributes that a descriptor keeps beside the window."""
        return (*self.strides, *self.dilations, *self.before, *self.after)

    @property
    def spans(self) -> tuple[int, ...]:
        """The number of elements from the first of a window to its last, both included."""
        return tuple([(extent - 1) * step + 1 for extent, step in zip(self.window, self.dilations, strict=True)])

    def counts(self, op: str, extents: tuple[int, ...], *, is_ceil: bool = False) -> tuple[int, ...]:
        """Return how many windows there are along each dimension of these extents. Raises ValueError if there is none.

        is_ceil : counts a last window that begins in x, or before it, and reaches beyond the pads
        """
        found = []
        for axis, (extent, span, stride, before, after) in enumerate(
            zip(extents, self.spans, self.strides, self.before, self.after, strict=True)
        ):
            room = before + extent + after - span
            count = room // stride + 1
            if is_ceil and room % stride and count * stride < before + extent:
                count += 1
            if count < 1:
                message = (
                    f"{op}: a window spans {span} elements in spatial dimension {axis}, and x with its pads has "
                    f"{before + extent + after}; needs at least as many; pad more, or make the window smaller"
                )
                raise ValueError(message)
            found.append(count)
        return tuple(found)

    def reach(self, counts: tuple[int, ...]) -> tuple[int, ...]:
        """Return how many elements so many windows span, from the first one's first to the last one's last."""
        each = zip(counts, self.strides, self.spans, strict=True)
        return tuple([(count - 1) * stride + span for count, stride, span in each])

    def behind(self, extents: tuple[int, ...], counts: tuple[int, ...]) -> tuple[int, ...]:
        """Return how many places windows touch after x, in each dimension; negative where they leave some of x out."""
        each = zip(self.reach(counts), self.before, extents, strict=True)
        return tuple([reach - before - extent for reach, before, extent in each])

    def touches_more(self, extents: tuple[int, ...], counts: tuple[int, ...]) -> bool:
        """Say whether windows touch elements that x has not."""
        return any(self.before) or any(behind > 0 for behind in self.behind(extents, counts))

    def within(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strides over the elements of a window, of a tensor with these spatial strides."""
        return tuple([stride * step for stride, step in zip(strides, self.dilations, strict=True)])

    def between(self, strides: tuple[int, ...]) -> tuple[int, ...]:
        """Return the strides over windows."""
        return tuple([stride * step for stride, step in zip(strides, self.strides, strict=True)])

    def touched(self, at: tuple[int, ...], extents: tuple[int, ...]) -> Iterator[slice]:
        """Yield along each dimension which elements of x the window at an index touches."""
        for i, extent, window, stride, step, before in zip(
            at, extents, self.window, self.strides, self.dilations, self.before, strict=True
        ):
            first = i * stride - before
            skipped = max(-(first // step), 0)
            yield slice(first + skipped * step, max(min(first + window * step, extent), 0), step)


def check_spatial(op: str, name: str, spec: TensorSpec) -> int:
    """Return how many spatial dimensions a tensor has. Raises ValueError for none, and for too many."""
    found = spec.ndim - _LEADING
    if not 1 <= found <= MOST_DIMENSIONS:
        message = (
            f"{op}: {name} has shape {spec.shape}, needs 1 to {MOST_DIMENSIONS} dimensions after the first two; "
            "give it extents of 1, or merge some"
        )
        raise ValueError(message)
    return found


def window_of(op: str, given: Any, count: int) -> tuple[int, ...]:
    """Return the extents of windows that a caller gave: an integer for all dimensions, or one each. Raises TypeError or ValueError."""
    return _numbers(op, "window", given, count)


def counts_of(op: str, name: str, given: Any, count: int) -> tuple[int, ...]:
    """Return an argument that is a count for each spatial dimension, or one for all. Raises TypeError or ValueError."""
    return _numbers(op, name, given, count, 0)


def _numbers(op: str, name: str, given: Any, count: int, least: int = 1) -> tuple[int, ...]:
    """Return an argument that is an integer for each spatial dimension, or one for all. Raises TypeError or ValueError."""
    values = _integers(op, name, given, (count,))
    return _at_least(op, name, values * count if len(values) == 1 else values, least)


def _sides(op: str, name: str, given: Any, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return counts before and after: of one integer for all, one a dimension for both sides, or all before, then all after."""
    values = _at_least(op, name, _integers(op, name, given, (count, 2 * count)), 0)
    both = values * count if len(values) == 1 else values
    return (both[:count], both[count:]) if len(both) == 2 * count else (both, both)


def _integers(op: str, name: str, given: Any, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Return one integer, or several: as many as one of the lengths says."""
    wanted = f"needs an integer, or {' or '.join(map(str, lengths))} of them"
    try:
        if isinstance(given, AbstractSet | Mapping | str | bytes):  # whose order says nothing, or whose elements
            raise TypeError  # noqa: TRY301 - explained below, like every other misfit
        values = taken(given, lengths[-1]) if hasattr(type(given), "__iter__") else (given,)
        whole = tuple([integer(f"{op}: {name}", value, _BITS) for value in values])
    except TypeError:
        message = f"{op}: {name} is {glimpse(given)}, {wanted}; give a tuple"
        raise TypeError(message) from None
    is_one = not hasattr(type(given), "__iter__")
    if not is_one and len(whole) not in lengths:
        message = f"{op}: {name} is {glimpse(given)}, {wanted}; give one for each spatial dimension"
        raise ValueError(message)
    return whole


def _at_least(op: str, name: str, values: tuple[int, ...], least: int) -> tuple[int, ...]:
    for value in values:
        if value < least:
            message = f"{op}: {name} has {value}, needs at least {least}; give larger ones"
            raise ValueError(message)
    return values
