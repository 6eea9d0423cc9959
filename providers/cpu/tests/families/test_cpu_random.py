"""Random fills on the CPU: the same numbers whatever the threads and the instruction set, and where the state lies."""

import numpy as np
import pytest
from ep_primitives import Generator, RandomFill
from ep_primitives.families.random_fill.philox import draw

import ep

DIGESTS = """
import hashlib, sys
import ep, numpy as np
from ep_primitives import RANDOM_OPS, Generator, RandomFill
stream = ep.device("cpu:0").stream()
numbers = {"bernoulli": {"p": 0.3}, "integers": {"low": 3, "high": 120}}
for row in RANDOM_OPS.values():
    digest = hashlib.sha256()
    for dtype in row.dtypes:
        for shape, strides in (((300_007,), None), ((513, 700), (1, 520)), ((5,), None)):
            out = ep.TensorSpec(dtype, shape, strides)
            memory, generator = stream.device.allocate(out.nbytes), Generator(stream.device, 99)
            generator.skip(stream, 7)
            stream.fill(memory, b"\\0")
            RandomFill.infer(row.name, out).on(stream.device)(
                stream, state=generator.state, out=memory, **numbers.get(row.name, {})
            )
            digest.update(memory.host())
            digest.update(generator.save(stream))
    print(row.name, digest.hexdigest())
"""


def digests(fresh_python, **variables):
    return dict(line.split() for line in fresh_python(DIGESTS, **variables).splitlines())


@pytest.mark.parametrize("threads", ["2", "3", "7"])
def test_numbers_do_not_depend_on_threads(fresh_python, threads):
    assert digests(fresh_python, EP_CPU_THREADS="1") == digests(fresh_python, EP_CPU_THREADS=threads)


def test_all_but_normal_numbers_do_not_depend_on_the_instruction_set(fresh_python, isas):
    found = [digests(fresh_python, EP_CPU_ISA=isa) for isa in isas]
    for each in found:
        assert len(each) == 5
        del each["normal"]
    assert all(each == found[0] for each in found)


def test_state_and_output_may_be_views_of_one_memory(device, stream):
    memory = device.allocate(1024)
    stream.upload(memory[512:528], np.array([3, 11], np.uint64))
    fill = RandomFill.infer("words", ep.TensorSpec("uint32", (100,))).on(device)
    fill(stream, state=memory[512:528], out=memory[4:404])
    assert np.frombuffer(memory.host(), np.uint32)[1:101].tolist() == draw(3, 11, 100).tolist()
    assert np.frombuffer(memory.host()[512:528], np.uint64).tolist() == [3, 111]


def test_arrays_of_numpy_are_states_and_outputs(device, stream):
    state, out = np.array([3, 0], np.uint64), np.empty((4, 5), np.uint32)
    RandomFill.infer("words", ep.TensorSpec.of(out)).on(device)(stream, state=state, out=out)
    assert out.reshape(-1).tolist() == draw(3, 0, 20).tolist()
    assert state.tolist() == [3, 20]
    state.flags.writeable = False
    with pytest.raises(ValueError, match="state is read-only"):
        RandomFill.infer("words", ep.TensorSpec.of(out)).on(device)(stream, state=state, out=out)


def test_asynchronous_streams_advance_the_state_when_they_get_there(device):
    stream = device.stream(synchronous=False)
    generator = Generator(device, 4)
    fill = RandomFill.infer("words", ep.TensorSpec("uint32", (50_000,))).on(device)
    outs = [device.allocate(200_000) for _ in range(12)]
    for out in outs:
        fill(stream, state=generator.state, out=out)
    stream.synchronize()
    for place, out in enumerate(outs):
        assert np.array_equal(np.frombuffer(out.host(), np.uint32), draw(4, 50_000 * place, 50_000))
    stream.close()
