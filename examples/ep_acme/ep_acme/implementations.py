"""What acme can do: two primitives, in Python loops over the merged geometry."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ep_primitives import Copy, ElementwiseUnary

import ep
from ep_acme.stream import content

Element = Callable[[Any], Any]


class LoopKernel(ep.Kernel):
    """out[i] = function(x[i]) for every index of the geometry; elements are seen in a memoryview format."""

    def __init__(self, descriptor: ep.Descriptor, layout: str, function: Element) -> None:
        self.geometry = descriptor.geometry
        self.format = layout
        self.function = function

    def launch(self, stream: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        x, out = (whole_elements(memory, self.format) for memory in memories)
        for source, target in zip(places(self.geometry, 0), places(self.geometry, 1), strict=True):
            out[target] = self.function(x[source])


class CopyKernel(ep.Kernel):
    """out[i] = x[i] for every index of the geometry, byte by byte."""

    def __init__(self, descriptor: Copy) -> None:
        self.geometry = descriptor.geometry
        self.size = descriptor.out.itemsize

    def launch(self, stream: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        x, out = map(content, memories)
        size = self.size
        for source, target in zip(places(self.geometry, 0), places(self.geometry, 1), strict=True):
            out[target * size : (target + 1) * size] = x[source * size : (source + 1) * size]


class LoopCopy(ep.Implementation):
    """Copies elements of any type, any strides."""

    def accepts(self, descriptor: Copy, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def create(self, descriptor: Copy, device: ep.Device, code: None) -> ep.Kernel:
        del device, code
        return CopyKernel(descriptor)


class LoopUnary(ep.Implementation):
    """Two unary ops on float32, any strides."""

    _OPS: dict[str, Element] = {  # noqa: RUF012 - a constant
        "relu": lambda x: 0.0 if x <= 0 else x,
        "negative": lambda x: -x,
    }

    def accepts(self, descriptor: ElementwiseUnary, info: ep.DeviceInfo) -> bool:
        del info
        dtypes = {spec.dtype for spec in descriptor.specs}
        if descriptor.op not in self._OPS or dtypes != {"float32"}:
            message = f"{descriptor.op} on {', '.join(sorted(dtypes))}; {', '.join(self._OPS)} on float32 are done"
            raise ep.UnsupportedError(message)
        return True

    def create(self, descriptor: ElementwiseUnary, device: ep.Device, code: None) -> ep.Kernel:
        del device, code
        return LoopKernel(descriptor, "f", self._OPS[descriptor.op])


def places(geometry: ep.Geometry, operand: int) -> Iterator[int]:
    """Yield the element that each index of the geometry names in an operand."""
    start, strides = geometry.offsets[operand], geometry.strides[operand]
    for index in itertools.product(*map(range, geometry.shape)):
        yield start + sum(i * stride for i, stride in zip(index, strides, strict=True))


def whole_elements(memory: ep.Memory, layout: Any) -> memoryview:
    """Return a memory as elements of a memoryview format."""
    view = content(memory)
    return view[: view.nbytes // (size := memoryview(b"").cast(layout).itemsize) * size].cast(layout)


IMPLEMENTATIONS = {
    Copy: (LoopCopy(),),
    ElementwiseUnary: (LoopUnary(),),
}
