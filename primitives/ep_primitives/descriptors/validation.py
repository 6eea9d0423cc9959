"""The checks that descriptors share. Each message names operation, argument, what was given, what is needed, the cure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ep.dtypes import convert, name_of
from ep.exchange.interchange import describe
from ep.ground.glimpse import glimpse
from ep.ground.truth import truth
from ep.integers import integer, taken
from ep.layout.dims import broadcast_strides
from ep.layout.spec import MAX_RANK

from ep import Scalar, Tensor, TensorSpec

if TYPE_CHECKING:
    from ep_primitives.descriptors.attribute import Attribute
    from ep_primitives.elementwise.op import Op

Row = TypeVar("Row")

_LONGEST_NAME: Final = 100  # of an op that is looked for among the rows; the search takes as long as both names

__all__ = [
    "agreed",
    "attribute_value",
    "attribute_values",
    "broadcast_shape",
    "check_dtype",
    "check_input",
    "check_output",
    "check_spec",
    "chosen_output",
    "chosen_row",
    "dense_output",
    "described",
    "described_operand",
    "dtype_name",
    "flag",
    "one_a_dimension",
]


def check_output(op: str, out: Any, name: str = "out") -> None:
    """Raise unless the output `name` is a TensorSpec whose elements are distinct: TypeError or ValueError."""
    if type(out) is not TensorSpec:
        message = f"{op}: {name} is {glimpse(out)}, not a TensorSpec; results go to a memory"
        raise TypeError(message)
    if not out.is_dense and out.overlaps_itself:
        message = f"{op}: {name} {out!r} overlaps itself, so its value would depend on order; give it distinct elements"
        raise ValueError(message)


def check_spec(op: str, name: str, spec: Any) -> None:
    """Raise TypeError unless the operand is a TensorSpec."""
    if type(spec) is not TensorSpec:
        message = f"{op}: {name} is {glimpse(spec)}, not a TensorSpec; describe an array with TensorSpec.of(array)"
        raise TypeError(message)


def described(op: str, name: str, thing: Any) -> TensorSpec:
    """Return the spec of an operand given to `infer` as one, or as an array of any library that TensorSpec.of reads.

    Raises TypeError for any other object, ValueError for an array that EP cannot use in place.
    """
    if type(thing) is TensorSpec:
        return thing
    if type(thing) is Tensor:
        return thing.spec
    try:
        return describe(thing, f"{op}: {name}")
    except TypeError:
        message = (
            f"{op}: {name} is {glimpse(thing)}, of type {type(thing).__name__}, needs a TensorSpec or an array that "
            "has DLPack, an array interface or a buffer; give TensorSpec(dtype, shape), or make an array of it, as numpy.asarray does"
        )
        raise TypeError(message) from None


def described_operand(op: str, name: str, thing: Any) -> TensorSpec | Scalar:
    """Return the result of `described`, or a Scalar as it is. Raises as `described`; TypeError for a Python number."""
    if type(thing) is Scalar:
        return thing
    if type(thing) in {bool, int, float, complex}:
        message = f"{op}: {name} is the number {glimpse(thing)}, needs a Scalar(dtype) in its place; give the number at launch"
        raise TypeError(message)
    return described(op, name, thing)


def dense_output(op: str, dtype: str, shape: Any) -> TensorSpec:
    """Return the dense output that `infer` found. Raises the errors of TensorSpec, with the operation's name."""
    try:
        return TensorSpec(dtype, shape)
    except (TypeError, ValueError) as error:
        message = f"{op}: out: {error}"
        raise type(error)(message) from None


def chosen_output(op: str, out: Any, dtype: str, shape: Any, name: str = "out") -> TensorSpec:
    """Return the output of an `infer`: the one described by its caller, a TensorSpec or an array, or else a dense one.

    The constructor checks that the former fits. Raises as `described` and TensorSpec do.
    """
    return dense_output(op, dtype, shape) if out is None else described(op, name, out)


def agreed(op: str, name: str, given: Any, have: Any) -> None:
    """Raise ValueError if an argument of `infer` contradicts the given `out`."""
    if given is not None and given != have:
        message = f"{op}: {name} is {glimpse(given)}, and out has {have}; leave {name} out, or describe another out"
        raise ValueError(message)


def dtype_name(op: str, dtype: Any) -> str:
    """Return the name of an element type given to `infer`. Raises TypeError or ValueError for any other argument."""
    return name_of(f"{op}: dtype", dtype)


def flag(op: str, name: str, value: Any) -> bool:
    """Return an argument that is True or False. Raises TypeError for others, numbers but 0 and 1 included."""
    return truth(f"{op}: {name}", value)


def check_input(op: str, name: str, spec: Any, out: TensorSpec) -> None:
    """Raise unless `spec` is a TensorSpec that broadcasts to the output: TypeError or ValueError."""
    check_spec(op, name, spec)
    if spec.shape != out.shape:
        try:
            broadcast_strides(spec, out.shape)
        except ValueError:
            message = (
                f"{op}: {name} has shape {spec.shape}, which does not broadcast to out {out.shape}; "
                f"each extent, from the right, must be 1 or equal"
            )
            raise ValueError(message) from None


def broadcast_shape(op: str, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that operands broadcast to. Raises ValueError, naming all, if there is none."""
    rank = max((len(shape) for shape in shapes.values()), default=0)
    extents = [1] * rank
    for shape in shapes.values():
        for place, extent in enumerate(shape, rank - len(shape)):
            if extent not in {1, extents[place]}:
                if extents[place] != 1:
                    *given, last = (f"{name} {each}" for name, each in shapes.items())
                    message = f"{op}: shapes {', '.join(given)} and {last} do not broadcast; each extent, from the right, must be 1 or equal"
                    raise ValueError(message)
                extents[place] = extent
    return tuple(extents)


def check_dtype(
    op: str, name: str, spec: TensorSpec | Scalar, allowed: tuple[str, ...], *, is_output: bool = False
) -> None:
    """Raise ValueError unless the operand has one of the element types allowed. An operand named out is an output."""
    if spec.dtype not in allowed:
        needed = allowed[0] if len(allowed) == 1 else f"one of {', '.join(allowed)}"
        if type(spec) is Scalar:
            cure = f"make it Scalar({allowed[0]!r})"
        else:
            cure = f"describe {name} so" if is_output or name == "out" else "cast it first"
        message = f"{op}: {name} has dtype {spec.dtype}, needs {needed}; {cure}"
        raise ValueError(message)


def one_a_dimension(op: str, name: str, given: Any, spec: TensorSpec, bits: int = 64) -> tuple[int, ...]:
    """Return an argument that is one integer, of so many bits at most, for each dimension of a tensor.

    Raises TypeError unless it is a sequence of integers (True and False are none), ValueError for another length.
    """
    wanted = f"needs {spec.ndim} integers, one for each dimension of {spec.shape}"
    try:
        if isinstance(given, AbstractSet | Mapping):  # whose order says nothing
            raise TypeError  # noqa: TRY301 - explained below, like every other misfit
        integers = tuple([integer(f"{op}: {name}", value, bits) for value in taken(given, MAX_RANK)])
    except TypeError:
        message = f"{op}: {name} is {glimpse(given)}, {wanted}; give a tuple of them"
        raise TypeError(message) from None
    if len(integers) != spec.ndim:
        has = f"more than {MAX_RANK}" if len(integers) > MAX_RANK else str(len(integers))
        message = f"{op}: {name} is {glimpse(given)}, {wanted}; it has {has}"
        raise ValueError(message)
    return integers


def attribute_values(row: Op, given: Mapping[str, Any], dtype: str) -> tuple[float, ...]:
    """Return the attributes in the row's order, as float64.

    One that is left out has its default, one that is stored is rounded to the element type. Raises TypeError for one that
    is missing and has none, unknown or not a number, ValueError if the type that it is held in makes none of it that is legal, or if bounds are in the wrong order.
    """
    if not given and not row.attributes:
        return ()
    names = [attribute.name for attribute in row.attributes]
    usual = {attribute.name: attribute.default for attribute in row.attributes if attribute.default is not None}
    chosen = {**usual, **given}
    if set(chosen) != set(names):
        needed = ", ".join(name for name in names if name not in usual) or "none"
        known = "".join(f", and {name} is {default:g} if left out" for name, default in usual.items())
        message = (
            f"{row.name}: attributes given are {', '.join(given) or 'none'}, needed are {needed}{known}; name each once"
        )
        raise TypeError(message)
    values = tuple(attribute_value(row.name, attribute, chosen[attribute.name], dtype) for attribute in row.attributes)
    if row.ascending and values != tuple(sorted(values)):
        message = f"{row.name}: {' and '.join(names)} are {' and '.join(f'{value:g}' for value in values)}, needs them in ascending order; swap them"
        raise ValueError(message)
    return values


def chosen_row(family: str, op: Any, rows: Mapping[str, Row]) -> Row:
    """Return the row of an op. Raises ValueError for one that the family does not have."""
    row = rows.get(str.__str__(op)) if issubclass(type(op), str) else None
    if row is None:
        near = get_close_matches(op, rows) if type(op) is str and len(op) <= _LONGEST_NAME else ()
        hint = f"; near it are {', '.join(near)}" if near else ""
        message = f"{family}: op {glimpse(op)} is not one of its ops{hint}; all are {', '.join(rows)}"
        raise ValueError(message)
    return row


def attribute_value(op: str, attribute: Attribute, value: Any, dtype: str) -> float:
    """Return an attribute of an operation on an element type, as float64. Raises TypeError or ValueError if illegal."""
    if not isinstance(value, Real) or isinstance(value, bool):
        message = f"{op}: {attribute.name} is {glimpse(value)}, needs a real number; give a float"
        raise TypeError(message)
    try:
        number = float(value)
        if not attribute.wide:
            convert(dtype, number)
        held = float(attribute.held(dtype, number))
        if attribute.legal.holds(held) and math.isinf(held) == math.isinf(number):
            legal = held if attribute.stored else number
            return legal + 0.0  # equal attributes make equal descriptors, so -0.0 must be 0.0
    except Exception:  # noqa: BLE001, S110 - a number of another library may raise anything; explained below
        pass
    place = "float64" if attribute.wide else dtype if attribute.stored else f"the compute type of {dtype}"
    message = f"{op}: {attribute.name} is {glimpse(value)}, needs {attribute.legal.value.format(place)}; give one that it holds"
    raise ValueError(message)
