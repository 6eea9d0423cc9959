"""Where: the walk of elementwise kernels over four operands; numbers are elements that stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Where

import ep
from ep_cpu.families.elementwise import VectorLoop, geometry_of
from ep_cpu.kernel import Plan, PlanKernel
from ep_cpu.numbers import numbers_of

if TYPE_CHECKING:
    from ep_cpu.launch import Loop

__all__ = ["IMPLEMENTATIONS", "VectorSelect"]


class VectorSelect(VectorLoop):
    """Choices without branches, a vectorised loop for each size of elements; any strides, of any instruction set."""

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Loop) -> ep.Kernel:
        numbers = [place for place, spec in enumerate(descriptor.specs) if isinstance(spec, ep.Scalar)]
        if not numbers:
            return super().create(descriptor, device, code)
        fields = geometry_of(descriptor, code) | {"scalar": sum(1 << place for place in numbers)}
        plan = Plan("ep_geometry", fields, numbers_of(code.number, len(numbers)))
        return PlanKernel(code.native, self.row(descriptor), plan, [True] * (len(descriptor.specs) - len(numbers)))


IMPLEMENTATIONS: Final = {Where: (VectorSelect(),)}
