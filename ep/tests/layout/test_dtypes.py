"""Element types under the names of others: NumPy's and ml_dtypes' dtypes, and the types of their numbers."""

import subprocess
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from ep.dtypes import DTYPES, convert_element, name_of
from ep_primitives import ArgReduce, Cast, OneHot, Reduce

import ep

X = ep.TensorSpec("float32", (2, 3))


@pytest.mark.parametrize("name", DTYPES)
def test_each_element_type_has_its_names_in_numpy(name):
    kind = getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else np.dtype(name).type
    for given in (name, ep.dtype(name), np.dtype(kind), kind):
        assert name_of("test: dtype", given) == name
        spec = ep.TensorSpec(given, (2, 3))
        assert spec == ep.TensorSpec(name, (2, 3))
        assert type(spec.dtype) is str
        assert ep.Scalar(given) == ep.Scalar(name)
        assert ep.dtype(given) is DTYPES[name]
        assert Cast.infer(X, given).out == spec


def test_infer_takes_them_in_every_family_that_takes_one():
    assert Reduce.infer("sum", X, dtype=np.float64).out.dtype == "float64"
    assert ArgReduce.infer("max", X, dtype=np.dtype("int32")).out.dtype == "int32"
    assert OneHot.infer(ep.TensorSpec(np.int64, (2,)), ml_dtypes.bfloat16, 4).out.dtype == "bfloat16"


def test_types_of_c_are_those_of_their_size():
    assert ep.TensorSpec(np.longlong, (1,)).dtype == "int64"
    assert ep.TensorSpec(np.dtype("=f4"), (1,)).dtype == "float32"


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (np.dtype(">f4"), ValueError, "byte order of other machines"),
        (np.dtype([("a", "f4")]), ValueError, "has a structure"),
        (np.dtype((np.float32, (2,))), ValueError, "has a structure"),
        (np.dtype("M8[s]"), ValueError, "is no element type; give one of bool"),
        (np.dtype("S4"), ValueError, "is no element type"),
        (np.longdouble, ValueError, "is no element type"),
        (ml_dtypes.int4, ValueError, "is no element type"),
        (np.object_, ValueError, "is no element type"),
        (np.floating, TypeError, "needs an element type"),
        (np.number, TypeError, "needs an element type"),
        (type("float32", (np.float32,), {}), TypeError, "needs an element type"),
        (float, TypeError, "needs an element type"),
        (np.float32(1), TypeError, "needs an element type"),
        (None, TypeError, "needs an element type"),
        ("float31", ValueError, "'float31', which is no element type"),
    ],
)
def test_other_types_are_refused_with_a_reason(given, error, words):
    for make in (
        lambda: ep.TensorSpec(given, (1,)),
        lambda: ep.Scalar(given),
        lambda: ep.dtype(given),
        lambda: Cast.infer(X, given),
        lambda: ep.device("cpu:0").empty(given, (1,)),
    ):
        with pytest.raises(error, match=words):
            make()


def test_names_need_no_numpy():
    program = "import ep, sys; ep.TensorSpec('bfloat16', [2]); print(sorted({'numpy', 'ml_dtypes'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_numbers_become_elements_by_one_rounding_to_even(name):
    """Against exact fractions: NumPy and ml_dtypes go by way of float32, which rounds twice."""
    kind = getattr(ml_dtypes, name, None) or np.dtype(name).type
    elements = np.arange(1 << 8 * np.dtype(kind).itemsize - 1, dtype=f"uint{8 * np.dtype(kind).itemsize}").view(kind)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        wide = elements.astype(np.float64)
    finite = np.unique(wide[np.isfinite(wide)])
    for place in np.random.default_rng(0).integers(1, finite.size - 1, 500):
        below, here, above = (Fraction(each) for each in finite[place - 1 : place + 2])
        step = Fraction(1, 2**40) * (above - here)
        is_even = place % 2 == 0
        for number, wanted in (
            (here, here),
            ((here + above) / 2 - step, here),
            ((here + above) / 2 + step, above),
            ((here + above) / 2, here if is_even else above),
            ((below + here) / 2 + step, here),
        ):
            for sign in (1, -1):
                assert convert_element(name, float(sign * number)) == float(sign * wanted)
    half_above = 1.5 * finite[-1] - 0.5 * finite[-2]
    assert convert_element(name, float(np.nextafter(half_above, 0))) == finite[-1]
    assert convert_element(name, float("inf")) == float("inf")
    assert str(convert_element(name, -0.0)) == "-0.0"
    with pytest.raises(ValueError, match=f"out of the range of {name}"):
        convert_element(name, float(half_above))
