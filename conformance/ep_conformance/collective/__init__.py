"""The level collective: cases of N ranks; `collective/4/all_reduce/sum/float32` is one of four.

In:  how many ranks.
Out: a case for each collective, op and element type, and those of order and failure. Ranks are on the devices of the provider, in
     turn; a provider's own carrier is judged where it has one, else the local carrier over its streams and kernels.
"""

from __future__ import annotations

import functools
from typing import Final

from ep_conformance.runtime import RuntimeCase

__all__ = ["MOST_RANKS", "collective_cases", "ranks_of"]

MOST_RANKS: Final = 8
_PREFIX: Final = "collective"


@functools.cache
def collective_cases(ranks: int) -> dict[str, RuntimeCase]:
    """Return the cases of so many ranks by id, in the order in which they run; of none for 0."""
    if not ranks:
        return {}
    from ep_conformance.collective.cases import all_cases  # noqa: PLC0415 - few runs have ranks, and the collectives take 50 ms

    found = {}
    for case in all_cases():
        if ranks >= case.least_ranks:
            identity = f"{_PREFIX}/{ranks}/{case.name}"
            body = functools.partial(case.body, size=ranks)
            found[identity] = RuntimeCase(identity, body, case.claim, needs=case.needs, since="1.1")
    return found


def ranks_of(identity: str) -> int:
    """Return how many ranks the cases have whose ids, or the glob over them, begin so; 0 for none of this level."""
    prefix, _, rest = identity.partition("/")
    number = rest.partition("/")[0]
    is_one = prefix == _PREFIX and len(number) == 1 and number.isdecimal() and 0 < int(number) <= MOST_RANKS
    return int(number) if is_one else 0
