"""Each word of the dialect runs on an OpenCL device and means what the table says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from ep_opencl.compiler.program import PRELUDE, build_source
from ep_simt.dialect import text

_WORDS = Path(__file__).parents[2] / "simt" / "tests" / "words.inc"


@pytest.fixture(scope="module")
def run(device):
    """Return a function that runs one kernel of words.inc on arrays, in place."""
    defines = "#define EP_HAS_F64 0\n#define EP_WIDE 0\n#define EP_ROWS_APART 1\n"
    source = defines + PRELUDE + text("dialect/dialect.h") + _WORDS.read_text(encoding="utf-8")
    program = build_source(device.twin, source, "words")
    queue = cl.CommandQueue(device.twin.context)

    def launch(name, size, group, *arguments):
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        buffers = {id(array): cl.Buffer(device.twin.context, flags, hostbuf=array) for array in arrays}
        kernel = cl.Kernel(program, name)
        kernel.set_args(*[buffers.get(id(argument), argument) for argument in arguments])
        cl.enqueue_nd_range_kernel(queue, kernel, size, group)
        for array in arrays:
            cl.enqueue_copy(queue, array, buffers[id(array)])

    return launch


def test_shared_array_is_one_for_a_group_and_barriers_order_it(run):
    x = np.random.default_rng(0).integers(-1000, 1000, 64 * 9, np.int32)
    out = np.zeros(9, np.int32)
    run("word_shared", (64 * 9,), (64,), x, out)
    assert np.array_equal(out, x.reshape(9, 64).sum(axis=1))


def test_functions_that_are_not_inlined_are_called(run):
    x = np.arange(5, dtype=np.int32)
    run("word_apart", (5,), (1,), x)
    assert x.tolist() == [2, 4, 6, 8, 10]


def test_places_number_every_work_item_once(run):
    out = np.full(6 * 4 * 8, -1, np.int64)
    run("word_places", (6, 4, 8), (3, 2, 2), out)
    assert np.array_equal(out, np.arange(out.size) * 4)


def test_structure_by_value_is_read_by_an_index(run):
    table = np.array([100, 1, 20, 300], np.int32)
    out = np.zeros(6, np.int32)
    run("word_by_value", (6,), (1,), table.tobytes(), out)
    assert out.tolist() == [101, 120, 400, 101, 120, 400]


def test_constants_are_read_by_an_index(run):
    out = np.zeros(7, np.uint32)
    run("word_constants", (7,), (1,), out)
    assert out.tolist() == [2, 3, 5, 7, 11, 2, 3]


def test_halves_widen_exactly_and_narrow_to_nearest_even(run):
    halves = np.arange(1 << 16, dtype=np.uint16)
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 32, halves.size, np.uint32)
    with np.errstate(all="ignore"):
        exact = halves.view(np.float16).astype(np.float32)
        # Halfway points, and their neighbours, are where roundings differ.
        near = ((exact.view(np.uint32).astype(np.int64) + 0x1000) & 0xFFFFFFFF).astype(np.uint32)
        bits = np.where(
            halves % 4 == 0, near, np.where(halves % 4 == 1, near + 1, np.where(halves % 4 == 2, near - 1, bits))
        )
        want = bits.view(np.float32).astype(np.float16)
    wide, narrow, same = np.zeros(halves.size, np.float32), np.zeros(halves.size, np.uint16), np.zeros_like(bits)
    run("word_numbers", (halves.size,), (64,), halves, wide, narrow, bits, same)
    assert np.array_equal(wide, exact, equal_nan=True)
    assert np.array_equal(np.signbit(wide), np.signbit(exact))
    assert np.array_equal(narrow.view(np.float16), want, equal_nan=True)
    assert same[:2].tolist() == [0x7F800000, 1]
    assert np.array_equal(same[2:], bits[2:])


def test_functions_are_those_of_their_names(run):
    x = np.array([0.25, 1 + 2**-12, 2.5, 3.5, 10.0], np.float32)
    out = np.zeros((5, 6), np.float32)
    run("word_functions", (5,), (1,), x, out)
    # Rounded once, the square keeps the digit that it has beyond a float's.
    functions = (np.sqrt, np.floor, np.abs, np.rint, np.trunc, lambda x: x * x - 1)
    want = np.stack([function(x.astype(np.float64)) for function in functions], axis=1)
    np.testing.assert_allclose(out, want, rtol=4e-7)


def test_products_and_sums_round_apart(run):
    x = np.array([1 + 2**-12, 1 + 2**-12, -(1 + 2**-11)], np.float32)
    out = np.zeros(1, np.float32)
    run("word_rounding", (1,), (1,), x, out)
    assert out[0] == 0


def test_subgroups_exchange_values_and_flags(run):
    x = np.random.default_rng(2).integers(-(1 << 62), 1 << 62, 64 * 3)
    out = np.zeros((x.size, 6), np.int64)
    run("word_subgroups", (x.size,), (64,), x, out)
    size = out[0, 0]
    lanes = np.arange(x.size) % 64 % size
    mirrored = np.arange(x.size) - lanes + size - 1 - lanes
    flags = np.array([sum(int(own < 0) << lane for lane, own in enumerate(group)) for group in x.reshape(-1, size)])
    assert np.array_equal(out[:, 0], np.full(x.size, size))
    assert np.array_equal(out[:, 1] * size + out[:, 2], np.arange(x.size) % 64)
    assert np.array_equal(out[:, 2], lanes)
    assert np.array_equal(out[:, 3], np.repeat(flags, size))
    assert np.array_equal(out[:, 4], x[mirrored])
    assert np.array_equal(out[:, 5], lanes[mirrored] + (size > 1))


def test_vectors_lie_as_elements_do_and_wrap(run):
    x = np.array([0.5, 1, -2, 3, 4], np.float32)
    out = np.array([7, 1, 2, 2**31 - 1, 4], np.int32)
    run("word_vectors", (1,), (1,), x, out)
    assert out.tolist() == [7, 2, 6, -(2**31) + 8, 20]


def test_places_that_will_be_read_or_written_stay_as_they_are(run, device):
    """The word is of compilers for processors; elsewhere no body has it."""
    x, out = np.arange(5, dtype=np.int32), np.zeros(7, np.int32)
    if not device.twin.is_cpu:
        pytest.skip("EP_PREFETCH is undefined there")
    run("word_prefetch", (5,), (1,), x, out)
    assert (x.tolist(), out.tolist()) == ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 0, 0])
