"""Where: the walk of elementwise kernels over four operands; numbers are elements that stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ep_primitives import Where

import ep
from ep_cpu.families.elementwise import VectorLoop, geometry_of
from ep_cpu.kernel import Plan, PlanKernel
from ep_cpu.numbers import number_bytes

if TYPE_CHECKING:
    from ep_cpu.launch import Loop
    from ep_cpu.numbers import Numbers

__all__ = ["IMPLEMENTATIONS", "VectorSelect"]


class VectorSelect(VectorLoop):
    """Choices without branches, a vectorised loop for each size of elements; any strides, of any instruction set."""

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Loop) -> ep.Kernel:
        is_number = tuple([isinstance(spec, ep.Scalar) for spec in descriptor.specs])
        if not any(is_number):
            return super().create(descriptor, device, code)
        places = tuple([place for place, is_one in enumerate(is_number) if not is_one])
        _, a, b, _ = is_number
        plan = Plan("ep_geometry", geometry_of(descriptor, code), places, _numbers(code.number, (a, b)))
        return PlanKernel(code.native, self.row(descriptor), plan)


def _numbers(dtype: str, is_number: tuple[bool, bool]) -> Numbers:
    """Return what packs the numbers of a launch, of which those of a and of b have places of their own."""

    def packed(scalars: tuple[Any, ...]) -> bytes:
        given = iter(scalars)
        return b"".join([number_bytes(dtype, next(given) if is_one else 0) for is_one in is_number])

    return packed


IMPLEMENTATIONS: Final = {Where: (VectorSelect(),)}
