"""Windows of an image, as native code has them: of Convolution, of Pool, and of the columns that a product makes of an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ep_primitives.sliding.descriptor import SlidingDescriptor

    import ep

__all__ = ["Windows"]


@dataclass(frozen=True)
class Windows:
    """The spatial dimensions, at least two of them: extents of x, counts of y, and how windows lie, in elements."""

    extent: tuple[int, ...]
    before: tuple[int, ...]
    count: tuple[int, ...]
    window: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]

    @classmethod
    def of(cls, descriptor: SlidingDescriptor) -> Windows:
        """Return those of a descriptor; before a single one stands one of extent 1."""
        sliding = descriptor.sliding
        found = cls(
            descriptor.x.shape[2:],
            sliding.before,
            descriptor.out.shape[2:],
            sliding.window,
            sliding.strides,
            sliding.dilations,
        )
        if len(found.extent) > 1:
            return found
        return cls(*((0 if name == "before" else 1, *each) for name, each in vars(found).items()))

    @staticmethod
    def beside(bounds: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return first and last coordinates; before those of a single dimension stand those of one of extent 1."""
        first, last = bounds
        return bounds if len(first) > 1 else ((0, *first), (1, *last))

    def elements(self, lines: int) -> tuple[int, int]:
        """Return how many elements of a channel of x and of y so many windows along the first dimension take."""
        given = places = 1
        for axis, count in enumerate((lines, *self.count[1:])):
            stride = self.stride[axis]
            extent = count - 1 + ((self.window[axis] - 1) * self.dilation[axis] + stride) // stride
            given *= extent * stride
            places *= extent if axis else count
        return given, places

    def steps(self, spec: ep.TensorSpec | None) -> tuple[int, ...]:
        """Return the strides of a tensor's spatial dimensions in bytes; nothing of an absent one."""
        if spec is None:
            return ()
        own = [stride * spec.itemsize for stride in spec.strides[2:]]
        return (*(0,) * (len(self.count) - len(own)), *own)

    def fields(self, x: ep.TensorSpec) -> dict[str, Any]:
        """Return the fields of ep_windows, for windows of x."""
        return {
            "ndim": len(self.count),
            "channel": x.strides[1] * x.itemsize,
            "step": self.steps(x),
            **vars(self),
        }
