"""What a launch takes and refuses with four tensors and more: the same as with three, whichever operand it is about."""

from __future__ import annotations

from typing import Any, ClassVar

import manual
import pytest

import ep

INT8 = ep.TensorSpec("int8", (4,))


class Sum(ep.Descriptor):
    """out = the sum of x0, x1, ... bytewise; all but the first may be in place."""

    family: ClassVar[str] = "sum"
    __slots__ = ()

    def __init__(self, *x: ep.TensorSpec, out: ep.TensorSpec) -> None:
        self._freeze("-", (*x, out))

    @property
    def roles(self) -> ep.Roles:
        terms = [ep.Role.input(f"x{place}", shares=("out",) if place else ()) for place in range(len(self.specs) - 1)]
        return ep.Roles(*terms, ep.Role.output("out"))


class SumKernel(ep.Kernel):
    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        del scalars
        parts = [memoryview(memory.handle)[memory.offset : memory.offset + 4] for memory in memories]

        def work() -> None:
            parts[-1][:] = bytes(sum(each) % 256 for each in zip(*parts[:-1], strict=True))

        stream.enqueue(work)


@pytest.fixture(params=[3, 5], ids=["four", "six"])
def count(request):
    """Return how many inputs there are: the output makes them four or six tensors."""
    return request.param


@pytest.fixture
def total(provider, device, count):
    provider.twin.table[Sum] = (manual.Strategy("Plain", SumKernel),)
    return Sum(*[INT8] * count, out=INT8).on(device)


@pytest.fixture
def operands(device, count):
    return {name: device.allocate(16) for name in [*(f"x{place}" for place in range(count)), "out"]}


@pytest.fixture(params=["launch", "bind"])
def use(request, stream):
    def launch(primitive, **operands):
        primitive(stream, **operands)

    def bind(primitive, **operands):
        primitive.bind(**operands)(stream)

    return {"launch": launch, "bind": bind}[request.param]


@pytest.fixture(params=["x0", "last", "out"])
def place(request, count):
    return f"x{count - 1}" if request.param == "last" else request.param


def test_sum_is_of_all_where_they_lie(device, stream, total, count, use):
    memory, back = device.allocate(64), bytearray(4)
    stream.upload(memory, bytes(range(64)))
    views = {f"x{place}": memory[8 * place : 8 * place + 4] for place in range(count)}
    use(total, **views, out=memory[60:64])
    stream.download(back, memory[60:64])
    stream.synchronize()
    assert back == bytes(sum(8 * place + i for place in range(count)) for i in range(4))


def test_short_way_takes_what_is_right(monkeypatch, device, stream, total, operands):
    monkeypatch.setattr(ep.Primitive, "_launchable", lambda *_: pytest.fail("the long way"))
    total(stream, **operands)
    memory = device.allocate(64)
    total(stream, **operands | {"x0": memory[8:], "x1": memory[3:9]})
    total(stream, **operands | {"x1": operands["out"], "x2": operands["out"]})
    assert stream.twin.enqueued == 3


def test_stream_of_another_device_is_refused(provider, total, operands):
    foreign = provider.devices()[1].stream()
    with pytest.raises(ValueError, match="stream is of manual:1, needs one of manual:0"):
        total(foreign, **operands)
    with pytest.raises(TypeError, match="stream is int, needs a Stream"):
        total(3, **operands)


def test_missing_one_is_named(stream, total, operands, use, place):
    del operands[place]
    with pytest.raises(TypeError, match=rf"missing {place}\Z"):
        use(total, **operands)
    assert stream.twin.enqueued == 0


def test_unknown_name_is_named(stream, total, operands, use):
    with pytest.raises(TypeError, match=r"unknown c\Z"):
        use(total, **operands, c=operands["out"])
    assert stream.twin.enqueued == 0


@pytest.mark.parametrize("kind", [ep.Memory, memoryview, object])
def test_class_in_place_of_one_is_named(stream, total, operands, use, place, kind):
    with pytest.raises((TypeError, ValueError), match=f"^sum: {place}[ :]"):
        use(total, **operands | {place: kind})
    assert stream.twin.enqueued == 0


def test_too_small_one_is_named(stream, total, operands, use, place):
    operands[place] = operands[place][:3]
    with pytest.raises(ValueError, match=f"{place} needs 4 bytes .* has 3"):
        use(total, **operands)
    assert stream.twin.enqueued == 0


def test_foreign_one_is_named(provider, stream, total, operands, use, place):
    operands[place] = provider.devices()[1].allocate(4)
    with pytest.raises(ValueError, match=f"{place} is on manual:1, needs manual:0"):
        use(total, **operands)
    assert stream.twin.enqueued == 0


def test_closed_one_is_refused(stream, total, operands, use, place):
    operands[place].close()
    with pytest.raises(ep.ClosedError, match="closed"):
        use(total, **operands)
    assert stream.twin.enqueued == 0


def test_misaligned_one_is_named(device, stream, count, provider, operands, use, place):
    provider.twin.table[Sum] = (manual.Strategy("Plain", SumKernel),)
    spec = ep.TensorSpec("int32", (1,))
    total = Sum(*[spec] * count, out=spec).on(device)
    operands[place] = operands[place][2:]
    with pytest.raises(ValueError, match=f"{place} starts at byte 2, needs a multiple of the itemsize 4"):
        use(total, **operands)
    assert stream.twin.enqueued == 0


def test_only_inputs_that_may_are_in_place(stream, total, operands, use, count):
    use(total, **operands | {f"x{count - 1}": operands["out"]})
    with pytest.raises(ValueError, match=r"x0 and out share bytes .* allowed for x1"):
        use(total, **operands | {"x0": operands["out"]})
    assert stream.twin.enqueued == 1


@pytest.mark.parametrize("shift", [-3, 1])
def test_input_that_overlaps_the_output_in_part_is_named(stream, total, operands, use, count, shift):
    memory, operands["out"] = operands["out"], operands["out"][4:8]
    operands[f"x{count - 1}"] = memory[4 + shift : 8 + shift]
    with pytest.raises(ValueError, match=f"x{count - 1} and out share bytes"):
        use(total, **operands)
    assert stream.twin.enqueued == 0


def test_input_of_another_layout_is_not_in_place(device, provider, stream, operands, use, count):
    provider.twin.table[Sum] = (manual.Strategy("Plain", SumKernel),)
    straight = ep.TensorSpec("int8", (2, 2))
    total = Sum(*[straight] * (count - 1), ep.TensorSpec("int8", (2, 2), (1, 2)), out=straight).on(device)
    with pytest.raises(ValueError, match="share bytes"):
        use(total, **operands | {f"x{count - 1}": operands["out"]})
    assert stream.twin.enqueued == 0
