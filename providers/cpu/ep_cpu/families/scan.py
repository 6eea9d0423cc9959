"""Scans: each row in runs of one length, one row at a time or neighbours side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import Scan

from ep_cpu.kernel import Plan, Planned

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["IMPLEMENTATIONS", "RunChains"]

_FEWEST_ROWS: Final = 4
_SHORT: Final = 64
"""Rows of at most so many elements are faster side by side, wherever they lie. Results are the same."""


class RunChains(Planned):
    """Runs scanned one by one and joined to the result before them, whatever the strides and the threads."""

    def plan(self, descriptor: Scan, native: Native) -> Plan:
        geometry, size = descriptor.geometry, descriptor.out.itemsize
        *across, extent = geometry.shape
        strides = [[stride * size for stride in over] for over in geometry.strides]
        offsets, steps = [offset * size for offset in geometry.offsets], [over[-1] for over in strides]
        if descriptor.reverse:
            offsets = [offset + (extent - 1) * step for offset, step in zip(offsets, steps, strict=True)]
            steps = [-step for step in steps]
        how = native.lib.EP_SCAN_ALONG
        if across and across[-1] >= _FEWEST_ROWS:
            if all(over[-2] == size for over in strides) or (extent <= _SHORT and steps != [size, size]):
                how = native.lib.EP_SCAN_ACROSS
            elif steps == [size, size] and extent <= native.lib.EP_SCAN_MOST:
                how = native.lib.EP_SCAN_SHORT
        fields = {
            "exclusive": descriptor.exclusive,
            "how": how,
            "ndim": len(across) or 1,
            "traffic": descriptor.nbytes_moved,
            "extent": extent,
            "offset": offsets,
            "step": steps,
            "shape": across or (1,),
            "stride": [over[:-1] or (0,) for over in strides],
        }
        return Plan("ep_scan_plan", fields)


IMPLEMENTATIONS: Final = {Scan: (RunChains(),)}
