"""Launch each kernel that the provider claims on opencl:0 once, and streams' and graphs' own work, under a checker.

    oclgrind --data-races --uninitialized python providers/opencl/tests/claimed_kernels.py [FAMILY | CELLS ...]

A family is one of `ep.families()`; cells are a pattern as in claims, such as 'copy/*/float32/*'; "runtime" is fills, copies and graphs; "fault" is a kernel that races, writes out of
bounds and reads what nobody wrote, which the checker must report. Without one: all that have no fault.
"""

from __future__ import annotations

import sys

import ep_simt
import numpy as np
import pyopencl as cl
from ep.layout.cells import matches
from ep.plugin.claims import read_claims

import ep

ELEMENTS = 3 * 256 + 5  # of an operand that no family shapes: more than three groups, and one that is not full

UNKNOWN = "elementwise_unary/abs/int*/*"
"""Cells whose kernels LLVM makes `llvm.abs` of, which Oclgrind 21.10 does not know; conformance tries them, by red zones."""

GROUPS = {"top_k": 32}
"""Work-items in a group of families whose work grows with the square of it: of 256, top_k's kernels were stopped after half an hour."""

FAULT = """
__kernel void fault(__global int *out, const int n) {
    out[n] = 1;
    if (get_global_id(0) < 2) out[0] = get_global_id(0);
    if (out[2] != 7) out[3] = 1;
}
"""


class Kernels:
    """A device with a stream, and launches on it."""

    def __init__(self) -> None:
        self.device = ep.device("opencl:0")
        self.device.twin.is_cpu = False
        # One element an item and full groups: more items that might meet. Of packs LLVM makes integers of 16 bytes, which
        # Oclgrind does not know; the emulated CUDA driver tries these.
        self.device.twin.target = ep_simt.GPU._replace(spread=0)
        self.stream = self.device.stream()
        self.rng = np.random.default_rng(0)
        self.launched = 0

    def holding(self, nbytes: int) -> ep.Memory:
        memory = self.device.allocate(nbytes)
        self.stream.upload(memory, self.rng.integers(0, 60, nbytes, np.uint8))
        return memory

    def launch(self, descriptor: ep.Descriptor) -> None:
        operands = {
            name: 1 if isinstance(spec, ep.Scalar) else self.holding(spec.hi * spec.itemsize)
            for name, spec in descriptor.present.items()
        }
        descriptor.on(self.device)(self.stream, **operands)
        self.stream.synchronize()
        self.launched += 1

    def cells(self, pattern: str) -> None:
        """Launch one descriptor for each kernel key of these cells that is claimed."""
        name = pattern.partition("/")[0]
        family, twin = ep.families()[name], self.device.twin
        twin.target = twin.target._replace(group=GROUPS.get(name, ep_simt.GPU.group))
        claims = read_claims(self.device.provider.manifest.claims)
        descriptors = {}
        for cell in family.cells():
            is_claimed = claims.covers(str(cell), family.since(cell), self.device.info.features)
            if is_claimed and matches(pattern, str(cell)) and not matches(UNKNOWN, str(cell)):
                descriptor = family.sample(cell)
                descriptors.setdefault(descriptor.key, descriptor)
        for descriptor in descriptors.values():
            self.launch(descriptor)

    def runtime(self) -> None:
        """Fill, copy and replay: through the verbs, through a graph as captured, and with other memory in a slot."""
        one, other, third = (self.holding(4 * ELEMENTS) for _ in range(3))
        whole = ep.TensorSpec("float32", (ELEMENTS,))
        add = ep.families()["broadcast_binary"].descriptor.infer("add", whole, whole).on(self.device)
        self.stream.fill(one[4:], b"\1\2\3\4")
        self.stream.copy(one[8:512], other[12:516])
        with self.stream.capture() as graph:
            self.stream.fill(one[:256], b"\5")
            self.stream.copy(other[256:512], one[:256])
            add(self.stream, a=one, b=other, out=other)
            add(self.stream, a=other, b=one, out=one)
        graph.slot("x", other)
        for bound in ({}, {}, {"x": third}):
            graph.launch(self.stream, **bound)
            self.stream.synchronize()
            self.launched += 1

    def fault(self) -> None:
        """Race for an element, write one past the end, and ask for one that nobody wrote."""
        memory = self.device.allocate(self.device.info.alignment)
        kernel = cl.Program(self.device.twin.context, FAULT).build().fault
        kernel(self.stream.twin.queue, (256,), (256,), memory.handle, np.int32(memory.nbytes // 4))
        self.stream.twin.queue.finish()
        self.launched += 1


def main(names: list[str]) -> None:
    kernels = Kernels()
    known = {"runtime": kernels.runtime, "fault": kernels.fault}
    for name in names or [*ep.families(), "runtime"]:
        known[name]() if name in known else kernels.cells(name if "/" in name else f"{name}/*/*/*")
    print(f"{kernels.launched} launches on {kernels.device.info.name}")  # noqa: T201 - a script, too


if __name__ == "__main__":
    main(sys.argv[1:])
