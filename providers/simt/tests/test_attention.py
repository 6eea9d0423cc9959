"""The launch of Attention: one without scratch, of tiles that fit shared memory; what is better lowered is refused."""

from __future__ import annotations

import ep_simt
import pytest
from ep_primitives import Attention
from ep_simt.families.attention.tile import MOST_WORK_ITEMS, tile_of

import ep

BODY = ep_simt.bodies()["attention"]
INFO = ep.DeviceInfo(name="any", vendor="any", dtypes=frozenset({"float32"}))


def attention(queries=64, keys=80, depth=64, columns=64, dtype="float32"):
    """Return the attention of two heads."""
    q, k, v = ((2, queries, depth), (2, keys, depth), (2, keys, columns))
    return Attention.infer(*(ep.TensorSpec(dtype, shape) for shape in (q, k, v)))


def shared_nbytes(group, itemsize):
    """Return the bytes of shared memory that a group has."""
    words = tile_of(group, itemsize).words
    rows, depth = words["EP_TILE_ROWS"], words["EP_DEPTH"]
    lines = rows * sum(words[f"EP_{each}_PITCH"] for each in ("LEFT", "SCORES", "TOTALS"))
    return itemsize * (lines + depth * words["EP_RIGHT_PITCH"] + group)


@pytest.mark.parametrize("itemsize", [4, 8])
@pytest.mark.parametrize("group", [1 << power for power in range(1, 9)])
def test_a_group_fits_the_shared_memory_of_every_gpu(group, itemsize):
    assert group <= MOST_WORK_ITEMS
    assert shared_nbytes(group, itemsize) <= 32 << 10


@pytest.mark.parametrize("itemsize", [4, 8])
def test_a_work_item_alone_fits_a_cache(itemsize):
    assert shared_nbytes(1, itemsize) <= 256 << 10


@pytest.mark.parametrize("group", [1, 2, 4, 64, 256, 1024])
def test_each_row_of_scores_has_its_work_items(group):
    own = min(group, MOST_WORK_ITEMS)
    tile = tile_of(own, 4)
    assert own == 1 or tile.rows * tile.abreast == own
    (launch,) = BODY.plan(attention(queries=1000, columns=300), ep_simt.GPU._replace(group=group)).launches
    assert launch.group == own
    assert launch.items == 2 * -(-1000 // tile.rows) * -(-300 // tile.columns) * own


@pytest.mark.parametrize("target", [ep_simt.CPU, ep_simt.GPU])
def test_scores_take_no_memory(target):
    assert BODY.plan(attention(queries=2048, keys=4096), target).scratch_nbytes == 0


@pytest.mark.parametrize("sizes", [{"queries": 15}, {"keys": 0}, {"depth": 0}])
def test_what_is_refused_is_lowered(sizes):
    lowered = attention(**sizes)
    with pytest.raises(ep.UnsupportedError, match="attention: "):
        ep_simt.body.require(lowered, INFO)
    assert ep_simt.body.has_kernels(lowered, INFO)
