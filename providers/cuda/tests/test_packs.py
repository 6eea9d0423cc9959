"""Packs: what groups of an emulated GPU fetch and store as words has the CPU's bits, wherever operands begin and however rows lie."""

from __future__ import annotations

TEXT = """
import ep, ml_dtypes, numpy as np
from ep_primitives import AddN, BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill, Gather, OneHot, Pad, Permute, Where
RNG = np.random.default_rng(7)
N = 9001  # two groups of the narrowest type, and some elements more
def spec(dtype, *shape, offset=0, pitch=0):
    strides = None if not pitch else (pitch, 1)
    return ep.TensorSpec(dtype, shape, strides, offset)
def results(descriptor, given):
    found = []
    for name in ("cuda:0", "cpu:0"):
        device = ep.device(name)
        stream = device.stream()
        operands = {role.name: device.allocate(max(each.nbytes, 1)) for role, each in descriptor.tensors if each is not None}
        for role, memory in operands.items():
            stream.fill(memory, b"\\0")
            if role in given:
                stream.upload(memory, given[role][: memory.nbytes])
        numbers = {role.name: 3 + at for at, (role, each) in enumerate(descriptor.numbers) if each is not None}
        descriptor.on(device)(stream, **operands, **numbers)
        out = np.empty(operands[[*descriptor.outputs][0]].nbytes, np.uint8)
        stream.download(out, operands[[*descriptor.outputs][0]])
        stream.synchronize()
        found.append(out)
    return found
DATA = RNG.uniform(-2, 2, 1 << 16)
BYTES = {
    "float32": DATA.astype(np.float32).view(np.uint8),
    "bfloat16": DATA.astype(ml_dtypes.bfloat16).view(np.uint8),
    "int8": (DATA * 50).astype(np.int8).view(np.uint8),
    "int64": RNG.integers(0, 40, 1 << 12).view(np.uint8),
    "bool": RNG.integers(0, 2, 1 << 16).astype(np.uint8),
}
CASES = []
for dtype in ("float32", "bfloat16", "int8"):
    for offset in (0, 1):
        x, out = spec(dtype, N, offset=offset), spec(dtype, N, offset=16 - offset)
        CASES.append((ElementwiseUnary("abs", x=x, out=out), {"x": dtype}))
        CASES.append((Copy(x=x, out=out), {"x": dtype}))
        CASES.append((AddN.infer(x, x, x, out=out), {"x0": dtype, "x1": dtype, "x2": dtype}))
        for columns in (64, 61):
            a, b = spec(dtype, 40, columns, offset=offset, pitch=64 + 16), spec(dtype, columns, offset=16)
            gaps = spec(dtype, 40, columns, offset=offset, pitch=64 + 16)  # which stay as they are
            CASES.append((BroadcastBinary("add", a=a, b=b, out=gaps), {"a": dtype, "b": dtype}))
            CASES.append((BroadcastBinary.infer("mul", a, spec(dtype, 40, 1)), {"a": dtype, "b": dtype}))
            CASES.append((Gather.infer(a, spec("int64", 70), axis=0), {"x": dtype, "indices": "int64"}))
            CASES.append((OneHot.infer(spec("int64", 40), dtype, columns), {"indices": "int64"}))
            for op in ("constant", "reflect"):
                CASES.append((Pad.infer(op, spec(dtype, 3, 13, columns, offset=offset), (0, 2, 1), (0, 0, 2)), {"x": dtype}))
            holds, row = spec("bool", 40, columns, offset=offset), spec(dtype, columns)
            chosen = {"condition": "bool", "a": dtype, "b": dtype}
            CASES.append((Where(condition=holds, a=a, b=row, out=gaps), chosen))
        holds, number = spec("bool", N, offset=offset), ep.Scalar(dtype)
        for sides in ((x, x), (number, x), (x, number), (number, number)):
            CASES.append((Where(condition=holds, a=sides[0], b=sides[1], out=out), chosen))
        CASES.append((Fill(value=number, out=out), {}))
    CASES.append((Permute.infer(spec(dtype, 6, 5, 64), (1, 0, 2)), {"x": dtype}))
    CASES.append((Cast.infer(spec(dtype, N), "float16"), {"x": dtype}))
CASES.append((ElementwiseUnary.infer("gelu", spec("bfloat16", N)), {"x": "bfloat16"}))
CASES.append((BroadcastBinary.infer("sub", ep.Scalar("float32"), spec("float32", N)), {"b": "float32"}))
wrong = []
for descriptor, given in CASES:
    cuda, cpu = results(descriptor, {name: BYTES[dtype] for name, dtype in given.items()})
    if not np.array_equal(cuda, cpu):
        wrong.append((str(descriptor), int(np.argmax(cuda != cpu))))
print(len(CASES), wrong)
"""


def test_bits_are_those_of_the_cpu(run, emulated):
    done = run("-c", TEXT, driver=emulated)
    assert done.stdout.split(maxsplit=1)[1:] == ["[]\n"], done.stdout + done.stderr
