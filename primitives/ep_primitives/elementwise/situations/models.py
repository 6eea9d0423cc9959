"""The models of elementwise families, by layout: written once, for inputs of any names."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ep_primitives.situations.extents import INNER, SIZE, TAIL
from ep_primitives.situations.forms import FLAT, LINES, READ, WRITTEN
from ep_primitives.situations.layouts import flat
from ep_primitives.situations.manner import MANNERS, STREAM, WAY, starts
from ep_primitives.situations.model import Dimension, Model, Never
from ep_primitives.situations.values import values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["BETWEEN", "elementwise_model"]

BETWEEN: Final = "between"
"""Elements of the output between those of an input, in one memory."""

_REPEATS: Final = ("whole", "last", "first", "odd", "even", "all", "lower")
_OFFSETS: Final = ("1", "0", "2", "3", "16", "4099")
_RANK: Final = Dimension("rank", ("1", "2", "4", "8", "16"))
_LAID_RANK: Final = Dimension("rank", ("2", "1", "3", "5", "16"), is_dangerous=True)


@cache
def elementwise_model(layout: str, names: tuple[str, ...], shares: tuple[str, ...]) -> Model:
    """Return the model of a layout for inputs of these names that may be tensors; in the scalar layouts the last two may be numbers.

    shares : the inputs whose memory the output may have
    """
    if layout in _SHARING:
        return _SHARING[layout](names, shares)
    return _MODELS[layout](names)


def _dense(names: tuple[str, ...]) -> Model:
    return Model((TAIL, SIZE, _RANK, *starts(*names, "out", is_dangerous=True), *values(*names), *MANNERS))


def _strided(names: tuple[str, ...]) -> Model:
    forms = _forms(names, READ, WRITTEN, is_dangerous=True)
    rows = Dimension("rows", ("few", "many"), late=("many",))
    return Model(
        (*forms, _LAID_RANK, INNER, rows, *starts(*names, "out"), *values(*names), *MANNERS),
        (
            *_flat(forms),
            Never({form.name: ("dense",) for form in forms}, "all dense is layout dense"),
            Never(
                {"rows": ("many",), "inner": tuple(set(INNER.values) - {"few"})},
                "70,001 rows are tried with few elements each",
            ),
            Never({"rows": ("many",), "rank": ("1", "3", "5", "16")}, "70,001 rows are tried in rank 2"),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has outer extents enough"),
        ),
    )


def _broadcast(names: tuple[str, ...]) -> Model:
    forms = _forms(names, LINES, WRITTEN)
    repeats = [Dimension(f"repeats-{name}", _REPEATS, is_dangerous=True) for name in names]
    rank = Dimension("rank", ("2", "1", "3", "4", "6", "16"), is_dangerous=True)
    partial = ("last", "first", "odd", "even")
    return Model(
        (*repeats, rank, *forms, INNER, *starts(*names, "out"), *values(*names), *MANNERS),
        (
            *_flat(forms),
            Never({each.name: ("whole",) for each in repeats}, "nothing is repeated"),
            *(
                Never({each.name: partial, "rank": ("1",)}, "rank 1 has one axis, which is repeated or not")
                for each in repeats
            ),
            *(
                Never({each.name: ("odd", "even"), "rank": ("2",)}, "in rank 2 that is the last or the first")
                for each in repeats
            ),
            *_one_row(names),
            *(
                Never(
                    {each.name: ("first", "all", "lower"), "inner": ("few",), "rank": ("2",)},
                    "two elements show no fault",
                )
                for each in repeats
            ),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has outer extents enough"),
        ),
    )


def _scalar(names: tuple[str, ...], side: int) -> Model:
    place = len(names) - 2
    numbers = Dimension("numbers", ("one", "two") if place and not side else ("one",))
    tensors = (*names[:place], names[place + 1 - side])
    forms = _forms(tensors, ("dense", "padded", "negative", "permuted"), ("dense", "padded", "step", "permuted"))
    repeats = [Dimension(f"repeats-{name}", ("whole", "last", "first")) for name in tensors]
    rank = Dimension("rank", ("1", "2", "3", "16"))
    gone = [
        Never({"numbers": ("two",), name: words}, "the second number is no tensor")
        for name, words in (
            (f"form-{tensors[-1]}", forms[len(tensors) - 1].values[1:]),
            (f"repeats-{tensors[-1]}", ("last", "first")),
        )
        if "two" in numbers.values
    ]
    return Model(
        (*forms, *repeats, numbers, rank, INNER, *starts(*tensors, "out"), *values(*tensors), *MANNERS),
        (
            *_flat(forms),
            *(
                Never({each.name: ("last", "first"), "rank": ("1",)}, "an axis repeated is layout broadcast")
                for each in repeats
            ),
            *(
                Never({each.name: ("first",), "inner": ("few",), "rank": ("2",)}, "two elements show no fault")
                for each in repeats
                if len(repeats) == 1
            ),
            *gone,
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has outer extents enough"),
        ),
    )


def _inplace(names: tuple[str, ...], sharing: tuple[str, ...]) -> Model:
    shares = Dimension("shares", sharing)
    form = Dimension("form-out", WRITTEN)
    rank = Dimension("rank", ("1", "2", "3", "16"))
    others = Dimension("others", ("whole", "last", "first", "all") if len(names) > 1 else ("whole",))
    return Model(
        (shares, form, rank, INNER, others, *starts("out"), *values(*names), WAY, STREAM),
        (
            Never({"form-out": tuple(set(WRITTEN) - set(FLAT)), "rank": ("1",)}, "rank 1 has no second axis"),
            *([Never({"others": ("last", "first"), "rank": ("1",)}, "rank 1 has one axis")] if len(names) > 1 else []),
            Never({"rank": ("16",), "inner": ("long",)}, "rank 16 has outer extents enough"),
        ),
    )


def _offset(names: tuple[str, ...], sharing: tuple[str, ...]) -> Model:
    operands = (*names, "out")
    offsets = [Dimension(f"offset-{name}", _OFFSETS) for name in operands]
    forms = _forms(names, ("dense", "padded", "negative"), ("dense", "padded", "negative"))
    lies = Dimension("out", ("apart", *(f"{BETWEEN}-{name}" for name in sharing)))
    rank = Dimension("rank", ("1", "2", "5"))
    return Model(
        (*offsets, *forms, rank, INNER, lies, *starts(*operands), *values(*names), *MANNERS),
        (
            *_flat(forms),
            Never({each.name: ("0",) for each in offsets}, "no offset at all is layout dense or strided"),
            *(
                Never({"out": (f"{BETWEEN}-{name}",), dimension: words}, "its elements lie between those of the input")
                for name in sharing
                for dimension, words in (
                    ("form-out", ("padded", "negative")),
                    (f"form-{name}", ("padded", "negative")),
                    ("offset-out", _OFFSETS[1:]),
                    (f"start-{name}", ("1", "8B", "16B", "32B")),
                )
            ),
        ),
    )


def _empty(names: tuple[str, ...]) -> Model:
    where = Dimension("empty", ("only", "first", "last", "middle", *(("repeated",) if names else ())))
    return Model((where, *starts(*names, "out"), WAY, STREAM))


def _rank0(names: tuple[str, ...]) -> Model:
    return Model((*starts(*names, "out"), *values(*names), *MANNERS))


def _forms(
    names: Sequence[str], read: tuple[str, ...], written: tuple[str, ...], *, is_dangerous: bool = False
) -> list[Dimension]:
    words = {**dict.fromkeys(names, read), "out": written}
    return [Dimension(f"form-{name}", each, is_dangerous=is_dangerous) for name, each in words.items()]


def _flat(forms: Sequence[Dimension]) -> list[Never]:
    """Return that rank 1 has few forms."""
    return [flat(form, {"rank": ("1",)}) for form in forms if {*form.values} - {*FLAT}]


def _one_row(names: Sequence[str]) -> list[Never]:
    """Return that an input of one row, or of one element, has no rows that could lie apart."""
    why = "one row has no second axis"
    return [Never({f"repeats-{name}": ("all", "lower"), f"form-{name}": LINES[1:]}, why) for name in names]


_MODELS: Final[Mapping[str, Callable[[tuple[str, ...]], Model]]] = {
    "dense": _dense,
    "strided": _strided,
    "broadcast": _broadcast,
    "scalar-left": lambda names: _scalar(names, 0),
    "scalar-right": lambda names: _scalar(names, 1),
    "empty": _empty,
    "rank0": _rank0,
}

_SHARING: Final[Mapping[str, Callable[[tuple[str, ...], tuple[str, ...]], Model]]] = {
    "inplace": _inplace,
    "offset": _offset,
}
"""For the layouts in which an output may have an input's memory the function that makes their model, with those inputs."""
