import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_primitives import Gather
from ep_primitives.cases.index_data import CONTENTS
from ep_primitives.families.gather.family import GatherFamily
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

DTYPES = ("uint8", "bool", "float16", "float32", "int64", "complex128", "float8_e5m2")


@st.composite
def gathers(draw):
    """Draw a gather: the array, its layout and the output's, and the indices."""
    shape = tuple(draw(st.lists(st.sampled_from((0, 1, 2, 3, 5, 8, 17)), max_size=4)))
    axis = draw(st.integers(0, max(len(shape) - 1, 0)))
    shared = draw(st.integers(0, axis))
    asked = (*shape[:shared], *draw(st.lists(st.sampled_from((0, 1, 2, 3, 7, 33)), max_size=2)))
    out = (*shape[:axis], *asked[shared:], *shape[axis + 1 :])
    signs = (1, 1, -1, 0)
    lying = [draw(arrangements(len(each), signs=signs)) for each in (shape, asked)] + [draw(arrangements(len(out)))]
    types = draw(st.sampled_from(DTYPES)), draw(st.sampled_from(("int32", "int64")))
    return (shape, asked, out), axis, shared, lying, types, draw(st.sampled_from(("mixed", "edges", "outside")))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(gathers(), st.integers(0, 2**32))
def test_every_gather_is_the_references(device, drawn, seed):
    shapes, axis, shared, lying, (dtype, index), contents = drawn
    rng = np.random.default_rng(seed)
    types = (dtype, index, dtype)
    bases, views, specs = zip(*(placed(*each) for each in zip_lying(shapes, lying, types)), strict=True)
    bases[0].reshape(-1).view(np.uint8)[:] = rng.integers(0, 256, bases[0].nbytes, np.uint8)
    indices = CONTENTS[contents](rng, ep.TensorSpec(index, shapes[1]), 0, shapes[0][axis] if shapes[0] else 1)
    source = views[1].view(index)
    source[...] = indices  # of repeated places the last one stays
    descriptor = Gather(x=specs[0], indices=specs[1], out=specs[2], axis=axis, batch_dims=shared)
    kind = array_dtype(dtype)
    inputs = {"x": np.array(views[0], order="C").view(kind), "indices": np.array(source, order="C")}
    wanted = GatherFamily().moved(descriptor, inputs)
    operands = dict(zip(("x", "indices", "out"), (wrapped(device, base) for base in bases), strict=True))
    stream = device.stream()
    gather = descriptor.on(device)
    with stream.capture() as graph:
        gather(stream, **operands)
    launches = (
        lambda: gather(stream, **operands),
        lambda: gather.bind(**operands)(stream),
        lambda: graph.launch(stream),
    )
    for launch in launches:
        launch()
        assert views[2].tobytes() == wanted.tobytes()
        views[2][...] = np.zeros((), views[2].dtype)
        assert not any(bases[2].tobytes()), "a byte outside of the output was written"
    graph.close()
    stream.close()


def zip_lying(shapes, lying, types):
    return ((shape, *how, dtype) for shape, how, dtype in zip(shapes, lying, types, strict=True))


@pytest.mark.parametrize("shift", [0, 48])
@pytest.mark.parametrize(
    ("dtype", "rows", "run"),
    [
        ("uint8", 2049, 7001),
        ("int32", 23, 300007),
        ("int16", 1 << 20, 3),
        ("int32", 18000, 320),  # whole lines, and so are the pieces of the next one
        ("int32", 23, 300032),
    ],
)
def test_large_outputs_are_whole(device, stream, dtype, rows, run, shift):
    """Threads, stores past the caches, pieces of long rows and prefetched runs give the result of numpy.take."""
    rng = np.random.default_rng(1)
    kind = array_dtype(dtype)
    x = rng.integers(0, 256, rows * run * kind.itemsize, np.uint8).view(kind).reshape(rows, run)
    indices = rng.integers(0, rows, rows * 5 // 4)
    indices[::7] = rng.choice([-1, rows, -(2**63), 2**63 - 1, 2**32], indices[::7].size)
    descriptor = Gather.infer(x, indices)
    raw = np.full(descriptor.out.nbytes + 256, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + shift
    target = raw[begin : begin + descriptor.out.nbytes]
    descriptor.on(device)(stream, x=x, indices=indices, out=wrapped(device, target))
    is_there = (indices >= 0) & (indices < rows)
    out = target.view(kind).reshape(-1, run)
    assert (out[is_there] == x[indices[is_there]]).all()
    assert not out[~is_there].any()
    assert (raw[:begin] == 0xA5).all()
    assert (raw[begin + target.size :] == 0xA5).all()


def test_graph_takes_other_memories_for_its_slots(device, stream):
    x, indices = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([3, 9])
    operands = {"x": wrapped(device, x), "indices": wrapped(device, indices), "out": device.allocate(24)}
    with stream.capture() as graph:
        Gather.infer(x, indices).on(device)(stream, **operands)
    for name, memory in operands.items():
        graph.slot(name, memory)
    others = wrapped(device, -x), wrapped(device, np.array([-1, 0])), np.full((2, 3), 9, np.float32)
    graph.launch(stream, x=others[0], indices=others[1], out=wrapped(device, others[2]))
    assert others[2].tolist() == [[0, 0, 0], [0, -1, -2]]
    graph.launch(stream)
    assert np.frombuffer(operands["out"].host(), np.float32).tolist() == [9, 10, 11, 0, 0, 0]
    graph.close()


def test_out_that_shares_bytes_is_refused(device, stream):
    memory = device.allocate(64)
    gather = Gather.infer(ep.TensorSpec("int64", (4,)), ep.TensorSpec("int64", (4,))).on(device)
    for name in ("x", "indices"):
        operands = {"x": device.allocate(32), "indices": device.allocate(32)} | {name: memory[:32]}
        with pytest.raises(ValueError, match=rf"gather: {name} and out share bytes .* in place is not allowed"):
            gather(stream, **operands, out=memory[:32])


def test_nothing_is_read_or_written_out_of_range(fresh_python):
    """Pages on both sides of each operand end the process if they are touched, by the kernel's own loops and tails too."""
    program = """
import ctypes, mmap
import numpy as np
import ep
from ep_primitives import Gather

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)

def fenced(device, array, at_end):
    length = -(-array.nbytes // PAGE) * PAGE
    region = mmap.mmap(-1, length + 2 * PAGE)
    whole = np.frombuffer(region, np.uint8)
    for page in (whole.ctypes.data, whole.ctypes.data + PAGE + length):
        assert libc.mprotect(ctypes.c_void_p(page), PAGE, 0) == 0, ctypes.get_errno()
    begin = PAGE + (length - array.nbytes if at_end else 0)
    inside = whole[begin : begin + array.nbytes]
    inside[:] = array.reshape(-1).view(np.uint8)
    return device.wrap_host(inside.ctypes.data, inside.nbytes, inside), inside

device = ep.device("cpu:0")
stream = device.stream()
rng = np.random.default_rng(0)
tried = 0
for run in (1, 2, 3, 4, 7, 8, 16, 17, 31, 255, 256, 257, 70001):
    for rows in (2, 97, (1 << 21) // run):
        if run * rows > 1 << 22:
            continue
        x = rng.integers(1, 256, (rows, run), np.uint8)
        for kind in (np.int32, np.int64):
            ends = np.iinfo(kind)
            indices = np.resize(np.array([0, -1, rows - 1, rows, ends.min, ends.max, 2**31 - 1, -rows], kind), 90)
            wanted = np.where(((indices < 0) | (indices >= rows))[:, None], np.uint8(0), x[indices.astype(np.int64) % rows])
            for at_end in (False, True):
                parts = [fenced(device, each, at_end) for each in (x, indices, np.full_like(wanted, 7))]
                operands = dict(zip(("x", "indices", "out"), (memory for memory, _ in parts)))
                Gather.infer(x, indices).on(device)(stream, **operands)
                assert (parts[2][1] == wanted.reshape(-1)).all(), (run, rows, kind, at_end)
                tried += 1
nothing = np.zeros((0, 5), np.float32)
out = np.ones((3, 5), np.float32)
Gather.infer(nothing, np.array([0, -1, 2])).on(device)(stream, x=device.allocate(0), indices=np.array([0, -1, 2]), out=out)
assert not out.any()
print(tried)
"""
    assert int(fresh_python(program)) > 100
