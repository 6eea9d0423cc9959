"""Small layouts by the hundred, and the elements that each touches."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

specs = st.integers(0, 3).flatmap(
    lambda rank: st.tuples(
        st.lists(st.integers(0, 4), min_size=rank, max_size=rank),
        st.lists(st.integers(-7, 7), min_size=rank, max_size=rank),
        st.integers(100, 120),
    )
)


def places(spec):
    return [
        spec.offset + sum(i * s for i, s in zip(index, spec.strides, strict=True))
        for index in itertools.product(*map(range, spec.shape))
    ]
