"""Where EP and PyTorch differ, and why: of ops part of the rows, as `Op.disagreements`.

A line that no longer holds fails `make second-opinion`, and so does a difference without a line.
"""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.disagreement import Disagreement
from ep_primitives.judging.family_disagreements import FAMILY_DISAGREEMENTS

__all__ = ["DISAGREEMENTS", "listed"]


def _slopes(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}_backward_with_dy_x" for name in names)


_FLOAT: Final = (
    Disagreement(
        "float",
        "NaN there",
        ("gelu", "hard_swish", "mish", "silu", "soft_sign", "fast_gelu", "quick_gelu"),
        "At an infinity PyTorch multiplies it by 0, or divides it by itself; EP has the function's limit.",
    ),
    Disagreement(
        "float",
        "NaN there",
        _slopes("gelu", "mish", "silu", "soft_sign", "fast_gelu", "quick_gelu"),
        "At an infinity, for fast_gelu's cube at a large number already, PyTorch multiplies it by 0; EP has the limits dy and 0.",
    ),
    Disagreement(
        "float",
        "NaN there",
        _slopes("square", "square_relu", "reciprocal", "reciprocal_no_nan", "rsqrt"),
        "Where 2 x, 1 / x^2 or x^(-3/2) overflows PyTorch multiplies an infinity by a dy of 0; EP multiplies dy first.",
    ),
    Disagreement(
        "float",
        "NaN there",
        _slopes("abs"),
        "The slope of |x| at 0 is no limit but a choice from [-1, 1]: EP selects 0 and nothing of dy gets through, as both do for relu; "
        "PyTorch multiplies dy by sign(0), and 0 times a NaN or an infinity is NaN (IEEE 754).",
    ),
    Disagreement(
        "float",
        "NaN there",
        ("trigamma",),
        "Large negative numbers are integers, so poles; PyTorch's sin(pi x) overflows in pi x.",
    ),
    Disagreement(
        "float",
        "NaN there",
        ("floor_div",),
        "An infinity divided by a number is infinite; PyTorch subtracts its remainder, which is NaN.",
    ),
    Disagreement(
        "float",
        "NaN here",
        ("sign",),
        "A NaN operand gives NaN (IEEE 754-2019, 6.2.3), as NumPy's sign does; PyTorch counts x > 0 less x < 0, both of which are false.",
    ),
    Disagreement(
        "float",
        "NaN here",
        (
            *_slopes("relu", "hard_sigmoid", "leaky_relu", "threshold", "abs"),
            "relu_backward_with_dy_y",
            "hard_shrink_backward_with_dy_y",
            "hard_tanh_backward_with_dy_y",
            "soft_shrink_backward_with_dy_y",
        ),
        "Where x or y is NaN EP gives NaN; PyTorch compares, and takes the branch of a comparison that is false.",
    ),
    Disagreement(
        "float",
        "NaN here",
        _slopes("acosh"),
        "Below 1 acosh is NaN, and so is EP's slope; PyTorch differentiates what is not there.",
    ),
    Disagreement(
        "float",
        "NaN here",
        _slopes("digamma"),
        "At a pole the slope is infinite, and 0 times it NaN; PyTorch's sin(pi x) is not 0 there, so its slope is finite.",
    ),
    Disagreement(
        "float",
        "NaN here",
        ("scalar_base_power_grad",),
        "For exponent 0 the slope is 0, and 0 times a NaN or an infinity is NaN (IEEE 754); PyTorch returns zeros without a look at dy.",
    ),
    Disagreement(
        "float",
        "infinity",
        ("gelu", "hard_swish"),
        "PyTorch multiplies before it divides, and overflows although the result is in range.",
    ),
    Disagreement(
        "float",
        "infinity",
        _slopes("square", "square_relu", "exp2", "reciprocal", "reciprocal_no_nan", "rsqrt"),
        "PyTorch's slope overflows before a small dy can bring it back; EP takes dy first.",
    ),
    Disagreement(
        "float",
        "infinity",
        ("trigamma", *_slopes("digamma")),
        "At negative integers, the poles, PyTorch's sin(pi x) is tiny, not 0, and its result finite.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("relu", "hard_swish", "soft_shrink"),
        "Where the definition says 0 EP gives +0; PyTorch lets the sign of x through.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        _slopes("abs"),
        "At 0 EP gives +0; PyTorch multiplies dy by 0.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("sign",),
        "sign(-x) = -sign(x) and x = |x| sign(x) hold for signed zeros too, and for complex zeros part by part, if sign(0) is that 0, as "
        "in Java's Math.signum and ECMAScript's Math.sign; PyTorch's difference of two comparisons is +0.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("log_sigmoid",),
        "The result is never positive, so its limit is -0; PyTorch gives +0.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("max", "min"),
        "EP follows IEEE 754-2019, where -0 is below +0; for PyTorch they are equal, and the first or second operand stays.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("floor_mod",),
        "EP's zeros have the sign of the divisor, like all of its results; PyTorch keeps that of fmod.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        ("scalar_base_power_grad",),
        "For exponent 0 EP multiplies dy by 0; PyTorch gives +0.",
    ),
    Disagreement(
        "float",
        "sign of zero",
        _slopes("gelu", "soft_sign", "fast_gelu", "quick_gelu"),
        "A product of dy = 0: PyTorch adds terms, and -0 + 0 is +0.",
    ),
    Disagreement(
        "float",
        "value",
        ("gelu", "fast_gelu"),
        "PyTorch's 1 + erf and 1 + tanh cancel for negative x and have no correct digit below -5; EP's forms keep them.",
    ),
    Disagreement(
        "float",
        "value",
        ("silu", "sigmoid"),
        "PyTorch divides by an e^-x that overflows and gives 0; the result is a subnormal number.",
    ),
    Disagreement(
        "float",
        "value",
        ("digamma", "trigamma", *_slopes("lgamma", "digamma")),
        "Beside a negative pole PyTorch rounds pi x before it takes the tangent or sine; EP takes the distance of x first.",
    ),
    Disagreement(
        "float",
        "value",
        ("trunc_div",),
        "PyTorch truncates the rounded quotient, which can be an integer above the true one; EP truncates the exact one.",
    ),
    Disagreement(
        "float",
        "value",
        ("is_close", "is_close_equal_nan"),
        "EP compares in float64 whatever the type; PyTorch rounds the difference and the tolerance to float32.",
    ),
    Disagreement(
        "float",
        "value",
        _slopes("hard_sigmoid"),
        "PyTorch holds 1/6 as a float32, even for float64.",
    ),
    Disagreement(
        "float",
        "value",
        _slopes("acos", "asin", "atanh"),
        "PyTorch's 1 - x^2 cancels near 1; EP multiplies 1 - x and 1 + x, which are exact there.",
    ),
    Disagreement(
        "float",
        "value",
        _slopes("acosh", "asinh", "atan", "soft_sign"),
        "The square in PyTorch's slope overflows and gives 0; EP divides twice.",
    ),
    Disagreement(
        "float",
        "value",
        _slopes("expm1", "sigmoid"),
        "PyTorch finds the slope from the result, y + 1 and y (1 - y), which cancel where y is near -1 or 1.",
    ),
    *(
        Disagreement("float", how, ("scalar_base_power_grad", "scalar_exp_power_grad"), reason)
        for how, reason in (
            (
                "NaN there",
                "Where PyTorch's power overflows an infinity meets a dy of 0; the power of a number is finite, and 0 times it 0.",
            ),
            (
                "infinity",
                "PyTorch's power overflows before a small dy can bring it back; EP rounds the product of the three once.",
            ),
            (
                "value",
                "PyTorch's power vanishes before a large dy can bring it back; EP rounds the product of the three once.",
            ),
        )
    ),
    Disagreement(
        "float",
        "value",
        _slopes("log2", "log10"),
        "PyTorch multiplies x by a constant first: the product of a subnormal x is rounded badly, that of a large one overflows.",
    ),
)
_COMPLEX: Final = (
    Disagreement(
        "complex",
        "NaN there",
        ("log2",),
        "At 0 PyTorch's imaginary part is NaN, because it divides -infinity + 0i by a complex number; EP has -infinity + 0i.",
    ),
    Disagreement(
        "complex",
        "NaN there",
        ("add", "sub"),
        "PyTorch multiplies the second operand by alpha = 1 + 0i, which makes NaN of an infinite part.",
    ),
    Disagreement(
        "complex",
        "NaN there",
        ("pow",),
        "x^0 is the empty product, 1 for every x: C17 F.10.4.4 for real numbers, Python and NumPy for complex ones; PyTorch takes e^(0 log 0).",
    ),
    Disagreement(
        "complex",
        "NaN there",
        _slopes("acos", "acosh", "asin", "asinh", "reciprocal", "rsqrt"),
        "At a pole EP's quotient is infinite, PyTorch's NaN; neither is specified.",
    ),
    Disagreement(
        "complex",
        "value",
        _slopes("acos", "acosh", "asin", "asinh"),
        "On a branch cut EP's slope is that of the side which the sign of the zero names; 1 - x^2 in PyTorch loses it.",
    ),
    Disagreement(
        "complex",
        "value",
        (*_slopes("atan", "atanh", "expm1", "sigmoid", "tan"), "tanh_backward_with_dy_y"),
        "PyTorch's slope is a sum that cancels: 1 + x^2, 1 - x^2, y + 1, y (1 - y), 1 + y^2, 1 - y^2; EP has products.",
    ),
)
_INTEGER: Final = (
    Disagreement(
        "integer",
        "error",
        ("div", "fmod", "floor_div", "trunc_div", "floor_mod"),
        "No device can raise. x / 0 = 0 as on AArch64 and in NumPy, and a = b q + r then leaves x mod 0 = x, which is Knuth's definition "
        "(TAOCP 1.2.4); PyTorch raises on the CPU.",
    ),
    Disagreement(
        "integer",
        "ends the process",
        ("div", "trunc_div"),
        "2^(n - 1) modulo 2^n is the smallest integer again, as in all arithmetic of n-bit integers, and in NumPy; in PyTorch the processor traps.",
    ),
    Disagreement(
        "integer",
        "value",
        ("is_close", "is_close_equal_nan"),
        "EP's difference of integers is exact before float64 compares it with the tolerance; PyTorch rounds the integers to float32.",
    ),
)
_SATURATED: Final = "Beyond the range, and for NaN, C leaves the conversion open and PyTorch does as the processor; EP saturates, NaN becomes 0."
_NO_INFINITY: Final = (
    "IEEE 754 rounds to an infinity beyond the range. This format has none, so that NaN alone tells of an overflow: the non-saturating "
    "conversion of the OCP 8-bit floating point specification (OFP8, 2023), and ml_dtypes; PyTorch takes the saturating one."
)
_CASTS: Final = (
    *(
        Disagreement(f"{kind} to integer", "value", ("cast",), _SATURATED)
        for kind in ("float", "complex", "float8_e4m3fn", "float8_e5m2")
    ),
    *(
        Disagreement(f"{kind} to float8_e4m3fn", "NaN here", ("cast",), _NO_INFINITY)
        for kind in ("integer", "float", "complex", "float8_e5m2")
    ),
    *(
        Disagreement(
            kind,
            "value",
            ("cast",),
            "PyTorch rounds to types of 16 and 8 bits twice, by way of float32; EP rounds once.",
        )
        for kind in ("integer to float", "float to float", "float to float8_e4m3fn", "float to float8_e5m2")
    ),
)

DISAGREEMENTS: Final = (*_FLOAT, *_COMPLEX, *_INTEGER, *_CASTS, *FAMILY_DISAGREEMENTS)


def listed() -> dict[tuple[str, str], dict[str, str]]:
    """Return how and why an op differs, by op and kind of element types."""
    table: dict[tuple[str, str], dict[str, str]] = {}
    for line in DISAGREEMENTS:
        for op in line.ops:
            table.setdefault((op, line.kind), {})[line.how] = line.reason
    return table
