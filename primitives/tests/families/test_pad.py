import pickle

import numpy as np
import pytest
from ep_primitives import PAD_OPS, Pad
from ep_primitives.families.pad.descriptor import PadFamily
from hypothesis import given, settings
from hypothesis import strategies as st

from ep import Scalar, TensorSpec

X = TensorSpec("float32", (4, 3))
NUMPY = {"constant": "constant", "reflect": "reflect", "edge": "edge", "circular": "wrap"}


def test_infer_adds_both_sides_to_each_extent():
    for op in PAD_OPS:
        descriptor = Pad.infer(op, np.zeros((4, 3), np.float32), (1, 2), [np.int8(3), 0])
        assert descriptor == Pad(op, x=X, out=TensorSpec("float32", (8, 5)), before=(1, 2), after=(3, 0))
        assert (descriptor.before, descriptor.after) == ((1, 2), (3, 0))
        assert pickle.loads(pickle.dumps(descriptor)) == descriptor
    assert Pad.infer("constant", X, (-1, 2), (0, -4)).out.shape == (3, 1)


def test_constant_alone_has_a_number_and_may_leave_it_out():
    constant, edge = (Pad.infer(op, X, (1, 1), (1, 1)) for op in ("constant", "edge"))
    assert (constant.operands, constant.specs[1], dict(constant.roles.defaults)) == (
        ("x", "value", "out"),
        Scalar("float32"),
        {"value": 0},
    )
    assert (edge.operands, edge.specs[1]) == (constant.operands, None)


def test_bytes_moved_are_those_of_out_and_of_what_it_holds_of_x():
    assert Pad.infer("edge", X, (1, 1), (0, 0)).nbytes_moved == 4 * (12 + 20)
    assert Pad.infer("constant", X, (-1, 0), (-2, 5)).nbytes_moved == 4 * (3 + 8)
    assert Pad.infer("constant", X, (-9, 0), (6, 0)).nbytes_moved == 4 * 3
    row = TensorSpec("float32", (4, 3), (0, 1))
    assert Pad.infer("constant", row, (0, 0), (0, 1)).nbytes_moved == 4 * (3 + 16)


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (
            lambda: Pad.infer("wrap", X, (0, 0), (0, 0)),
            ValueError,
            ("pad: op 'wrap' is not one of its ops", "circular"),
        ),
        (
            lambda: Pad.infer("edge", X, (1,), (0, 0)),
            ValueError,
            ("pad/edge: before is (1,)", "2 integers", "it has 1"),
        ),
        (lambda: Pad.infer("edge", X, (1, 0), (0, 0, 0)), ValueError, ("pad/edge: after is (0, 0, 0)", "it has 3")),
        (lambda: Pad.infer("edge", X, (1, True), (0, 0)), TypeError, ("pad/edge: before is (1, True)", "2 integers")),
        (lambda: Pad.infer("edge", X, (1, 0.5), (0, 0)), TypeError, ("pad/edge: before is (1, 0.5)", "2 integers")),
        (lambda: Pad.infer("edge", X, 1, (0, 0)), TypeError, ("pad/edge: before is 1,", "give a tuple")),
        (
            lambda: Pad.infer("edge", X, (0, -1), (0, 3)),
            ValueError,
            ("pad/edge: before is -1 in dimension 1", "at least 0", "only constant crops"),
        ),
        (
            lambda: Pad.infer("reflect", X, (0, 0), (0, 3)),
            ValueError,
            ("pad/reflect: after is 3 in dimension 1 of extent 3", "at most 2", "not repeated"),
        ),
        (
            lambda: Pad.infer("circular", X, (5, 0), (0, 0)),
            ValueError,
            ("pad/circular: before is 5 in dimension 0 of extent 4", "at most 4", "the extent"),
        ),
        (
            lambda: Pad.infer("edge", TensorSpec("int8", (0, 2)), (1, 0), (0, 0)),
            ValueError,
            ("pad/edge: before is 1 in dimension 0 of extent 0", "at most 0", "no edge"),
        ),
        (
            lambda: Pad.infer("reflect", TensorSpec("int8", (0,)), (0,), (1,)),
            ValueError,
            ("pad/reflect: after is 1 in dimension 0 of extent 0", "at most 0"),
        ),
        (
            lambda: Pad.infer("constant", X, (-3, 0), (-2, 0)),
            ValueError,
            ("pad/constant: before -3 and after -2 leave -1 of the extent 4 in dimension 0", "at least 0", "crop less"),
        ),
        (
            lambda: Pad("edge", x=X, out=X, before=(0, 1), after=(0, 0)),
            ValueError,
            ("pad/edge: out has shape (4, 3), needs (4, 4)", "(0, 1) before and (0, 0) after; describe out so"),
        ),
        (
            lambda: Pad("edge", x=X, out=TensorSpec("int32", (4, 3)), before=(0, 0), after=(0, 0)),
            ValueError,
            ("pad/edge: out has dtype int32", "needs float32"),
        ),
        (
            lambda: Pad("edge", x=X, out=TensorSpec("float32", (4, 3), (0, 1)), before=(0, 0), after=(0, 0)),
            ValueError,
            ("pad/edge: out", "overlaps itself"),
        ),
        (lambda: Pad.infer("edge", None, (), ()), TypeError, ("pad/edge: x is None", "needs a TensorSpec")),
    ],
)
def test_misfits_are_refused_in_words(make, error, parts):
    with pytest.raises(error) as caught:
        make()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@st.composite
def paddings(draw):
    """Draw a mode, a shape, and counts that numpy.pad takes in one repetition."""
    op = draw(st.sampled_from(list(PAD_OPS)))
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    sides = []
    for _ in range(2):
        most = (PAD_OPS[op].most(extent) for extent in shape)
        sides.append(tuple(draw(st.integers(0, 4 if limit is None else limit)) for limit in most))
    return op, tuple(shape), *sides


@settings(max_examples=300, deadline=None, derandomize=True)
@given(paddings(), st.sampled_from(["int8", "float32", "complex128"]))
def test_reference_is_numpys(padding, dtype):
    op, shape, before, after = padding
    x = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype)
    descriptor = Pad.infer(op, x, before, after)
    inputs = {"x": x} | ({"value": 99} if op == "constant" else {})
    options = {"constant_values": 99} if op == "constant" else {}
    wanted = np.pad(x, list(zip(before, after, strict=True)), mode=NUMPY[op], **options)
    given_back = PadFamily().moved(descriptor, inputs)
    assert given_back.tobytes() == wanted.tobytes()
    assert (PadFamily().reference(descriptor, inputs).value == wanted).all()


def test_reference_crops_and_keeps_bits():
    x = np.arange(10, dtype=np.int16)
    crop = Pad.infer("constant", x, (-3,), (-2,))
    assert PadFamily().moved(crop, {"x": x, "value": 7}).tolist() == [3, 4, 5, 6, 7]
    past = Pad.infer("constant", x, (-12,), (4,))
    assert PadFamily().moved(past, {"x": x, "value": 7}).tolist() == [7, 7]
    assert PadFamily().is_constant(past)
    assert not PadFamily().is_constant(crop)
    odd = np.array([0x7F800001, 0xFFC12345, 0x80000000], np.uint32).view(np.float32)
    for op in ("reflect", "edge", "circular"):
        out = PadFamily().moved(Pad.infer(op, odd, (0,), (2,)), {"x": odd})
        assert out.view(np.uint32)[:3].tolist() == odd.view(np.uint32).tolist()


def test_numbers_are_rounded_once_and_a_nan_may_have_any_payload():
    family, x = PadFamily(), np.ones(2, np.float16)
    descriptor = Pad.infer("constant", x, (1,), (0,))
    third = float(np.float32(1 / 3))
    assert family.moved(descriptor, {"x": x, "value": third})[0] == np.float16(np.float32(1 / 3))
    assert np.signbit(family.moved(descriptor, {"x": x, "value": -0.0})[0])
    assert family.moved(descriptor, {"x": x, "value": float("nan")}) is None
    assert np.isnan(family.reference(descriptor, {"x": x, "value": float("nan")}).value[0])
