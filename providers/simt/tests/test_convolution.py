"""The launch of Convolution: tiles or few rows, one launch or a second one, what fits shared memory, and what is better lowered."""

from __future__ import annotations

import ep_simt
import pytest
from ep_primitives import Convolution
from ep_simt.products.product import Product

import ep

BODY = ep_simt.bodies()["convolution"]
INFO = ep.DeviceInfo(name="any", vendor="any", dtypes=frozenset({"float32"}))
TARGETS = pytest.mark.parametrize("target", [ep_simt.CPU, ep_simt.GPU], ids=["cpu", "gpu"])


def convolution(x=(2, 64, 56, 56), w=(64, 64, 3, 3), dtype="float32", strides_of_x=None, **options):
    given = ep.TensorSpec(dtype, x, strides_of_x) if strides_of_x else ep.TensorSpec(dtype, x)
    return Convolution.infer(given, ep.TensorSpec(dtype, w), **{"pads": 1, **options})


def weighed(strides):
    w = ep.TensorSpec("float32", (64, 64, 3, 3), strides)
    return Convolution.infer(ep.TensorSpec("float32", (2, 64, 56, 56)), w, pads=1)


def entries(descriptor, target):
    return [launch.entry for launch in BODY.plan(descriptor, target).launches]


@TARGETS
def test_images_meet_weights_in_one_launch_without_scratch(target):
    plan = BODY.plan(convolution(x=(64, 64, 56, 56)), target)
    assert [launch.entry for launch in plan.launches] == ["product_tiles"]
    assert plan.scratch_nbytes == 0


@TARGETS
def test_y_need_not_lie_as_a_matrix(target):
    padded, every_other = (64 * 4000, 4000, 60, 1), (64 * 12544, 12544, 224, 2)
    for strides in (padded, every_other):
        y = ep.TensorSpec("float32", (2, 64, 56, 56), strides)
        assert {*entries(convolution(y=y), target)} <= {"product_tiles", "product_finish"}
        assert entries(convolution(y=y, w=(64, 1, 3, 3), groups=64), target) == ["convolution_few"]


@TARGETS
@pytest.mark.parametrize("rows", [1, 3])
def test_few_rows_meet_windows_where_they_lie(target, rows):
    assert entries(convolution(w=(64 * rows, 1, 3, 3), groups=64), target) == ["convolution_few"]
    assert entries(convolution(w=(rows, 64, 3, 3)), target) == ["convolution_few"]
    assert entries(convolution(w=(8, 64, 3, 3)), target)[0] == "product_tiles"


def test_each_work_item_has_one_place_or_a_line_of_them():
    depthwise = convolution(x=(2, 8, 5, 3000), w=(8, 1, 3, 3), groups=8)
    (alone,), (among,) = (BODY.plan(depthwise, target).launches for target in (ep_simt.CPU, ep_simt.GPU))
    assert alone.items == 2 * 8 * 5 * -(-3000 // 1024)
    assert among.items == -(-2 * 8 * 5 * 3000 // 256) * 256


def test_a_deep_convolution_with_few_places_is_shared():
    deep = BODY.plan(convolution(x=(1, 512, 7, 7), w=(512, 512, 3, 3)), ep_simt.GPU)
    assert [launch.entry for launch in deep.launches] == ["product_tiles", "product_finish"]
    parts = deep.launches[0].items // ep_simt.GPU.group // (512 // 64)
    assert deep.scratch_nbytes == parts * 512 * 49 * 4


@pytest.mark.parametrize("group", [1, 2, 64, 256])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tables_fit_beside_tiles(dtype, group):
    line = convolution(x=(2,) * 7, w=(4, 2, 1, 1, 1, 1, 2), dtype=dtype)
    product = Product.of(line.key, ep_simt.GPU._replace(group=group))
    tile = product.tile
    elements = tile.rows * tile.left_pitch + tile.depth * tile.right_pitch + (group == 1) * tile.rows * tile.columns
    tables = 4 * ((len(line.strides) + 1) * (tile.depth + tile.columns) + tile.columns)
    assert not BODY.refusal(line)
    assert elements * product.itemsize + tables <= (256 << 10 if group == 1 else 32 << 10)


@pytest.mark.parametrize(
    ("descriptor", "reason"),
    [
        (convolution(w=(64, 64, 1, 1), pads=0), "a matrix as they lie"),
        (convolution(w=(0, 64, 3, 3)), "no elements"),
        (convolution(x=(2,) * 8, w=(3, 2, 1, 1, 1, 1, 1, 2)), "6 spatial dimensions"),
        (convolution(x=(2, 4, 9), w=(4, 4, 3), pads=1 << 30, strides=1 << 28), "windows reach"),
        (weighed((64 * 10, 10, 3, 1)), "no matrix"),
        (
            convolution(x=(2, 4, 9), w=(4, 4, 3), y=ep.TensorSpec("float32", (2, 4, 9), (1, 2, 1 << 29))),
            "windows reach",
        ),
    ],
)
def test_what_is_refused_is_lowered(descriptor, reason):
    with pytest.raises(ep.UnsupportedError, match=f"convolution: .*{reason}"):
        ep_simt.body.require(descriptor, INFO)
    assert ep_simt.body.has_kernels(descriptor, INFO)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_coordinates_stay_in_registers(nvrtc, prelude, spatial):
    window = (3,) * spatial
    descriptor = convolution(x=(1, 4, *(8,) * spatial), w=(4, 4, *window))
    key = descriptor.key._replace(special=BODY.special(descriptor))
    whole = BODY.program(key, ep_simt.GPU)
    for entry in whole.entries:
        ptx = nvrtc.ptx(whole.of(entry).source(prelude))
        assert ".local" not in ptx
        assert ".f64" not in ptx
