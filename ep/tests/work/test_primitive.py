"""Primitives: the walk, the two-level cache, checked calls and bound steps."""

from __future__ import annotations

import manual
import pytest

import ep

INT8 = ep.TensorSpec("int8", (4,))


def descriptor(size=4, **more):
    return manual.Negate(x=ep.TensorSpec("int8", (size,)), out=ep.TensorSpec("int8", (size,)), **more)


def test_checked_call_enqueues_and_runs(device, stream):
    x, out, back = device.allocate(4), device.allocate(4), bytearray(4)
    negate = descriptor().on(device)
    stream.upload(x, b"\1\2\3\0")
    negate(stream, x=x, out=out)
    stream.download(back, out)
    stream.synchronize()
    assert back == b"\xff\xfe\xfd\0"


def test_scalars_are_converted_at_launch(device, stream):
    spec = ep.TensorSpec("int32", (2,))
    scale = manual.Scale(x=spec, out=spec).on(device)
    x, out, back = device.allocate(8), device.allocate(8), bytearray(8)
    stream.fill(x, (5).to_bytes(4, "little"))
    scale(stream, factor=3.0, x=x, out=out)
    stream.download(back, out)
    stream.synchronize()
    assert memoryview(back).cast("i").tolist() == [15, 15]
    for bad, kind in ((1.5, ValueError), (2**31, ValueError), ("a", TypeError)):
        with pytest.raises(kind, match="scale: factor"):
            scale(stream, factor=bad, x=x, out=out)


def test_calls_are_refused_before_anything_is_enqueued(provider, device, stream):
    x, out = device.allocate(4), device.allocate(4)
    negate = descriptor().on(device)
    other = provider.devices()[1]
    wrong = [
        (TypeError, "missing out", {"x": x}),
        (TypeError, "unknown y", {"x": x, "out": out, "y": x}),
        (TypeError, "missing out; unknown y", {"x": x, "y": x}),
        (ValueError, "x needs 4 bytes .* has 3", {"x": x[:3], "out": out}),
        (ValueError, "out is on manual:1, needs manual:0", {"x": x, "out": other.allocate(4)}),
        (TypeError, "x is int, needs a Memory", {"x": 3, "out": out}),
        (ValueError, "upload", {"x": bytearray(4), "out": out}),
    ]
    for kind, text, operands in wrong:
        with pytest.raises(kind, match=text):
            negate(stream, **operands)
        with pytest.raises(kind, match=text):
            negate.bind(**operands)
    with pytest.raises(ValueError, match="stream is of manual:1"):
        negate(other.stream(), x=x, out=out)
    with pytest.raises(ValueError, match="stream is of manual:1"):
        negate.bind(x=x, out=out)(other.stream())
    assert stream.twin.enqueued == 0


def test_empty_output_enqueues_nothing(device, stream):
    empty = descriptor(0).on(device)
    nothing = device.allocate(0)
    empty(stream, x=nothing, out=nothing)
    empty.bind(x=nothing, out=nothing)(stream)
    assert stream.twin.enqueued == 0


def test_step_holds_its_memories_after_they_were_closed(device, stream):
    x, out = device.allocate(4), device.allocate(4)
    handle = x.handle
    step = descriptor().on(device).bind(x=x, out=out)
    x.close()
    device.trim()
    step(stream)
    stream.twin.advance()
    assert device.twin.freed == []
    with pytest.raises(ep.ClosedError):
        descriptor().on(device).bind(x=x, out=out)
    step.close()
    step.close()
    device.trim()
    assert device.twin.freed == [handle]
    with pytest.raises(ep.ClosedError, match="bind again"):
        step(stream)


def test_closed_memory_is_refused_at_the_door(device, stream):
    x, out = device.allocate(4), device.allocate(4)
    x.close()
    with pytest.raises(ep.ClosedError, match="4 bytes on manual:0"):
        descriptor().on(device)(stream, x=x, out=out)
    assert stream.twin.enqueued == 0
    with pytest.raises(ep.ClosedError, match=r"negate: x \(4 bytes on manual:0\) was closed; give an open memory"):
        descriptor().on(device).bind(x=x, out=out)


@pytest.mark.parametrize("device", ["manual:0", None])
def test_what_is_no_device_is_refused_by_name(device):
    with pytest.raises(TypeError, match=rf"^{descriptor().family}.on: device is {device!r}, needs a Device; ep.device"):
        descriptor().on(device)


def test_walk_takes_the_first_that_accepts_and_collects_reasons(provider, device):
    refusing = manual.Strategy("Picky", manual.NegateKernel, answer=ep.UnsupportedError("only on Sundays"))
    silent = manual.Strategy("Silent", manual.NegateKernel, answer=False)
    provider.twin.table[manual.Negate] = (refusing, silent, manual.Strategy("Plain", manual.NegateKernel))
    assert descriptor().on(device).implementation.name == "Plain"
    provider.twin.table[manual.Negate] = (refusing, silent)
    with pytest.raises(ep.UnsupportedError) as caught:
        descriptor(5).on(device)
    assert caught.value.reasons == ("Picky: only on Sundays", "Silent: refused without a reason")
    assert isinstance(caught.value, NotImplementedError)


def test_only_unsupported_means_try_the_next(provider, device):
    broken = manual.Strategy("Broken", manual.NegateKernel, answer=ep.CompileError("no", log="line 1"))
    provider.twin.table[manual.Negate] = (broken, manual.Strategy("Plain", manual.NegateKernel))
    with pytest.raises(ep.CompileError, match="line 1"):
        descriptor().on(device)
    provider.twin.table[manual.Negate] = (manual.Strategy("Odd", manual.NegateKernel, answer=None),)
    with pytest.raises(TypeError, match=r"Odd\.accepts returned None"):
        descriptor().on(device)


def test_no_kernel_and_no_launch_are_refused_by_the_name_of_who_gave_them(provider, device):
    class Idle(manual.NegateKernel):
        def bind(self, memories, scalars):
            return None

    provider.twin.table[manual.Negate] = (manual.Strategy("Odd", lambda *_: None),)
    with pytest.raises(TypeError, match=r"^Odd\.create returned None, needs an instance of a subclass of ep\.Kernel"):
        descriptor().on(device)
    provider.twin.table[manual.Negate] = (manual.Strategy("Plain", Idle),)
    x, out = device.allocate(4), device.allocate(4)
    with pytest.raises(TypeError, match=r"^Idle\.bind returned None, needs a launch"):
        descriptor().on(device).bind(x=x, out=out)


def test_lowering_is_tried_and_named(provider, device):
    table = provider.twin.table[manual.Negate]

    class Other(manual.Negate):
        __slots__ = ()

    provider.twin.table = {manual.Negate: table}
    asked = Other(x=INT8, out=INT8, lowers_to=descriptor())
    primitive = asked.on(device)
    assert primitive.is_lowered
    assert primitive.descriptor == descriptor()
    assert primitive.asked is asked


def test_many_shapes_of_one_key_compile_once(provider, device):
    (strategy,) = provider.twin.table[manual.Negate]
    for size in range(64, 6064):
        descriptor(size).on(device)
    assert len(strategy.keys) == 1
    assert 4096 - 512 < len(device._primitives) <= 4096
    first = descriptor(6063).on(device)
    assert descriptor(6063).on(device) is first
