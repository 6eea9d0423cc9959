"""What a launch takes and refuses: names, sizes, places, alignment, aliasing, with two and with three tensors."""

from __future__ import annotations

import manual
import numpy as np
import pytest

import ep

INT8 = ep.TensorSpec("int8", (4,))
INT32 = ep.TensorSpec("int32", (1,))


@pytest.fixture
def negate(device):
    return manual.Negate(x=INT8, out=INT8).on(device)


@pytest.fixture
def add(device):
    return manual.Add(a=INT8, b=INT8, out=INT8).on(device)


@pytest.fixture
def memory(device):
    return device.allocate(32)


@pytest.fixture
def operands(device):
    """Return operands in memories of their own, which a launch takes the short way."""
    return {name: device.allocate(16) for name in ("a", "b", "out")}


@pytest.fixture(params=["launch", "bind"])
def use(request, stream):
    """Launch, or bind and run: both check alike."""

    def launch(primitive, **operands):
        primitive(stream, **operands)

    def bind(primitive, **operands):
        primitive.bind(**operands)(stream)

    return {"launch": launch, "bind": bind}[request.param]


def test_three_tensors_are_added_where_they_lie(device, stream, add, memory):
    back = bytearray(4)
    stream.upload(memory[0:8], b"\1\2\3\4\10\20\30\40")
    add(stream, a=memory[0:4], b=memory[4:8], out=memory[8:12])
    stream.download(back, memory[8:12])
    stream.synchronize()
    assert back == bytes([9, 18, 27, 36])


def test_stream_of_another_device_is_refused_for_three(provider, add, operands):
    foreign = provider.devices()[1].stream()
    for run in (lambda: add(foreign, **operands), lambda: add.bind(**operands)(foreign)):
        with pytest.raises(ValueError, match="stream is of manual:1, needs one of manual:0"):
            run()
    assert foreign.twin.enqueued == 0


def test_what_is_no_stream_is_refused(add, operands):
    for run in (lambda: add(3, **operands), lambda: add.bind(**operands)(3)):
        with pytest.raises(TypeError, match="stream is int, needs a Stream"):
            run()


@pytest.mark.parametrize("left_out", ["a", "b", "out"])
def test_missing_one_of_three_is_named(stream, add, operands, use, left_out):
    del operands[left_out]
    with pytest.raises(TypeError, match=rf"operands are a, b, out; missing {left_out}\Z"):
        use(add, **operands)
    assert stream.twin.enqueued == 0


def test_unknown_name_beside_three_is_named(stream, add, operands, use):
    with pytest.raises(TypeError, match=r"unknown c\Z"):
        use(add, **operands, c=operands["a"])
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize("short", ["a", "b", "out"])
def test_too_small_one_of_three_is_named(stream, add, operands, use, short):
    operands[short] = operands[short][:3]
    with pytest.raises(ValueError, match=f"{short} needs 4 bytes .* has 3"):
        use(add, **operands)
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize("foreign", ["a", "b", "out"])
def test_foreign_one_of_three_is_named(provider, stream, add, operands, use, foreign):
    operands[foreign] = provider.devices()[1].allocate(4)
    with pytest.raises(ValueError, match=f"{foreign} is on manual:1, needs manual:0"):
        use(add, **operands)
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize("closed", ["a", "b", "out"])
def test_closed_one_of_three_is_refused(device, stream, add, operands, use, closed):
    operands[closed] = device.allocate(4)
    operands[closed].close()
    with pytest.raises(ep.ClosedError, match="closed"):
        use(add, **operands)
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize("place", ["a", "b"])
def test_either_of_two_inputs_may_be_in_place(stream, add, operands, use, place):
    operands[place] = operands["out"]
    use(add, **operands)
    operands[place] = operands["out"][0:16]
    use(add, **operands)
    assert stream.twin.enqueued == 2


def test_both_inputs_may_be_in_place_at_once(stream, add, memory, use):
    use(add, a=memory[0:4], b=memory[0:4], out=memory[0:4])
    assert stream.twin.enqueued == 1


def test_inputs_may_share_bytes_with_each_other(stream, add, memory, use):
    use(add, a=memory[0:4], b=memory[2:6], out=memory[8:12])
    assert stream.twin.enqueued == 1


@pytest.mark.parametrize("place", ["a", "b"])
@pytest.mark.parametrize("shift", [-3, -1, 1, 3])
def test_input_that_overlaps_the_output_in_part_is_named(stream, add, operands, use, place, shift):
    memory, operands["out"] = operands["out"], operands["out"][4:8]
    operands[place] = memory[4 + shift : 8 + shift]
    with pytest.raises(
        ValueError, match=f"{place} and out share bytes without being the same tensor; .* allowed for a, b"
    ):
        use(add, **operands)
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize(("allowed", "refused"), [("a", "b"), ("b", "a")])
def test_in_place_only_where_the_family_names_the_input(monkeypatch, device, stream, operands, use, allowed, refused):
    inputs = [ep.Role.input(name, shares=("out",) if name == allowed else ()) for name in ("a", "b")]
    monkeypatch.setattr(manual.Add, "roles", ep.Roles(*inputs, ep.Role.output("out")))
    add = manual.Add(a=INT8, b=INT8, out=INT8).on(device)
    use(add, **{**operands, allowed: operands["out"]})
    with pytest.raises(
        ValueError, match=f"{refused} and out share bytes as the same tensor; .* allowed for {allowed};"
    ):
        use(add, **{**operands, refused: operands["out"]})
    assert stream.twin.enqueued == 1


def test_same_memory_in_another_layout_is_not_in_place(device, stream, memory, use):
    turned = ep.TensorSpec("int8", (2, 2), (1, 2))
    straight = ep.TensorSpec("int8", (2, 2))
    negate = manual.Negate(x=turned, out=straight).on(device)
    with pytest.raises(ValueError, match="share bytes"):
        use(negate, x=memory, out=memory)
    add = manual.Add(a=straight, b=turned, out=straight).on(device)
    with pytest.raises(ValueError, match="b and out share bytes"):
        use(add, a=memory, b=memory, out=memory)
    assert stream.twin.enqueued == 0


def test_interleaved_operands_of_one_memory_pass(device, stream, memory, use):
    even, odd = ep.TensorSpec("int8", (4,), (2,)), ep.TensorSpec("int8", (4,), (2,), 1)
    interleaved = manual.Negate(x=even, out=odd).on(device)
    use(interleaved, x=memory[0:8], out=memory[0:8])
    with pytest.raises(ValueError, match="share bytes"):
        use(interleaved, x=memory[0:8], out=memory[1:9])
    assert stream.twin.enqueued == 1


def test_two_tensors_in_place_beside_and_overlapping(stream, negate, memory, use):
    use(negate, x=memory[0:4], out=memory[4:8])
    use(negate, x=memory[0:4], out=memory[0:4])
    with pytest.raises(ValueError, match="x and out share bytes"):
        use(negate, x=memory[0:4], out=memory[2:6])
    assert stream.twin.enqueued == 2


def test_in_place_is_refused_where_the_family_has_none(device, stream, memory, use):
    scale = manual.Scale(x=INT32, out=INT32).on(device)
    with pytest.raises(ValueError, match="in place is not allowed"):
        use(scale, factor=1, x=memory[:4], out=memory[:4])
    assert stream.twin.enqueued == 0


@pytest.fixture
def mixed(device):
    """Return a primitive over itemsizes 1, 4 and 2."""
    a, b, out = (ep.TensorSpec(dtype, (2,)) for dtype in ("int8", "int32", "int16"))
    return manual.Add(a=a, b=b, out=out).on(device)


@pytest.mark.parametrize(("name", "start", "needed"), [("b", 2, 4), ("b", 5, 4), ("out", 1, 2)])
def test_misaligned_one_of_three_is_named(stream, mixed, operands, use, name, start, needed):
    operands[name] = operands[name][start:]
    with pytest.raises(ValueError, match=f"{name} starts at byte {start}, needs a multiple of the itemsize {needed}"):
        use(mixed, **operands)
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize(("name", "start"), [("a", 1), ("out", 2)])
def test_each_operand_is_held_to_its_own_itemsize_alone(stream, mixed, operands, use, name, start):
    operands[name] = operands[name][start:]
    use(mixed, **operands)
    assert stream.twin.enqueued == 1


@pytest.mark.parametrize("name", ["x", "out"])
def test_misaligned_one_of_two_is_named(device, stream, memory, use, name):
    negate = manual.Negate(x=INT32, out=INT32).on(device)
    operands = {"x": memory, "out": device.allocate(4), name: device.allocate(32)[18:22]}
    with pytest.raises(ValueError, match=f"{name} starts at byte 18, needs a multiple of the itemsize 4"):
        use(negate, **operands)
    assert stream.twin.enqueued == 0


def read_only(size=4):
    array = np.zeros(size, np.int8)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("slices", [0, 1])
def test_view_of_a_read_only_object_is_refused_as_a_target(host, slices):
    stream = host.stream()
    memory, _ = ep.view(read_only(), stream)
    memory = memory[0:4] if slices else memory
    negate = manual.Negate(x=INT8, out=INT8).on(host)
    other = host.allocate(4)
    for write in (
        lambda: stream.upload(memory, b"abcd"),
        lambda: stream.fill(memory, b"\1"),
        lambda: stream.copy(memory, other),
        lambda: negate(stream, x=other, out=memory),
        lambda: negate(stream, x=memory, out=memory),
        lambda: negate.bind(x=other, out=memory),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert stream.twin.enqueued == 0


def test_view_of_a_read_only_object_is_refused_as_the_output_of_three(host):
    stream = host.stream()
    memory, _ = ep.view(read_only(), stream)
    add = manual.Add(a=INT8, b=INT8, out=INT8).on(host)
    with pytest.raises(ValueError, match="read-only"):
        add(stream, a=host.allocate(4), b=host.allocate(4), out=memory)
    assert stream.twin.enqueued == 0


def test_read_only_view_may_be_read(host):
    stream = host.stream()
    memory, _ = ep.view(b"\1\2\3\4", stream)
    out, back = host.allocate(4), bytearray(4)
    manual.Negate(x=ep.TensorSpec("uint8", (4,)), out=INT8).on(host)(stream, x=memory, out=out)
    stream.copy(host.allocate(4), memory)
    stream.download(back, out)
    stream.synchronize()
    assert back == b"\xff\xfe\xfd\xfc"


def test_array_over_a_memory_of_the_device_is_seen_as_that_memory(host):
    stream = host.stream()
    memory = host.allocate(16)
    array = np.frombuffer(memory.host(), np.int8)
    negate = manual.Negate(x=INT8, out=INT8).on(host)
    with pytest.raises(ValueError, match="share bytes"):
        negate(stream, x=memory[0:4], out=array[2:6])
    with pytest.raises(ValueError, match="share bytes"):
        negate(stream, x=array[2:6], out=memory[4:8])
    negate(stream, x=memory[4:8], out=array[4:8])
    negate(stream, x=memory[0:4], out=array[4:8])
    assert stream.twin.enqueued == 2


def test_array_over_a_memory_may_not_be_copied_onto_its_own_bytes(host):
    stream = host.stream()
    memory = host.allocate(16)
    wrapped, _ = ep.view(np.frombuffer(memory.host(), np.int8)[4:8], stream)
    for shift in (3, 5):
        with pytest.raises(ValueError, match="overlap"):
            stream.copy(memory[shift : shift + 4], wrapped)
        with pytest.raises(ValueError, match="overlap"):
            stream.copy(wrapped, memory[shift : shift + 4])
    stream.copy(memory[0:4], wrapped)
    stream.copy(wrapped, memory[8:12])
    assert stream.twin.enqueued == 2


class ScaleByDefault(manual.Scale):
    roles = ep.Roles(ep.Role.number("factor", default=7), ep.Role.input("x"), ep.Role.output("out"))


def test_scalar_with_a_default_may_be_left_out(device, stream):
    device.provider.twin.table[ScaleByDefault] = (manual.Strategy("scale", manual.ScaleKernel),)
    scale = ScaleByDefault(x=INT32, out=INT32).on(device)
    x, out = device.allocate(INT32.nbytes), device.allocate(INT32.nbytes)
    stream.fill(x, (3).to_bytes(4, "little"))
    for given, factor in ({}, 7), ({"factor": 2}, 2):
        scale(stream, x=x, out=out, **given)
        scale.bind(x=x, out=out, **given)(stream)
        stream.synchronize()
        assert set(memoryview(out.handle).cast("i")) == {3 * factor}
    with pytest.raises(TypeError, match="unknown facter"):
        scale(stream, x=x, out=out, facter=2)
    with pytest.raises(TypeError, match="missing x"):
        scale(stream, out=out)
