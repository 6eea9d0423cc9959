"""The ids of EP's own cases, as claims, waivers and replays name them, and the suite version that first held each cell.

What was published is kept in held.txt.xz, a line for each cell and each area of the runtime: `cell since version: cases`.
`python conformance/tests/held.py` adds what is new; it takes nothing away.
"""

import lzma
import sys
from collections import defaultdict
from pathlib import Path

from ep.plugin.families import family_packages
from ep_conformance.plan.catalogue import cell_cases
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.runtime import runtime_cases

FILE = Path(__file__).with_name("held.txt.xz")


def held():
    """Return what the file holds: the names of cases by cell with its version, or by area."""
    lines = lzma.decompress(FILE.read_bytes()).decode().splitlines()
    return {place: set(names.split()) for place, _, names in (line.partition(": ") for line in lines)}


def today():
    """Return the same of what there is now."""
    found = defaultdict(set)
    for identity in runtime_cases():
        area, _, name = identity.rpartition("/")
        found[area].add(name)
    ours = [family for package in family_packages() if package.is_ours for family in package.families.values()]
    for family in ours:
        for cell in family.cells():
            names = {each.id.rpartition("/")[2] for each in cell_cases(family, cell, PROFILES[-1])}
            found[f"{cell} since {family.since(cell)}"] = names
    return found


if __name__ == "__main__":
    found = today()
    for place, names in held().items() if FILE.exists() else ():
        found[place] |= names
    lines = "\n".join(f"{place}: {' '.join(sorted(names))}" for place, names in sorted(found.items()))
    FILE.write_bytes(lzma.compress(lines.encode(), preset=9))
    sys.stdout.write(f"{FILE.name}: {sum(map(len, found.values()))} ids in {len(found)} cells and areas\n")
