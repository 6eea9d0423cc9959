"""A Trace is the plan while it is made: rules write steps into it, and ask it for contents that shapes depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from ep.layout.spec import Scalar
from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill, Matmul, Pad, Reduce, Where

from ep import TensorSpec, UnsupportedError
from ep_onnx.value import Buffer, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    import ep
    from ep_onnx.graph import Node

    Array = NDArray[Any]

__all__ = ["Host", "Step", "Trace"]


class Step(NamedTuple):
    """One launch of a plan.

    operands : buffers and numbers under the keywords of the primitive
    node     : the node's name in the model
    """

    primitive: ep.Primitive
    operands: dict[str, Any]
    node: str

    @property
    def buffers(self) -> list[tuple[bool, Buffer]]:
        """The buffers that it touches, each after True if it writes there."""
        written = self.primitive.asked.written
        return [(name in written, each) for name, each in self.operands.items() if isinstance(each, Buffer)]


class Host(Protocol):
    """The plan's answers to a trace while it is written."""

    def ask(self, value: Value) -> Array:
        """Return the content of a value; all steps so far may have to run for that."""

    def generator(self) -> Value:
        """Return the state of random numbers."""

    def made(self, buffer: Buffer) -> None:
        """Take notice of a new buffer."""


class Trace:
    """Steps of a plan on one device, in the order in which they run.

    node    : of the model, whose steps are written
    lacking : a sentence for each descriptor that the device refuses, by node and cell; their steps are left out
    """

    def __init__(self, device: ep.Device, host: Host) -> None:
        self.device = device
        self.steps: list[Step] = []
        self.lacking: dict[tuple[str, str], str] = {}
        self.node: Node | None = None
        self._host = host
        self._numbers = 0

    @property
    def generator(self) -> Value:
        """The state of the session's random numbers."""
        return self._host.generator()

    def buffer(self, nbytes: int, source: str | None = None) -> Buffer:
        """Return new bytes."""
        self._numbers += 1
        buffer = Buffer(nbytes, self._numbers, source)
        self._host.made(buffer)
        return buffer

    def empty(self, dtype: str, shape: Sequence[int]) -> Value:
        """Return a dense value that nothing has written yet."""
        spec = TensorSpec(dtype, tuple(shape))
        return Value(spec, self.buffer(spec.nbytes))

    def full(self, dtype: str, shape: Sequence[int], number: Any) -> Value:
        """Return a dense value that holds one number everywhere."""
        spec = TensorSpec(dtype, tuple(shape))
        return self.emit(Fill.infer(spec), value=number)

    def constant(self, content: Any, dtype: str | None = None) -> Value:
        """Return a value with a content that is known while planning."""
        return Value.of(np.asarray(content, dtype))

    def known(self, value: Value) -> bool:
        """Say whether the content of a value is known without asking for it."""
        return value.array is not None

    def host(self, value: Value) -> Array:
        """Return the content of a value, since shapes or the steps to come depend on it."""
        if value.array is None:
            value.array, value.is_read = self._host.ask(value), True
        return value.array

    def number(self, value: Value | None) -> Any:
        """Return the one number that a value holds, None where it holds several or is not known."""
        if value is None or value.array is None or value.size != 1:
            return None
        return value.array.item()

    # Steps.

    def launch(self, descriptor: ep.Descriptor, **operands: Any) -> dict[str, Value]:
        """Append one step, and return its outputs by name: the given values, else new ones."""
        made = {
            name: operands.get(name) or Value(spec, self.buffer(spec.nbytes))
            for name, spec in descriptor.outputs.items()
        }
        given = {name: each for name, each in {**operands, **made}.items() if each is not None}
        if descriptor.is_empty:
            return made
        node = self.node.title if self.node is not None else "the plan"
        try:
            primitive = descriptor.on(self.device)
        except UnsupportedError as error:
            self.lacking.setdefault((node, descriptor.cell), str(error))
            return made
        placed = {name: self._place(each) if isinstance(each, Value) else each for name, each in given.items()}
        self.steps.append(Step(primitive, placed, node))
        return made

    def emit(self, descriptor: ep.Descriptor, out: Value | None = None, **operands: Any) -> Value:
        """Append one step of an operation with one output and return that."""
        (name,) = descriptor.outputs
        return self.launch(descriptor, **operands, **{name: out})[name]

    def _place(self, value: Value) -> Buffer:
        buffer = value.buffer
        if buffer is None:
            buffer = value.buffer = Buffer(value.spec.nbytes)
            buffer.content = Value(value.spec, None, value.array)
        return buffer

    # The operations that most rules are made of.

    def unary(self, op: str, x: Value, *, out: Value | None = None, **attributes: float) -> Value:
        """Append out = op(x)."""
        made = self.emit(ElementwiseUnary.infer(op, x.spec, out=out and out.spec, **attributes), out, x=x)
        if out is None:
            made.instead["place"] = lambda place: self.unary(op, x, out=place, **attributes)
        return made

    def binary(self, op: str, a: Value, b: Value, *, out: Value | None = None, **attributes: float) -> Value:
        """Append out = op(a, b), with the broadcasting of NumPy; a constant of one element becomes a number."""
        left, right = self._sides(a, b)
        specs = [
            Scalar(each.dtype) if type(given) is not Value else each.spec for each, given in ((a, left), (b, right))
        ]
        return self.emit(BroadcastBinary.infer(op, *specs, out=out and out.spec, **attributes), out, a=left, b=right)

    def where(self, condition: Value, a: Value, b: Value) -> Value:
        """Append out = a where the condition is true, else b."""
        shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
        sides: list[Any] = [a, b]
        for place, other in ((0, b), (1, a)):
            rest = [each.shape for each in (condition, other) if isinstance(each, Value) and sides[1 - place] is other]
            number = self.number(sides[place])
            if number is not None and np.broadcast_shapes(condition.shape, *rest) == shape:
                sides[place] = number
        specs = [each.spec if isinstance(each, Value) else Scalar(a.dtype) for each in sides]
        made = self.emit(Where.infer(condition.spec, *specs), None, condition=condition, a=sides[0], b=sides[1])
        made.element = a.element if a.element == b.element else None
        return made

    def cast(self, x: Value, dtype: str) -> Value:
        """Append a conversion to another element type; x itself where it has it."""
        if x.dtype == dtype:
            return x
        return self.emit(Cast.infer(x.spec, dtype), None, x=x)

    def copy(self, x: Value, out: Value | None = None) -> Value:
        """Append out = x, into a dense value where none is given."""
        made = self.emit(Copy.infer(x.spec, out=out and out.spec), out, x=x)
        made.element = x.element
        return made

    def dense(self, x: Value) -> Value:
        """Return x with contiguous elements: x itself if it has them."""
        return x if x.spec.is_dense else self.copy(x)

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """Return the elements of x with other extents, moved only where strides cannot say it."""
        try:
            return x.reshape(shape)
        except ValueError:
            return self.copy(x).reshape(shape)

    def reduce(
        self, op: str, x: Value, axes: Sequence[int] | None, *, keeps: bool = True, dtype: str | None = None
    ) -> Value:
        """Append a reduction along axes, None for all."""
        return self.emit(Reduce.infer(op, x.spec, axes, keepdims=keeps, dtype=dtype), None, x=x)

    def matmul(  # noqa: PLR0913 - as the primitive's
        self,
        a: Value,
        b: Value,
        *,
        bias: Value | None = None,
        alpha: float = 1.0,
        out: Value | None = None,
        activation: str = "none",
    ) -> Value:
        """Append out = activation(alpha a @ b + bias)."""
        descriptor = Matmul.infer(a.spec, b.spec, bias=bias and bias.spec, out=out and out.spec, activation=activation)
        return self.emit(descriptor, out, a=a, b=b, bias=bias, alpha=alpha)

    def pad(
        self, x: Value, before: Sequence[int], after: Sequence[int], value: Any = 0, mode: str = "constant"
    ) -> Value:
        """Append x with its borders continued; x itself where nothing is to be added."""
        if not any(before) and not any(after):
            return x
        numbers = {"value": value} if mode == "constant" else {}
        made = self.emit(Pad.infer(mode, x.spec, before, after), None, x=x, **numbers)
        made.element = x.element
        return made

    def joined(self, parts: Sequence[Value], axis: int, owned: Sequence[bool] | None = None) -> Value:
        """Append the parts joined along an axis; those that are `owned`, because nothing else reads them, are made there."""
        first = parts[0]
        extent = sum(part.shape[axis] for part in parts)
        out = self.empty(first.dtype, (*first.shape[:axis], extent, *first.shape[axis + 1 :]))
        begin, lead = 0, (slice(None),) * axis
        for part, is_owned in zip(parts, owned or [False] * len(parts), strict=True):
            end = begin + part.shape[axis]
            if part.size:
                place = out[(*lead, slice(begin, end))]
                if is_owned and "place" in part.instead:
                    part.instead["place"](place)
                else:
                    self.copy(part, place)
            begin = end
        out.element = first.element
        return out

    def _sides(self, a: Value, b: Value) -> tuple[Any, Any]:
        """Return the operands, one of them as a number where it is a constant of one element and the other has the shape."""
        shape = np.broadcast_shapes(a.shape, b.shape)
        if a.shape == shape and (number := self.number(b)) is not None:
            return a, number
        if b.shape == shape and (number := self.number(a)) is not None:
            return number, b
        return a, b
