"""Programs: which keys share one, its entries' parameters, and texts that must not occur."""

from __future__ import annotations

import re
from pathlib import Path

import ep_simt
import pytest
from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, RandomFill, Reduce, RmsLayerNorm, Scan, Softmax

import ep

_ROOM = Path(ep_simt.__file__).parent
INFO = ep.DeviceInfo("any", "EP", dtypes=frozenset(ep_simt.ELEMENTS))
_ROOT = _ROOM.parents[2]
_PRELUDES = (
    _ROOT / "providers" / "cuda" / "ep_cuda" / "compiler" / "prelude.h",
    _ROOT / "providers" / "opencl" / "ep_opencl" / "compiler" / "prelude.h",
    _ROOT / "conformance" / "ep_conformance" / "kit" / "simt" / "ep_NAME" / "prelude.h.jinja",
)


def spec(dtype, shape=(8,), strides=None):
    return ep.TensorSpec(dtype, shape, strides)


def program_of(key):
    return ep_simt.bodies()[key.family].program(key, ep_simt.GPU)


def unary(op, dtype="float32", **options):
    return ElementwiseUnary.infer(op, spec(dtype, **options))


def test_program_holds_one_op_and_the_mathematics_that_it_calls():
    program = program_of(unary("exp").key)
    assert [entry.name for entry in program.entries] == [
        "elementwise_unary_exp_t_dense",
        "elementwise_unary_exp_t_strided",
    ]
    assert "exponential_f32" not in program.source("")  # the suffix is the preprocessor's
    assert "EP_OF(exponential)(EP_T x)" in program.source("")
    assert "EP_OF(logarithm)" not in program.source("")
    assert "EP_OF(logarithm)" in program_of(unary("log").key).source("")


def test_op_that_computes_in_double_needs_it():
    single = ep.DeviceInfo("single", "EP", dtypes=frozenset({"float32"}))
    with pytest.raises(ep.UnsupportedError, match=r"^single has no float64$"):
        ep_simt.require(unary("lgamma"), single)
    assert dict(program_of(unary("lgamma").key).words)["EP_HAS_F64"] == 1
    ep_simt.require(unary("exp"), single)


def test_quotient_that_has_to_be_rounded_is_computed_in_double_where_the_device_does_not():
    body = ep_simt.bodies()["broadcast_binary"]
    for dtype, op, compute in (("float32", "div", "f64"), ("float32", "mul", "f32"), ("float16", "div", "f32")):
        key = BroadcastBinary.infer(op, spec(dtype), spec(dtype)).key
        rounded, rough = (body.program(key, ep_simt.CPU._replace(rounded=rounded)) for rounded in (True, False))
        assert dict(rounded.words)["EP_C"] == "ep_f32"
        assert dict(rough.words)["EP_C"] == f"ep_{compute}"


@pytest.mark.parametrize("kind", [Softmax, RmsLayerNorm])
def test_norms_round_their_factors_by_double_where_the_device_does_not(kind):
    key = kind(**{name: spec("float32", (3, 8)) for name in ("x", "y", "out") if name in kind.roles.names}, axis=1).key
    words = [
        dict(ep_simt.bodies()[kind.family].program(key, ep_simt.CPU._replace(rounded=rounded)).words)
        for rounded in (True, False)
    ]
    assert [(each["EP_ROUNDED"], each["EP_HAS_F64"]) for each in words] == [("ep_f32", 0), ("ep_f64", 1)]


def test_scan_of_floats_sums_in_double_where_work_items_are_loops_and_the_device_has_it():
    key = Scan.infer("sum", spec("float32", (3, 8))).key
    targets = ep_simt.CPU, ep_simt.CPU._replace(doubles=False), ep_simt.GPU
    words = [dict(ep_simt.bodies()["scan"].program(key, target).words) for target in targets]
    assert [(each["EP_JOINED_IN"], each["EP_CHAINED"]) for each in words] == [
        ("ep_f64", 0),
        ("ep_f32", 1),
        ("ep_f32", 1),
    ]


@pytest.mark.parametrize(
    ("dtype", "target", "floats"),
    [
        ("int8", ep_simt.CPU, "ep_f32"),
        ("uint16", ep_simt.CPU, "ep_f32"),
        ("uint32", ep_simt.CPU, "ep_f64"),
        ("int64", ep_simt.CPU, None),
        ("int16", ep_simt.CPU._replace(rounded=False), None),
        ("int32", ep_simt.CPU._replace(doubles=False), None),
        ("int32", ep_simt.GPU, None),
    ],
)
def test_integers_are_divided_by_floats_that_have_room_for_them(dtype, target, floats):
    key = BroadcastBinary.infer("floor_div", spec(dtype), spec(dtype)).key
    words = dict(ep_simt.bodies()["broadcast_binary"].program(key, target).words)
    assert words["EP_DIVIDES_FLOATS"] == (floats is not None)
    assert words.get("EP_QUOTIENT") == floats


def test_norm_is_summed_in_double_on_processors_and_its_root_rounded_by_double_where_none_is():
    key = Reduce.infer("norm_2", spec("float32", (3, 8)), 1).key
    targets = ep_simt.CPU, ep_simt.CPU._replace(doubles=False), ep_simt.GPU, ep_simt.GPU._replace(rounded=False)
    words = [dict(ep_simt.bodies()["reduce"].program(key, target).words) for target in targets]
    assert [(each["EP_S"], each["EP_PARTS"], each.get("EP_ROUNDED"), each["EP_HAS_F64"]) for each in words] == [
        ("ep_f64", 1, None, 1),
        ("ep_f32", 3, "ep_f32", 0),
        ("ep_f32", 3, "ep_f32", 0),
        ("ep_f32", 3, "ep_f64", 1),
    ]


def test_require_takes_a_root_that_has_another_way_and_refuses_one_that_has_not():
    ep_simt.require(Reduce.infer("norm_2", spec("float32"), 0), INFO, "rounds")
    with pytest.raises(ep.UnsupportedError, match="does not round quotients and roots of float32 correctly"):
        ep_simt.require(Reduce.infer("norm_1", spec("complex64"), 0), INFO, "rounds")
    single = ep.DeviceInfo("single", "EP", dtypes=frozenset({"float32"}))
    with pytest.raises(ep.UnsupportedError, match="does not round quotients and roots of float32 correctly"):
        ep_simt.require(Reduce.infer("norm_2", spec("float32"), 0), single, "rounds")


@pytest.mark.parametrize("op", ["pow", "hypot"])
def test_op_that_has_another_way_computes_in_double_where_it_can(op):
    descriptor = BroadcastBinary.infer(op, spec("float32"), spec("float32"))
    ep_simt.require(descriptor, ep.DeviceInfo("single", "EP", dtypes=frozenset({"float32"})))
    body = ep_simt.bodies()[descriptor.family]
    wide, narrow = (body.program(descriptor.key, ep_simt.GPU._replace(doubles=doubles)) for doubles in (True, False))
    assert [dict(program.words)["EP_HAS_F64"] for program in (wide, narrow)] == [1, 0]
    assert "begin_f64" not in " ".join(narrow.files)


def test_entries_with_files_of_their_own_are_compiled_alone():
    whole = program_of(Reduce.infer("sum", spec("float32"), (0,)).key)
    alone = whole.of(whole.entry("reduce_windows"))
    assert [entry.name for entry in alone.entries] == ["reduce_windows"]
    assert "EP_KERNEL_OF(EP_GROUP) reduce_rows" in whole.source("")
    assert "EP_KERNEL_OF(EP_GROUP) reduce_rows" not in alone.source("")
    add = program_of(unary("exp").key)
    assert add.of(add.entries[0]) == add


def test_dtypes_have_programs_of_their_own_and_layouts_entries():
    base, strided = unary("exp").key, unary("exp", strides=(3,)).key
    assert program_of(unary("exp", dtype="float16").key) != program_of(base)
    assert program_of(strided) == program_of(base)
    assert ep_simt.bodies()[base.family].entries(strided) == ("elementwise_unary_exp_t_strided",)


def test_copies_of_equally_long_elements_share_a_program():
    keys = [Copy(x=spec(dtype), out=spec(dtype)).key for dtype in ("float32", "int32")]
    assert program_of(keys[0]) == program_of(keys[1])


def test_dense_program_is_the_same_in_64_bits():
    key = unary("exp").key
    assert program_of(key._replace(wide=True)) == program_of(key)


def test_scalar_operand_is_one_parameter_of_the_compute_type():
    descriptor = BroadcastBinary.infer("add", ep.Scalar("float16"), spec("float16"))
    (name,) = ep_simt.bodies()[descriptor.family].entries(descriptor.key)
    found = program_of(descriptor.key).entry(name).parameters
    assert name == "broadcast_binary_add_st_dense"
    assert [(each.kind, each.type) for each in found[:3]] == [("number", "f32"), ("memory", "f16"), ("number", "i64")]


def test_require_names_the_missing_type():
    descriptor = ElementwiseUnary("exp", x=spec("float32"), out=spec("float32"))  # which nobody else has
    key = descriptor.key._replace(dtypes=("int4", "int4"))
    object.__setattr__(descriptor, "_key", key)
    with pytest.raises(ep.UnsupportedError, match="the dialect has no int4"):
        ep_simt.require(descriptor, INFO)


def test_require_names_what_the_device_lacks():
    half = ep.DeviceInfo("half", "EP", dtypes=frozenset({"float16"}))
    with pytest.raises(ep.UnsupportedError, match=r"^half has no float32$"):
        ep_simt.require(unary("exp"), half)
    for op, dtype in (("normal", "bfloat16"), ("words", "uint32")):
        ep_simt.require(RandomFill(op, out=spec(dtype)), half)
    with pytest.raises(ep.UnsupportedError, match=r"^half has no float64$"):
        ep_simt.require(RandomFill("normal", out=spec("float64")), half)


def test_require_names_the_missing_row():
    descriptor = ElementwiseUnary("exp", x=spec("float32"), out=spec("float32"))
    object.__setattr__(descriptor, "_key", descriptor.key._replace(op="cosecant"))
    with pytest.raises(ep.UnsupportedError, match=r"elementwise_unary\.def has no row cosecant"):
        ep_simt.require(descriptor, INFO)


def test_source_includes_nothing_and_asks_nobody_which_api_it_is():
    descriptor = Cast(x=spec("float64"), out=spec("float16"))
    source = program_of(descriptor.key).source("")
    assert "#include" not in source
    assert not re.search(r"__OPENCL|__CUDA|__HIP|__NVCC|__kernel|__global|threadIdx", source)


def test_bodies_never_drop_a_nan():
    texts = [path.read_text(encoding="utf-8") for path in _ROOM.rglob("*") if path.suffix in {".h", ".inc", ".def"}]
    assert len(texts) > 5
    for text in texts:
        code = re.sub(r"//.*", "", text)
        assert not re.search(r"\bf(max|min)f?\s*\(", code)


def test_preludes_say_the_same_words():
    # Which the dialect has where a prelude says that it has none.
    halves, bfloats = {"ep_f16", "ep_loaded_f16", "ep_stored_f16"}, {"ep_stored_bf16"}
    asked = ({"EP_VECTOR", "EP_CONVERTED_VECTOR"}, {"EP_PREFETCH", "EP_PREFETCH_TO"})  # for which a body asks
    words = []
    for path in _PRELUDES:
        text = path.read_text(encoding="utf-8")
        found = _words(text)
        assert found & halves == (halves if "#define EP_HALF 1" in text else set()), path
        assert found & bfloats == (bfloats if "#define EP_BFLOAT 1" in text else set()), path
        assert all(found & each in (each, set()) for each in asked), path
        words.append(found - halves - bfloats - set().union(*asked))
    assert len(words[0]) > 30
    assert words[0] == words[1] == words[2]


def _words(text):
    # How an API numbers its axes is its own affair.
    found = set(re.findall(r"#define (ep_\w+|EP_\w+)", text)) | set(
        re.findall(r"(?:typedef [^;{]*|\} )(ep_\w+);", text)
    )
    found |= set(re.findall(r"EP_FN \w+ (ep_\w+)\(", text))
    return {word for word in found if not word.startswith("EP_AXIS_")}
