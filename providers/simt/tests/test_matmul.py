"""Matmul: which entry does a product, how its depth and its batches are shared, and limits that no result shows."""

from __future__ import annotations

import struct

import ep_simt
import pytest
from ep_primitives import Matmul
from ep_primitives.families.matmul.descriptor import ACTIVATIONS, MATMUL_DTYPES
from ep_simt.products.tile import LINE_DEPTH, tile_of

import ep

_BODY = ep_simt.bodies()["matmul"]
_NUMBERS = 19
_LEAST_SHARED_NBYTES = 32 * 1024  # that OpenCL 1.2 demands of a device
_ALONE_SHARED_NBYTES = 256 * 1024  # that Intel's runtime has for a processor
_EXACT = 2**24  # the integers that float32 holds


def product(a, b, dtype="float32", **options):
    given = [spec if isinstance(spec, ep.TensorSpec) else ep.TensorSpec(dtype, spec) for spec in (a, b)]
    return Matmul.infer(*given, **options)


def entries(descriptor, target=ep_simt.CPU):
    return [launch.entry for launch in _BODY.plan(descriptor, target).launches]


def extents(descriptor):
    """Return m, n and k as the kernel has them."""
    (packed, _) = _BODY.plan(descriptor, ep_simt.CPU).launches[0].arguments[-2:]
    return struct.unpack(f"<{_NUMBERS}i", packed)[:3]


@pytest.mark.parametrize("target", [ep_simt.CPU, ep_simt.GPU], ids=["cpu", "gpu"])
def test_vectors_are_read_without_a_tile(target):
    assert entries(product((1, 512), (512, 9000)), target)[0] == "matmul_across"
    assert entries(product((9000, 512), (512, 1)), target)[0] == "matmul_deep"
    assert entries(product((512, 512), (512, 512)), target)[0] == "product_tiles"


def test_work_item_alone_reads_only_neighbours_without_a_tile():
    steps = ep.TensorSpec("float32", (512, 9000), (18000, 2))
    assert entries(product((1, 512), steps))[0] == "product_tiles"
    assert entries(product((1, 512), steps), ep_simt.GPU)[0] == "matmul_across"


def test_small_product_of_a_long_depth_is_shared_and_a_large_one_is_not():
    deep = _BODY.plan(product((64, 8192), (8192, 64)), ep_simt.GPU)
    assert [launch.entry for launch in deep.launches] == ["product_tiles", "product_finish"]
    groups = deep.launches[0].items // ep_simt.GPU.group
    assert deep.scratch_nbytes == groups * 64 * 64 * 4
    assert entries(product((2048, 8192), (8192, 2048)), ep_simt.GPU) == ["product_tiles"]


def test_batches_that_share_a_factor_are_rows():
    assert extents(product((8, 5, 64), (64, 32))) == (40, 32, 64)
    assert extents(product((8, 5, 64), (8, 64, 32))) == (5, 32, 64)
    padded = ep.TensorSpec("float32", (8, 5, 64), (384, 64, 1))
    assert extents(product(padded, (64, 32))) == (5, 32, 64)


def test_product_whose_columns_lie_apart_is_turned():
    out = ep.TensorSpec("float32", (30, 20), (1, 30))
    assert extents(product((30, 64), (64, 20), out=out)) == (20, 30, 64)


@pytest.mark.parametrize("group", [1, 64, 128, 256])
@pytest.mark.parametrize("dtype", MATMUL_DTYPES)
def test_tile_has_a_block_for_each_work_item_and_fits(dtype, group):
    is_complex = ep.dtype(dtype).kind == "c"
    itemsize = 8 if dtype in {"float64", "complex128"} else 4
    tile = tile_of(group, itemsize, is_complex=is_complex)
    shared, most = tile.rows * tile.left_pitch + tile.depth * tile.right_pitch, _LEAST_SHARED_NBYTES
    if group > 1:
        assert tile.down * tile.across == group
    else:
        shared, most = shared + tile.rows * tile.columns, _ALONE_SHARED_NBYTES
    assert shared * itemsize * (2 if is_complex else 1) <= most
    assert tile.right_pitch >= tile.columns
    assert tile.left_pitch >= tile.depth


@pytest.mark.parametrize("group", [1, 256])
def test_sums_of_bytes_are_exact_in_float32(group):
    deepest = max(tile_of(group, 4, is_complex=False).depth, LINE_DEPTH)
    assert deepest * 255 * 255 < _EXACT


@pytest.mark.parametrize(
    ("activation", "dtype"),
    [
        pytest.param(activation, dtype, marks=[pytest.mark.thorough] * (place != number % 3))
        for number, activation in enumerate(ACTIVATIONS)
        for place, dtype in enumerate(("float32", "float64", "float16"))
    ],
)
def test_activation_keeps_numbers_in_registers(nvrtc, prelude, activation, dtype):
    descriptor = product((4, 4), (4, 4), dtype, activation=activation)
    key = descriptor.key._replace(special=_BODY.special(descriptor))
    program = _BODY.program(key, ep_simt.GPU)
    ptx = nvrtc.ptx(program.source(prelude))
    assert ".local" not in ptx
    assert dtype == "float64" or ".f64" not in ptx
