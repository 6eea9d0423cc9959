import numpy as np
import pytest
from ep_primitives import Copy, Permute, TensorFill

import ep


def test_permute_runs_as_a_copy_and_says_so(device, stream):
    x, out = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.zeros((4, 2, 3), np.float32)
    permute = Permute.infer(x, (2, 0, 1)).on(device)
    assert permute.is_lowered
    assert type(permute.descriptor) is Copy
    assert "permute/-/float32/dense" in repr(permute)
    permute(stream, x=x, out=out)
    assert (out == x.transpose(2, 0, 1)).all()


@pytest.mark.parametrize("shift", [0, 2, 64])
@pytest.mark.parametrize("shape", [(4, 300, 24, 40), (3, 513, 17, 96), (5, 900, 32, 64), (2, 1100, 9, 520)])
def test_large_copies_of_short_rows_are_whole_wherever_out_begins(device, stream, shape, shift):
    """From 8 MiB on rows are taken in the order of x; from the size of the last cache on whole lines go past the caches."""
    x = np.arange(np.prod(shape), dtype=np.uint16).reshape(shape)
    turned = x.transpose(0, 2, 1, 3)
    permute = Permute.infer(x, (0, 2, 1, 3)).on(device)
    memory = device.allocate(x.nbytes + 128)
    stream.fill(memory, b"\x77")
    permute(stream, x=x, out=memory[shift : shift + x.nbytes])
    image = np.empty(memory.nbytes, np.uint8)
    stream.download(image, memory)
    stream.synchronize()
    assert (image[shift : shift + x.nbytes].view(np.uint16).reshape(turned.shape) == turned).all()
    assert (image[:shift] == 0x77).all()
    assert (image[shift + x.nbytes :] == 0x77).all()


def test_arrays_lie_as_the_descriptor_asked_for_says(device, stream):
    x, out = np.arange(12, dtype=np.int16).reshape(3, 4)[::-1], np.zeros((4, 3), np.int16)
    permute = Permute.infer(x, (1, 0)).on(device)
    permute.bind(x=x, out=out)(stream)
    assert (out == x.T).all()
    with pytest.raises(
        ValueError, match=r"permute: x is TensorSpec\('int16', \(4, 3\).*needs TensorSpec\('int16', \(3, 4\)"
    ):
        permute(stream, x=x.T, out=out)
    one, filled = np.full((1, 1, 1), 7, np.int16), np.zeros((5,), np.int16)
    TensorFill.infer(one, (5,)).on(device)(stream, x=one, out=filled)
    assert filled.tolist() == [7] * 5


def test_what_lowers_is_never_in_place(device, stream):
    spec = ep.TensorSpec("float32", (4, 4))
    memory = device.allocate(64)
    for descriptor in (Permute.infer(spec, (1, 0)), Permute.infer(spec, (0, 1))):
        with pytest.raises(ValueError, match=r"permute: x and out share bytes .* in place is not allowed"):
            descriptor.on(device)(stream, x=memory, out=memory)
    one = TensorFill.infer(ep.TensorSpec("float32", ()), (4, 4)).on(device)
    with pytest.raises(ValueError, match="tensor_fill: x and out share bytes"):
        one(stream, x=memory[:4], out=memory)


def test_errors_of_operands_name_what_was_asked_for(device, stream):
    memory = device.allocate(64)
    permute = Permute.infer(ep.TensorSpec("float32", (4, 4)), (1, 0)).on(device)
    with pytest.raises(ValueError, match=r"permute: out needs 64 bytes for TensorSpec\('float32', \(4, 4\)\), has 60"):
        permute(stream, x=memory, out=device.allocate(60))
    with pytest.raises(TypeError, match="permute: operands are x, out; missing x"):
        permute(stream, out=memory)


def test_graph_replays_what_lowers(device):
    stream = device.stream()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    permute = Permute.infer(x, (1, 0)).on(device)
    fill = TensorFill.infer(ep.TensorSpec("float32", (1,)), (5,)).on(device)
    source, turned, filled = device.allocate(24), device.allocate(24), device.allocate(20)
    stream.upload(source, x)
    with stream.capture() as graph:
        graph.slot("x", source)
        permute(stream, x=source, out=turned)
        fill(stream, x=turned[8:12], out=filled)
    graph.launch(stream)
    assert np.frombuffer(turned.host(), np.float32).tolist() == x.T.reshape(-1).tolist()
    assert np.frombuffer(filled.host(), np.float32).tolist() == [1.0] * 5
    other = device.allocate(24)
    stream.upload(other, -x)
    graph.launch(stream, x=other)
    assert np.frombuffer(filled.host(), np.float32).tolist() == [-1.0] * 5
    graph.close()
    stream.close()
