"""LogSoftmaxBackward by the passes of `softmax`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives import LogSoftmaxBackward

from ep_simt.families.softmax.softmaxes import Softmaxes

if TYPE_CHECKING:
    from ep_simt.body import Body

__all__ = ["BODY"]

BODY: Final[Body] = Softmaxes(LogSoftmaxBackward)
