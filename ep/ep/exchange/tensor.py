"""A Tensor is a memory with a tensor's spec: one object for launches, `infer` and other libraries."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from ep.exchange import dlpack
from ep.exchange.arrays import array_in, array_of_loan, dense_copy, empty_array
from ep.exchange.export import check_tensor
from ep.exchange.producer import read, spec_of
from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied
from ep.layout import views
from ep.layout.spec import TensorSpec
from ep.memory.memory import Memory
from ep.memory.namesakes import refuse_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep.exchange.arrays import Array
    from ep.layout.memory_kind import MemoryKind
    from ep.stream.device import Device
    from ep.stream.stream import Stream

__all__ = ["Tensor", "empty", "on_the_host", "uploaded"]

_NO_WAIT: Final = -1


@final
class Tensor(Uncopied):
    """A memory with a tensor's spec, made by `device.tensor(array)`, by `device.empty(...)`, or from both by hand.

    memory : a Memory, large enough
    spec   : a TensorSpec

    A launch takes it in place of a memory, and checks that its spec is the descriptor's; `infer` takes it as an array.
    Parts and other shapes are tensors of the same memory: `tensor[1:]`, `reshape`, `permute`. Verbs of streams move
    bytes and take `tensor.memory`.

    close(), or the end of a `with` block, closes the memory and so all of its tensors. Without it the memory is closed
    when its last tensor is gone.
    Raises TypeError or ValueError if the memory does not hold such a tensor.
    """

    __slots__ = ("__weakref__", "memory", "spec")

    __array_ufunc__: Final = None
    """NumPy does not compute with it: it would silently download the tensor and compute on the host."""

    def __init__(self, memory: Memory, spec: TensorSpec) -> None:
        if type(memory) is not Memory:
            message = (
                f"Tensor: memory is {type(memory).__name__}, needs a Memory; device.tensor(array) makes one of an array"
            )
            raise TypeError(message)
        check_tensor("Tensor", memory, spec)
        self.memory = memory
        self.spec = spec

    @property
    def device(self) -> Device:
        """Where it lies."""
        return self.memory.device

    @property
    def dtype(self) -> str:
        """The name of its element type."""
        return self.spec.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self.spec.shape

    def numpy(self, stream: Stream | None = None) -> Array:
        """Return a copy as a dense NumPy array, of ml_dtypes' types where NumPy has none; the host waits until it is there.

        stream : one of its device; the copy comes after that stream's work so far; None: after the work of all its
                 streams

        Raises ClosedError after close(), the error of work that failed.
        """
        self.memory._require_open("Tensor.numpy")
        if stream is None:
            self.device.synchronize()
            with closing(self.device.stream()) as own:
                return self.numpy(own)
        _require_stream("Tensor.numpy", stream)
        return self._downloaded(stream)

    def reshape(self, *shape: int) -> Tensor:
        """Return the same elements in row-major order with other extents, one of which may be -1: it is computed.

        Nothing is moved. Raises ValueError if no strides describe the new shape.
        """
        return Tensor(self.memory, views.reshaped(self.spec, shape))

    def permute(self, *axes: int) -> Tensor:
        """Return the tensor whose dimension i is dimension axes[i] of this one, each named once."""
        return Tensor(self.memory, views.permuted(self.spec, axes))

    @property
    def mT(self) -> Tensor:  # noqa: N802 - as the array API names it
        """The tensor with its last two dimensions swapped."""
        return self.permute(*range(self.spec.ndim - 2), -1, -2)

    def __getitem__(self, index: Any) -> Tensor:
        """Return a part: of each dimension an element (an integer) or a slice, with any step; `...` for all that are left."""
        return Tensor(self.memory, views.indexed(self.spec, index))

    def __len__(self) -> int:
        """Return the extent of the first dimension. Raises TypeError for a tensor of rank 0."""
        if not self.spec.shape:
            message = "tensor: a tensor of rank 0 has no length; look at tensor.shape"
            raise TypeError(message)
        return self.spec.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        """Yield the parts along the first dimension."""
        return (self[place] for place in range(len(self)))

    def __contains__(self, _: object) -> NoReturn:
        """Raise TypeError: `in` would compare with parts, which equal only themselves, and always say no."""
        message = "tensor: `in` was asked for; look for it in tensor.numpy()"
        raise TypeError(message)

    def __bool__(self) -> NoReturn:
        """Raise TypeError: a truth value could mean that the tensor exists, or that its elements are true."""
        message = "tensor: its truth was asked for; ask `tensor is None`, or look at tensor.numpy()"
        raise TypeError(message)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's (device type, device index). Raises UnsupportedError where memory cannot be shown."""
        return self.device.twin.dlpack_device()

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule, as `stream.export` of the same memory and spec does, after the work of all of its streams.

        The host waits for that work, unless `stream` is -1: then the consumer orders its accesses. `stream.export`
        avoids needless waits. Raises as Exported does, ClosedError after close().
        """
        self.memory._require_open("__dlpack__")
        if not (type(stream) is int and stream == _NO_WAIT):
            self.device.synchronize()
        with closing(self.device.stream()) as own:
            shown = own.export(self.memory, self.spec)
            return shown.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise TypeError: an array would be a copy for which the host waits, so a caller asks for it by numpy()."""
        message = "tensor: an array was asked for; give tensor.numpy(), a copy, or numpy.from_dlpack(tensor) where the device has host memory"
        raise TypeError(message)

    def close(self) -> None:
        """Close the memory, as memory.close() does. Idempotent."""
        self.memory.close()

    def __enter__(self) -> Tensor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _downloaded(self, stream: Stream) -> Array:
        spec = self.spec
        if not spec.size:
            return empty_array("Tensor.numpy", spec)
        span = empty_array("Tensor.numpy", TensorSpec(spec.dtype, (spec.hi - spec.lo,)))
        stream.download(span, self.memory[spec.lo * spec.itemsize : spec.nbytes])
        stream.synchronize()
        found = array_in(span, spec)
        return found if spec.is_dense else dense_copy("Tensor.numpy", found)

    def __repr__(self) -> str:
        state = "closed " if self.memory.is_closed else ""
        return f"<{state}Tensor {self.spec!r} on {self.device.name}>"


def empty(device: Device, what: Any, shape: Any, kind: MemoryKind) -> Tensor:
    """Return a tensor with undefined contents. See Device.empty."""
    if type(what) is not TensorSpec:
        if shape is None:
            message = "empty: shape is missing; give an element type and a shape, or a TensorSpec in place of both"
            raise TypeError(message)
        what = TensorSpec(what, shape)
    elif shape is not None:
        message = f"empty: shape {glimpse(shape)} is given beside {what!r}, which has one; leave it out"
        raise TypeError(message)
    return Tensor(device.allocate(what.nbytes, kind), what)


def uploaded(device: Device, array: Any, stream: Stream | None) -> Tensor:
    """Return a dense copy of an array on a device. See Device.tensor."""
    if stream is not None:
        _require_stream("tensor", stream)
        if stream.device is not device:
            refuse_device("tensor", "stream is of", stream.device, device, f"one of {device.name}")
    source = on_the_host("tensor: array", array)
    tensor = Tensor(device.allocate(source.nbytes), TensorSpec(source.dtype.name, source.shape))
    if stream is not None:
        stream.upload(tensor.memory, source)
        return tensor
    with closing(device.stream()) as own:
        own.upload(tensor.memory, source, constant=True)
    return tensor


def on_the_host(where: str, thing: Any) -> Array:
    """Return another library's tensor in host memory as a contiguous array. `where` begins what errors say."""
    import numpy as np  # noqa: PLC0415 - as above

    told, owner = read(thing, where, None, None)
    if told.device[0] not in dlpack.HOST:
        message = f"{where} is on DLPack device type {told.device[0]}, needs host memory; bring it there first, as the numpy() of an ep.Tensor does, or see it in place with ep.view"
        raise ValueError(message)
    array = owner if isinstance(owner, np.ndarray) else array_of_loan(told, spec_of(told, where), owner)
    return array if array.flags.c_contiguous else dense_copy(where, array)


def _require_stream(operation: str, stream: Any) -> None:
    if not hasattr(stream, "_submit"):
        message = f"{operation}: stream is {type(stream).__name__}, needs a Stream; device.stream() makes one"
        raise TypeError(message)
