"""Launch kernels of every family on cuda:0, of all layouts and forms, for compute-sanitizer: see check.sh."""  # noqa: INP001 - a script, no package

from __future__ import annotations

import ep

_MANY = 32
"""Ops of a family whose kernels are one text about a formula: the first stands for all."""


def main() -> None:
    """Launch each with operands of float32, or where a family has none a result of it; the contents of operands are of no account."""
    device = ep.device("cuda:0")
    stream = device.stream()
    launched = 0
    for family in ep.families().values():
        cells = list(family.cells())
        ops = dict.fromkeys(cell.op for cell in cells)
        if len(ops) > _MANY:
            cells = [cell for cell in cells if cell.op == cells[0].op]
        of_floats = [cell for cell in cells if cell.dtypes.startswith("float32")]
        made = of_floats or [cell for cell in cells if cell.dtypes.endswith("float32")]
        for descriptor in dict.fromkeys(map(family.sample, made)):
            operands = {
                role: 1 if isinstance(spec, ep.Scalar) else device.allocate(spec.hi * spec.itemsize)
                for role, spec in descriptor.present.items()
            }
            for memory in operands.values():
                if isinstance(memory, ep.Memory):
                    stream.fill(memory, b"\0")
            descriptor.on(device)(stream, **operands)
            stream.synchronize()
            launched += 1
    print(f"{len(ep.families())} families, {launched} launches: done")  # noqa: T201 - a script


if __name__ == "__main__":
    main()
