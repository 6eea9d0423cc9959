"""Definitions written step by step in NumPy, judged by every case of a family as the suite judges a provider."""

import zlib

import numpy as np
from ep.plugin.family import by_name
from ep_conformance.judge.compare import compare
from every_case import every_case

MOST_BYTES = 1 << 20


def cases(family, chosen):
    """Yield the small cases that run, with their cells, but those in place; chosen : says which descriptors."""
    for cell, case in every_case(family.name):
        if cell.layout != "inplace":
            of = case.descriptor
            is_small = case.profile != "large" and of.nbytes_moved <= MOST_BYTES
            if is_small and not of.is_empty and chosen(of):
                yield cell, case


def is_right(family, kernel, cell, case):
    """Say whether a kernel, from a descriptor and inputs to the output or a dictionary of outputs, passes a case."""
    rng = np.random.default_rng([0, zlib.crc32(f"primitives/{cell}/{case.name}".encode())])
    inputs = case.data(rng)
    of = case.descriptor
    with np.errstate(all="ignore"):
        found, known = (by_name(of, answer) for answer in (kernel(of, inputs), family.reference(of, inputs)))
        accuracy = by_name(of, case.accuracy or family.accuracy(of))
        return all(
            compare(found[name], known[name], accuracy[name], spec.dtype).passes for name, spec in of.outputs.items()
        )
