"""An Order: one operation comes before another, and what is found where the later one did not wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import ep

__all__ = ["Order", "Work"]

Bytes = npt.NDArray[np.uint8]
Work: TypeAlias = "tuple[str, ep.Stream | None]"
"""An operation in a word and the stream that does it, ("copy", stream); or all that is to be said, and None."""


@dataclass(frozen=True)
class Order:
    """A promise of the contract: `then` waits for `first`.

    otherwise : what is found if it did not: as many bytes as are compared, or one that they all are
    """

    first: Work
    then: Work
    otherwise: Bytes | int

    def explains(self, given: Bytes, needed: Bytes) -> bool:
        """Say whether all that is wrong is what is found if the order is violated."""
        wrong = given != needed
        return bool((given == np.broadcast_to(self.otherwise, given.shape))[wrong].all())

    def __str__(self) -> str:
        return f"{_words(self.then)} did not wait for {_words(self.first)}, which comes before it"


def _words(work: Work) -> str:
    what, stream = work
    return what if stream is None else f"the {what} on {stream.name}"
