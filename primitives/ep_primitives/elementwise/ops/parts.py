"""From complex numbers to their parts and back: all exact."""

from __future__ import annotations

from typing import Final

import numpy as np

from ep_primitives.elementwise.domain import REAL
from ep_primitives.elementwise.formulas import complex as formulas
from ep_primitives.elementwise.op import COMPLEXES, Op
from ep_primitives.judging.accuracy import MOVED

__all__ = ["PARTS"]

_REAL: Final = (REAL,)
_PAIRED: Final = ("float32", "float64")

# fmt: off
PARTS: Final = (
    Op("conj", np.conjugate, COMPLEXES, MOVED, _REAL, "1+2j->1-2j nan+1j->nan-1j inf-infj->inf+infj -0+0j->-0-0j",
       definition="re - i im", source="OneFlow kConj"),
    Op("real", np.real, COMPLEXES, MOVED, _REAL, "1+2j->1 nan+infj->nan -0+1j->-0 inf-2j->inf", out="real",
       definition="re", source="OneFlow kReal"),
    Op("imag", np.imag, COMPLEXES, MOVED, _REAL, "1+2j->2 inf+nanj->nan 1-0j->-0 2-infj->-inf", out="real",
       definition="im", source="OneFlow kImag"),
    Op("real_grad", formulas.real_grad, _PAIRED, MOVED, _REAL, "2->2+0j nan->nan+0j -inf->-inf+0j -0->-0+0j", out="complex",
       definition="x + 0i", source="OneFlow kRealGrad"),
    Op("imag_grad", formulas.imag_grad, _PAIRED, MOVED, _REAL, "2->0+2j nan->0+nanj -inf->0-infj -0->0-0j", out="complex",
       definition="0 + xi", source="OneFlow kImagGrad"),
)
# fmt: on
