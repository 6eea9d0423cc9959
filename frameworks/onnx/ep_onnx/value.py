"""The value of a model's name while it is planned: elements in a buffer; the host may know their content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from ep.layout.views import indexed, permuted, reshaped

from ep import TensorSpec
from ep_onnx.elements import held, narrow_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    import ep

    Array = NDArray[Any]

__all__ = ["Buffer", "Value", "strided"]


class Buffer:
    """Bytes that steps read and write. It gets its memory at the end of planning.

    number  : its place among all buffers of a plan, which is the same whenever the model is planned for the same inputs
    source  : the name of the model's input that is uploaded into it, or None
    content : the constant that is uploaded into it once a step needs it, or None
    values  : the Values that still use it; a buffer without any after a segment may share its bytes with another
    """

    __slots__ = ("content", "memory", "nbytes", "number", "source", "values")

    def __init__(self, nbytes: int, number: int = -1, source: str | None = None) -> None:
        self.nbytes = nbytes
        self.number = number
        self.source = source
        self.content: Value | None = None
        self.memory: ep.Memory | None = None
        self.values: WeakSet[Value] = WeakSet()


class Value:
    """A tensor of the plan.

    spec    : how it lies in its buffer
    array   : its content if the host knows it, because it is a constant or the host has read it; else None
    element : ONNX's element type where EP's holds a narrower one, else None

    `instead` has functions that make the value and the next operation in one step in place of two: by "scale" (a factor
    and an offset for each channel), "bias" (one for each column) and "activation" (its name); and "place" makes the value
    itself where another one lies. The first step then falls away, because nothing reads its result.
    `is_read` is true where the array is the content of one run, which the host has read, or worked out from such: devices
    compute with it all the same.
    `is_lasting` is true of constants that do not depend on the shapes of inputs: weights, and constants made of them.
    """

    __slots__ = ("__weakref__", "_buffer", "array", "element", "instead", "is_lasting", "is_read", "spec")

    def __init__(
        self, spec: TensorSpec, buffer: Buffer | None = None, array: Array | None = None, element: int | None = None
    ) -> None:
        self.spec = spec
        self.array = array
        self.element = element
        self.instead: dict[str, Callable[..., Value]] = {}
        self.is_lasting = False
        self.is_read = False
        self._buffer = buffer
        if buffer is not None:
            buffer.values.add(self)

    @classmethod
    def of(cls, array: Array, element: int | None = None) -> Value:
        """Return a constant."""
        return cls(TensorSpec(array.dtype.name, array.shape), None, array, element)

    @classmethod
    def read(cls, array: Array, where: str) -> Value:
        """Return a constant with the elements of an array of ONNX's. Raises LackingError for types that EP cannot hold."""
        return cls.of(held(array, where), narrow_of(array))

    @property
    def buffer(self) -> Buffer | None:
        """Where its elements lie, None for a constant that no step has read so far."""
        return self._buffer

    @buffer.setter
    def buffer(self, buffer: Buffer) -> None:
        self._buffer = buffer
        buffer.values.add(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self.spec.shape

    @property
    def dtype(self) -> str:
        """The element type of EP that holds its elements."""
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return self.spec.ndim

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self.spec.size

    @property
    def is_constant(self) -> bool:
        """True of a content that all runs of a plan have."""
        return self.array is not None and not self.is_read

    @property
    def is_on_device(self) -> bool:
        """True of elements that steps write or the caller uploads, whether or not the host has read them."""
        return self.array is None or (self.is_read and self._buffer is not None and self._buffer.content is None)

    def seen(self, spec: TensorSpec, array: Array | None = None) -> Value:
        """Return other elements of the same buffer."""
        made = Value(spec, self._buffer, array, self.element)
        made.is_read = self.is_read and array is not None
        return made

    def __getitem__(self, index: Any) -> Value:
        """Return a part: integers, slices and `...`, as of a NumPy array."""
        return self._viewed(lambda: indexed(self.spec, index), lambda array: array[index])

    def permute(self, axes: Sequence[int]) -> Value:
        """Return the value whose dimension i is dimension axes[i] of this one."""
        return self._viewed(lambda: permuted(self.spec, axes), lambda array: array.transpose(axes))

    def reshape(self, shape: Sequence[int]) -> Value:
        """Return the same elements with other extents. Raises ValueError where strides cannot say that."""
        return self._viewed(lambda: reshaped(self.spec, shape), lambda array: array.reshape(shape))

    def expand(self, shape: Sequence[int]) -> Value:
        """Return the value repeated along new and unit dimensions, by strides of 0."""
        spec = self.spec
        lead = len(shape) - spec.ndim
        if lead < 0 or any(extent not in {1, wanted} for extent, wanted in zip(spec.shape, shape[lead:], strict=True)):
            message = f"shape {spec.shape} cannot be repeated to {tuple(shape)}"
            raise ValueError(message)
        strides = [0] * lead + [
            0 if extent == 1 and wanted != 1 else stride
            for extent, wanted, stride in zip(spec.shape, shape[lead:], spec.strides, strict=True)
        ]
        spread = TensorSpec(spec.dtype, tuple(shape), tuple(strides), spec.offset)
        return self._viewed(lambda: spread, lambda array: np.broadcast_to(array, shape))

    def windows(self, extents: Sequence[int], strides: Sequence[int], offset: int = 0) -> Value:
        """Return any elements of the buffer: an offset from the first one, extents and strides, in elements."""
        spec = TensorSpec(self.dtype, tuple(extents), tuple(strides), self.spec.offset + offset)
        if self.is_on_device:
            return self.seen(spec)
        return self._viewed(lambda: spec, lambda array: strided(np.ascontiguousarray(array).reshape(-1), spec))

    def _viewed(self, spec: Callable[[], TensorSpec], content: Callable[[Array], Array]) -> Value:
        """Return other elements as strides of the buffer; those that are nowhere but on the host as an array of their own."""
        array = None if self.array is None else content(self.array)
        if array is None or self.is_on_device:
            return self.seen(spec(), array)
        made = Value.of(array, self.element)
        made.is_read = self.is_read
        return made

    def __repr__(self) -> str:
        known = " known" if self.array is not None else ""
        return f"<Value {self.spec!r}{known}>"


def strided(flat: Array, spec: TensorSpec) -> Array:
    """Return the elements of a flat array that a spec describes."""
    if not spec.size:
        return np.empty(spec.shape, flat.dtype)
    strides = [stride * flat.itemsize for stride in spec.strides]
    return np.lib.stride_tricks.as_strided(flat[spec.offset :], spec.shape, strides).copy()
