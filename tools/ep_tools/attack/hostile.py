"""Values that callers should not give, and objects that lie: what an attack draws its arguments from."""

from __future__ import annotations

import array
import ctypes
import decimal
import fractions
import itertools
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from typing_extensions import Buffer

__all__ = ["Liar", "hostile"]

_LONG: Final = 1 << 3_400_000  # more than a million digits
_MANY: Final = [1] * 1_000_000


class LieError(Exception):
    """What code of callers raises."""


class Liar:
    """An object whose special methods say what its maker wants: a value to return, or an exception to raise."""

    def __init__(self, **lies: Any) -> None:
        kind = type("Liar", (Liar,), {f"__{name}__": _method(lie) for name, lie in lies.items()})
        object.__setattr__(self, "__class__", kind)


class _Everything:
    """Has every attribute, and is whatever its attributes are called as."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self


class _Posing:
    """Says that it is of another class."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property
    def __class__(self) -> Any:
        return self._kind

    @__class__.setter
    def __class__(self, _: Any) -> None: ...


class _Integer(int):
    def __index__(self) -> int:
        raise LieError

    __eq__ = __repr__ = __index__  # type: ignore[assignment]
    __hash__ = int.__hash__


class _Text(str):
    __slots__ = ()

    def __hash__(self) -> int:
        raise LieError


class _Big(ctypes.BigEndianStructure):
    _fields_ = (("x", ctypes.c_int),)


def _method(lie: Any) -> Callable[..., Any]:
    def method(*_: Any) -> Any:
        if isinstance(lie, BaseException):
            raise lie
        return lie

    return method


def _recursive() -> list[Any]:
    nested: list[Any] = []
    nested.append(nested)
    return nested


def _deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    return nested


def _released() -> memoryview:
    view = memoryview(bytearray(8))
    view.release()
    return view


def _raising() -> Iterator[int]:
    yield 1
    raise LieError


_MAKERS: Final[tuple[Callable[[], Any], ...]] = (
    # integers
    *(lambda value=value: value for value in (0, 1, -1, 7, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64, 10**40)),
    *(lambda value=value: value for value in (-(2**31), -(2**63), -(2**64), -(10**40), _LONG, -_LONG, True, False)),
    lambda: _Integer(3),
    *(lambda lie=lie: Liar(index=lie) for lie in (LieError(), "1", 2**70, _LONG, None, MemoryError(), -5)),
    *(lambda value=value: np.int64(value) for value in (0, 3, -1)),
    lambda: np.True_,
    # other numbers
    *(lambda text=text: float(text) for text in ("nan", "inf", "-inf", "-0.0", "1.5", "1e308", "5e-324")),
    lambda: 1j,
    lambda: complex("nan"),
    *(lambda text=text: decimal.Decimal(text) for text in ("1e999999999", "sNaN", "-1e-999999999", "0.5")),
    lambda: fractions.Fraction(1, 3),
    lambda: fractions.Fraction(10**400),
    *(lambda lie=lie: Liar(float=lie) for lie in (LieError(), "1", float("nan"), 1e300)),
    lambda: np.longdouble("1e4000"),
    lambda: np.float16(1),
    # text and bytes
    *(lambda text=text: text for text in ("", "x", "float32", "add", "\ud800", "x\0y", "٣", "x" * 100_000)),
    *(lambda text=text: text for text in ("cpu:0", "cpu:" + "9" * 5000, "cpu:-1", "nothing:0", "x.y")),
    lambda: np.str_("float32"),
    lambda: _Text("float32"),
    *(lambda text=text: text for text in (b"", b"\1", b"abc", bytes(16), bytes(1_000_000))),
    lambda: bytearray(64),
    _released,
    lambda: memoryview(bytearray(64))[::2],
    # what has elements
    *(
        lambda value=value: value
        for value in ((), [], (1, 2), [2, 3], (2**70,), (_LONG,), (0, 2**62), (-1,), {1, 2}, {1: 2})
    ),
    *(lambda value=value: value for value in (range(2**62), (1.5,), ("2",), (None,), (True, 2), (1,) * 17, _MANY)),
    itertools.count,
    lambda: itertools.repeat(1),
    lambda: iter((2, 3)),
    _raising,
    _recursive,
    _deep,
    *(lambda lie=lie: Liar(iter=lie) for lie in (LieError(), 3, itertools.count())),
    lambda: Liar(len=2**70, getitem=1),
    lambda: Liar(len=LieError(), getitem=LieError()),
    # what is nothing of the kind
    *(
        lambda value=value: value
        for value in (None, NotImplemented, ..., int, len, object(), slice(None), slice(1, 2, 3))
    ),
    lambda: Liar(eq=LieError(), repr=LieError(), str=LieError()),
    lambda: Liar(eq=True, hash=1, bool=LieError()),
    lambda: Liar(hash=LieError(), repr="x" * 1_000_000),
    lambda: Liar(repr=3, format=LieError()),
    lambda: Liar(bool=LieError(), call=LieError()),
    _Everything,
    lambda: _Posing(np.ndarray),
    lambda: _Posing(int),
    lambda: _Posing(str),
    # arrays and buffers
    *(
        lambda dtype=dtype: np.zeros(16, dtype)
        for dtype in ("f4", ">f4", ">i2", "O", "S3", "U3", "V4", "M8[s]", "g", "c8", "?")
    ),
    lambda: np.zeros(16, [("a", "i4"), ("b", ">f8")]),
    lambda: np.ma.masked_array(np.zeros(16, "f4"), [True] * 16),
    lambda: memoryview(cast("Buffer", np.ma.masked_array(np.zeros(16, "f4")))),
    lambda: np.zeros((4, 4), "f4")[:, ::2],
    lambda: np.zeros((4, 4), "f4").T,
    lambda: np.zeros((4, 4), "f4")[::-1],
    lambda: np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), (2**40,), (0,)),
    lambda: np.zeros(()),
    lambda: np.zeros((0, 3), "f4"),
    lambda: np.frombuffer(bytes(64), "f4"),
    lambda: np.frombuffer(bytearray(65), "u1")[1:].view("f4"),
    lambda: array.array("i", [1, 2]),
    lambda: array.array("u", "abc"),
    ctypes.c_void_p * 2,
    _Big * 2,
    ctypes.c_float * 16,
    lambda: ctypes.c_char_p(b"x"),
    type("Half", (), {"__array_interface__": {}}),
    type("Half", (), {"__cuda_array_interface__": {"shape": range(2**62), "typestr": "<f4", "data": (8, False)}}),
    type("Half", (), {"__dlpack__": None}),
)


def hostile(random: random.Random) -> Any:
    """Return one of them, made anew where it has a state."""
    return random.choice(_MAKERS)()
