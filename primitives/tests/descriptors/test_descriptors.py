import pickle
from array import array

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill, Matmul, RandomFill, ep_families

import ep
from ep import Scalar, TensorSpec

F32 = TensorSpec("float32", (4, 3))
BOOL = TensorSpec("bool", (4, 3))


def test_infer_gives_a_dense_output_of_the_rows_type():
    assert ElementwiseUnary.infer("exp", F32).out == F32
    assert ElementwiseUnary.infer("is_nan", F32).out == BOOL
    assert BroadcastBinary.infer("less_than", F32, TensorSpec("float32", (5, 1, 3))).out.shape == (5, 4, 3)
    assert BroadcastBinary.infer("add", Scalar("float32"), F32).out == F32
    assert Cast.infer(F32, "int32").out == TensorSpec("int32", (4, 3))
    assert Copy.infer(TensorSpec("float32", (3, 4), (1, 3))).out == TensorSpec("float32", (3, 4))
    assert Fill.infer(F32).specs == (Scalar("float32"), F32)


def test_infer_takes_arrays_of_any_library_in_place_of_specs():
    x, bias = np.zeros((4, 3), np.float32)[::-1], array("f", [1, 2, 3])
    flipped = TensorSpec("float32", (4, 3), (-3, 1), 9)
    assert ElementwiseUnary.infer("exp", x).specs == (flipped, F32)
    assert BroadcastBinary.infer("add", x, bias).specs == (flipped, TensorSpec("float32", (3,)), F32)
    assert BroadcastBinary.infer("add", Scalar("float32"), x).specs == (Scalar("float32"), flipped, F32)
    assert Cast.infer(x, "int32").out.dtype == "int32"
    assert Copy.infer(x).specs == (flipped, F32)
    assert Fill.infer(x).out == flipped
    assert RandomFill.infer("normal", x).out == flipped
    assert Matmul.infer(x, x.T, bias=np.zeros(4, np.float32)).out == TensorSpec("float32", (4, 4))


def test_attributes_stand_in_the_rows_order_as_floats():
    assert ElementwiseUnary.infer("elu", F32, alpha=2).attributes == (2.0,)
    assert ElementwiseUnary.infer("exp", F32).attributes == ()


def test_equal_descriptors_are_one_key_of_a_dictionary():
    first, again = ElementwiseUnary.infer("elu", F32, alpha=1.5), ElementwiseUnary.infer("elu", F32, alpha=1.5)
    assert {first: 1}[again] == 1
    assert first != ElementwiseUnary.infer("elu", F32, alpha=2.5)
    assert pickle.loads(pickle.dumps(first)) == first


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: ElementwiseUnary.infer("expp", F32), ValueError, ("elementwise_unary", "'expp'", "exp")),
        (lambda: BroadcastBinary.infer("exp", F32, F32), ValueError, ("broadcast_binary", "'exp'", "add")),
        (lambda: ElementwiseUnary.infer(["exp"], F32), ValueError, ("elementwise_unary: op ['exp']",)),
        (
            lambda: BroadcastBinary.infer("tanh_backward", F32, F32),
            ValueError,
            ("near it are tanh_backward_with_dy_y",),
        ),
        (lambda: ElementwiseUnary.infer("exp", [0.0]), TypeError, ("exp: x is [0.0], of type list", "numpy.asarray")),
        (
            lambda: ElementwiseUnary.infer("exp", np.zeros(3, ">f4")),
            ValueError,
            ("exp: x has element type >f4", "astype"),
        ),
        (lambda: BroadcastBinary.infer("add", 1.0, F32), TypeError, ("add: a is the number 1.0", "Scalar(dtype)")),
        (
            lambda: BroadcastBinary("add", a=F32, b=np.zeros(3), out=F32),
            TypeError,
            ("add: b is array", "Scalar(dtype)"),
        ),
        (
            lambda: BroadcastBinary.infer("add", F32, Scalar("int8")),
            ValueError,
            ("add: b has dtype int8", "make it Scalar('float32')"),
        ),
        (
            lambda: ElementwiseUnary("exp", x=BOOL, out=BOOL),
            ValueError,
            ("exp: x has dtype bool", "float16, bfloat16, float32, float64", "cast"),
        ),
        (
            lambda: ElementwiseUnary("exp", x=F32, out=BOOL),
            ValueError,
            ("exp: out has dtype bool", "needs float32; describe out so"),
        ),
        (lambda: ElementwiseUnary("is_nan", x=F32, out=F32), ValueError, ("is_nan: out", "needs bool")),
        (
            lambda: ElementwiseUnary("exp", x=TensorSpec("float32", (4,)), out=F32),
            ValueError,
            ("exp: x has shape (4,)", "out (4, 3)", "must be 1 or equal"),
        ),
        (
            lambda: ElementwiseUnary("exp", x=F32, out=TensorSpec("float32", (4, 3), (0, 1))),
            ValueError,
            ("exp: out", "overlaps itself"),
        ),
        (lambda: ElementwiseUnary("exp", x="float32", out=F32), TypeError, ("exp: x is 'float32'", "TensorSpec.of")),
        (lambda: ElementwiseUnary("exp", x=F32, out=Scalar("float32")), TypeError, ("exp: out", "TensorSpec")),
        (
            lambda: ElementwiseUnary.infer("threshold", F32),
            TypeError,
            ("threshold", "none", "needed are threshold, value"),
        ),
        (
            lambda: ElementwiseUnary.infer("elu", F32, beta=1.0),
            TypeError,
            ("elu", "given are beta", "alpha is 1 if left out"),
        ),
        (lambda: ElementwiseUnary.infer("exp", F32, alpha=1.0), TypeError, ("exp", "alpha", "none")),
        (lambda: ElementwiseUnary.infer("elu", F32, alpha="1"), TypeError, ("elu: alpha is '1'", "real number")),
        (lambda: ElementwiseUnary.infer("elu", F32, alpha=None), TypeError, ("elu: alpha is None", "real number")),
        (lambda: ElementwiseUnary.infer("elu", F32, alpha=float("nan")), ValueError, ("elu: alpha is nan", "finite")),
        (lambda: ElementwiseUnary.infer("elu", F32, alpha=1e300), ValueError, ("elu: alpha is 1e+300", "float32")),
        (
            lambda: BroadcastBinary("add", a=F32, b=TensorSpec("int32", (3,)), out=F32),
            ValueError,
            ("add: b has dtype int32", "needs float32"),
        ),
        (
            lambda: BroadcastBinary("add", a=Scalar("float32"), b=Scalar("float32"), out=F32),
            ValueError,
            ("add: a and b are both Scalars",),
        ),
        (
            lambda: BroadcastBinary.infer("add", F32, TensorSpec("float32", (4,))),
            ValueError,
            ("add: shapes a (4, 3) and b (4,)",),
        ),
        (lambda: BroadcastBinary.infer("sub", BOOL, BOOL), ValueError, ("sub: a has dtype bool", "int32")),
        (lambda: Cast(x=F32, out=TensorSpec("int64", (3, 4))), ValueError, ("cast: x has shape (4, 3)", "out (3, 4)")),
        (lambda: Cast.infer(F32, int), TypeError, ("cast: dtype is <class", "give a name")),
        (lambda: Cast.infer(F32, "int"), ValueError, ("cast: dtype is 'int'", "give one of bool, int8")),
        (lambda: Copy(x=np.zeros(3), out=F32), TypeError, ("copy: x is array", "TensorSpec.of")),
        (lambda: Fill.infer(np.broadcast_to(0.0, 3)), ValueError, ("fill: out TensorSpec", "overlaps itself")),
        (lambda: Cast(x=Scalar("float32"), out=F32), TypeError, ("cast: x is", "TensorSpec.of")),
        (
            lambda: ElementwiseUnary("abs", x=TensorSpec("complex64", (4, 3)), out=TensorSpec("complex64", (4, 3))),
            ValueError,
            ("abs: out has dtype complex64", "needs float32"),
        ),
        (
            lambda: ElementwiseUnary.infer("exp", TensorSpec("float8_e5m2", (3,))),
            ValueError,
            ("exp: x has dtype float8",),
        ),
        (lambda: ElementwiseUnary.infer("ceil", TensorSpec("complex64", (3,))), ValueError, ("ceil: x", "float64")),
        (
            lambda: ElementwiseUnary.infer("hard_tanh", TensorSpec("float16", (3,)), min=-1.0, max=1e5),
            ValueError,
            ("hard_tanh: max is 100000.0", "within float16"),
        ),
        (lambda: Copy(x=F32, out=TensorSpec("int32", (4, 3))), ValueError, ("copy: out", "needs float32")),
        (lambda: Fill(value=F32, out=F32), TypeError, ("fill: value", "Scalar('float32')")),
        (lambda: Fill(value=Scalar("int32"), out=F32), ValueError, ("fill: value", "needs float32")),
    ],
)
def test_descriptor_refuses_with_a_message_that_says_what_is_needed(make, error, parts):
    with pytest.raises(error) as raised:
        make()
    for part in parts:
        assert part in str(raised.value)


def test_alpha_too_large_for_float32_fits_a_float64():
    spec = TensorSpec("float64", (2,))
    assert ElementwiseUnary.infer("elu", spec, alpha=1e300).attributes == (1e300,)


def test_stored_attributes_are_what_an_element_can_be():
    spec = TensorSpec("float16", (2,))
    low, high = ElementwiseUnary.infer("hard_tanh", spec, min=-0.1, max=0.1).attributes
    assert high == -low == float(np.float16(0.1))
    assert ElementwiseUnary.infer("leaky_relu", spec, alpha=0.1).attributes == (0.1,)


def test_negative_zero_makes_no_attribute_of_its_own():
    made = [ElementwiseUnary.infer("threshold", F32, threshold=0.5, value=value) for value in (-0.0, 0.0)]
    assert made[0] == made[1]
    assert [str(descriptor.attributes[1]) for descriptor in made] == ["0.0", "0.0"]


@pytest.mark.filterwarnings("error")
def test_attribute_out_of_range_is_refused_without_a_warning():
    with pytest.raises(ValueError, match=r"^hard_tanh: min is -1000000.0, needs a finite number within float16"):
        ElementwiseUnary.infer("hard_tanh", TensorSpec("float16", (3,)), min=-1e6, max=1.0)
    with pytest.raises(ValueError, match=r"^elu: alpha is 1000.{10,40}, needs"):
        ElementwiseUnary.infer("elu", F32, alpha=10**400)


def test_infer_finds_the_counterpart_type():
    z = TensorSpec("complex64", (4, 3))
    assert ElementwiseUnary.infer("abs", z).out == F32
    assert ElementwiseUnary.infer("real", z).out == F32
    assert ElementwiseUnary.infer("imag_grad", F32).out == z
    assert ElementwiseUnary.infer("exp", z).out == z
    assert ElementwiseUnary.infer("is_nan", z).out == BOOL
    assert ElementwiseUnary.infer("not_equal_zero", F32).out == F32


def test_samples_lie_in_their_cells():
    for family in ep_families():
        for cell in family.cells():
            descriptor = family.sample(cell)
            assert type(descriptor) is family.descriptor
            assert descriptor.op == cell.op
            if cell.layout != "inplace":
                assert descriptor.cell == str(cell)


def test_families_come_by_their_entry_point():
    found = ep.families()
    assert [type(found[family.name]) for family in ep_families()] == [type(family) for family in ep_families()]
