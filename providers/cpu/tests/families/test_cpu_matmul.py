from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from ep_cpu.families.matmul import PanelMatmul
from ep_cpu.kernel import PlanKernel
from ep_primitives import Matmul

import ep

RNG = np.random.default_rng(11)
DTYPES = ["float16", "float32", "float64", "complex64", "complex128"]

BITS_OF_A_PRODUCT = """
import hashlib
import numpy as np
import ep
from ep_primitives import Matmul
rng = np.random.default_rng(3)
a, b = rng.standard_normal((2, 401, 515), np.float32), rng.standard_normal((515, 3202), np.float32)[:, ::2]
out = np.empty((2, 401, 1601), np.float32)
device = ep.device("cpu:0")
Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b)).on(device)(device.stream(), a=a, b=b, alpha=0.3, beta=0, out=out)
print(hashlib.sha256(out.tobytes()).hexdigest())
"""

PANELS_OF_THREADS = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import ep
from ep_primitives import Matmul
device = ep.device("cpu:0")
a = np.ones((900, 700), np.float32)


def panels(n=900):
    left, right = a[:n], a.T[:, :n]
    descriptor = Matmul.infer(ep.TensorSpec.of(left), ep.TensorSpec.of(right))
    descriptor.on(device)(device.stream(), a=left, b=right, out=np.empty((n, n), np.float32))
    return device.memory_info().workspace

print(device.memory_info().workspace, panels(300), panels(), panels())
with ThreadPoolExecutor(1) as threads:
    print(threads.submit(panels).result())
print(panels())
"""


def draw(shape, dtype):
    real = RNG.standard_normal(shape)
    return (real + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else real).astype(dtype)


def draw_bfloat16(shape, low, high):
    """Return numbers of both signs with exponents in [low, high)."""
    numbers = RNG.uniform(1, 2, shape) * np.exp2(RNG.integers(low, high, shape)) * RNG.choice([-1, 1], shape)
    return numbers.astype(ml_dtypes.bfloat16)


def product(stream, a, b, out=None, **more):
    """Return Matmul of arrays; without `out`, over a dense one."""
    tensors = {"a": a, "b": b} | {name: more.pop(name) for name in ("bias",) if name in more}
    numbers = {"alpha": more.pop("alpha", 1), "beta": more.pop("beta", 0)}
    specs = {name: ep.TensorSpec.of(array) for name, array in tensors.items()}
    if out is None:
        descriptor = Matmul.infer(**specs, **more)
        out = np.empty(descriptor.out.shape, descriptor.out.dtype)
    else:
        descriptor = Matmul(**specs, out=ep.TensorSpec.of(out), **more)
    descriptor.on(stream.device)(stream, **tensors, **numbers, out=out)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_of_several_tiles_agrees_with_numpy(stream, dtype):
    a, b, bias = draw((397, 601), dtype), draw((601, 1601), dtype), draw((1601,), dtype)
    wide = np.result_type(dtype, np.float64)
    wanted = a.astype(wide) @ b.astype(wide) + bias
    stored, summed = (np.finfo(kind).eps for kind in (dtype, np.result_type(dtype, np.float32)))
    np.testing.assert_allclose(product(stream, a, b, bias=bias), wanted, rtol=2 * stored, atol=2000 * summed)


def test_value_depends_neither_on_its_place_nor_on_the_layout(stream):
    a, b = draw((61, 300), "float32"), draw((300, 403), "float32")
    whole = product(stream, a, b)
    assert (product(stream, a[17:18], b) == whole[17:18]).all()
    assert (product(stream, a, b[:, 400:401]) == whole[:, 400:401]).all()
    assert (product(stream, a, np.asfortranarray(b)) == whole).all()
    turned = np.empty((403, 61), np.float32).T
    assert (product(stream, a, b, turned) == whole).all()
    assert (product(stream, a[::-1], b[:, ::-1]) == whole[::-1, ::-1]).all()


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32", "float64"])
def test_one_row_has_the_bits_that_it_has_among_several(stream, dtype):
    a, b = draw((3, 300), dtype), draw((300, 300), dtype)
    whole = product(stream, a, b)
    for width in (1, 7, 15, 16, 17, 33, 64, 127, 128, 131, 300):
        assert (product(stream, a[1:2], b[:, 3 : 3 + width]) == whole[1:2, 3 : 3 + width]).all()
    assert (product(stream, a[2:3, ::-1], b[::-1]) == product(stream, a[:, ::-1], b[::-1])[2:3]).all()
    assert (product(stream, a[:1], b[:, ::2]) == whole[:1, ::2]).all()


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float32", "float64", "complex64"])
@pytest.mark.parametrize("few", [1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 17, 32, 33])
def test_few_rows_or_columns_have_the_bits_that_they_have_among_many(stream, dtype, few):
    """They meet the other factor where it lies, in either direction, or with steps; depths and widths end inside vectors."""
    a, b = draw((61, 523), dtype), draw((523, 69), dtype)
    whole = product(stream, a, b)
    rows, columns = slice(5, 5 + few), slice(11, 11 + few)
    apart = np.repeat(b, 2, axis=1)[:, ::2]
    for right in (b, np.asfortranarray(b), apart):
        for left in (a[rows], np.asfortranarray(a[rows]), np.repeat(a[rows], 3, axis=0)[::3]):
            assert (product(stream, left, right) == whole[rows]).all()
    for left in (a, np.asfortranarray(a)):
        for right in (b[:, columns], np.asfortranarray(b[:, columns]), np.ascontiguousarray(b[:, columns])):
            assert (product(stream, left, right) == whole[:, columns]).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("few", [1, 9, 20, 33])
def test_few_rows_of_bytes_are_exact(stream, dtype, few):
    """Those of the left factor meet both layouts of the right one, whose depths and widths end inside tiles."""
    limits = np.iinfo(dtype)
    a, b = (RNG.integers(limits.min, limits.max + 1, shape).astype(dtype) for shape in ((few, 2277), (2277, 107)))
    wanted = a.astype(np.int64) @ b.astype(np.int64)
    for right in (b, np.asfortranarray(b)):
        assert (product(stream, a, right) == wanted).all()


@pytest.mark.parametrize("few", [1, 3, 9, 20])
def test_few_rows_of_small_numbers_have_the_bits_that_they_have_among_many(stream, few):
    """Instructions for bfloat16 count denormal numbers as 0: some columns have such sums from the begin, some later on."""
    a, b = draw_bfloat16((61, 1099), -60, -50), draw_bfloat16((1099, 101), -40, -30)
    b[:40, 3:9] = draw_bfloat16((40, 6), -90, -70)
    b[:, 9:12] = draw_bfloat16((1099, 3), -85, -75)
    b[600:610, 50:70] = draw_bfloat16((10, 20), -133, -100)
    a[7, 900:] = draw_bfloat16((199,), -110, -100)
    whole = product(stream, a, b, np.empty((61, 101), np.float32))
    assert ((whole != 0) & (np.abs(whole) < np.finfo(np.float32).tiny)).any()
    for right in (b, np.asfortranarray(b)):
        made = product(stream, a[5 : 5 + few], right, np.empty((few, 101), np.float32))
        assert (made == whole[5 : 5 + few]).all()


@pytest.mark.parametrize("few", [2, 8])
def test_few_rows_and_columns_are_scaled_added_and_activated_as_many_are(stream, few):
    a, b, bias, was = (draw(shape, "float32") for shape in ((50, 300), (300, 40), (50, 40), (50, 40)))
    more = {"alpha": 0.5, "beta": -2, "activation": "relu"}
    whole = product(stream, a, b, was.copy(), bias=bias, **more)
    for left, right, kept in ((a[:few], b, np.s_[:few]), (a, b[:, :few], np.s_[:, :few])):
        for factor in (right, np.asfortranarray(right)):
            made = product(stream, left, factor, was[kept].copy(), bias=bias[kept], **more)
            assert (made == whole[kept]).all()


def test_few_rows_of_batches_that_are_summed(stream):
    a, b = draw((3, 2, 300), "float64"), draw((3, 300, 50), "float64")
    out = np.empty((2, 50))
    product(stream, a, np.asfortranarray(b.transpose(0, 2, 1)).transpose(0, 2, 1), out)
    np.testing.assert_allclose(out, np.einsum("bmk,bkn->mn", a, b), rtol=1e-11, atol=1e-11)


def test_value_does_not_depend_on_the_number_of_threads(fresh_python):
    assert len({fresh_python(BITS_OF_A_PRODUCT, EP_CPU_THREADS=count) for count in ("1", "2", "5")}) == 1


def test_every_instruction_set_gives_exact_sums_of_integers(isa, launch_on):
    for dtype in ("float32", "float64", "int8"):
        a, b = RNG.integers(-9, 9, (50, 300)).astype(dtype), RNG.integers(-9, 9, (300, 70)).astype(dtype)
        descriptor = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b))
        out = np.empty((50, 70), descriptor.out.dtype)
        launch_on(isa, PanelMatmul(), descriptor, (a, b, None, out), (1, 0))
        assert (out == a.astype(np.int64) @ b.astype(np.int64)).all()


def test_products_of_bfloat16_have_the_same_bits_with_instructions_for_them_and_without(isa, launch_on):
    """The instructions count denormal numbers as 0: beside some, in a row and a column of their own, they are not taken."""
    for low, high in ((-3, 3), (-133, -120), (-60, -50)):
        a, b = draw_bfloat16((61, 515), low, high), draw_bfloat16((515, 70), 0, 20)
        a[:, 3] = 0
        beside = (
            np.vstack([a, draw_bfloat16((1, 515), -133, -130)]),
            np.hstack([b, draw_bfloat16((515, 1), -133, -130)]),
        )
        out, plain = np.empty((61, 70), np.float32), np.empty((62, 71), np.float32)
        for left, right, result in ((a, b, out), (*beside, plain)):
            specs = (ep.TensorSpec.of(each) for each in (left, right, result))
            descriptor = Matmul(**dict(zip(("a", "b", "out"), specs, strict=True)))
            launch_on(isa, PanelMatmul(), descriptor, (left, right, None, result), (1, 0))
        assert plain[61].any(), "denormal numbers counted as 0"
        assert (out == plain[:61, :70]).all()
        wanted = a.astype(np.float64) @ b.astype(np.float64)
        np.testing.assert_allclose(out, wanted, rtol=0, atol=np.abs(wanted).max() * 1e-4)
        assert np.abs(wanted).max() > 0


@pytest.mark.parametrize("n", [40, 1500])
def test_denormal_sums_of_the_first_panels_stay_where_the_last_ones_add_nothing(isa, launch_on, n):
    a, b = draw_bfloat16((700, 1100), -70, -69), draw_bfloat16((1100, n), -65, -64)
    a[:, 512:] = 0
    out = np.empty((700, n), np.float32)
    specs = (ep.TensorSpec.of(each) for each in (a, b, out))
    descriptor = Matmul(**dict(zip(("a", "b", "out"), specs, strict=True)))
    launch_on(isa, PanelMatmul(), descriptor, (a, b, None, out), (1, 0))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, wanted, rtol=0, atol=2.0**-142)
    assert np.abs(wanted).max() < 2.0**-126


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_bytes_at_the_ends_of_their_range_are_multiplied_exactly(isa, launch_on, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for m, k, n in ((1, 5, 3), (13, 1027, 35), (50, 64, 70)):
        a, b = RNG.choice([low, low + 1, 0, high], (m, k)).astype(dtype), RNG.choice([low, high], (k, n)).astype(dtype)
        for right in (b, np.asfortranarray(b)):
            descriptor = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(right))
            out = np.empty((m, n), descriptor.out.dtype)
            launch_on(isa, PanelMatmul(), descriptor, (a, right, None, out), (1, 0))
            assert (out == a.astype(np.int64) @ b.astype(np.int64)).all()


def test_small_product_has_the_bits_of_a_part_of_a_large_one(stream):
    for dtype in ("float32", "float64", "float16", ml_dtypes.bfloat16):
        a, b = draw((300, 200), dtype), draw((200, 300), dtype)
        whole = product(stream, a, b)
        for m in range(1, 26):
            n = 1 + m * 37 % 70
            assert (product(stream, a[5 : 5 + m], b[:, 7 : 7 + n]) == whole[5 : 5 + m, 7 : 7 + n]).all()
        turned = np.asfortranarray(a[:40])
        assert (product(stream, turned, b[:, :33]) == whole[:40, :33]).all()
        wide = np.zeros((40, 50), dtype)[:, :33]
        assert (product(stream, a[:40], b[:, :33], wide) == whole[:40, :33]).all()
        bias = draw((33,), dtype)
        assert (
            product(stream, a[:9], b[:, :33], bias=bias) == product(stream, a, b, bias=np.pad(bias, (0, 267)))[:9, :33]
        ).all()


def test_small_factor_whose_columns_lie_apart_may_have_more_of_them_than_a_block(stream):
    a, b = draw((2, 8), "float16"), draw((8, 3000), "float16")[:, ::2]
    assert (product(stream, a, b) == product(stream, a, b.copy())).all()
    assert (product(stream, a, b) == product(stream, b.T, a.T).T).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_rows_meet_panels_of_small_factors_with_the_bits_of_a_large_product(isa, launch_on, dtype):
    def on_isa(a, b):
        descriptor = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b))
        out = np.full(descriptor.out.shape, np.nan, dtype)
        launch_on(isa, PanelMatmul(), descriptor, (a, b, None, out), (1, 0))
        return out

    for lying in (512, 515):  # rows of b share places of a cache, or do not
        a, b = draw((433, 256), dtype), draw((256, lying), dtype)
        whole = on_isa(a, b)
        for m, n in ((97, 250), (131, 33), (193, 64), (433, 127)):
            assert (on_isa(a[:m], b[:, 7 : 7 + n]) == whole[:m, 7 : 7 + n]).all()


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [
        (np.float32, (901, 833, 805)),
        (ml_dtypes.bfloat16, (1103, 1061, 1041)),
        (np.complex64, (871, 803, 777)),
        (np.int8, (1313, 1337, 1301)),
    ],
)
def test_large_product_on_shared_panels_has_the_bits_of_parts_of_it(isa, launch_on, dtype, shape):
    m, k, n = shape
    a = RNG.integers(-128, 127, (2, m, k), dtype) if dtype is np.int8 else draw((2, m, k), dtype)
    b, bias = a[:, :n].swapaxes(1, 2), None if dtype is np.int8 else a[0, 0, :n]

    def on_isa(a, b, bias):
        specs = [None if each is None else ep.TensorSpec.of(each) for each in (a, b, bias)]
        descriptor = Matmul.infer(*specs[:2], bias=specs[2])
        out = np.ones(descriptor.out.shape, descriptor.out.dtype)
        launch_on(isa, PanelMatmul(), descriptor, (a, b, bias, out), (2, 1))
        return out

    whole = on_isa(a, b, bias)
    for rows, columns in ((slice(0, 90), slice(0, None)), (slice(m - 61, m), slice(5, 301))):
        part = on_isa(a[:, rows], b[:, :, columns], None if bias is None else bias[columns])
        assert (part == whole[:, rows, columns]).all()
        assert part.any()


@pytest.mark.parametrize(
    ("rows", "columns"), [(488, 512), (492, 512), (496, 512), (500, 512), (976, 1056), (980, 1056), (985, 1056)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_plain_product_of_several_depths_writes_its_rows_and_no_others(isa, launch_on, dtype, rows, columns):
    """Whatever number of rows the last panel has; sums that go where they belong have the bits of others, also of shared panels."""
    a, b = draw((rows, 530), dtype), draw((530, columns), dtype)
    room = np.ones((rows + 12, columns + 16), dtype)
    out = room[:rows, :columns]
    launch_on(
        isa,
        PanelMatmul(),
        Matmul(a=ep.TensorSpec.of(a), b=ep.TensorSpec.of(b), out=ep.TensorSpec.of(out)),
        (a, b, None, out),
        (1, 0),
    )
    part = b[:, 1:512]
    other = np.empty((rows, 511), dtype)
    launch_on(isa, PanelMatmul(), Matmul.infer(*map(ep.TensorSpec.of, (a, part))), (a, part, None, other), (1, 0))
    assert (out[:, 1:512] == other).all()
    np.testing.assert_allclose(out, a @ b, rtol=0, atol=1e-2 if dtype != "float64" else 1e-10)
    assert (room[rows:] == 1).all()
    assert (room[:, columns:] == 1).all()


def test_errors_have_no_bias(stream):
    a, b = RNG.uniform(0.5, 1.5, (64, 1000)).astype(np.float32), RNG.uniform(0.5, 1.5, (1000, 64)).astype(np.float32)
    error = product(stream, a, b) - a.astype(np.float64) @ b.astype(np.float64)
    assert abs(error.mean()) < 0.1 * np.sqrt((error**2).mean())


def test_bound_step_reads_its_output_each_time(device, stream):
    a, b, out = draw((3, 4), "float32"), draw((4, 5), "float32"), np.zeros((3, 5), np.float32)
    primitive = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b)).on(device)
    step = primitive.bind(a=a, b=b, alpha=1, beta=1, out=out)
    for _ in range(3):
        step(stream)
    np.testing.assert_allclose(out, 3 * (a @ b), rtol=1e-5)


def test_beta_of_zero_does_not_read_the_output_and_alpha_of_zero_not_the_factors(stream):
    nan = np.full((40, 40), np.nan, np.float32)
    a, b = draw((40, 40), "float32"), draw((40, 40), "float32")
    assert np.isfinite(product(stream, a, b, nan.copy())).all()
    out = draw((40, 40), "float32")
    assert (product(stream, nan, nan, out.copy(), alpha=0, beta=2) == 2 * out).all()


def test_sum_over_batches_applies_beta_once(stream):
    a, b, out = draw((70, 9, 11), "float64"), draw((70, 11, 13), "float64"), draw((9, 13), "float64")
    wanted = 0.5 * out + np.einsum("xik,xkj->ij", a, b)
    np.testing.assert_allclose(product(stream, a, b, out, beta=0.5), wanted, rtol=1e-12, atol=1e-12)


def test_output_that_overlaps_a_factor_is_refused(stream):
    a = draw((8, 8), "float32")
    with pytest.raises(ValueError, match=r"matmul: a and out share .* in place is not allowed"):
        product(stream, a, draw((8, 8), "float32"), a)


def test_primitive_is_launched_by_several_threads_at_once(device):
    a, b = draw((150, 200), "float32"), draw((200, 250), "float32")
    primitive = Matmul.infer(ep.TensorSpec.of(a), ep.TensorSpec.of(b)).on(device)

    def run(factor):
        out = np.empty((150, 250), np.float32)
        stream = device.stream()
        for _ in range(5):
            primitive(stream, a=a, b=b, alpha=factor, beta=0, out=out)
        stream.close()
        return out

    with ThreadPoolExecutor(4) as threads:
        results = [*threads.map(run, (1, 2, 4, 8))]
    for factor, result in zip((1, 2, 4, 8), results, strict=True):
        assert (result == factor * results[0]).all()


def test_kernel_is_made_without_compiling(device):
    before = Matmul.infer(ep.TensorSpec("float32", (64, 64)), ep.TensorSpec("float32", (64, 64))).on(device)
    after = Matmul.infer(ep.TensorSpec("float32", (64, 80)), ep.TensorSpec("float32", (80, 64))).on(device)
    assert isinstance(before.kernel, PlanKernel)
    assert before.descriptor.key == after.descriptor.key


def test_factors_without_elements_may_stand_in_memories_without_bytes(device, stream):
    descriptor = Matmul.infer(ep.TensorSpec("float32", (3, 0)), ep.TensorSpec("float32", (0, 4)))
    matmul = descriptor.on(device)
    result = np.empty((3, 4), np.float32)
    for launch in (matmul, lambda stream, **operands: matmul.bind(**operands)(stream)):
        a, b, out = (device.allocate(spec.nbytes) for spec in (descriptor.a, descriptor.b, descriptor.out))
        stream.upload(out, np.full((3, 4), 7, np.float32))
        launch(stream, a=a, b=b, out=out)
        stream.download(result, out)
        stream.synchronize()
        assert (result == 0).all()


def test_panels_of_threads_are_counted_and_kept(fresh_python):
    found = fresh_python(PANELS_OF_THREADS, EP_CPU_THREADS="1")
    panels, shared = 192 * 256 * 8 + 257 * 3072 + 384 * 3072 + 64, 4 << 20
    most = panels + shared
    assert [int(nbytes) for nbytes in found.split()] == [0, panels, most, most, 2 * most, most]
