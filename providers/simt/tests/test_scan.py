"""The cut of Scan for groups: an extent decides the order of a row's sums, and the number of rows who goes through them."""

from __future__ import annotations

import ep_simt
import pytest
from ep_primitives import Scan
from ep_simt.families.scan.cut import BESIDE, cut_of

import ep

GPU = ep_simt.GPU


def plan(shape, axis, dtype="float32", *, target=GPU, strides=None):
    x = ep.TensorSpec(dtype, shape, strides=strides)
    return ep_simt.bodies()["scan"].plan(Scan.infer("sum", x, axis), target)


@pytest.mark.parametrize("element", ["i8", "bf16", "f32", "i64", "c128"])
@pytest.mark.parametrize("step", [1, 2, 1024])
def test_pieces_and_their_work_items_do_not_depend_on_the_number_of_rows(element, step):
    for extent in (1, 5, 16, 17, 1000, 4096, 4097, 1 << 20):
        few, many = (cut_of(element, extent, step, rows, GPU) for rows in (1, 1 << 20))
        assert (few.lanes, few.across, few.pieces) == (many.lanes, many.across, many.pieces)
        assert GPU.group % few.lanes == 0


def test_one_launch_goes_through_rows_that_fill_a_device_and_three_through_few():
    assert [launch.entry for launch in plan((8192, 65536), 1).launches] == ["scan_row"]
    assert [launch.entry for launch in plan((1, 65536), 1).launches] == ["scan_totals", "scan_carries", "scan_pieces"]


def test_short_rows_share_a_group():
    (launch,) = plan((1 << 20, 64), 1).launches
    assert launch.items // GPU.group == (1 << 20) // 64


def test_rows_across_memory_lie_beside_each_other_in_a_group():
    assert cut_of("f32", 4096, 1024, 1024, GPU).across
    assert not cut_of("f32", 4096, 1, 1024, GPU).across
    assert plan((4096, 1024), 0).launches[0].items // GPU.group == 32 * 1024 // 32


@pytest.mark.parametrize(
    ("dtype", "load"), [("float32", "ld.global.v4"), ("bfloat16", "ld.global.v4"), ("int64", "ld.global.v2")]
)
def test_work_items_fetch_words_of_neighbours_and_exchange_sums_without_memory(nvrtc, prelude, dtype, load):
    key = Scan.infer("sum", ep.TensorSpec(dtype, (8, 8))).key
    ptx = nvrtc.ptx(ep_simt.bodies()["scan"].program(key, GPU).source(prelude))
    assert load in ptx
    assert "shfl.sync" in ptx


def alone(shape, axis, dtype="float32", strides=None):
    return [
        (launch.entry, launch.items)
        for launch in plan(shape, axis, dtype, target=ep_simt.CPU, strides=strides).launches
    ]


def test_work_item_alone_takes_rows_that_lie_side_by_side_by_lines():
    assert alone((1024, 300), 0) == [("scan_columns", -(-300 // BESIDE))]
    assert alone((5, 1024, 300), 1, "int8") == [("scan_columns", 5 * -(-300 // BESIDE))]
    assert alone((1024, 7), 0) == alone((7, 1024), 1) == [("scan_row", 2)]
    assert alone((1024, 300), 0, strides=(600, 2)) == [("scan_row", 75)]
    assert alone((1024, 300), 0, "complex64") == [("scan_row", 300)]
    assert [entry for entry, _ in alone((5000, 300), 0)] == ["scan_totals", "scan_carries", "scan_pieces"]


def test_entry_for_lines_is_compiled_apart():
    program = ep_simt.bodies()["scan"].program(Scan.infer("sum", ep.TensorSpec("float32", (8, 8))).key, ep_simt.CPU)
    assert [entry.name for entry in program.of(program.entry("scan_columns")).entries] == ["scan_columns"]
    beside = [entry.name for entry in program.of(program.entry("scan_row")).entries]
    assert beside == ["scan_row", "scan_totals", "scan_carries", "scan_pieces"]
