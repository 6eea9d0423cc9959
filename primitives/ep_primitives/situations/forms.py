"""Forms: how a tensor of any shape lies in its memory, by a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import Form

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

__all__ = ["FLAT", "LINES", "READ", "WRITTEN", "laid"]

WRITTEN: Final = ("dense", "padded", "step", "negative", "permuted", "rotated")
"""The forms of any tensor. Padded: rows apart. Step: elements apart. Negative: some axes or all.
Permuted: axes in reverse. Rotated: the last axis outside, the
second one, of channels, inside, or the third last one, of heads, inside the one behind it."""

READ: Final = (*WRITTEN, "zero-last", "zero-first", "windows")
"""The forms of an input, whose elements may be shared: by all along the last axis or one before it, or by neighbours along two."""

FLAT: Final = ("dense", "step", "negative")
"""The forms that rank 1 has, whether read or written."""

LINES: Final = ("dense", "padded", "permuted")
"""The forms that matter most."""

_MOST_GAP: Final = 15


def laid(  # noqa: PLR0913 - a form has so many sides
    random: Random,
    word: str,
    shape: Sequence[int],
    *,
    offset: int = 0,
    is_out: bool = False,
    spared: int | None = None,
) -> Form:
    """Return a form of a shape.

    offset : of the lowest element
    spared : the axis that `zero-first` does not repeat, where it has another one
    is_out : True for an output: then axes that are permuted have gaps, so that not all operands are permuted alike
    """
    shape = tuple(shape)
    if word == "dense":
        return Form(shape, None, offset)
    strides = _strides(random, word, shape, is_out=is_out, spared=spared)
    below = sum(stride * (extent - 1) for stride, extent in zip(strides, shape, strict=True) if stride < 0 < extent)
    return Form(shape, strides, offset - below)


def _strides(random: Random, word: str, shape: tuple[int, ...], *, is_out: bool, spared: int | None) -> tuple[int, ...]:
    dense = dense_strides(shape)
    last = len(shape) - 1
    match word:
        case "padded":
            return _spaced(random, shape, range(last, -1, -1), is_padded=True)
        case "step":
            factor = random.choice((2, 3, 5))
            return tuple(factor * stride for stride in dense)
        case "negative":
            gap = random.randint(1, 3) if is_out else 0
            turned = _some(random, shape)
            return tuple(stride * (1 + gap) * (-1 if axis in turned else 1) for axis, stride in enumerate(dense))
        case "permuted":
            return _spaced(random, shape, range(last + 1), is_padded=is_out)
        case "rotated":
            orders = [[*range(last - 1, -1, -1), last]]
            if max(shape[1:2], default=1) > 1 < max(shape[2:], default=1):
                orders.append([1, *range(last, 1, -1), 0])
            if min(shape[-3:-1], default=1) > 1 and len(shape[-3:]) > 2:  # noqa: PLR2004 - heads, places and channels
                orders.append([last, last - 2, last - 1, *range(last - 3, -1, -1)])
            order = random.choice(orders)
            return _spaced(random, shape, order, is_padded=is_out)
        case "zero-last":
            return (*dense_strides(shape[:-1]), 0)
        case "zero-first":
            outer = [axis for axis, extent in enumerate(shape[:-1]) if extent > 1] or [0]
            repeated = random.choice([axis for axis in outer if axis != spared] or outer)
            held = dense_strides((*shape[:repeated], 1, *shape[repeated + 1 :]))
            return (*held[:repeated], 0, *held[repeated + 1 :])
        case _:  # windows: neighbours along the last two axes share elements
            span = shape[-1] + shape[-2]
            return (*(span * stride for stride in dense_strides(shape[:-2])), 1, 1)


def _some(random: Random, shape: tuple[int, ...]) -> list[int]:
    """Return some of the axes, all of them every other time."""
    longer = [axis for axis, extent in enumerate(shape) if extent > 1]
    if not longer or random.getrandbits(1):
        return [*range(len(shape))]
    return random.sample(longer, random.randint(1, len(longer)))


def _spaced(random: Random, shape: tuple[int, ...], order: Sequence[int], *, is_padded: bool) -> tuple[int, ...]:
    """Return the strides of axes that lie in an order, the innermost first, with gaps behind every other one or none."""
    strides = [0] * len(shape)
    step = 1
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
        if is_padded and shape[axis] > 1:
            step += random.randint(1, _MOST_GAP) if step < 1 << 16 else 1
    return tuple(strides)
