"""The element types of EP, one row each, and the numbers that a launch may give for them."""

from __future__ import annotations

import math
import struct
import sys
from dataclasses import dataclass
from typing import Any, Final

from ep.ground.glimpse import glimpse

__all__ = ["DTYPES", "DType", "Number", "convert", "convert_element", "dtype", "name_of"]

Number = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class DType:
    """One element type: `kind` is b(ool), i(nt), u(int), f(loat) or c(omplex), `compute` the type it is computed in.

    `exponent` and `fraction` are the stored bits of a floating type (of one part, if complex), 0 for the others.
    """

    name: str
    itemsize: int
    kind: str
    compute: str
    exponent: int = 0
    fraction: int = 0

    @property
    def is_floating(self) -> bool:
        """True for real floating types."""
        return self.kind == "f"

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer type."""
        bits = 8 * self.itemsize
        return (-(1 << bits - 1), (1 << bits - 1) - 1) if self.kind == "i" else (0, (1 << bits) - 1)


_ROWS: Final = (
    #      name            bytes kind compute    exponent fraction
    DType("bool", 1, "b", "bool"),
    DType("int8", 1, "i", "int8"),
    DType("int16", 2, "i", "int16"),
    DType("int32", 4, "i", "int32"),
    DType("int64", 8, "i", "int64"),
    DType("uint8", 1, "u", "uint8"),
    DType("uint16", 2, "u", "uint16"),
    DType("uint32", 4, "u", "uint32"),
    DType("uint64", 8, "u", "uint64"),
    DType("float8_e4m3fn", 1, "f", "float32", 4, 3),
    DType("float8_e5m2", 1, "f", "float32", 5, 2),
    DType("float16", 2, "f", "float32", 5, 10),
    DType("bfloat16", 2, "f", "float32", 8, 7),
    DType("float32", 4, "f", "float32", 8, 23),
    DType("float64", 8, "f", "float64", 11, 52),
    DType("complex64", 8, "c", "complex64", 8, 23),
    DType("complex128", 16, "c", "complex128", 11, 52),
)  # fmt: skip - a table reads in columns

DTYPES: Final = {row.name: row for row in _ROWS}

_ABSTRACT: Final = frozenset(
    [
        "generic",
        "number",
        "integer",
        "signedinteger",
        "unsignedinteger",
        "inexact",
        "floating",
        "complexfloating",
        "flexible",
        "character",
    ]
)
"""Types of NumPy that stand for no element type, though `numpy.dtype` takes some."""

_NARROW: Final = 2  # bytes
_BEYOND: Final = 2.0**65  # every integer type


def dtype(name: Any) -> DType:
    """Return the row of an element type, given as `name_of` takes it. Raises as that does."""
    return DTYPES[name_of("ep.dtype: name", name)]


def name_of(argument: str, given: Any) -> str:
    """Return the name of an element type.

    argument : "operation: argument", for the message
    given    : that name, a DType, a dtype of NumPy or ml_dtypes, or the type of its numbers, such as numpy.float32

    Raises TypeError for an object of another kind. Raises ValueError for an element type that EP lacks, including
    dtypes in another byte order and structured ones.
    """
    if type(given) is str and given in DTYPES:
        return given
    if type(given) is DType:
        return given.name
    theirs = _numpy_dtype(given)
    if theirs is not None and theirs.isnative and theirs.subdtype is None and theirs.name in DTYPES:
        return str(theirs.name)
    said = glimpse(given)
    if theirs is None and type(given) is not str:
        message = f"{argument} is {said}, needs an element type; give a name such as 'float32', or a dtype of NumPy or ml_dtypes"
        raise TypeError(message)
    if theirs is not None and not theirs.isnative:
        message = (
            f"{argument} is {said}, in the byte order of other machines; give dtype.newbyteorder('=') and data of it"
        )
    elif theirs is not None and (theirs.names or theirs.subdtype):
        message = (
            f"{argument} is {said}, which has a structure; describe each field by a tensor of its own, with strides"
        )
    else:
        message = f"{argument} is {said}, which is no element type; give one of {', '.join(DTYPES)}"
    raise ValueError(message)


def _numpy_dtype(given: Any) -> Any:
    """Return the NumPy dtype that an object is or stands for, else None. NumPy is imported already if there is one."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if issubclass(type(given), numpy.dtype):
        return given
    if type(given) is type and issubclass(given, numpy.generic) and given.__name__ not in _ABSTRACT:
        theirs = numpy.dtype(given)
        return theirs if theirs.type is given else None
    return None


def convert_element(name: str, value: Number) -> Number:
    """Return `value` as `convert` does, but rounded to a 16-bit float type itself, as an element would be."""
    return convert(name, value, is_element=True)


def convert(name: str, value: Number, *, is_element: bool = False) -> Number:
    """Return `value` as a scalar of dtype `name`, held in its compute type; `is_element`: in a 16-bit type itself.

    Raises TypeError if it is not a number and ValueError if an integer type cannot hold it exactly or it is out of
    range: scalars are never rounded to an integer and never wrap.
    """
    row = dtype(name)
    try:
        if not (hasattr(value, "__float__") or hasattr(value, "__complex__")):  # int() and float() would read text
            raise TypeError  # noqa: TRY301 - explained below, like every other misfit
        if is_element and row.kind == "f" and row.itemsize == _NARROW:
            return _to_float(row, row.name, value)
        return _CONVERT[row.kind](row, value)
    except _MisfitError as misfit:
        message = f"scalar {glimpse(value)} {misfit}"
        raise ValueError(message) from None
    except OverflowError:
        message = f"scalar {glimpse(value)} is out of the range of {name}; give one within it"
        raise ValueError(message) from None
    except Exception as error:  # noqa: BLE001 - a number of another library may raise anything
        if isinstance(error, ValueError) and hasattr(value, "ndim"):  # its truth value is ambiguous
            message = f"scalar {glimpse(value)} is an array, needs a number; give one element of it"
        else:
            message = f"scalar {glimpse(value)} is not a number that a {name} can hold; give one of Python or NumPy"
        raise TypeError(message) from None


class _MisfitError(Exception):
    """What is wrong with a number, as the end of a sentence."""


def _to_bool(_: DType, value: Number) -> bool:
    return bool(value != 0)


def _to_integer(row: DType, value: Number) -> int:
    low, high = row.range
    real = _real(value)
    # Looked at as a float first: the int of a Decimal may have a billion digits. NaN is in no range.
    if not -_BEYOND < float(real) < _BEYOND or (exact := int(real)) != value or not low <= exact <= high:
        message = f"is no value of {row.name}; give an integer from {low} to {high}"
        raise _MisfitError(message)
    return exact


def _to_compute(row: DType, value: Number) -> float:
    return _to_float(row, row.compute, value)


def _to_float(row: DType, holder: str, value: Number) -> float:
    real = _real(value)
    rounded = _rounded(float(real), row if holder == row.name else DTYPES[holder])
    if hasattr(real, "__index__") and rounded != real:
        message = f"is an integer that no {holder} holds exactly; give a float to have it rounded"
        raise _MisfitError(message)
    return rounded


def _to_complex(row: DType, value: Number) -> complex:
    number, part = complex(value), DTYPES["float64" if row.compute == "complex128" else "float32"]
    return complex(_rounded(number.real, part), _rounded(number.imag, part))


def _real(value: Number) -> Any:
    """Return a number that may be a NumPy scalar as it is. Raises TypeError if it has an imaginary part."""
    if getattr(value, "imag", 0):
        raise TypeError
    return value if isinstance(value, int | float) else getattr(value, "real", value)


def _rounded(value: float, holder: DType) -> float:
    """Return the nearest number of a floating type, the even one of two. Raises OverflowError if that is an infinity."""
    if holder.itemsize == 8:  # noqa: PLR2004 - as Python's own
        return value
    if holder.itemsize == 4:  # noqa: PLR2004 - quickly; struct refuses what rounds to infinity, too
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    if not value or not math.isfinite(value):
        return value
    largest_exponent = 1 << holder.exponent - 1
    exponent = max(math.frexp(value)[1], 3 - largest_exponent)  # that of subnormals is one for all
    step = 2.0 ** (exponent - 1 - holder.fraction)
    rounded = round(value / step) * step
    if abs(rounded) >= 2.0**largest_exponent:
        raise OverflowError
    return rounded


_CONVERT: Final = {"b": _to_bool, "i": _to_integer, "u": _to_integer, "f": _to_compute, "c": _to_complex}
