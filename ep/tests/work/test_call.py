"""The function that launches is written for the operands: what stays as it is whoever they are, and what the text shows."""

from __future__ import annotations

import inspect
import traceback

import manual
import pytest

import ep

INT8 = ep.TensorSpec("int8", (4,))


def primitive_with(device, *names, kernel=manual.NegateKernel):
    """Return the primitive of a family whose input and output have these names."""
    source, target = names

    class Named(manual.Negate):
        roles = ep.Roles(ep.Role.input(source, shares=(target,)), ep.Role.output(target))
        __slots__ = ()

    device.provider.twin.table[Named] = (manual.Strategy("Named", kernel),)
    return Named(x=INT8, out=INT8).on(device)


@pytest.mark.parametrize(
    "names",
    [
        ("x", "out"),
        ("self", "stream"),
        ("in", "lambda"),
        ("a b", "ﬁ"),
        ("_more", "_ABSENT"),
        ("__debug__", "ValueError"),
        ("x", "space_x"),
        ("Exception", "device"),
        ("match", "print"),
    ],
)
def test_operands_may_have_any_names(device, stream, names):
    negate = primitive_with(device, *names)
    x, out, back = device.allocate(4), device.allocate(4), bytearray(4)
    stream.upload(x, b"\1\2\3\4")
    taken = {"self", "stream"} & {*names}
    if taken:  # as keywords they are Python's own error
        with pytest.raises(TypeError, match="multiple values"):
            negate(stream, **dict(zip(names, (x, out), strict=True)))
        return
    negate(stream, **dict(zip(names, (x, out), strict=True)))
    stream.download(back, out)
    stream.synchronize()
    assert back == bytes([255, 254, 253, 252])
    with pytest.raises(TypeError, match=f"missing {names[1]}"):
        negate(stream, **{names[0]: x})
    with pytest.raises(TypeError, match="unknown more"):
        negate(stream, **dict(zip(names, (x, out), strict=True)), more=x)


def test_errors_stand_alone_in_their_tracebacks(device, stream):
    negate, memory = primitive_with(device, "x", "out"), device.allocate(4)
    for given in {"x": memory}, {"x": memory, "out": memory[:3]}:
        with pytest.raises((TypeError, ValueError)) as caught:
            negate(stream, **given)
        assert caught.value.__context__ is None
    with pytest.raises(TypeError, match="stream is Memory") as caught:
        negate(memory, x=memory, out=memory)
    assert caught.value.__suppress_context__


def test_traceback_of_a_launch_shows_the_line_of_its_text(device, stream):
    class Broken(ep.Kernel):
        def launch(self, stream, memories, scalars):
            raise RuntimeError

    negate, memory = primitive_with(device, "x", "out", kernel=Broken), device.allocate(4)
    with pytest.raises(RuntimeError) as caught:
        negate(stream, x=memory, out=memory)
    shown = "".join(traceback.format_exception(caught.value))
    assert "<launch of x, out>" in shown
    assert "stream._submit(self, (x, out, ), (), self._launch)" in shown


def test_operands_are_keywords_and_a_launch_returns_nothing(device, stream):
    class Giving(ep.Kernel):
        def launch(self, stream, memories, scalars):
            return 3

    negate, memory = primitive_with(device, "x", "out", kernel=Giving), device.allocate(4)
    assert negate(stream, x=memory, out=memory) is None
    with pytest.raises(TypeError, match=r"Primitive.__call__\(\) takes 2 positional arguments"):
        negate(stream, memory, memory)
    assert type(negate).__name__ == "Primitive"
    assert isinstance(negate, ep.Primitive)
    kinds = [parameter.kind for parameter in inspect.signature(negate).parameters.values()]
    assert kinds[1:3] == [inspect.Parameter.KEYWORD_ONLY] * 2


def test_primitives_with_like_operands_are_of_one_class(device):
    assert type(primitive_with(device, "x", "out")) is type(primitive_with(device, "x", "out"))
