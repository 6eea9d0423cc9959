import numpy as np
import pytest
from ep_cpu.native import open_native
from ep_cpu.transpose import described
from ep_primitives import Copy, Permute, TensorFill
from ep_primitives.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep


def test_permute_runs_as_a_copy_and_says_so(device, stream):
    x, out = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.zeros((4, 2, 3), np.float32)
    permute = Permute.infer(x, (2, 0, 1)).on(device)
    assert permute.is_lowered
    assert type(permute.descriptor) is Copy
    assert "permute/-/float32/dense" in repr(permute)
    permute(stream, x=x, out=out)
    assert (out == x.transpose(2, 0, 1)).all()


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


@st.composite
def permuted(draw):
    """Draw a permutation of a tensor that is a box of a larger one, read forwards or backwards."""
    rank = draw(st.integers(1, 5))
    extents = [draw(st.sampled_from((1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65))) for _ in range(rank)]
    while np.prod(extents) > 40_000:
        extents[extents.index(max(extents))] = 3
    order = draw(st.permutations(range(rank)))
    pads = [draw(st.sampled_from((0, 0, 0, 1, 3))) for _ in range(rank)]
    signs = [draw(st.sampled_from((1, 1, 1, -1))) for _ in range(rank)]
    out_pads = [draw(st.sampled_from((0, 0, 0, 2))) for _ in range(rank)]
    dtype = draw(
        st.sampled_from(("uint8", "bool", "float16", "bfloat16", "float32", "int64", "complex64", "complex128"))
    )
    return extents, order, pads, signs, out_pads, dtype


@settings(max_examples=400, deadline=None, derandomize=True)
@given(permuted())
def test_every_permutation_is_numpys(device, drawn):
    extents, order, pads, signs, out_pads, dtype = drawn
    kind = array_dtype(dtype)
    whole = np.random.default_rng(sum(extents)).integers(0, 256, (*np.add(extents, pads), kind.itemsize), np.uint8)
    box = whole.view(f"V{kind.itemsize}")[..., 0][tuple(slice(extent) for extent in extents)]
    box = box[tuple(slice(None, None, sign) for sign in signs)]
    wanted = box.transpose(order)
    target = np.zeros(tuple(np.add(wanted.shape, out_pads)), f"V{kind.itemsize}")
    inner = target[tuple(slice(extent) for extent in wanted.shape)]

    def spec(view, base):
        offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // kind.itemsize
        return ep.TensorSpec(dtype, view.shape, tuple(stride // kind.itemsize for stride in view.strides), offset)

    memories = [device.wrap_host(array.ctypes.data, array.nbytes, array) for array in (whole, target)]
    stream = device.stream()
    permute = Permute(x=spec(box, whole), out=spec(inner, target), permutation=order).on(device)
    permute(stream, x=memories[0], out=memories[1])
    stream.close()
    assert inner.tobytes() == wanted.tobytes()
    inner[...] = np.zeros((), f"V{kind.itemsize}")
    assert not any(target.tobytes()), "a byte outside of the output was written"


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (64, 64), (65, 129), (7, 300), (300, 7), (131, 257)])
def test_blocks_of_every_instruction_set_are_numpys(isa, dtype, shape):
    native = open_native()
    here = native.ffi.string(native.lib.ep_open(isa.encode()).isa).decode()
    x = np.random.default_rng(7).integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]
    out = np.zeros(shape[::-1], dtype)
    transposition = described(Permute.infer(x, (1, 0)).lower(), native._replace(isa=here))
    assert native.lib.ep_launch_transpose(transposition, x.ctypes.data, out.ctypes.data) == 0
    assert out.tobytes() == x.T.tobytes()


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shift", [0, 16, 32])
def test_transposes_past_the_caches_are_whole(device, stream, dtype, shift):
    """Streaming stores, several threads and rows that begin inside lines give what NumPy gives."""
    kind = np.dtype(dtype)
    for rows, columns in ((1024, (20 << 20) // 1024 // kind.itemsize), (1013, (20 << 20) // 1013 // kind.itemsize)):
        x = np.random.default_rng(2).integers(0, 256, rows * columns * kind.itemsize, np.uint8).view(kind)
        raw = np.full(x.nbytes + 256, 0xA5, np.uint8)
        begin = -raw.ctypes.data % 64 + shift
        target = raw[begin : begin + x.nbytes]
        memories = [device.wrap_host(array.ctypes.data, array.nbytes, array) for array in (x, target)]
        permute = Permute.infer(ep.TensorSpec(dtype, (rows, columns)), (1, 0)).on(device)
        permute(stream, x=memories[0], out=memories[1])
        assert (
            target.view(f"V{kind.itemsize}") == x.reshape(rows, columns).T.reshape(-1).view(f"V{kind.itemsize}")
        ).all()
        assert (raw[:begin] == 0xA5).all()
        assert (raw[begin + x.nbytes :] == 0xA5).all()


def test_transposes_are_by_blocks_and_other_copies_are_not(device):
    spec = ep.TensorSpec("float32", (6, 7, 8))
    names = {
        order: Permute.infer(spec, order).on(device).implementation.name
        for order in ((0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0))
    }
    assert names == {
        (0, 1, 2): "VectorLoop",
        (1, 0, 2): "VectorLoop",
        (0, 2, 1): "BlockTranspose",
        (2, 1, 0): "BlockTranspose",
        (1, 2, 0): "BlockTranspose",
    }
    backwards = ep.TensorSpec("float32", (6, 7), (-7, -1), 41)
    assert Permute.infer(backwards, (1, 0)).on(device).implementation.name == "BlockTranspose"
