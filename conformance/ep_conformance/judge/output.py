"""An Output of a case: the operand's name and spec, its reference and its accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ep_conformance.judge.bits import check_bits
from ep_conformance.judge.error import CaseError
from ep_conformance.judge.ulp import rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.reference import Reference

    import ep
    from ep_conformance.judge.compare import Comparison

__all__ = ["Output", "right_result"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Output:
    """The reference and the comparison of one output's results.

    bits     : for a family that moves elements the needed contents, bit for bit; else None
    measure  : compares a result with the reference
    doubt    : the fault that this case could not notice, in words
    is_used  : True if its memory holds an input, or if the family reads it
    """

    name: str
    spec: ep.TensorSpec
    reference: Reference
    accuracy: Accuracy
    bits: Array | None
    measure: Callable[[Array], Comparison]
    doubt: str = ""
    is_used: bool = False

    def check(self, result: Array) -> None:
        """Raise CaseError for a fault of a result that needs no arithmetic to be found."""
        if self.bits is not None:
            check_bits(self.name, result, self.bits, "because elements are moved bit for bit")
        elif result.dtype == np.bool_:
            self._check_bools(result)

    def _check_bools(self, result: Array) -> None:
        odd = np.argwhere(result.view(np.uint8) > 1)
        if odd.size:
            at = tuple(int(i) for i in odd[0])
            message = f"{self.name}{list(at)} holds the byte {int(result.view(np.uint8)[at])}; a bool output is 0 or 1"
            raise CaseError(message, kind="bool", operand=self.name, index=list(at))


def right_result(spec: ep.TensorSpec, reference: Reference) -> Array:
    """Return the reference as a result: of the output's shape and element type."""
    return np.array(np.broadcast_to(rounded(reference.value, spec.dtype), spec.shape))
