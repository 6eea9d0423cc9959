"""The gradients of the activations."""

from __future__ import annotations

from typing import Final

from ep_primitives.accuracy import Conditioned, Ulps
from ep_primitives.domain import DECAY, GRADIENT, SIGMOID, UNIT
from ep_primitives.formulas import activation_backward as formulas
from ep_primitives.op import ALPHA, FLOATS, Op

__all__ = ["ACTIVATION_BACKWARD"]


# fmt: off
ACTIVATION_BACKWARD: Final = (
    Op("elu_backward_with_dy_x",  formulas.elu_backward,  FLOATS,  Ulps(4),         (GRADIENT, DECAY),   "nan,1->nan 1,nan->nan 2,inf->2 2,-inf->0 1,0->alpha -1,-0->-alpha 0,1->0 -0,1->-0", (ALPHA,), error=3),
    Op("gelu_backward_with_dy_x", formulas.gelu_backward, FLOATS,  Conditioned(16), (GRADIENT, SIGMOID), "nan,1->nan 1,nan->nan 2,inf->2 2,-inf->0 1,0->0.5 -1,-0->-0.5", error=8),
    Op("tanh_backward_with_dy_y", formulas.tanh_backward, FLOATS,  Conditioned(4),  (GRADIENT, UNIT),    "nan,0->nan 1,nan->nan 2,0->2 2,-0->2 2,1->0 2,-1->0 2,0.5->1.5 inf,0->inf", error=2),
)
# fmt: on
