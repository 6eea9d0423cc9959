import numpy as np
import pytest
from boxes import arrangements, placed, wrapped
from ep_cpu.families.pad import RowRuns
from ep_cpu.native import open_native
from ep_primitives import PAD_OPS, Pad
from ep_primitives.families.pad.descriptor import PadFamily
from ep_primitives.judging.reference import array_dtype
from hypothesis import given, settings
from hypothesis import strategies as st

import ep

DTYPES = ("uint8", "bool", "float16", "float32", "int64", "complex64", "complex128", "float8_e5m2")


@st.composite
def paddings(draw):
    """Draw a mode, extents, counts, and how x and out lie: boxes of larger tensors, read in either direction, permuted."""
    op = draw(st.sampled_from(list(PAD_OPS)))
    rank = draw(st.one_of(st.integers(0, 4), st.integers(5, 16)))
    shape = [draw(st.sampled_from((0, 1, 1, 2, 3, 5, 8, 17, 33, 130) if rank < 5 else (1, 1, 2))) for _ in range(rank)]
    while np.prod(shape) > 8000:
        shape[shape.index(max(shape))] //= 2
    before, after = [], []
    size = np.prod(shape)
    for extent in shape:
        limit = PAD_OPS[op].most(extent)
        most = max(min(20 if limit is None else limit, 40 if rank < 5 else 1), 0)
        # Half of the dimensions are plain, so that some merge; outputs stay small.
        most = 0 if draw(st.booleans()) else min(most, int(20_000 // max(size, 1)))
        least = -extent - 2 if op == "constant" and draw(st.booleans()) else 0
        before.append(draw(st.integers(least, most)))
        after.append(draw(st.integers(max(least, -extent - before[-1]), max(most, -extent - before[-1]))))
        size = size * (before[-1] + extent + after[-1]) // max(extent, 1)
    lying = draw(arrangements(rank, signs=(1, 1, -1, 0))), draw(arrangements(rank))
    return op, tuple(shape), tuple(before), tuple(after), lying, draw(st.sampled_from(DTYPES))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(paddings())
def test_every_padding_is_the_references(device, drawn):
    op, shape, before, after, lying, dtype = drawn
    kind = array_dtype(dtype)
    source, x, x_spec = placed(shape, *lying[0], dtype)
    source[...] = (
        np.random.default_rng(sum(shape))
        .integers(0, 256, (*source.shape, kind.itemsize), np.uint8)
        .view(source.dtype)[..., 0]
    )
    wide = tuple(map(sum, zip(before, shape, after, strict=True)))
    target, out, out_spec = placed(wide, *lying[1], dtype)
    descriptor = Pad(op, x=x_spec, out=out_spec, before=before, after=after)
    inputs = {"x": np.asarray(x, order="C").view(kind)} | ({"value": 1} if op == "constant" else {})
    wanted = PadFamily().moved(descriptor, inputs)
    memories = [wrapped(device, array) for array in (source, target)]
    stream = device.stream()
    descriptor.on(device)(stream, x=memories[0], out=memories[1], **({"value": 1} if op == "constant" else {}))
    stream.close()
    assert out.tobytes() == wanted.tobytes()
    out[...] = np.zeros((), out.dtype)
    assert not any(target.tobytes()), "a byte outside of the output was written"


@pytest.mark.parametrize("op", PAD_OPS)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize("shift", [0, 16, 48])
def test_outputs_past_the_caches_are_whole(device, stream, op, dtype, shift):
    """Streaming stores and several threads, from places inside a line on, give what the reference gives."""
    kind = array_dtype(dtype)
    rows = (40 << 20) // (1021 * kind.itemsize)
    x = np.random.default_rng(1).integers(0, 256, rows * 1021 * kind.itemsize, np.uint8).view(kind).reshape(rows, 1021)
    descriptor = Pad.infer(op, ep.TensorSpec(dtype, x.shape), (2, 3), (1, 6))
    raw = np.full(descriptor.out.nbytes + 256, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + shift
    target = raw[begin : begin + descriptor.out.nbytes]
    memories = [wrapped(device, array) for array in (x, target)]
    inputs = {"value": 3} if op == "constant" else {}
    descriptor.on(device).bind(x=memories[0], out=memories[1], **inputs)(stream)
    wanted = np.pad(
        x, ((2, 1), (3, 6)), mode={"circular": "wrap"}.get(op, op), **({"constant_values": 3} if inputs else {})
    )
    assert (target == wanted.view(np.uint8).reshape(-1)).all()
    assert (raw[:begin] == 0xA5).all()
    assert (raw[begin + target.size :] == 0xA5).all()


def test_plain_dimensions_are_merged_where_the_mode_allows():
    native = open_native()

    def extents(op, before, after):
        plan = RowRuns().plan(Pad.infer(op, ep.TensorSpec("float32", (4, 5, 6, 7)), before, after), native)
        return [dimension[:3] for dimension in plan.fields["dimension"]]

    assert extents("constant", (0, 1, 0, 0), (0, 2, 0, 0)) == [(4, 4, 0), (8 * 42, 5 * 42, 42)]
    assert extents("circular", (0, 1, 0, 0), (0, 2, 0, 0)) == [(4, 4, 0), (8 * 42, 5 * 42, 42)]
    assert extents("reflect", (0, 1, 0, 0), (0, 2, 0, 0)) == [(4, 4, 0), (8, 5, 1), (42, 42, 0)]
    assert extents("edge", (0, 0, 0, 0), (0, 0, 0, 0)) == [(840, 840, 0)]
    assert extents("constant", (0, 0, -1, 0), (0, 0, 1, 0)) == [(20, 20, 0), (42, 42, -7)]


def test_counts_beyond_any_memory_are_all_value(device, stream):
    x, out = np.ones(5, np.int8), np.zeros(2, np.int8)
    far = 2**70
    crop = Pad(
        "constant", x=ep.TensorSpec("int8", (5,)), out=ep.TensorSpec("int8", (2,)), before=(-far,), after=(far - 3,)
    )
    crop.on(device)(stream, x=x, value=7, out=out)
    assert out.tolist() == [7, 7]


def test_value_left_out_is_zero_and_nothing_is_read_of_an_empty_input(device, stream):
    x, out = np.ones((2, 2), np.float32), np.full((3, 4), 9, np.float32)
    Pad.infer("constant", x, (0, 1), (1, 1)).on(device)(stream, x=x, out=out)
    assert out.tolist() == [[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    empty = Pad.infer("constant", ep.TensorSpec("float32", (0, 2)), (1, 1), (2, 1)).on(device)
    empty(stream, x=device.allocate(0), value=2.5, out=out)
    assert (out == 2.5).all()


def test_number_keeps_all_its_bits_in_a_bound_step_and_a_graph(device):
    stream = device.stream()
    value = 2**63 + 2**10 + 1
    x, out = device.allocate(8), device.allocate(24)
    stream.upload(x, np.array([5], np.uint64))
    pad = Pad.infer("constant", ep.TensorSpec("uint64", (1,)), (1,), (1,)).on(device)
    pad.bind(x=x, value=value, out=out)(stream)
    assert np.frombuffer(out.host(), np.uint64).tolist() == [value, 5, value]
    with stream.capture() as graph:
        graph.slot("x", x)
        pad(stream, x=x, value=value - 2, out=out)
    other = device.allocate(8)
    stream.upload(other, np.array([6], np.uint64))
    graph.launch(stream, x=other)
    assert np.frombuffer(out.host(), np.uint64).tolist() == [value - 2, 6, value - 2]
    graph.close()
    stream.close()


def test_in_place_and_numbers_that_do_not_fit_are_refused(device, stream):
    memory = device.allocate(64)
    pad = Pad.infer("constant", ep.TensorSpec("int8", (8,)), (0,), (0,)).on(device)
    with pytest.raises(ValueError, match=r"pad/constant: x and out share bytes .* in place is not allowed"):
        pad(stream, x=memory, out=memory)
    with pytest.raises(ValueError, match="pad/constant: value: scalar 200 is no value of int8"):
        pad(stream, x=memory[:8], value=200, out=memory[8:])
    reflect = Pad.infer("reflect", ep.TensorSpec("int8", (8,)), (1,), (0,)).on(device)
    with pytest.raises(
        TypeError, match="reflect: operands are x, out; value given, which the descriptor was made without"
    ):
        reflect(stream, x=memory[:8], value=0, out=memory[16:])


@pytest.mark.parametrize("variables", [{"EP_CPU_ISA": "baseline"}, {"EP_CPU_ISA": "avx2"}, {"EP_CPU_THREADS": "1"}])
def test_variants_pad_alike(fresh_python, variables):
    program = """
import zlib
import numpy as np
import ep
from ep_primitives import Pad
device = ep.device("cpu:0")
stream = device.stream()
for op in ("constant", "reflect", "edge", "circular"):
    for dtype in (np.float16, np.float32, np.complex128):
        x = np.arange(37 * 611).reshape(37, 611).astype(dtype)
        pad = Pad.infer(op, x, (3, 5), (7, 2))
        out = np.zeros(pad.out.shape, dtype)
        pad.on(device)(stream, x=x, out=out)
        print(op, dtype.__name__, zlib.crc32(out.tobytes()))
"""
    assert fresh_python(program, **variables) == fresh_python(program)


@pytest.mark.parametrize("op", PAD_OPS)
@pytest.mark.parametrize("width", [3, 16, 17, 32, 33, 64, 65, 128, 129])
@pytest.mark.parametrize("borders", [(1, 1), (2, 1), (0, 2)])
def test_rows_of_every_width_get_their_borders(device, stream, op, width, borders):
    """However many bytes a row is copied by, and from whichever rows of x borders above and below are."""
    x = np.random.default_rng(width).integers(0, 256, (2, 4, width), np.uint8)
    sides = ((0, 0), borders[::-1], borders)
    before, after = zip(*sides, strict=True)
    descriptor = Pad.infer(op, ep.TensorSpec("uint8", x.shape), before, after)
    out = np.zeros(descriptor.out.shape, np.uint8)
    inputs = {"value": 3} if op == "constant" else {}
    descriptor.on(device)(stream, x=wrapped(device, x), out=wrapped(device, out), **inputs)
    modes = {"constant": {"constant_values": 3}, "circular": {}}
    mode = {"circular": "wrap"}.get(op, op)
    assert np.array_equal(out, np.pad(x, sides, mode, **modes.get(op, {})))
