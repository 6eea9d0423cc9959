"""What is described again is found again, as the same object; and nothing is found that means something else."""

import gc
import pickle
import threading
import weakref
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from ep.work.asked import _MOST_KNOWN
from ep_primitives import AddN, BroadcastBinary, Cast, ElementwiseUnary, Matmul, Permute, Reduce, Softmax, Where

import ep

X = ep.TensorSpec("float32", (4, 4))
SECOND_TIMES = {
    "add": lambda x: BroadcastBinary.infer("add", x, x),
    "elu": lambda x: ElementwiseUnary.infer("elu", x, alpha=0.5),
    "cast": lambda x: Cast.infer(x, "float16"),
    "softmax": lambda x: Softmax.infer(x, axis=0),
    "reduce": lambda x: Reduce.infer("sum", x, (0, 1), keepdims=True),
    "matmul": lambda x: Matmul.infer(x, x, activation="relu", out=x),
    "permute": lambda x: Permute.infer(x, (1, 0)),
    "where": lambda x: Where.infer(ep.TensorSpec("bool", (4, 1)), x, ep.Scalar("float32")),
    "add_n": lambda x: AddN.infer(x, x, x),
}


@pytest.mark.parametrize("name", SECOND_TIMES)
def test_what_was_described_is_not_described_again(name):
    """An eager caller has shapes, strides and dtypes, and makes everything of them each time."""
    device, describe = ep.device("cpu:0"), SECOND_TIMES[name]
    first = describe(ep.TensorSpec("float32", (4, 4), (4, 1), 0))
    again = describe(ep.TensorSpec("float32", (4, 4), (4, 1), 0))
    assert again is first
    assert again.on(device) is first.on(device)
    assert describe(device.empty(ep.TensorSpec("float32", (4, 4), (4, 1), 0))) is first


def test_specs_and_scalars_are_found_again():
    for arguments in (("int8", (2, 3)), ("int8", (2, 3), (1, 2)), ("int8", (2, 3), (1, 2), 4)):
        assert ep.TensorSpec(*arguments) is ep.TensorSpec(*arguments)
    assert ep.Scalar("int8") is ep.Scalar(np.int8)
    assert pickle.loads(pickle.dumps(ep.Scalar("int8"))) is ep.Scalar("int8")
    assert ep.Scalar("int8") != ep.Scalar("int16")


@pytest.mark.parametrize("number", [2.0, 2 + 0j, Fraction(2), Decimal(2), np.float32(2)])
def test_what_equals_an_integer_and_is_none_is_refused_the_second_time_too(number):
    assert ep.TensorSpec("float32", (2, 2), (2, 2), 2).shape == (2, 2)
    for wrong in (((number, 2),), ((2, 2), (number, 2)), ((2, 2), (2, 2), number)):
        with pytest.raises(TypeError, match="TensorSpec: "):
            ep.TensorSpec("float32", *wrong)
    assert Reduce.infer("sum", X, (1,)).axis == (1,)
    with pytest.raises(TypeError, match="axis"):
        Reduce.infer("sum", X, (number / 2,))


def test_truths_are_no_axes_the_second_time_either():
    assert Softmax.infer(X, 1).axis == 1
    assert Reduce.infer("sum", X, (1,)).axis == (1,)
    for call in (lambda: Softmax.infer(X, True), lambda: Reduce.infer("sum", X, (True,))):
        with pytest.raises(TypeError, match="axis"):
            call()
    assert repr(ep.TensorSpec("int16", (True, 3), (True, True), True)) == "TensorSpec('int16', (1, 3), offset=1)"


def test_what_raises_raises_again():
    for _ in range(2):
        with pytest.raises(ValueError, match="add: shapes"):
            BroadcastBinary.infer("add", X, ep.TensorSpec("float32", (3,)))
        with pytest.raises(ValueError, match="below 0"):
            ep.TensorSpec("float32", (-1,))


class Signed(ep.Descriptor):
    """A stranger's family that tells zeros by their signs."""

    family = "signed"
    operands = ("out",)

    def __init__(self, *, out, zero):
        self._freeze("-", (out,), (zero,))

    @classmethod
    def infer(cls, out, zero):
        return cls(out=out, zero=zero)


def test_zeros_of_both_signs_are_two():
    signs = [str(Signed.infer(X, zero).attributes[0]) for zero in (0.0, -0.0, 0.0)]
    assert signs == ["0.0", "-0.0", "0.0"]


def test_arrays_are_looked_at_each_time_and_not_kept():
    array = np.zeros((4, 4), np.float32)
    assert ElementwiseUnary.infer("exp", array) == ElementwiseUnary.infer("exp", X)
    array.shape = (16,)
    assert ElementwiseUnary.infer("exp", array).out.shape == (16,)

    class Hashed(np.ndarray):
        def __hash__(self):
            return 1

        def __eq__(self, other):
            return True

    for shape in ((2,), (3,)):
        hashed = np.zeros(shape, np.float32).view(Hashed)
        assert ElementwiseUnary.infer("exp", hashed).out.shape == shape
    seen = weakref.ref(hashed)
    del hashed
    gc.collect()
    assert seen() is None


def test_tensors_are_not_kept():
    device = ep.device("cpu:0")
    tensor = device.empty(X)
    ElementwiseUnary.infer("exp", tensor, out=tensor)
    memory = weakref.ref(tensor.memory)
    del tensor
    assert memory() is None


def test_no_more_is_kept_than_there_is_room_for():
    first = Cast.infer(ep.TensorSpec("int8", (1, 1)), "bool")
    for extent in range(_MOST_KNOWN + 1):
        Cast.infer(ep.TensorSpec("int8", (extent, 1)), "int16")
    again = Cast.infer(ep.TensorSpec("int8", (1, 1)), "bool")
    assert again is not first
    assert again == first
    assert again.on(ep.device("cpu:0")) is first.on(ep.device("cpu:0"))


def test_threads_that_describe_the_same_get_equal_ones():
    found = []

    def describe():
        found.extend(Softmax.infer(ep.TensorSpec("float32", (7, extent))) for extent in range(200))

    threads = [threading.Thread(target=describe) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*found}) == 200


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Softmax.infer(X, axes=0), r"^softmax: axes \(near it is axis\) is unknown; its arguments are x, axis, out$"),
        (lambda: Reduce.infer("sum", X, axes=(0,)), r"^reduce: axes \(near it is axis\) is unknown; .* op, x, axis, keepdims,"),
        (lambda: Reduce("sum", x=X, out=X, axes=()), r"^reduce: axes \(near it is axis\) is unknown; axis is missing; "),
        (lambda: Cast(x=X), r"^cast: out is missing; its arguments are x, out$"),
        (lambda: Cast(X, out=X), r"^cast: x is missing; 1 arguments have no name, and none may lack one; "),
        (lambda: Matmul.infer(X), r"^matmul: b is missing; "),
        (lambda: BroadcastBinary.infer("add", X, X, b=X), r"^broadcast_binary: b is given twice; .* out, those of its row$"),
        (lambda: AddN.infer(X, outs=X), r"^add_n: outs \(near it is out\) is unknown; its arguments are x, x, \.\.\., out$"),
        (lambda: Softmax.infer(X, **{"x" * 10**6: 1}), r"^softmax: x{0,200}"),
        (lambda: ElementwiseUnary.infer("exp", X, beta=1.0), r"^exp: "),
        (lambda: Cast.infer(X, 3), r"^cast: dtype is 3"),
    ],
)  # fmt: skip
def test_keywords_that_there_are_not_are_answered_by_those_that_there_are(call, words):
    with pytest.raises(TypeError, match=words) as raised:
        call()
    assert len(str(raised.value)) < 600
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
