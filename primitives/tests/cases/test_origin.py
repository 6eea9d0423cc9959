"""Family.origin: an element of the output is made of what it names, and of nothing else."""

import numpy as np
import pytest
from ep.plugin.family import by_name
from ep_primitives.judging import layout

import ep

SEED = 3
KNOWING = sorted(ep.families())
LAYOUTS = ("dense", "strided", "broadcast", "scalar-left", "rank0")


def cases(name):
    """Yield a quick case of each of a few cells, with data from a generator."""
    family = ep.families()[name]
    cells = [cell for cell in family.cells() if cell.layout in LAYOUTS]
    for cell in cells[:: max(1, len(cells) // 24)]:
        yield from [case for case in family.cases(cell) if case.profile == "quick" and case.descriptor.out.size][:2]


def inputs_of(case, seed):
    data = case.data(np.random.default_rng(seed))
    specs = case.descriptor.present
    return {
        name: layout.settled(specs[name], value) if isinstance(specs[name], ep.TensorSpec) else value
        for name, value in data.items()
    }


def value_at(family, case, inputs, name, at):
    moved = by_name(case.descriptor, family.moved(case.descriptor, inputs))[name]
    reference = by_name(case.descriptor, family.reference(case.descriptor, inputs))[name]
    value = reference.value if moved is None else moved
    return np.asarray(np.broadcast_to(value, case.descriptor.outputs[name].shape)[at])


@pytest.mark.parametrize("name", KNOWING)
def test_element_depends_on_its_origin_alone(name):
    """Other values everywhere else, of tensors that do not say where others are read, leave it as it is."""
    family, tried = ep.families()[name], 0
    for case, output in [(each, output) for each in cases(name) for output in each.descriptor.outputs]:
        inputs = inputs_of(case, SEED)
        at = tuple(int(i) for i in np.random.default_rng(SEED).integers(case.descriptor.outputs[output].shape))
        origin = family.origin(case.descriptor, inputs, output, at)
        changed = dict(inputs)
        for operand, value in inputs.items():
            if isinstance(value, np.ndarray) and operand not in case.descriptor.roles.states:
                changed[operand] = np.roll(value.reshape(-1), 1).reshape(value.shape)
                if operand in origin and value.size:
                    changed[operand] = changed[operand].copy()
                    changed[operand][origin[operand]] = value[origin[operand]]
                    tried += value[origin[operand]].size < value.size
        was, now = (value_at(family, case, values, output, at) for values in (inputs, changed))
        is_same = was.tobytes() == now.tobytes() or (np.isnan(was) and np.isnan(now))
        assert is_same, f"{case.descriptor} {output} at {at}: {origin}"
    no_inputs = {"fill", "iota", "random_fill"}
    assert (tried > 0) == (name not in no_inputs | {"tensor_fill"})
