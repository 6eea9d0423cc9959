"""Frozen factors are packed by the first launch of a step or a graph; results have the bits of products of other memories."""

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from ep_cpu.families.matmul import PanelMatmul, WindowedMatmul
from ep_primitives import Convolution, Matmul

import ep

RNG = np.random.default_rng(29)
FLOATS = ["float16", ml_dtypes.bfloat16, "float32", "float64", "complex64"]
ROOM = 1 << 15
"""Bytes more than a pool's segments round up to."""


def draw(shape, dtype):
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        return RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)
    real = RNG.standard_normal(shape)
    return (real + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def placed(device, array, before=0):
    """Return a memory that holds an array's bytes, from byte `before` on."""
    memory = device.allocate(before + array.nbytes)
    np.frombuffer(memory.host(), np.uint8)[before:] = np.frombuffer(array.tobytes(order="A"), np.uint8)
    return memory


@pytest.fixture
def check(device, natives):
    """Check that steps over frozen operands write the bits of others: check(isa, implementation, descriptor, arrays, frozen)."""

    def run(isa, implementation, descriptor, arrays, frozen, scalars=()):
        kernel = implementation.create(descriptor, device.twin, natives[isa])
        memories = [None if each is None else placed(device, each) for each in arrays]
        target = memories[-1]

        def made(step):
            np.frombuffer(target.host(), np.uint8)[:] = np.frombuffer(arrays[-1].tobytes(), np.uint8)
            step(None, None, None)
            return bytes(target.host())

        wanted = made(kernel.bind(tuple(memories), scalars))
        for place in frozen:
            memories[place].freeze()
        before = device.memory_info().in_use
        step, again = (kernel.bind(tuple(memories), scalars) for _ in range(2))
        packed = device.memory_info().in_use - before
        assert made(step) == wanted, "the first launch"
        assert made(step) == wanted, "the second one"
        assert made(again) == wanted, "another step"
        del step, again
        for each in memories:
            if each is not None:
                each.close()
        return packed

    return run


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint8"])
@pytest.mark.parametrize("frozen", [(0,), (1,), (0, 1)])
def test_products(check, isa, dtype, frozen):
    """Extents end inside panels; sums are of two depths; each factor lies either way; 3 rows would meet another b where it lies."""
    for m, n, k in ((61, 523, 700), (100, 70, 515), (3, 200, 700)):
        a, b = draw((m, k), dtype), draw((k, n), dtype)
        for turn in (np.ascontiguousarray, np.asfortranarray):
            left, right = turn(a), turn(b)
            descriptor = Matmul.infer(ep.TensorSpec.of(left), ep.TensorSpec.of(right))
            out = np.zeros((m, n), np.int32 if np.dtype(dtype).kind in "iu" else dtype)
            packed = check(isa, PanelMatmul(), descriptor, [left, right, None, out], frozen, (1, 0))
            assert packed > 0 or (m == 3 and frozen == (0,))


@pytest.mark.parametrize("frozen", [(0,), (1,)])
def test_sums_over_batches_and_batches_that_share_a_factor(check, isa, frozen):
    a, b, out = draw((1, 61, 300), "float32"), draw((3, 300, 70), "float32"), np.zeros((3, 61, 70), "float32")
    descriptor = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b))
    is_shared = frozen == (0,)
    assert (check(isa, PanelMatmul(), descriptor, [a, b, None, out], frozen, (1, 0)) > 0) == is_shared
    summed = np.ones((61, 70), "float32")
    descriptor = Matmul(a=ep.TensorSpec.of(a), b=ep.TensorSpec.of(b), out=ep.TensorSpec.of(summed))
    check(isa, PanelMatmul(), descriptor, [a, b, None, summed], frozen, (0.5, 2))


@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(1100, 1030, 600), (70, 4096, 2048)])
def test_large_products_whose_panels_threads_share(check, isa, dtype, shape):
    m, n, k = shape
    a, b, out = draw((m, k), dtype), draw((k, n), dtype), np.zeros((m, n), dtype)
    descriptor = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b))
    for frozen in ((0,), (1,)):
        check(isa, PanelMatmul(), descriptor, [a, b, None, out], frozen, (1, 0))


def test_small_numbers_of_bfloat16(check, isa):
    """Instructions for them count denormal numbers as 0: kept panels say, too, how small their elements are."""
    a, b = (
        (RNG.uniform(1, 2, shape) * np.exp2(RNG.integers(low, low + 10, shape))).astype(ml_dtypes.bfloat16)
        for shape, low in (((61, 1099), -60), ((1099, 101), -40))
    )
    b[:40, 3:9] *= ml_dtypes.bfloat16(2.0**-45)
    a[50:, 900:] *= ml_dtypes.bfloat16(2.0**-50)
    out = np.zeros((61, 101), np.float32)
    descriptor = Matmul(a=ep.TensorSpec.of(a), b=ep.TensorSpec.of(b), out=ep.TensorSpec.of(out))
    for frozen in ((0,), (1,), (0, 1)):
        check(isa, PanelMatmul(), descriptor, [a, b, None, out], frozen, (1, 0))


@pytest.mark.parametrize("dtype", ["float32", ml_dtypes.bfloat16, "int8"])
def test_weights_of_convolutions(check, isa, dtype):
    x, w = draw((2, 40, 14, 14), dtype), draw((70, 40, 3, 3), dtype)
    descriptor = Convolution.infer(ep.TensorSpec.of(x), ep.TensorSpec.of(w), pads=(1, 1, 1, 1))
    out = np.zeros(descriptor.out.shape, "int32" if dtype == "int8" else dtype)
    assert check(isa, WindowedMatmul(), descriptor, [x, w, None, out], (1,)) > 0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows(check, isa, dtype, rows):
    """One and two have kernels of their own, of several panels at a time; columns end inside them."""
    for n in (10, 70, 300):
        a, b = draw((rows, 600), dtype), draw((600, n), dtype)
        for right in (b, np.asfortranarray(b)):
            descriptor, out = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(right)), np.zeros((rows, n), dtype)
            check(isa, PanelMatmul(), descriptor, [a, right, None, out], (1,), (1, 0))
            check(isa, PanelMatmul(), descriptor, [a, right, None, draw((rows, n), dtype)], (1,), (0.5, 2))


def test_many_rows_need_no_panels(check, isa):
    """Beside 5,000 rows packing takes no part of the time."""
    a, b, out = draw((5000, 300), "float32"), draw((300, 70), "float32"), np.zeros((5000, 70), "float32")
    descriptor = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b))
    assert check(isa, PanelMatmul(), descriptor, [a, b, None, out], (1,), (1, 0)) == 0


@pytest.fixture
def weights(device):
    """Return a primitive with a frozen factor, and what it makes of the other one."""
    a, b = draw((61, 300), "float32"), draw((300, 70), "float32")
    primitive = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b)).on(device)
    out, frozen = device.allocate(61 * 70 * 4), placed(device, b)
    primitive(device.stream(), a=a, b=frozen, out=out)
    wanted = bytes(out.host())
    frozen.freeze()
    return primitive, placed(device, a), frozen, wanted


def test_steps_and_graphs_share_panels_which_go_with_the_memory(device, weights):
    primitive, a, b, wanted = weights
    stream, out = device.stream(), device.allocate(len(weights[3]))
    before = device.memory_info().in_use
    steps = [primitive.bind(a=a, b=b, out=out) for _ in range(5)]
    panels = device.memory_info().in_use - before
    assert b.nbytes < panels < b.nbytes + ROOM + b.nbytes // 2
    with stream.capture() as graph:
        primitive(stream, a=a, b=b, out=out)
    for run in (*steps, graph.launch):
        stream.fill(out, b"\xbd")
        run(stream)
        assert bytes(out.host()) == wanted
    assert device.memory_info().in_use - before == panels
    nbytes = b.nbytes
    b.close()
    steps[0](stream)
    assert bytes(out.host()) == wanted, "a step holds what it needs"
    for step in steps:
        step.close()
    graph.close()
    del steps, run
    assert device.memory_info().in_use <= before - nbytes


def test_factors_at_other_places_of_a_memory_have_panels_of_their_own(device):
    a, both = draw((61, 300), "float32"), draw((2, 300, 70), "float32")
    stream, frozen, out = device.stream(), placed(device, both), device.allocate(61 * 70 * 4)
    frozen.freeze()
    whole = ep.TensorSpec("float32", (300, 70), offset=300 * 70)
    for spec, b, values in (
        (ep.TensorSpec.of(both[0]), frozen, both[0]),
        (ep.TensorSpec.of(both[0]), frozen[both[0].nbytes :], both[1]),
        (whole, frozen, both[1]),
        (ep.TensorSpec("float32", (300, 70), (1, 300)), frozen, both[0].reshape(70, 300).T),
    ):
        step = Matmul.infer(ep.TensorSpec.of(a), spec).on(device).bind(a=placed(device, a), b=b, out=out)
        step(stream)
        np.testing.assert_allclose(
            np.frombuffer(out.host(), np.float32).reshape(61, 70), a @ values, rtol=1e-3, atol=1e-4
        )


def test_slot_in_place_of_a_frozen_factor(device, weights):
    primitive, a, b, wanted = weights
    stream, out = device.stream(), device.allocate(len(wanted))
    with stream.capture() as graph:
        primitive(stream, a=a, b=b, out=out)
    graph.slot("b", b)
    zeros = placed(device, np.zeros((300, 70), np.float32))
    graph.launch(stream, b=zeros)
    assert not np.frombuffer(out.host(), np.float32).any()
    graph.launch(stream)
    assert bytes(out.host()) == wanted


def test_steps_and_graphs_outlive_frozen_memories_that_are_closed(device, weights):
    primitive, a, b, wanted = weights
    stream, outs = device.stream(), [device.allocate(len(wanted)) for _ in range(2)]
    step = primitive.bind(a=a, b=b, out=outs[0])
    with stream.capture() as graph:
        primitive(stream, a=a, b=b, out=outs[1])
    b.close()
    assert not b.is_frozen
    for _ in range(2):
        step(stream)
        graph.launch(stream)
        assert [bytes(out.host()) for out in outs] == [wanted] * 2


def test_without_memory_for_panels_each_launch_packs(device, weights):
    primitive, a, b, wanted = weights
    stream, out = device.stream(), device.allocate(len(wanted))
    device.trim()
    device.budget = device.memory_info().reserved
    try:
        step = primitive.bind(a=a, b=b, out=out)
    finally:
        device.budget = None
    step(stream)
    assert bytes(out.host()) == wanted


def test_threads_that_come_at_once_pack_once_or_go_without(device, weights):
    primitive, a, b, wanted = weights
    for _ in range(20):
        own = placed(device, np.frombuffer(bytes(b.host()), np.float32))
        own.freeze()

        def run(_, own=own):
            stream, out = device.stream(), device.allocate(len(wanted))
            primitive.bind(a=a, b=own, out=out)(stream)
            return bytes(out.host())

        with ThreadPoolExecutor(4) as threads:
            assert {*threads.map(run, range(4))} == {wanted}
