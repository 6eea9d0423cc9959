"""Launch kernels of every family on cuda:0, one for each op, layout and form, for compute-sanitizer: see check.sh."""  # noqa: INP001 - a script, no package

from __future__ import annotations

import ep


def main() -> None:
    """Launch each in float32, or in another type where a family has no such operand; the contents of operands are of no account."""
    device = ep.device("cuda:0")
    stream = device.stream()
    launched = 0
    for family in ep.families().values():
        cells = family.cells()
        of_floats = [cell for cell in cells if str(cell).split("/")[2].startswith("float32")]
        for descriptor in dict.fromkeys(map(family.sample, of_floats or cells)):
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
