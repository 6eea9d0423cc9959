"""Transposing copies: every permutation and layout, every size of blocks and their rests, on each instruction set."""

import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_cpu.families.transpose import BlockTranspose
from ep_primitives import Permute
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

SIZES = ("uint8", "float16", "float32", "complex64", "complex128")


@st.composite
def permuted(draw):
    """Draw a permutation of a tensor and how both sides lie in larger ones."""
    rank = draw(st.one_of(st.integers(0, 5), st.integers(6, 16)))
    few = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65)
    extents = [draw(st.sampled_from(few if rank < 6 else (1, 1, 2))) for _ in range(rank)]
    for _ in range(min(rank, 2)):
        extents[draw(st.integers(0, rank - 1))] = draw(st.sampled_from((3, 17, 40)))
    while np.prod(extents) > 40_000:
        extents[extents.index(max(extents))] //= 2
    lying = draw(arrangements(rank, signs=(1, 1, -1, 0))), draw(arrangements(rank))
    return (
        tuple(extents),
        draw(st.permutations(range(rank))),
        lying,
        draw(st.sampled_from((*SIZES, "bool", "bfloat16"))),
    )


@settings(max_examples=250, deadline=None, derandomize=True)
@given(permuted())
def test_every_permutation_is_numpys(device, drawn):
    extents, order, lying, dtype = drawn
    itemsize = array_dtype(dtype).itemsize
    source, x, x_spec = placed(extents, *lying[0], dtype)
    random = np.random.default_rng(sum(extents)).integers(0, 256, (*source.shape, itemsize), np.uint8)
    source[...] = random.view(source.dtype)[..., 0]
    wanted = x.transpose(order)
    target, out, out_spec = placed(wanted.shape, *lying[1], dtype)
    permute = Permute(x=x_spec, out=out_spec, permutation=order).on(device)
    memories = [wrapped(device, array) for array in (source, target)]
    stream = device.stream()
    permute(stream, x=memories[0], out=memories[1])
    stream.close()
    assert out.tobytes() == wanted.tobytes()
    out[...] = np.zeros((), out.dtype)
    assert not any(target.tobytes()), "a byte outside of the output was written"


def transposed(launch_on, isa, x):
    """Return the transpose of a matrix, rows of out apart, as one instruction set has it, and that nothing else is written."""
    rows, columns = x.shape
    for apart in (0, 3):
        whole = np.full((columns, rows + apart), 0x5A, f"V{x.itemsize}")
        spec = ep.TensorSpec(x.dtype.name, (columns, rows), (rows + apart, 1))
        copy = Permute(x=ep.TensorSpec.of(x), out=spec, permutation=(1, 0)).copy
        before = whole[:, rows:].tobytes()
        launch_on(isa, BlockTranspose(), copy, (x, whole))
        assert whole[:, rows:].tobytes() == before
        yield whole[:, :rows]


@pytest.mark.parametrize("dtype", SIZES)
def test_every_rest_of_a_block_is_numpys(isa, dtype, launch_on):
    """Widths and heights of 2 to a block and beyond; the other extent is a whole block, and one element more."""
    itemsize = np.dtype(dtype).itemsize
    block = 256 // max(itemsize, 2)
    shapes = {(rest, block + rest % 2) for rest in range(2, block + 2)} | {
        (block + rest % 2, rest) for rest in range(2, block + 2)
    }
    run = 8192 // itemsize  # elements of a run of few rows
    shapes |= {(few, run + more) for few in (2, 3, 4, 5) for more in (-1, 0, 1)}
    shapes |= {shape[::-1] for shape in shapes}
    random = np.random.default_rng(7)
    for shape in sorted(shapes):
        x = random.integers(0, 256, (*shape, itemsize), np.uint8).view(dtype)[..., 0]
        for out in transposed(launch_on, isa, x):
            assert out.tobytes() == x.T.tobytes(), shape


@pytest.mark.parametrize(
    ("dtype", "shift"),
    [("uint8", 5), ("float16", 0), ("float16", 3), ("float32", 0), ("float32", 15), ("float64", 1), ("complex128", 1)],
)
def test_transposes_past_the_caches_are_whole(device, stream, dtype, shift):
    """Streaming stores, several threads and rows that begin inside lines give what NumPy gives."""
    kind = np.dtype(dtype)
    nbytes = 12 << 20
    shapes = [(rows, nbytes // rows // kind.itemsize) for rows in (1024, 1013, 2049, 3)]
    for rows, columns in (*shapes, shapes[-1][::-1]):
        x = np.random.default_rng(2).integers(0, 256, rows * columns * kind.itemsize, np.uint8).view(kind)
        raw = np.full(x.nbytes + 256, 0xA5, np.uint8)
        begin = -raw.ctypes.data % 64 + shift * kind.itemsize
        target = raw[begin : begin + x.nbytes]
        memories = [wrapped(device, array) for array in (x, target)]
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
