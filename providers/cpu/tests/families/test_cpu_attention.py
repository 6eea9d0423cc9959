"""Attention by blocks against the definition: what crosses blocks, how operands lie, which keys are met; any threads, the same bits."""

import math

import numpy as np
import pytest
from ep_cpu.families.attention import BlockedAttention
from ep_primitives import Attention
from ep_primitives.families.attention.family import AttentionFamily
from ep_primitives.judging.reference import array_dtype

import ep

RNG = np.random.default_rng(41)
NEAR = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-13}

BITS = """
import hashlib
import ml_dtypes
import numpy as np
import ep
from ep_primitives import Attention
rng = np.random.default_rng(3)
device = ep.device("cpu:0")
digest = hashlib.sha256()
for queries, keys, more in ((530, 400, {}), (300, 300, {"is_causal": True}), (40, 900, {"softcap": 3.0})):
    for dtype in (np.float32, ml_dtypes.bfloat16):
        q, k, v = (rng.standard_normal((2, 3, rows, 40), np.float32).astype(dtype) for rows in (queries, keys, keys))
        whole = Attention.infer(q, k, v, **more)
        out = np.empty(whole.out.shape, dtype)
        whole.on(device)(device.stream(), q=q, k=k, v=v, out=out)
        digest.update(out.tobytes())
print(digest.hexdigest())
"""


def drawn(dtype, *shape):
    return RNG.standard_normal(shape).astype(array_dtype(dtype))


def check(stream, dtype, given, out=None, **more):
    whole = Attention.infer(**given, out=out, **more)
    made = np.full(whole.out.shape, 7).astype(array_dtype(dtype)) if out is None else out
    launch = whole.on(stream.device)
    assert type(launch.implementation) is BlockedAttention
    launch(stream, **given, out=made)
    wanted = AttentionFamily().reference(whole, given).value
    np.testing.assert_allclose(made.astype(np.float64), wanted, rtol=NEAR[dtype], atol=NEAR[dtype])
    return made


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize(
    ("queries", "keys", "depth", "columns"),
    [(16, 1, 1, 1), (300, 450, 64, 64), (33, 1000, 17, 130), (20, 200, 256, 256), (600, 50, 3, 70)],
)
def test_blocks_agree_with_the_definition(stream, dtype, queries, keys, depth, columns):
    given = {
        name: drawn(dtype, 2, *shape)
        for name, shape in zip("qkv", ((queries, depth), (keys, depth), (keys, columns)), strict=True)
    }
    check(stream, dtype, given)
    check(stream, dtype, given, scale=-0.3, softcap=2.0)


@pytest.mark.parametrize("kind", ["infinite", "nan", "denormal", "tiny", "huge", "far apart", "far apart beside zeros"])
def test_shares_and_values_of_any_size_meet_on_each_instruction_set(isa, launch_on, kind):
    """With AMX shares are three parts each of bfloat16, where neither they nor values are too small for that, or infinite."""
    given = {name: RNG.standard_normal((3, 131, 72)) for name in "qkv"}
    v = given["v"]
    if kind == "infinite":
        v[1, 40, 3], v[2, 7] = np.inf, -np.inf
    elif kind == "nan":
        v[1, 40, 3] = np.nan
    elif kind == "denormal":
        v[:, 5] = 1e-39
    elif kind in {"tiny", "huge"}:
        v *= 1e-38 if kind == "tiny" else 1e37
    else:
        given["q"] *= 60
        v[:, ::2] *= kind == "far apart"
    given = {name: array.astype(array_dtype("bfloat16")) for name, array in given.items()}
    whole = Attention.infer(**given)
    out = np.zeros(whole.out.shape, given["v"].dtype)
    with np.errstate(all="ignore"):
        wanted = AttentionFamily().reference(whole, given).value
    launch_on(isa, BlockedAttention(), whole, (*given.values(), None, out, np.empty(16 << 20, np.uint8)))
    made, ends = out.astype(np.float64), np.isfinite(wanted)
    assert np.array_equal(made[~ends], wanted[~ends], equal_nan=True)
    largest = np.where(np.isfinite(given["v"]), np.abs(given["v"]), 0).astype(np.float64).max(-2, keepdims=True)
    near = 2**-8 * np.abs(wanted) + 2**-15 * largest + 2**-133
    assert (np.abs(made[ends] - wanted[ends]) <= near[ends]).all()


def test_bits_of_a_query_do_not_depend_on_scores_far_apart_beside_it(isa, launch_on):
    """With AMX the shares of a query that are too small for tiles send its neighbours' by other instructions, too."""
    given = {name: drawn("bfloat16", 2, 230, 48) for name in "qkv"}
    whole = Attention.infer(**given)
    made = []
    for factor in (1, 90):
        given["q"][:, 7] *= factor
        made.append(np.zeros(whole.out.shape, given["q"].dtype))
        launch_on(isa, BlockedAttention(), whole, (*given.values(), None, made[-1], np.empty(16 << 20, np.uint8)))
    others = np.arange(230) != 7
    assert (made[0][:, others] == made[1][:, others]).all()
    assert (made[0][:, 7] != made[1][:, 7]).any()


@pytest.mark.parametrize("offset", [0, 1, 190, -7, -300, 2**62, -(2**62)])
@pytest.mark.parametrize(("queries", "keys"), [(300, 300), (100, 500), (500, 100)])
def test_a_query_meets_the_keys_before_it(stream, queries, keys, offset):
    given = {
        "q": drawn("float32", 3, queries, 20),
        "k": drawn("float32", 3, keys, 20),
        "v": drawn("float32", 3, keys, 24),
    }
    check(stream, "float32", given, is_causal=True, offset=offset)


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("shape", [(2, 6, 70, 260), (6, 1, 260), (70, 1), (260,), (), (2, 1, 70, 260)])
@pytest.mark.parametrize("more", [{}, {"is_causal": True, "offset": 30, "softcap": 4.0}])
def test_masks_choose_and_are_added(stream, dtype, shape, more):
    given = {"q": drawn(dtype, 2, 6, 70, 16), "k": drawn(dtype, 2, 3, 260, 16), "v": drawn(dtype, 2, 3, 260, 8)}
    check(stream, dtype, {**given, "mask": RNG.random(shape) < 0.3}, **more)
    added = np.where(RNG.random(shape) < 0.3, -math.inf, RNG.standard_normal(shape))
    check(stream, dtype, {**given, "mask": added.astype(array_dtype(dtype))}, **more)


def test_operands_may_lie_in_any_way(stream):
    q, k, v = drawn("float32", 2, 50, 3, 24), drawn("float32", 40, 2, 24, 3), drawn("float32", 2, 3, 40, 60)
    out, mask = np.empty((3, 30, 50, 2), np.float32), drawn("float32", 40, 100)
    given = {
        "q": q.transpose(0, 2, 1, 3)[..., ::-1],
        "k": k.transpose(1, 3, 0, 2)[:, :, ::-1],
        "v": v[..., ::2],
        "mask": mask.T[::2, ::-1],
    }
    check(stream, "float32", given, out=out.transpose(3, 0, 2, 1))
    check(stream, "float32", {**given, "mask": (mask > 0).T[::2, ::-1]}, out=out.transpose(3, 0, 2, 1))


def test_keys_that_are_left_out_may_be_anything(stream):
    given = {"q": drawn("float32", 40, 16), "k": drawn("float32", 400, 16), "v": drawn("float32", 400, 16)}
    mask = np.broadcast_to(np.arange(400) % 3 != 0, (40, 400)).copy()
    wanted = check(stream, "float32", {**given, "mask": mask})
    given["k"] = np.where(mask[0, :, None], given["k"], np.float32(math.nan))
    whole, out = Attention.infer(**given, mask=mask), np.empty((40, 16), np.float32)
    whole.on(stream.device)(stream, **given, mask=mask, out=out)
    np.testing.assert_array_equal(out, wanted)


def test_a_query_without_a_key_is_zero(stream):
    given = {"q": drawn("float32", 40, 16), "k": drawn("float32", 400, 16), "v": drawn("float32", 400, 16)}
    mask = np.ones((40, 400), np.bool_)
    mask[7] = False
    mask[9, :300] = False
    assert not check(stream, "float32", {**given, "mask": mask})[7].any()


def test_what_is_not_finite_spoils_its_own_alone(stream):
    given = {"q": drawn("float32", 40, 16), "k": drawn("float32", 400, 16), "v": drawn("float32", 400, 16)}
    wanted = check(stream, "float32", given)
    given["q"][3, 5], given["v"][350, 2] = math.nan, math.inf
    out = np.empty((40, 16), np.float32)
    Attention.infer(**given).on(stream.device)(stream, **given, out=out)
    assert np.isnan(out[3]).all()
    assert np.isinf(np.delete(out[:, 2], 3)).all()
    rest = np.ix_(np.arange(40) != 3, np.arange(16) != 2)
    np.testing.assert_array_equal(out[rest], wanted[rest])


def test_scores_are_never_in_memory(stream):
    spec = ep.TensorSpec("float32", (12, 2048, 64))
    assert Attention.infer(spec, spec, spec).on(stream.device).scratch_nbytes < 12 * 2048**2 * 4 / 50


def test_bits_do_not_depend_on_threads(fresh_python):
    assert len({fresh_python(BITS, EP_CPU_THREADS=count) for count in ("1", "2", "3")}) == 1


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ((2, 15, 64), "15 queries are fewer than 16"),
        ((2, 30, 257), "257 columns are more than 256"),
        ((2, 0, 64), "no elements"),
    ],
)
def test_it_leaves_few_queries_and_long_ones_to_the_stages(stream, shape, reason):
    spec = ep.TensorSpec("float32", shape)
    whole = Attention.infer(spec, spec, spec)
    with pytest.raises(ep.UnsupportedError, match=reason):
        BlockedAttention().accepts(whole, stream.device.info)
    assert type(whole.on(stream.device).implementation) is not BlockedAttention
