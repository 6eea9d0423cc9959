"""The family Flip, for every provider that copies: the hook, and the descriptor for callers."""

from collections.abc import Sequence

import ep
from ep_flip.flip import Flip, FlipFamily

__all__ = ["Flip", "FlipFamily", "ep_families"]


@ep.family_hook
def ep_families() -> Sequence[ep.Family]:
    """Return the families of this package."""
    return (FlipFamily(),)
