"""Acme's implementations: three primitives, in Python loops."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from ep_primitives import Copy, ElementwiseUnary

import ep
from ep_acme.rms_norm import RmsNorm
from ep_acme.stream import content

Element = Callable[[Any], Any]


class LoopKernel(ep.Kernel):
    """out[i] = function(x[i]) for every index of the geometry; elements are seen in a memoryview format."""

    def __init__(self, descriptor: ep.Descriptor, layout: str, function: Element) -> None:
        self.geometry = descriptor.geometry
        self.format = layout
        self.function = function

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        x, out = (whole_elements(memory, self.format) for memory in memories)
        for source, target in zip(places(self.geometry, 0), places(self.geometry, 1), strict=True):
            out[target] = self.function(x[source])


class CopyKernel(ep.Kernel):
    """out[i] = x[i] for every index of the geometry, byte by byte."""

    def __init__(self, descriptor: Copy) -> None:
        self.geometry = descriptor.geometry
        self.size = descriptor.out.itemsize

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        x, out = map(content, memories)
        size = self.size
        for source, target in zip(places(self.geometry, 0), places(self.geometry, 1), strict=True):
            out[target * size : (target + 1) * size] = x[source * size : (source + 1) * size]


class RmsNormKernel(ep.Kernel):
    """Each row divided by the root of its mean square, and scaled; of rows, so the specs themselves say where they are."""

    def __init__(self, descriptor: RmsNorm) -> None:
        self.specs: Any = descriptor.specs
        self.epsilon = descriptor.attributes[0]

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        del stream, scalars
        buffers: Any = (whole_elements(memory, "f") for memory in memories)
        x, scale, out = buffers
        x_spec, scale_spec, out_spec = self.specs
        scales = [scale[place] for place in row_places(scale_spec, ())]
        for row in itertools.product(*map(range, out_spec.shape[:-1])):
            values = [x[place] for place in row_places(x_spec, row)]
            root = math.sqrt(sum(value * value for value in values) / len(values) + self.epsilon)
            for place, value, factor in zip(row_places(out_spec, row), values, scales, strict=True):
                out[place] = value / root * factor


class LoopCopy(ep.Implementation):
    """Copies elements of any type, any strides."""

    def accepts(self, descriptor: Copy, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True

    def create(self, descriptor: Copy, device: ep.spi.Device, code: None) -> ep.Kernel:
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

    def create(self, descriptor: ElementwiseUnary, device: ep.spi.Device, code: None) -> ep.Kernel:
        del device, code
        return LoopKernel(descriptor, "f", self._OPS[descriptor.op])


class LoopRmsNorm(ep.Implementation):
    """RmsNorm on float32, any strides."""

    def accepts(self, descriptor: RmsNorm, info: ep.DeviceInfo) -> bool:
        del info
        if descriptor.out.dtype != "float32":
            message = f"rms_norm on {descriptor.out.dtype}; float32 is done"
            raise ep.UnsupportedError(message)
        return True

    def create(self, descriptor: RmsNorm, device: ep.spi.Device, code: None) -> ep.Kernel:
        del device, code
        return RmsNormKernel(descriptor)


def places(geometry: ep.Geometry, operand: int) -> Iterator[int]:
    """Yield the element that each index of the geometry names in an operand."""
    start, strides = geometry.offsets[operand], geometry.strides[operand]
    for index in itertools.product(*map(range, geometry.shape)):
        yield start + sum(i * stride for i, stride in zip(index, strides, strict=True))


def row_places(spec: ep.TensorSpec, row: tuple[int, ...]) -> list[int]:
    """Return the elements of a tensor's row, which all its indices but the last name."""
    start = spec.offset + sum(i * stride for i, stride in zip(row, spec.strides, strict=False))
    return [start + column * spec.strides[-1] for column in range(spec.shape[-1])]


def whole_elements(memory: ep.Memory, layout: Any) -> memoryview:
    """Return a memory as elements of a memoryview format."""
    view = content(memory)
    return view[: view.nbytes // (size := memoryview(b"").cast(layout).itemsize) * size].cast(layout)


IMPLEMENTATIONS = {
    Copy: (LoopCopy(),),
    ElementwiseUnary: (LoopUnary(),),
    RmsNorm: (LoopRmsNorm(),),
}
