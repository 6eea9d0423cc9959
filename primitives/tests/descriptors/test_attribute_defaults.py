"""Attributes that everybody has the same number for may be left out, and have that number then."""

import pytest
from ep_primitives import BINARY_OPS, UNARY_OPS, BroadcastBinary, ElementwiseUnary

from ep import TensorSpec

X = TensorSpec("float32", (4, 3))
ROWS = {**UNARY_OPS, **BINARY_OPS}
USUAL = {
    "elu": {"alpha": 1},
    "celu": {"alpha": 1},
    "hard_shrink": {"lambd": 0.5},
    "hard_tanh": {"min": -1, "max": 1},
    "leaky_relu": {"alpha": 0.01},
    "soft_shrink": {"alpha": 0.5},
    "soft_plus": {"beta": 1, "threshold": 20},
    "is_close": {"atol": 1e-8, "rtol": 1e-5},
    "is_close_equal_nan": {"atol": 1e-8, "rtol": 1e-5},
}
"""The defaults of PyTorch's functions; the gradients have the same."""
REQUIRED = {
    "threshold": ["threshold", "value"],
    "threshold_backward_with_dy_x": ["threshold"],
    "scalar_base_power_grad": ["exponent"],
    "scalar_exp_power_grad": ["base"],
}


def forward(name):
    return name.partition("_backward_with")[0]


def inferred(name, **attributes):
    if name in UNARY_OPS:
        return ElementwiseUnary.infer(name, X, **attributes)
    return BroadcastBinary.infer(name, X, X, **attributes)


def test_every_attribute_has_its_usual_number_or_none_and_says_who_else_has_it():
    found = {}
    for name, row in ROWS.items():
        for attribute in row.attributes:
            found.setdefault(name, {})[attribute.name] = attribute.default
            assert (attribute.default is None) == (not attribute.source), name
    usual = {name: USUAL[forward(name)] for name in found if forward(name) in USUAL}
    required = {name: dict.fromkeys(names) for name, names in REQUIRED.items()}
    assert {**usual, **required} == found


@pytest.mark.parametrize("name", [name for name in ROWS if forward(name) in USUAL])
def test_attribute_left_out_is_the_usual_one(name):
    usual = USUAL[forward(name)]
    assert inferred(name) == inferred(name, **usual)
    for given in usual:
        assert inferred(name, **{given: usual[given]}) == inferred(name)
    assert inferred(name, **dict.fromkeys(usual, 0.5)).attributes == (0.5,) * len(usual)


def test_a_default_is_held_to_the_other_attributes():
    with pytest.raises(ValueError, match=r"hard_tanh: min and max are 2 and 1, needs them in ascending order"):
        inferred("hard_tanh", min=2.0)


@pytest.mark.parametrize("name", REQUIRED)
def test_attribute_without_a_usual_number_is_needed(name):
    with pytest.raises(TypeError, match=f"{name}: attributes given are none, needed are {', '.join(REQUIRED[name])}; "):
        inferred(name)
