"""Generators on the devices of this machine: their refusals, and the devices whose skips the host serves."""

import numpy as np
import pytest
from ep_primitives import Generator, RandomFill
from ep_primitives.families.random_fill.philox import draw

import ep


@pytest.fixture(params=["cpu:0", "opencl:0", "sim:0"])
def device(request):
    try:
        return ep.device(request.param)
    except ep.UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def stream(device):
    stream = device.stream()
    yield stream
    stream.close()


def words(stream, generator, count):
    out = stream.device.allocate(4 * count)
    RandomFill.infer("words", ep.TensorSpec("uint32", (count,))).on(stream.device)(
        stream, state=generator.state, out=out
    )
    host = np.empty(count, np.uint32)
    stream.download(host, out)
    stream.synchronize()
    return host


def test_generator_begins_at_the_beginning_of_its_seed(stream):
    generator = Generator(stream.device, 2**64 - 1)
    assert generator.save(stream) == b"\xff" * 8 + bytes(8)
    assert words(stream, generator, 5).tolist() == draw(2**64 - 1, 0, 5).tolist()
    generator.close()
    generator.close()
    with pytest.raises(ep.ClosedError):
        words(stream, generator, 5)


def test_seeds_of_numpy_are_integers_and_other_things_are_not(device):
    Generator(device, np.uint64(7)).close()
    for seed, kind in ((-1, ValueError), (2**64, ValueError), (1.0, TypeError), ("7", TypeError), (None, TypeError)):
        with pytest.raises(kind, match=r"Generator: seed is .*, needs an integer from 0 to 2\^64 - 1"):
            Generator(device, seed)


def test_restore_takes_what_save_returned_and_nothing_else(stream):
    generator = Generator(stream.device, 3)
    words(stream, generator, 6)
    saved = generator.save(stream)
    for data in (saved, bytearray(saved), np.frombuffer(saved, np.uint64)):
        generator.restore(stream, data)
        assert words(stream, generator, 2).tolist() == draw(3, 6, 2).tolist()
    with pytest.raises(ValueError, match="restore: data has 15 bytes"):
        generator.restore(stream, saved[:15])
    with pytest.raises(TypeError, match="restore: data is str"):
        generator.restore(stream, "x" * 16)


def test_restore_does_not_read_its_data_later(stream):
    generator, data = Generator(stream.device, 3), bytearray(16)
    generator.restore(stream, data)
    data[:] = b"\xff" * 16
    assert generator.save(stream) == bytes(16)


def test_skip_refuses_what_is_no_number_of_words(stream):
    generator = Generator(stream.device, 3)
    for count, kind in ((-1, ValueError), (2**64, ValueError), (0.5, TypeError)):
        with pytest.raises(kind, match=r"Generator\.skip: words is"):
            generator.skip(stream, count)
    assert generator.save(stream)[8:] == bytes(8)


@pytest.mark.parametrize(("adds", "degraded"), [(True, 0), (False, 2)])
def test_skip_is_degraded_where_the_device_does_not_add_uint64(stream, monkeypatch, adds, degraded):
    if not adds:  # all devices here do
        monkeypatch.setattr("ep_primitives.families.random_fill.generator._adder", lambda device: None)
    generator, before = Generator(stream.device, 3), stream.device.degraded["skip"]
    generator.skip(stream, 2**33)
    generator.skip(stream, 2**64 - 5)
    assert generator.save(stream)[8:] == (2**33 - 5).to_bytes(8, "little")
    assert stream.device.degraded["skip"] - before == degraded


def test_state_that_moves_on_is_not_written_by_others(stream):
    one, other = Generator(stream.device, 1), Generator(stream.device, 2)
    assert [words(stream, one, 3).tolist(), words(stream, other, 4).tolist(), words(stream, one, 2).tolist()] == [
        draw(1, 0, 3).tolist(),
        draw(2, 0, 4).tolist(),
        draw(1, 3, 2).tolist(),
    ]


def test_what_is_no_device_or_stream_is_named():
    with pytest.raises(TypeError, match="device is NoneType, needs a Device"):
        Generator(None, 1)
    generator = Generator(ep.device("cpu:0"), 1)
    for use in (
        generator.save,
        lambda stream: generator.skip(stream, 1),
        lambda stream: generator.restore(stream, bytes(16)),
    ):
        with pytest.raises(TypeError, match="stream is NoneType, needs a Stream"):
            use(None)
    generator.close()
