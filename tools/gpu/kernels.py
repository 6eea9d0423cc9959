"""Launch a kernel of each family that shares memory or meets at barriers on cuda:0, for compute-sanitizer: see check.sh."""  # noqa: INP001 - a script, no package

from __future__ import annotations

import ep

_FAMILIES = (
    "softmax",
    "log_softmax_backward",
    "reduce",
    "arg_reduce",
    "scan",
    "matmul",
    "top_k",
    "layer_norm",
    "copy",
    "elementwise_unary",
)


def main() -> None:
    """Launch one descriptor of each family in float32; the contents of operands are of no account."""
    device = ep.device("cuda:0")
    stream = device.stream()
    for name in _FAMILIES:
        family = ep.families()[name]
        cells = [cell for cell in family.cells() if str(cell).split("/")[2].startswith("float32")]
        for descriptor in dict.fromkeys(family.sample(cell) for cell in cells):
            operands = {
                role: 1 if isinstance(spec, ep.Scalar) else device.allocate(spec.hi * spec.itemsize)
                for role, spec in descriptor.present.items()
            }
            for memory in operands.values():
                if isinstance(memory, ep.Memory):
                    stream.fill(memory, b"\0")
            descriptor.on(device)(stream, **operands)
            stream.synchronize()
    print(f"{', '.join(_FAMILIES)}: done")  # noqa: T201 - a script


if __name__ == "__main__":
    main()
