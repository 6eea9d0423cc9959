import numpy as np
import pytest
from ep_primitives import Copy, TensorFill
from ep_primitives.families.tensor_fill.descriptor import TensorFillFamily

from ep import TensorSpec

CUBE = TensorSpec("float32", (2, 3, 4))


def test_infers_from_specs_and_arrays_alike():
    one = TensorFill.infer(np.zeros((1, 1), np.float32), (2, 3, 4))
    assert one == TensorFill(x=TensorSpec("float32", (1, 1)), out=CUBE)
    assert TensorFill.infer(TensorSpec("float32", ()), ()).out.shape == ()


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (
            lambda: TensorFill(x=CUBE, out=CUBE),
            ValueError,
            ("tensor_fill: x has shape (2, 3, 4), 24 elements, needs exactly one", "Copy to broadcast"),
        ),
        (
            lambda: TensorFill(x=TensorSpec("float32", (0,)), out=CUBE),
            ValueError,
            ("tensor_fill: x has shape (0,), 0 elements",),
        ),
        (
            lambda: TensorFill(x=TensorSpec("int8", ()), out=CUBE),
            ValueError,
            ("tensor_fill: out has dtype float32, needs int8",),
        ),
        (lambda: TensorFill.infer(1.5, (3,)), TypeError, ("tensor_fill: x is 1.5", "needs a TensorSpec")),
    ],
)
def test_misfits_are_refused_in_words(make, error, parts):
    with pytest.raises(error) as caught:
        make()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_lowers_to_the_copy_of_its_element():
    filled = TensorFill.infer(TensorSpec("int8", (1,) * 16, None, 5), (3, 2))
    assert filled.lower()[0].descriptor == Copy(x=TensorSpec("int8", (), None, 5), out=TensorSpec("int8", (3, 2)))
    assert filled.geometry == filled.copy.geometry
    assert (filled.nbytes_moved, filled.flops) == (7, 0)


def test_result_keeps_bits():
    byte = np.array([[7]], np.uint8).view(np.bool_)
    filled = TensorFillFamily().moved(TensorFill.infer(byte, (2,)), {"x": byte})
    assert np.ascontiguousarray(filled).view(np.uint8).tolist() == [7, 7]
    payload = np.array([0x7F800001], np.uint32).view(np.float32)
    filled = TensorFillFamily().moved(TensorFill.infer(payload, (3,)), {"x": payload})
    assert np.ascontiguousarray(filled).view(np.uint32).tolist() == [0x7F800001] * 3
