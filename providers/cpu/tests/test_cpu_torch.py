"""PyTorch's CPU tensors and EP's memory are the same bytes, in both directions. `make second-opinion` has PyTorch."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, Copy

import ep

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make second-opinion")

DTYPES = {
    "bool": torch.bool,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
}


@pytest.fixture(params=[True, False], ids=["synchronous", "asynchronous"])
def stream(device, request):
    stream = device.stream(synchronous=request.param)
    yield stream
    stream.close()


def address(memory):
    return memory.device.twin.address(memory.handle) + memory.offset


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_of_every_dtype_goes_there_and_back(device, stream, dtype):
    bits = torch.randint(0, 2 if dtype == "bool" else 256, (6 * 4 * ep.dtype(dtype).itemsize,), dtype=torch.uint8)
    tensor = bits.view(DTYPES[dtype]).view(6, 4).T
    memory, spec = ep.view(tensor, stream)
    assert spec == ep.TensorSpec(dtype, (4, 6), (1, 4))
    assert address(memory) == tensor.data_ptr()
    back = torch.from_dlpack(stream.export(memory, spec))
    assert (back.dtype, back.shape, back.stride()) == (tensor.dtype, tensor.shape, tensor.stride())
    assert back.data_ptr() == tensor.data_ptr()
    stream.fill(memory, b"\1")
    stream.synchronize()
    assert bool((bits == 1).all())
    bits.zero_()
    seen = np.ones(memory.nbytes, np.uint8)
    stream.download(seen, memory)
    stream.synchronize()
    assert not seen.any()
    assert not back.contiguous().view(torch.uint8).any()


def test_a_tensor_is_written_by_ep_and_read_by_pytorch(stream):
    tensor = torch.arange(12, dtype=torch.float32).view(3, 4)
    memory, _ = ep.view(tensor, stream)
    stream.fill(memory[16:32], np.float32(7).tobytes())
    stream.synchronize()
    assert tensor[1].tolist() == [7] * 4
    tensor[2] = 5
    seen = np.zeros(12, np.float32)
    stream.download(seen, memory)
    stream.synchronize()
    assert seen[8:].tolist() == [5] * 4


def test_a_memory_is_written_by_pytorch_and_read_by_ep(device, stream):
    memory = device.allocate(64)
    stream.fill(memory, np.float32(2).tobytes())
    tensor = torch.from_dlpack(stream.export(memory[16:48], ep.TensorSpec("float32", (2, 3), (4, 1), 1)))
    assert tensor.data_ptr() == address(memory) + 20
    assert tensor.tolist() == [[2, 2, 2], [2, 2, 2]]
    tensor[1] = 9
    seen = np.zeros(16, np.float32)
    stream.download(seen, memory)
    stream.synchronize()
    assert seen.tolist() == [2] * 9 + [9, 9, 9] + [2] * 4
    stream.fill(memory, np.float32(3).tobytes())
    stream.synchronize()
    assert tensor.sum() == 18


def test_tensors_are_operands_of_kernels(device, stream):
    a, b = torch.rand(64, 32), torch.rand(32).expand(64, 32)
    out = torch.zeros(32, 64).T
    add = BroadcastBinary(op="add", a=ep.TensorSpec.of(a), b=ep.TensorSpec.of(b), out=ep.TensorSpec.of(out))
    add.on(device)(stream, a=a, b=b, out=out)
    stream.synchronize()
    assert torch.equal(out, a + b)


def test_layouts_of_pytorch_are_seen_as_they_lie(device, stream):
    whole = torch.arange(120, dtype=torch.int32).view(4, 5, 6)
    for tensor in (whole.permute(2, 0, 1), whole[1:, ::2, 3], whole[0, 0].expand(3, 6), whole[2, 3, 4], whole[:, 5:]):
        memory, spec = ep.view(tensor, stream)
        assert spec.shape == tuple(tensor.shape)
        if tensor.numel():
            assert address(memory) == tensor.data_ptr()
            out = torch.zeros(tensor.shape, dtype=torch.int32)
            copy = Copy(x=spec, out=ep.TensorSpec.of(out)).on(device)
            copy(stream, x=memory, out=out)
            stream.synchronize()
            assert torch.equal(out, tensor)
        back = torch.from_dlpack(stream.export(memory, spec))
        assert torch.equal(back, tensor)


def test_a_tensor_lives_as_long_as_its_view(device, stream):
    tensor = torch.arange(8)
    memory, _ = ep.view(tensor, stream)
    pointer = tensor.data_ptr()
    del tensor
    gc.collect()
    again = [torch.zeros(8, dtype=torch.int64) for _ in range(50)]
    assert pointer not in {other.data_ptr() for other in again}
    seen = np.zeros(8, np.int64)
    stream.download(seen, memory)
    stream.synchronize()
    assert seen.tolist() == list(range(8))


def test_a_memory_lives_as_long_as_pytorch_has_it(device, stream):
    memory = device.allocate(4096)
    block = memory._block
    tensor = torch.from_dlpack(stream.export(memory, ep.TensorSpec("uint8", (4096,))))
    part = tensor[1000:2000]
    stream.fill(memory, b"\7")
    memory.close()
    del tensor
    gc.collect()
    stream.synchronize()
    assert (block.lease_ref() is None, part.sum().item()) == (False, 7000)
    del part
    gc.collect()
    assert block.lease_ref() is None


def test_what_pytorch_will_not_lend_is_refused_in_its_words(stream):
    with pytest.raises(ValueError, match="require gradient"):
        ep.view(torch.zeros(3, requires_grad=True), stream)
    with pytest.raises(ValueError, match="conj"):
        ep.view(torch.zeros(3, dtype=torch.complex64).conj(), stream)


def test_an_error_under_way_survives_the_end_of_a_tensor(device, stream):
    memory = device.allocate(8)
    block = memory._block
    with pytest.raises(ValueError, match="only one element"):
        int(torch.from_dlpack(stream.export(memory, ep.TensorSpec("float32", (2,)))))
    gc.collect()
    memory.close()
    assert block.lease_ref() is None


def test_a_consumer_waits_for_work_of_the_stream(device, stream):
    memory, spec = device.allocate(1 << 22), ep.TensorSpec("uint8", (1 << 22,))
    for value in range(1, 8):
        stream.fill(memory, bytes([value]))
        tensor = torch.from_dlpack(stream.export(memory, spec))
        assert bool((tensor == value).all())


AT_EXIT = """
import ep, torch

device = ep.device("cpu:0")
stream = device.stream()
torch.kept = torch.from_dlpack(stream.export(device.allocate(64), ep.TensorSpec("float32", (16,))))
lent = torch.ones(5)
memory, spec = ep.view(lent, stream)
stream.fill(memory, b"\\0")
print(lent.sum().item())
"""


def test_tensors_that_outlive_everything_end_in_peace():
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0.0\n", "")


def _negative():
    return torch.tensor([1 + 2j, 3 + 4j]).conj().imag


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_negative, r"Tensor has values that are not those of its bytes; give what its resolve_neg\(\) returns"),
        (lambda: torch._neg_view(torch.ones(3)), "resolve_neg"),
        (lambda: torch.tensor([1 + 2j]).conj(), r"give what its resolve_conj\(\) returns"),
        (lambda: torch._neg_view(torch.tensor([1 + 2j]).conj()), "resolve_neg"),
        (lambda: torch.ones(3).to_sparse(), "cannot be seen in place: .*strided"),
        (lambda: torch.ones(3, device="meta"), "cannot be seen in place: .*meta"),
        (lambda: torch.ones(3, requires_grad=True), r"cannot be seen in place: .*detach\(\)"),
        (lambda: torch.ones(3, requires_grad=True) * 2, r"cannot be seen in place: .*detach\(\)"),
        (lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "cannot be seen in place: "),
    ],
)
def test_tensors_whose_values_are_not_their_bytes_are_refused_with_the_cure(device, stream, make, words):
    tensor, out = make(), device.allocate(64)
    copy = Copy(x=ep.TensorSpec("float32", (3,)), out=ep.TensorSpec("float32", (3,))).on(device)
    for use in (
        lambda: ep.view(tensor, stream),
        lambda: ep.TensorSpec.of(tensor),
        lambda: Copy.infer(tensor),
        lambda: copy(stream, x=tensor, out=out),
    ):
        with pytest.raises(ValueError, match=words):
            use()
    with pytest.raises(TypeError, match=r"needs a host buffer: .*; make an array of it"):
        stream.upload(out, tensor)


def test_resolved_tensors_are_seen_with_their_values(device, stream):
    tensor = _negative().resolve_neg()
    memory, spec = ep.view(tensor, stream)
    out = torch.zeros(2)
    Copy(x=spec, out=ep.TensorSpec.of(out)).on(device)(stream, x=memory, out=out)
    stream.synchronize()
    assert torch.equal(out, torch.tensor([-2.0, -4.0]))
