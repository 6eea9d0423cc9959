"""The situations of Reduce and ArgReduce: which dimensions go, how far rows reach, how x and out lie; and what they mean."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep.layout.spec import dense_strides

from ep_primitives.cases.arrangement import Form
from ep_primitives.reductions.dimensions import reduced_shape
from ep_primitives.reductions.plans import DEEP, Plan
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.forms import READ
from ep_primitives.situations.manner import MANNERS, WAY, starts
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.rows import BESIDE, LARGE, ROW, lying, row_extent
from ep_primitives.situations.values import values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Situation

__all__ = ["PATTERNS", "PLACES", "reduction_model", "reduction_plan"]

PATTERNS: Final = ("KR", "RK", "R", "KRK", "RKR", "KRKR", "RKRK", "KRKRKR", "K")
"""Which dimensions are kept and reduced, outermost first."""

PLACES: Final = ("KR", "RK", "R", "KRK")
"""Those of them with one axis, or with all."""

_AXES: Final = Dimension("axes", ("merged", "split", "ones", "16"))
"""Split: the innermost of each kind are two. Ones: extents of 1 between them. 16: rank 16."""
_KEEPDIMS: Final = Dimension("keepdims", ("no", "yes"))
_OUT: Final = Dimension("form-out", ("dense", "padded", "step", "negative", "permuted"))
_OFFSETS: Final = ("1", "0", "2", "3", "16", "4099")
_EMPTY: Final = ("rows", "terms", "both")
_ZEROS: Final = ("zero-first", "zero-last")


@cache
def reduction_model(layout: str, patterns: tuple[str, ...], *, has_values: bool) -> Model:
    """Return the model of a layout.

    patterns   : of PATTERNS, those that the family has
    has_values : True if rows of special, tiny or huge values have another result each; False: if equal ones
    """
    pattern = Dimension("pattern", patterns)
    number = values("x") if has_values else ()
    laid_out = (pattern, ROW, BESIDE, _AXES, _KEEPDIMS, *starts("x", "out"), *number, *MANNERS)
    match layout:
        case "dense":
            return Model(laid_out, tuple(_sizes(patterns)))
        case "strided":
            forms = (Dimension("form-x", READ), _OUT)
            return Model((*forms, *laid_out), (*_sizes(patterns), *_lying(patterns)))
        case "offset":
            offsets = [Dimension(f"offset-{name}", _OFFSETS) for name in ("x", "out")]
            forms = (Dimension("form-x", ("dense", "padded", "negative")), Dimension("form-out", ("dense", "step")))
            few = Dimension("pattern", tuple(word for word in patterns if word in PLACES))
            none = Never({each.name: ("0",) for each in offsets}, "no offset at all is layout dense or strided")
            return Model((*offsets, few, *forms, *number, *MANNERS), (none,))
        case "empty":
            dimensions = (pattern, Dimension("empty", _EMPTY), _KEEPDIMS, WAY)
            return Model(dimensions, tuple(_emptied(patterns, is_place=patterns == PLACES)))
    return Model((*starts("x", "out"), *MANNERS))


def _sizes(patterns: tuple[str, ...]) -> list[Never]:
    """Return that a case has few elements where one extent is large, and enough to show a fault."""
    deep = Never({"pattern": ("KRKRKR",), "row": LARGE[:3]}, "six dimensions have elements enough")
    return [
        Never({"row": LARGE[:3], "beside": ("block", "many")}, "one extent is large at a time"),
        Never({"row": tuple(set(ROW.values) - {"few"}), "beside": ("many",)}, "70,000 rows have few elements each"),
        Never({"row": ("past",), "beside": ("4k1", "4k", "4k2", "4k3")}, "long rows are few"),
        Never({"row": ("few", "one"), "beside": ("few",)}, "a handful of elements shows no fault"),
        Never({"row": ("few", "one"), "pattern": ("R",)}, "one row of so few shows no fault"),
        Never({"beside": BESIDE.values[1:], "pattern": ("R",)}, "nothing is kept"),
        Never({"axes": ("16",), "row": ROW.values[1:]}, "rank 16 has extents of its own"),
        Never({"axes": ("16",), "beside": BESIDE.values[1:]}, "rank 16 has extents of its own"),
        *([deep, Never({"pattern": ("KRKRKR",), "beside": LARGE[::3]}, deep.why)] if "KRKRKR" in patterns else []),
        *([Never({"row": ROW.values[1:], "pattern": ("K",)}, "nothing is reduced")] if "K" in patterns else []),
    ]


def _lying(patterns: tuple[str, ...]) -> list[Never]:
    """Return which shapes do not lie in which ways, and where elements that are shared would make all results equal."""
    single = tuple(word for word in ("R", "K") if word in patterns)
    flat = ("padded", "permuted", "rotated", "windows")
    tiles = [word for word in ROW.values if word not in {"4k1", "4k3", "few"}]
    return [
        Never({"form-x": ("dense",), "form-out": ("dense",)}, "all dense is layout dense"),
        Never({"pattern": ("R",), "form-out": _OUT.values[1:]}, "the output is one element"),
        Never({"pattern": single, "axes": ("merged",), "form-x": flat}, "rank 1 has no second axis"),
        Never({"pattern": ("KR", *single), "form-x": ("zero-first",)}, "all rows would be equal"),
        Never({"pattern": ("RK", *single), "form-x": ("zero-last",)}, "all rows would be equal"),
        Never({"form-x": (*_ZEROS, "windows"), "row": tuple(tiles)}, "powers of an even number hardly differ"),
        Never({"form-x": (*_ZEROS, "windows"), "beside": ("few", "many")}, "few distinct elements show no fault"),
        Never({"form-x": (*_ZEROS, "windows"), "axes": ("16",)}, "few distinct elements show no fault"),
    ]


def _emptied(patterns: tuple[str, ...], *, is_place: bool) -> list[Never]:
    found = [Never({"pattern": ("R",), "empty": ("rows", "both")}, "nothing is kept")]
    if "K" in patterns:
        found.append(Never({"pattern": ("K",), "empty": ("terms", "both")}, "nothing is reduced"))
    if is_place:
        found += [
            Never({"empty": ("terms",)}, "a row of nothing has no place"),
            Never({"pattern": ("R",)}, "a row of nothing has no place"),
        ]
    return found


def reduction_plan(layout: str, row: Row, seed: int, *, is_single: bool) -> Plan:
    """Return the plan of a situation, with the extents of a seed.

    is_single : True if one axis goes, or all do
    """
    random, situation = drawer(f"{seed} {layout} {row.text}"), row.situation
    if layout == "rank0":
        return Plan("", Form(()), ())
    shape, axes = _emptied_shape(situation, random) if layout == "empty" else _shape(situation, random, is_single)
    keeps = situation.get("keepdims") == "yes"
    offsets = [int(situation.get(f"offset-{name}", "0")) for name in ("x", "out")]
    longest = max((axis for axis in range(len(shape)) if axis not in axes), key=shape.__getitem__, default=None)
    x = lying(random, situation.get("form-x", "dense"), shape, offsets[0], spared=longest)  # else rows would be equal
    long = reduced_shape(shape, axes, keepdims=True)
    form = lying(random, situation.get("form-out", "dense"), long, offsets[1], is_out=True)
    strides = form.strides or dense_strides(long)
    kept = tuple(stride for axis, stride in enumerate(strides) if keeps or axis not in axes)
    return Plan("", x, axes, keeps, (kept, form.offset))


def _shape(situation: Situation, random: Random, is_single: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:  # noqa: FBT001 - one of two
    """Return the shape of x, and the axes that go."""
    letters, axes = situation["pattern"], situation.get("axes", "merged")
    words: Mapping[str, str] = {"R": situation.get("row", "4k1"), "K": situation.get("beside", "4k1")}
    if axes == "16":
        return DEEP, _deep(letters, is_single=is_single)
    is_large = any(word in LARGE for word in words.values())
    is_bound = is_single and "K" in letters
    pairs: list[tuple[int, str]] = []
    for place, letter in enumerate(letters):
        is_inner = letter not in letters[place + 1 :]
        if axes == "ones":
            pairs.append((1, "K" if is_bound else letter))
        if axes == "split" and is_inner and not (is_bound and letter == "R"):
            pairs.append((2, letter))
        other = 2 if is_large or len(letters) > 4 else random.choice((2, 3))  # noqa: PLR2004 - KRKR
        pairs.append((row_extent(random, words[letter], most=2 if is_large else 16) if is_inner else other, letter))
    return tuple(extent for extent, _ in pairs), tuple(axis for axis, pair in enumerate(pairs) if pair[1] == "R")


def _deep(letters: str, *, is_single: bool) -> tuple[int, ...]:
    """Return the axes of rank 16 that go."""
    rank = len(DEEP)
    if is_single and "K" in letters:
        return ({"KR": rank - 1, "RK": 0}.get(letters, 7),)
    if rank % len(letters):
        return tuple(range(1, rank, 2))
    return tuple(axis for axis in range(rank) if letters[axis * len(letters) // rank] == "R")


def _emptied_shape(situation: Situation, random: Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
    letters, word = situation["pattern"], situation["empty"]
    gone = {"rows": "K", "terms": "R", "both": "KR"}[word]
    shape = tuple(
        0 if letter in gone and letter not in letters[:place] else random.randint(2, 5)
        for place, letter in enumerate(letters)
    )
    return shape, tuple(axis for axis, letter in enumerate(letters) if letter == "R")
