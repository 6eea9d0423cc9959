"""ep.Tensor: memory and spec as one object, for launches, other libraries and those who want an array."""

import copy
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from ep_primitives import BroadcastBinary, ElementwiseUnary, Matmul, Reduce, Where

import ep

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(params=["cpu:0", "sim:0"])
def device(request):
    return ep.device(request.param)


@pytest.fixture
def cpu():
    return ep.device("cpu:0")


@pytest.mark.parametrize(
    "array",
    [
        X,
        X.T,
        X[::-1, ::2],
        np.broadcast_to(X[0], (4, 3)),
        np.array(7, np.int16),
        np.empty((0, 3)),
        np.array([1.5, -2], ml_dtypes.bfloat16),
        np.array([1.5, -2], ml_dtypes.float8_e5m2)[::-1],
        np.array([True, False]),
        np.array([1 + 2j]),
    ],
    ids=lambda array: f"{array.dtype}-{array.shape}",
)
def test_arrays_come_back_as_they_went(device, array):
    stream = device.stream()
    for tensor, back in (
        (device.tensor(array), lambda tensor: tensor.numpy()),
        (device.tensor(array, stream), lambda tensor: tensor.numpy(stream)),
    ):
        assert tensor.spec == ep.TensorSpec(array.dtype.name, array.shape)
        found = back(tensor)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.flags.c_contiguous
        assert found.flags.writeable
        np.testing.assert_array_equal(found, array)


def test_buffers_and_dlpack_are_arrays(cpu):
    np.testing.assert_array_equal(cpu.tensor(b"abc").numpy(), [97, 98, 99])
    with cpu.tensor(X[:, ::-1].copy()) as first:
        second = cpu.tensor(first[:, ::-1])  # it has DLPack, as any library's
        np.testing.assert_array_equal(second.numpy(), X)


def test_producer_of_host_memory_is_kept_until_the_stream_has_copied(device):
    class Producer:
        def __dlpack__(self, **words):
            return self.array.__dlpack__(**words)

        def __dlpack_device__(self):
            return 1, 0

    producer = Producer()
    producer.array = np.full(1 << 16, 7, np.int32)
    stream = device.stream(synchronous=False)
    tensor = device.tensor(producer, stream)
    del producer
    assert (tensor.numpy(stream) == 7).all()


def test_copies_wait_for_whoever_writes(device):
    """A copy without a stream is behind all streams; one in a stream behind that one."""
    stream = device.stream(synchronous=False)
    tensor = device.empty("uint8", (1 << 20,))
    for value in range(1, 9):
        stream.fill(tensor.memory, bytes([value]))
    assert (tensor.numpy() == 8).all()
    stream.fill(tensor.memory, b"\x09")
    assert (tensor.numpy(stream) == 9).all()


def test_empty_takes_a_spec_or_its_parts(device):
    spec = ep.TensorSpec("float32", (2, 3), (1, 2), 5)
    assert device.empty(spec).spec is spec
    assert device.empty(spec).memory.nbytes == spec.nbytes
    assert device.empty("int8", [2, 3], ep.MemoryKind.DEVICE).spec == ep.TensorSpec("int8", (2, 3))


def test_launches_steps_and_graphs_take_tensors(device):
    stream = device.stream()
    a, b, out = device.tensor(X), device.tensor(X * 10), device.empty("float32", (2, 3))
    add = BroadcastBinary.infer("add", a, b).on(device)
    add(stream, a=a, b=b.memory, out=out)
    np.testing.assert_array_equal(out.numpy(stream), X * 11)
    step = add.bind(a=out, b=b, out=out)
    step(stream)
    np.testing.assert_array_equal(out.numpy(stream), X * 21)
    with stream.capture() as graph:
        add(stream, a=out, b=b, out=out)
    graph.launch(stream)
    np.testing.assert_array_equal(out.numpy(stream), X * 31)


def test_numbers_beside_tensors(cpu):
    stream, x = cpu.stream(), cpu.tensor(X)
    where = Where.infer(cpu.tensor(X > 2), x, ep.Scalar("float32"))
    out = cpu.empty(where.out)
    where.on(cpu)(stream, condition=cpu.tensor(X > 2), a=x, b=-1, out=out)
    np.testing.assert_array_equal(out.numpy(), np.where(X > 2, X, -1))


def test_tensor_of_another_description_is_refused(cpu):
    stream, x, out = cpu.stream(), cpu.tensor(X), cpu.empty("float32", (2, 3))
    exp = ElementwiseUnary.infer("exp", x).on(cpu)
    for other in (cpu.tensor(X.T), cpu.tensor(X.astype("float64")), cpu.tensor(X).mT):
        with pytest.raises(ValueError, match=r"exp: x is TensorSpec\(.*\), needs TensorSpec\('float32', \(2, 3\)\)"):
            exp(stream, x=other, out=out)
        with pytest.raises(ValueError, match="exp: out is TensorSpec"):
            exp.bind(x=x, out=other)


def test_checks_of_memories_hold_for_tensors(cpu):
    stream, x = cpu.stream(), cpu.tensor(X)
    exp = ElementwiseUnary.infer("exp", x).on(cpu)
    exp(stream, x=x, out=x)  # in place
    closed = cpu.tensor(X)
    closed.close()
    with pytest.raises(ep.ClosedError, match=r"exp: .* was closed"):
        exp(stream, x=closed, out=x)
    with pytest.raises(ValueError, match=r"use stream\.copy"):
        exp(stream, x=ep.device("sim:0").tensor(X), out=x)


def test_infer_and_spec_of_take_tensors_without_a_touch(device, monkeypatch):
    monkeypatch.delattr(ep.Tensor, "__dlpack__")
    x = device.tensor(X)
    assert ep.TensorSpec.of(x.mT) == x.mT.spec
    assert Matmul.infer(x, x.mT).out.shape == (2, 2)
    assert Reduce.infer("sum", x[1]).specs[0] == x[1].spec


def test_view_of_a_tensor_is_its_memory(device):
    x = device.tensor(X)
    memory, spec = ep.view(x, device.stream())
    assert memory is x.memory
    assert spec is x.spec
    x.close()
    with pytest.raises(ep.ClosedError, match=r"ep\.view: obj"):
        ep.view(x, device.stream())


def test_views_of_elements_agree_with_numpy(cpu):
    array = np.arange(2 * 3 * 4 * 5, dtype=np.int32).reshape(2, 3, 4, 5)
    tensor = cpu.tensor(array)
    for view in (
        lambda x: x[1],
        lambda x: x[..., 0],
        lambda x: x[:, 1, ::-1],
        lambda x: x[-1, ..., 1:4:2],
        lambda x: x[:, 5:],
        lambda x: x[:: 2**70, 1 :: 2**62, :: -(2**63)],  # a step is clipped, as numpy clips it
        lambda x: x[1, 2, 3, 4],
        lambda x: x[...],
        lambda x: x.reshape(6, 20),
        lambda x: x.reshape(-1, 5),
        lambda x: x.reshape(2, 1, 3, 2, 2, 5, 1),
        lambda x: x[:, 1].reshape(2, 20),
        lambda x: x[:, :, :, ::2].reshape(6, 4, -1),
        lambda x: x[:, :, ::-1].reshape(6, 4, 5),
        lambda x: x[1:1].reshape(0, 7),
        lambda x: x[0, 0, 0, 1:2].reshape(*()) if isinstance(x, ep.Tensor) else x[0, 0, 0, 1],
    ):
        np.testing.assert_array_equal(view(tensor).numpy(), view(array))
        assert view(tensor).memory is tensor.memory
    np.testing.assert_array_equal(tensor.permute(2, 0, -1, 1).numpy(), array.transpose(2, 0, 3, 1))
    np.testing.assert_array_equal(tensor.mT.numpy(), array.mT)
    np.testing.assert_array_equal(tensor.permute(3, 2, 1, 0).reshape(5, 1, 4, 3, 2).numpy().ravel(), array.T.ravel())
    rows = [row.numpy() for row in tensor]
    np.testing.assert_array_equal(rows, array)


@pytest.mark.parametrize(
    ("view", "error", "words"),
    [
        (lambda x: x.reshape(4), ValueError, r"reshape: \(4,\) does not hold the 6 elements"),
        (lambda x: x.reshape(-1, -1), ValueError, "one extent may be -1"),
        (lambda x: x.reshape(-1, 0), ValueError, "does not hold the 6 elements"),
        (lambda x: x.mT.reshape(6), ValueError, "nothing is moved here; copy it"),
        (lambda x: x.reshape(2.0, 3), TypeError, "reshape: extent is 2.0, needs an integer"),
        (lambda x: x.permute(0), ValueError, r"permute: axes are \(0,\), need each dimension of \(2, 3\) once"),
        (lambda x: x.permute(0, 2), ValueError, "each dimension"),
        (lambda x: x[0].mT, ValueError, "each dimension"),
        (lambda x: x[2], ValueError, r"tensor: index 2 is not in dimension 0 of \(2, 3\)"),
        (lambda x: x[0, 0, 0], ValueError, "one part for each dimension"),
        (lambda x: x[..., ...], ValueError, "at most one"),
        (lambda x: x[None], TypeError, "tensor: index is None, needs an integer"),
        (lambda x: x[True], TypeError, "tensor: index is True, needs an integer"),
        (lambda x: x[np.array([0, 1])], TypeError, "needs an integer"),
        (lambda x: x[::0], TypeError, "a step other than 0"),
        (lambda x: x["a":], TypeError, "needs integers"),
        (lambda x: len(x[0, 0]), TypeError, "rank 0 has no length"),
        (bool, TypeError, "its truth was asked for"),
        (lambda x: X[0, 0] in x, TypeError, "`in` was asked for; look for it in"),
        (np.asarray, TypeError, r"tensor\.numpy\(\)"),
        (lambda x: X - x, TypeError, "unsupported operand"),
        (lambda x: x.device.tensor([1, 2]), TypeError, "tensor: array is list"),
        (lambda x: x.device.tensor(X.astype(">f4")), ValueError, "tensor: array has element type"),
        (lambda x: x.device.tensor(X, x.device), TypeError, "tensor: stream is .*Device, needs a Stream"),
        (lambda x: x.device.tensor(X, ep.device("sim:0").stream()), ValueError, "tensor: stream is of sim:0"),
        (lambda x: x.device.empty("float32"), TypeError, "empty: shape is missing"),
        (lambda x: x.device.empty(x.spec, (2,)), TypeError, r"empty: shape \(2,\) is given beside"),
        (lambda x: x.numpy("cpu:0"), TypeError, r"Tensor\.numpy: stream is str"),
        (lambda x: x.numpy(ep.device("sim:0").stream()), ValueError, "cpu:0"),
        (lambda x: ep.Tensor(X, x.spec), TypeError, "Tensor: memory is ndarray, needs a Memory"),
        (lambda x: ep.Tensor(x.memory, "float32"), TypeError, "Tensor: spec is str"),
        (lambda x: ep.Tensor(x.memory[4:], x.spec), ValueError, "needs 24 bytes, the memory has 20"),
        (lambda x: x.device.stream().upload(x, X), TypeError, r"upload: dst is Tensor, .* tensor\.memory"),
        (copy.copy, TypeError, "copy or pickle of Tensor"),
        (pickle.dumps, TypeError, "copy or pickle of Tensor"),
    ],
)  # fmt: skip
def test_mistakes_say_what_is_needed(cpu, view, error, words):
    with pytest.raises(error, match=words):
        view(cpu.tensor(X))


def test_end_of_a_block_closes_the_memory_and_its_tensors(device):
    with device.tensor(X) as x:
        part = x[1:]
        assert repr(part) == f"<Tensor TensorSpec('float32', (1, 3), offset=3) on {device.name}>"
    assert x.memory.is_closed
    assert repr(part).startswith("<closed Tensor")
    with pytest.raises(ep.ClosedError, match=r"Tensor\.numpy"):
        part.numpy()
    with pytest.raises(ep.ClosedError, match="__dlpack__"):
        x.__dlpack__()


def test_copy_that_the_host_has_no_room_for_is_out_of_memory(cpu):
    huge = np.broadcast_to(np.float64(1), (2**50,))
    for copy_of in (cpu.tensor, lambda array: ep.Tensor(cpu.allocate(8), ep.TensorSpec.of(array)).numpy()):
        with pytest.raises(ep.OutOfMemoryError, match="the host has no room for 9007199254740992 bytes"):
            copy_of(huge)


def test_parts_keep_the_bytes(device):
    device.synchronize()
    before = device.memory_info().in_use
    row = device.tensor(X)[1]
    np.testing.assert_array_equal(row.numpy(), X[1])
    del row
    device.synchronize()
    assert device.memory_info().in_use == before


def test_numpy_sees_a_tensor_of_host_memory_in_place(cpu):
    x = cpu.tensor(X)
    stream = cpu.stream(synchronous=False)
    stream.fill(x.memory, np.float32(3).tobytes())
    seen = np.from_dlpack(x[:, ::2])  # which waits for the fill
    assert (seen == 3).all()
    assert x.__dlpack_device__() == (1, 0)
    stream.fill(x.memory, np.float32(4).tobytes())
    stream.synchronize()
    assert (seen == 4).all()
    x.close()
    assert (seen == 4).all()  # a consumer keeps the bytes


def test_importing_ep_still_loads_no_numpy():
    program = (
        "import sys, ep; ep.TensorSpec('bfloat16', (2,)); print('numpy' in sys.modules, 'ml_dtypes' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
