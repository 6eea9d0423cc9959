"""Random fills beside the suite's: paths that only huge outputs would take, and the same bits as on the CPU."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep_primitives import RANDOM_OPS, Generator, RandomFill
from ep_primitives.families.random_fill.philox import draw
from ep_primitives.judging.reference import array_dtype

import ep

NUMBERS = {"bernoulli": {"p": 0.3}, "integers": {"low": 3, "high": 120}}
EXACT = [(row.name, dtype) for row in RANDOM_OPS.values() if row.name != "normal" for dtype in row.dtypes]


def filled(device, descriptor, seed):
    stream, generator = device.stream(), Generator(device, seed)
    memory = device.allocate(descriptor.out.nbytes)
    for _ in range(2):  # the second one begins within a block of four words
        descriptor.on(device)(stream, state=generator.state, out=memory, **NUMBERS.get(descriptor.op, {}))
    out = np.empty(descriptor.out.nbytes, np.uint8)
    stream.download(out, memory)
    saved = generator.save(stream)
    stream.close()
    return out, saved


@pytest.mark.parametrize(("op", "dtype"), EXACT)
def test_bits_are_those_of_the_cpu(device, op, dtype):
    if dtype == "float64" and "fp64" not in device.info.features:
        pytest.skip("the device has no float64")
    descriptor = RandomFill.infer(op, ep.TensorSpec(dtype, (10_007,)))
    ours, cpus = (filled(each, descriptor, 2**40 + 17) for each in (device, ep.device("cpu:0")))
    assert np.array_equal(ours[0], cpus[0])
    assert ours[1] == cpus[1]
    assert len(np.unique(ours[0].view(array_dtype(dtype)))) > 1


def test_entries_with_64_bit_indices_give_the_same_numbers(device, stream, put, get):
    descriptor = RandomFill.infer("words", ep.TensorSpec("uint32", (65, 33), (40, 1)))
    object.__setattr__(descriptor, "_key", descriptor.key._replace(wide=True))  # like a descriptor of 2^31 elements
    portable = ep_simt.Portable()
    kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
    state, out = put(np.array([5, 2**33 + 1], np.uint64)), put(np.zeros(65 * 40, np.uint32))
    kernel.launch(stream.twin, (state, out), ())
    rows = get(out, np.uint32).reshape(65, 40)
    assert np.array_equal(rows[:, :33], draw(5, 2**33 + 1, 65 * 33).reshape(65, 33))
    assert not rows[:, 33:].any()
    assert get(state, np.uint64).tolist() == [5, 2**33 + 1 + 65 * 33]


def test_launches_of_one_primitive_on_two_queues_keep_their_own_state(device):
    fill = RandomFill.infer("words", ep.TensorSpec("uint32", (5000,))).on(device)
    streams = [device.stream() for _ in range(2)]
    generators = [Generator(device, seed) for seed in (1, 2)]
    outs = [device.allocate(20_000) for _ in range(20)]
    for place, out in enumerate(outs):
        fill(streams[place % 2], state=generators[place % 2].state, out=out)
    for place, out in enumerate(outs):
        words = np.empty(5000, np.uint32)
        streams[place % 2].download(words, out)
        streams[place % 2].synchronize()
        assert np.array_equal(words, draw(1 + place % 2, place // 2 * 5000, 5000))
