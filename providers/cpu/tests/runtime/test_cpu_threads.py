"""The number of threads changes no bit, of any family that is installed: sample cases, and such as are shared among threads.

Two threads take every other cell, three the others.
"""

import json
from itertools import chain, groupby

import pytest
from every_case import every_case

import ep

GRAIN = 64 << 10
"""Bytes that another thread is woken for, as pool.h says."""

MOST = 2 << 20
SIGNATURES = 2
MANY = 40
"""Ops of a family that share its loops."""

BITS = """
import hashlib, json
import numpy as np
import ep
from ep.layout.cells import Cell
from ep_primitives.judging import layout

GRAIN = {grain}
device = ep.device("cpu:0")
stream = device.stream()


def digest(case):
    "Launch a case on data that its name decides; return a hash of the bits of all that it wrote."
    descriptor = case.descriptor
    data = case.data(np.random.default_rng(1))
    operands, memories = {{}}, {{}}
    for name, spec in descriptor.present.items():
        if isinstance(spec, ep.Scalar):
            value = data[name]
            operands[name] = value.item() if isinstance(value, np.generic | np.ndarray) else value
        elif not (case.inplace and name == case.target):
            behind = descriptor.present[case.target].nbytes if name == case.inplace else 0
            image = np.zeros(max(spec.nbytes, behind), np.uint8)
            if name in data and spec.size:
                layout.scatter(spec, np.asarray(data[name]), image)
            operands[name] = memories[name] = device.allocate(image.nbytes)
            stream.upload(memories[name], image)
    if case.inplace:
        operands[case.target] = memories[case.target] = memories[case.inplace]
    descriptor.on(device)(stream, **operands)
    found = hashlib.sha256()
    for name in descriptor.written:
        image = np.empty(memories[name].nbytes, np.uint8)
        stream.download(image, memories[name])
        stream.synchronize()
        found.update(image)
    for memory in memories.values():
        memory.close()
    return found.hexdigest()


bits, shared = {{}}, {{}}
for name, names in {chosen!r}:
    cell = Cell(*name.split("/"))
    for case in ep.families()[cell.family].cases(cell):
        if case.name not in names:
            continue
        try:
            bits[f"{{cell}}/{{case.name}}"] = digest(case)
        except ep.UnsupportedError:
            continue
        shared[cell.family] = max(shared.get(cell.family, 0), case.descriptor.nbytes_moved // GRAIN)
print(json.dumps([bits, shared]))
"""


def of_few_types(family):
    """Yield the cells of a few element types of each op, in each layout; of families of many ops each in a third of the layouts."""
    cells = {}
    for cell in family.cells():
        cells.setdefault(cell.op, {}).setdefault(cell.dtypes, []).append(cell)
    few = max(1, SIGNATURES // len(cells))
    third = 3 if len(cells) > MANY else 1
    for number, dtypes in enumerate(cells.values()):
        step = max(1, len(dtypes) // few)
        names = [*dtypes][number % step :: step][:few]
        if few > 1:
            names += [name for name in dtypes if name.startswith("float32")][:1]
        yield from chain.from_iterable(dtypes[name][number % third :: third] for name in dict.fromkeys(names))


def chosen():
    """Yield of each family the chosen cells, with the names of the first case and of the one of the most work."""
    for family in ep.families().values():
        of_cell = {
            cell: [case for _, case in found] for cell, found in groupby(every_case(family.name), lambda item: item[0])
        }
        for cell in of_few_types(family):
            cases = [case for case in of_cell[cell] if case.profile != "large"]
            cases = sorted(cases, key=lambda case: case.descriptor.nbytes_moved)
            shared = [case for case in cases if case.descriptor.nbytes_moved >= 3 * GRAIN]
            fitting = [case for case in shared if case.descriptor.nbytes_moved <= MOST]
            most = [*fitting[-1:], *shared[:1], cases[-1]][0]
            yield str(cell), sorted({cases[0].name, most.name})


@pytest.fixture(scope="module")
def found(fresh_python):
    """By number of threads: the hash of each case, and how many threads' worth of work each family was given."""
    found, cells = {}, [*chosen()]
    for count, some in ((1, cells), (2, cells[::2]), (3, cells[1::2])):
        program = BITS.format(grain=GRAIN, chosen=some)
        found[count] = json.loads(fresh_python(program, EP_CPU_THREADS=str(count)))
    return found


@pytest.mark.parametrize("threads", [2, 3])
def test_bits_are_those_of_one_thread(found, threads):
    alone, together = found[1][0], found[threads][0]
    assert len(together) > len(alone) // 3
    assert {place: bits for place, bits in together.items() if bits != alone[place]} == {}


def test_every_family_is_tried_with_work_for_three_threads(found):
    worth = found[1][1]
    assert set(worth) == set(ep.families())
    assert {family: share for family, share in worth.items() if share < 3} == {}
