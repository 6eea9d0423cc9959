"""The activations.

Sources of the bounds: a row without a function of OpenCL 1.2's table 7.1 adds the half ulp of each rounding of the
textbook formula; expm1, exp and log1p are taken as 3, 3 and 2 ulp. Where a rounded argument of an exponential is large,
so is its effect, but only where the values are tiny: an absolute floor says from where on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ep_primitives.descriptors.attribute import ALPHA, TORCH, TORCH_AND_ONNX, Attribute, Legal
from ep_primitives.elementwise.domain import REAL, SIGMOID
from ep_primitives.elementwise.formulas import activation as formulas
from ep_primitives.elementwise.formulas.extended import extended
from ep_primitives.elementwise.op import COMPLEXES, FLOATS, REALS, Op
from ep_primitives.judging.accuracy import CORRECT, MOVED, OF_COMPLEX, OPENCL, ROUNDED_ONCE, Ulps

__all__ = ["ACTIVATION"]

_REAL: Final = (REAL,)
_SIGMOID: Final = (SIGMOID,)

# x / sqrt 2, 1.702 x and the like are rounded, and their error is multiplied by x^2 or x in the far negative tail.
_FOUND: Final = (
    "found with float32 arithmetic over a correctly rounded erfc: it misses 8 ulp by at most 2^-27.7, while 1 + erf and the "
    "tanh form fail"
)
_GELU: Final = {"": Ulps(8, floor=2.0**-26, why=_FOUND), "float64": Ulps(8, floor=2.0**-55, why=_FOUND)}
_AS_GELU: Final = "as gelu, because the rounding of the exponent is multiplied by its size in the far negative tail"
_TAIL: Final = {"": Ulps(8, floor=2.0**-26, why=_AS_GELU), "float64": Ulps(8, floor=2.0**-55, why=_AS_GELU)}
# Below log(smallest normal) e^x is subnormal, and x e^x makes its lost bits visible.
_OF_SILU: Final = "exp 3 ulp, a sum and a quotient, and the product below 0; the floor where e^x is subnormal"
_SILU: Final = {"": Ulps(6, floor=2.0**-142, why=_OF_SILU), "float64": Ulps(6, floor=2.0**-1064, why=_OF_SILU)}
_OF_MISH: Final = (
    "exp 3 ulp counts twice where e^x is large, then products, a sum and a quotient; the floor where e^x is subnormal"
)
_MISH: Final = {"": Ulps(8, floor=2.0**-142, why=_OF_MISH), "float64": Ulps(8, floor=2.0**-1064, why=_OF_MISH)}

_TANH: Final = {"": Ulps(5, why=OPENCL), "complex": Ulps(8, why=OF_COMPLEX)}

_STEEP: Final = replace(ALPHA, legal=Legal.POSITIVE)
_LAMBD: Final = Attribute("lambd", (0.5, 0.1, 3.0), 0.5, TORCH_AND_ONNX, stored=True, legal=Legal.NOT_NEGATIVE)
_SHRINK: Final = Attribute("alpha", (0.5, 0.1, 3.0), 0.5, TORCH, stored=True, legal=Legal.NOT_NEGATIVE)
_MIN: Final = Attribute("min", (-1.0, -0.7, 0.1), -1.0, TORCH, stored=True, legal=Legal.EXTENDED)
_MAX: Final = Attribute("max", (1.0, 0.3, 2.1), 1.0, TORCH, stored=True, legal=Legal.EXTENDED)
_SLOPE: Final = Attribute("alpha", (0.01, 0.3, 1.5), 0.01, TORCH_AND_ONNX)
_THRESHOLD: Final = Attribute("threshold", (0.5, -1.0, 0.1), stored=True, legal=Legal.EXTENDED)
_VALUE: Final = Attribute("value", (-2.0, 0.1, 7.0), stored=True, legal=Legal.EXTENDED)
_BETA: Final = Attribute("beta", (1.0, 2.0, 0.5), 1.0, TORCH, legal=Legal.NOT_ZERO)
_LINEAR: Final = Attribute("threshold", (20.0, 1.0, 8.0), 20.0, TORCH)

# fmt: off
ACTIVATION: Final = (
    Op("elu", formulas.elu, FLOATS, Ulps(4, why="expm1 3 ulp and a product"), _SIGMOID,
       "nan->nan inf->inf -inf->-alpha 0->0 -0->-0 2->2", (ALPHA,), error=2,
       definition="x where x > 0, else alpha (e^x - 1)",
       source="OneFlow kElu",
       note="with expm1, because e^x - 1 has no correct digit near 0"),
    Op("celu", formulas.celu, FLOATS, Ulps(5, why="a quotient, expm1 3 ulp and a product"), _SIGMOID,
       "nan->nan inf->inf -inf->-alpha 0->0 -0->-0 2->2", (_STEEP,), error=3,
       definition="x where x > 0, else alpha (e^(x / alpha) - 1)",
       source="OneFlow kCelu; Barron, 'Continuously Differentiable Exponential Linear Units' (2017)",
       note="with expm1, as elu; x itself where x / alpha is next to 0, so that no quotient underflows. alpha = 0 has no function; "
            "for a negative one e^(x / alpha) grows without bound, and with it the effect of the quotient's rounding"),
    Op("relu", formulas.relu, REALS, MOVED, _REAL,
       "nan->nan inf->inf -inf->0 0->0 -0->0 2->2 -2->0",
       definition="0 where x <= 0, else x",
       source="OneFlow kRelu"),
    Op("gelu", formulas.gelu, FLOATS, _GELU, _SIGMOID,
       "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100 -100->-0", error=8,
       definition="0.5 x erfc(-x / sqrt 2)",
       source="OneFlow kGelu",
       note="-inf gives the limit -0, not the NaN of -inf * 0; OneFlow's 1 + erf has no correct digit below -5"),
    Op("hard_swish", formulas.hard_swish, FLOATS,
       Ulps(3, why="a sum that is exact near its root, a product and a quotient"), _REAL,
       "nan->nan inf->inf -inf->0 0->0 -0->-0 3->3 -3->0", error=2,
       definition="0 where x <= -3, x where x >= 3, else x (x + 3) / 6",
       source="OneFlow kHardSwish"),
    Op("hard_sigmoid", formulas.hard_sigmoid, FLOATS,
       Ulps(2, why="a sum that is exact near its root and a quotient"), _REAL,
       "nan->nan inf->1 -inf->0 0->0.5 -0->0.5 3->1 -3->0", error=1,
       definition="0 where x <= -3, 1 where x >= 3, else (x + 3) / 6",
       source="OneFlow kHardSigmoid",
       note="OneFlow and PyTorch write x / 6 + 0.5, whose rounding has no correct digit near -3"),
    Op("hard_shrink", formulas.hard_shrink, FLOATS, MOVED, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->0 lambd->0 -lambd->0", (_LAMBD,),
       definition="0 where -lambd <= x <= lambd, else x",
       source="OneFlow kHardShrink",
       note="lambd is rounded to the element type first, so that an element can equal it; between -lambd and a negative lambd "
            "lies nothing"),
    Op("hard_tanh", formulas.hard_tanh, FLOATS, MOVED, _REAL,
       "nan->nan inf->max -inf->min min->min max->max", (_MIN, _MAX), ascending=True,
       definition="min where x < min, max where x > max, else x",
       source="OneFlow kHardTanh",
       note="the bounds are rounded to the element type first, so that the backward op finds them again; OneFlow reads "
            "them as float32, even for float64"),
    Op("leaky_relu", formulas.leaky_relu, FLOATS, Ulps(0.5, why=CORRECT), _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->-0 2->2 -1->-alpha", (_SLOPE,),
       definition="x where x > 0, else alpha x",
       source="OneFlow kLeakyRelu; IEEE 754",
       note="OneFlow holds alpha as float32, even for float64"),
    Op("mish", formulas.mish, FLOATS, _MISH, _SIGMOID,
       "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100", error=4,
       definition="x tanh(log(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2)",
       source="OneFlow kMish (Misra 2019)",
       note="OneFlow overflows to NaN for large x; -inf gives the limit -0"),
    Op("selu", formulas.selu, FLOATS, Ulps(5, why="expm1 3 ulp, a rounded constant and a product"), _SIGMOID,
       "nan->nan inf->inf 0->0 -0->-0", error=3,
       definition="1.0507009873554805 x where x > 0, else 1.0507009873554805 * 1.6732632423543772 (e^x - 1)",
       source="OneFlow kSelu (Klambauer et al. 2017)",
       note="with expm1, as elu"),
    Op("silu", formulas.silu, FLOATS, _SILU, _SIGMOID,
       "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100", error=3,
       definition="x / (1 + e^-x)",
       source="OneFlow kSilu",
       note="-inf gives the limit -0, not NaN; below -log(largest) the values are x e^x, not the 0 of x / inf"),
    Op("soft_shrink", formulas.soft_shrink, FLOATS, ROUNDED_ONCE, _REAL,
       "nan->nan inf->inf -inf->-inf 0->0 -0->0 alpha->0 -alpha->0", (_SHRINK,),
       definition="x - alpha where x > alpha, x + alpha where x < -alpha, else 0",
       source="OneFlow kSoftShrink; IEEE 754",
       note="alpha is rounded to the element type first, so that sums of 16-bit types are exact in float32; a negative one "
            "would give numbers near 0 two values; OneFlow gives 0 for NaN"),
    Op("soft_sign", formulas.soft_sign, FLOATS, Ulps(2, why="a sum and a quotient"), _REAL,
       "nan->nan inf->1 -inf->-1 0->0 -0->-0 1->0.5 -1->-0.5", error=2,
       definition="x / (1 + |x|)",
       source="OneFlow kSoftSign",
       note="infinities give the limits 1 and -1, not NaN"),
    Op("soft_plus", formulas.soft_plus, FLOATS, Ulps(6, why="exp 3 ulp, log1p 2 ulp and a quotient"), _SIGMOID,
       "nan->nan inf->inf -inf->0 100->100", (_BETA, _LINEAR), error=3,
       definition="x where beta x, rounded, is above threshold, else log1p(e^(beta x)) / beta",
       source="OneFlow kSoftPlus",
       note="with log1p and without overflow, where OneFlow takes log(1 + e^x). e^(beta x) needs the product in two words, because its "
            "rounding would be multiplied by |beta x|; the quotient comes before a subnormal e^(beta x) is rounded"),
    Op("tanh", extended(np.tanh), (*FLOATS, *COMPLEXES), _TANH, _SIGMOID,
       "nan->nan inf->1 -inf->-1 0->0 -0->-0", error=2,
       definition="tanh(x)",
       source="OneFlow kTanh"),
    Op("threshold", formulas.threshold, FLOATS, MOVED, _REAL,
       "nan->nan inf->inf -inf->value threshold->value", (_THRESHOLD, _VALUE),
       definition="value where x <= threshold, else x",
       source="OneFlow kThreshold",
       note="both attributes are rounded to the element type first"),
    Op("fast_gelu", formulas.fast_gelu, FLOATS, _TAIL, _SIGMOID,
       "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100 -100->-0", error=8,
       definition="0.5 x (1 + tanh(0.7978845608028654 (x + 0.044715 x^3)))",
       source="OneFlow kFastGelu",
       note="the constants are sqrt(2 / pi) and 0.044715, as in PyTorch; OneFlow's 0.7978845608 and 0.0447149985 have ten "
            "and seven digits; -inf gives the limit -0; 1 + tanh has no correct digit below -4, x / (1 + e^(-2 u)) has"),
    Op("quick_gelu", formulas.quick_gelu, FLOATS, _TAIL, _SIGMOID,
       "nan->nan inf->inf -inf->-0 0->0 -0->-0 100->100", error=8,
       definition="x / (1 + e^(-1.702 x))",
       source="OneFlow kQuickGelu",
       note="-inf gives the limit -0, not NaN"),
    Op("square_relu", formulas.square_relu, FLOATS, Ulps(0.5, why=CORRECT), _REAL,
       "nan->nan inf->inf -inf->0 0->0 -0->0 2->4 -2->0",
       definition="x^2 where x > 0, else 0",
       source="OneFlow kSquareReLU; IEEE 754"),
)
# fmt: on
