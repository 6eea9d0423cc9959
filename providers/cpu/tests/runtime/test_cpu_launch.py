import mmap

import numpy as np
import pytest
from ep_cpu.command import pack
from ep_cpu.native import open_native
from ep_cpu.numbers import number_bytes
from ep_primitives import BroadcastBinary, Copy, ElementwiseUnary, Fill
from ep_primitives.judging.reference import array_dtype

import ep


def test_launch_counts_one_native_call(device, stream):
    x, out = np.ones(8, np.float32), np.empty(8, np.float32)
    relu = ElementwiseUnary.infer("relu", ep.TensorSpec.of(x)).on(device)
    before = device.native_calls
    relu(stream, x=x, out=out)
    assert device.native_calls == before + 1


def test_bound_step_reads_what_memory_holds_now(device, stream):
    x, out = device.allocate(32), device.allocate(32)
    step = ElementwiseUnary.infer("negative", ep.TensorSpec("float32", (8,))).on(device).bind(x=x, out=out)
    for value in (1.0, 2.0):
        stream.upload(x, np.full(8, value, np.float32))
        step(stream)
        assert (np.frombuffer(out.host(), np.float32) == -value).all()
    step.close()


def test_command_list_enters_packed_kernels_in_order():
    native = open_native()
    ffi, lib = native.ffi, native.lib
    device = ep.device("cpu:0")
    spec = ep.TensorSpec("float32", (1000,))
    x = np.linspace(-1, 1, 1000, dtype=np.float32)
    y, z = np.empty_like(x), np.empty_like(x)
    # The kernels' geometries are immutable and may be entered by any packed block.
    kernels = [
        ElementwiseUnary.infer("abs", spec).on(device).kernel,
        BroadcastBinary.infer("mul", spec, ep.Scalar("float32")).on(device).kernel,
    ]
    places = [(x, y), (y, z)]
    blocks = []
    for kernel, arrays, number in zip(kernels, places, (b"", number_bytes("float32", 3.0)), strict=True):
        addresses = [array.ctypes.data for array in arrays]
        blocks.append(pack(native, kernel._geometry, addresses, number)[0])
    entry, size = kernels[0]._geometry.row.enter, len(ffi.buffer(blocks[0]))
    arena = b"".join(bytes(ffi.buffer(block)) for block in blocks)
    commands = ffi.new("ep_command[]", [(entry, 0), (entry, size)])
    work = ffi.new("ep_list *", (commands, 2, ffi.from_buffer("char[]", arena), len(arena), ffi.NULL, 0))
    assert lib.ep_run(work, ffi.NULL) == 0
    assert (z == np.abs(x) * np.float32(3)).all()


def test_scalar_of_a_half_tensor_is_not_rounded_to_half(device, stream):
    x, out = np.full(5, 1.0, np.float16), np.empty(5, np.float16)
    spec = ep.TensorSpec.of(x)
    multiply = BroadcastBinary.infer("mul", spec, ep.Scalar("float16")).on(device)
    multiply(stream, a=x, b=1e-9, out=out)
    assert (out == 0).all()
    BroadcastBinary.infer("sub", spec, ep.Scalar("float16")).on(device)(stream, a=x, b=1.0003, out=out)
    assert (out == np.float16(np.float32(1) - np.float32(1.0003))).all()


NUMBERS = {
    "bool": True,
    "int8": -128,
    "int64": -(2**63) + 1,
    "uint8": 255,
    "uint32": 2**32 - 1,
    "uint64": 2**64 - 1,
    "bfloat16": 1.0,
    "float64": 0.1,
    "complex64": 0.5 - 3j,
    "complex128": 0.1 + 2.7j,
}


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("is_bound", [False, True])
def test_number_given_at_launch_arrives_exactly(device, stream, dtype, is_bound):
    value, kind = NUMBERS[dtype], array_dtype(dtype)
    out = np.zeros(700, kind)
    fill = Fill.infer(ep.TensorSpec(dtype, out.shape)).on(device)
    add = BroadcastBinary.infer("add", ep.Scalar(dtype), ep.TensorSpec(dtype, out.shape)).on(device)
    zeros, sums = np.zeros_like(out), np.zeros_like(out)
    memories = [device.wrap_host(array.ctypes.data, array.nbytes, array) for array in (out, zeros, sums)]
    if is_bound:
        fill.bind(value=value, out=memories[0])(stream)
        add.bind(a=value, b=memories[1], out=memories[2])(stream)
    else:
        fill(stream, value=value, out=memories[0])
        add(stream, a=value, b=memories[1], out=memories[2])
    assert (out == np.array(value, kind)).all()
    assert (sums == np.array(value, kind)).all()


def test_strides_reach_beyond_two_to_the_31(device, stream):
    far = 2**31 + 5
    pages = mmap.mmap(-1, 2 * far + 1)
    for k in range(3):
        pages[k * far] = k % 2
    x, out = np.frombuffer(pages, np.uint8), np.full(3, 9, np.uint8)
    spec = ep.TensorSpec("bool", (3,), (-far,), 2 * far)
    memory, target = device.wrap_host(x.ctypes.data, x.nbytes, x), device.wrap_host(out.ctypes.data, 3, out)
    logical_not = ElementwiseUnary("logical_not", x=spec, out=ep.TensorSpec("bool", (3,))).on(device)
    logical_not(stream, x=memory, out=target)
    assert out.tolist() == [1, 0, 1]


def test_fill_writes_only_its_strided_elements(device, stream):
    out = np.zeros((5, 8), np.float16)
    spec = ep.TensorSpec("float16", (5, 3), (8, 2), 1)
    memory = device.wrap_host(out.ctypes.data, out.nbytes, out)
    Fill(value=ep.Scalar("float16"), out=spec).on(device)(stream, value=1.5, out=memory)
    expected = np.zeros((5, 8), np.float16)
    expected[:, 1:7:2] = 1.5
    assert (out == expected).all()


def test_large_outputs_equal_small_ones(device, stream):
    """Streaming stores, odd alignment and several threads give the results of one small block."""
    n = (20 << 20) // 4
    x = np.random.default_rng(3).standard_normal(n + 1).astype(np.float32)
    for shift in (0, 1):
        part = x[shift : shift + n]
        raw = np.empty(n + 16, np.float32)
        out = raw[shift : shift + n]
        tanh = ElementwiseUnary.infer("tanh", ep.TensorSpec("float32", (n,))).on(device)
        tanh(stream, x=part, out=out)
        small = np.empty(1000, np.float32)
        one = ElementwiseUnary.infer("tanh", ep.TensorSpec("float32", (1000,))).on(device)
        for start in (0, n // 2, n - 1000):
            one(stream, x=np.ascontiguousarray(part[start : start + 1000]), out=small)
            assert (out[start : start + 1000] == small).all()


@pytest.mark.parametrize("shape", [(256, 320), (3, 128, 144), (257, 131), (2, 210, 99)])
def test_tiles_visit_every_element_once(device, stream, shape):
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    across = x.swapaxes(-1, -2)
    given = ep.TensorSpec.of(across)
    out = np.zeros(across.shape, np.float32)
    Copy(x=given, out=ep.TensorSpec.of(out)).on(device)(stream, x=across, out=out)
    assert (out == across).all()
    b = np.ones(across.shape, np.float32)
    add = BroadcastBinary.infer("add", given, ep.TensorSpec.of(b)).on(device)
    add(stream, a=across, b=b, out=out)
    assert (out == across + b).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "int64"])
@pytest.mark.parametrize("left", [False, True])
def test_number_beside_a_repeated_element_counts(device, stream, dtype, left):
    x, out = np.array([[5], [2]], array_dtype(dtype)), np.zeros((2, 300), array_dtype(dtype))
    tensor, number = ep.TensorSpec(dtype, x.shape), ep.Scalar(dtype)
    a, b = (number, tensor) if left else (tensor, number)
    sub = BroadcastBinary("sub", a=a, b=b, out=ep.TensorSpec(dtype, out.shape)).on(device)
    memories = [device.wrap_host(array.ctypes.data, array.nbytes, array) for array in (x, out)]
    sub(stream, **({"a": 3, "b": memories[0]} if left else {"a": memories[0], "b": 3}), out=memories[1])
    assert (out == (3 - x if left else x - 3)).all()
