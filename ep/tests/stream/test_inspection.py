"""EP_VALIDATE=1 and contents: what a descriptor inspects is looked at before its launch is enqueued, in stream order."""

from __future__ import annotations

import manual
import numpy as np
import pytest
from graphs import SPEC, content, holding

import ep


class Bounded(manual.Add):
    """out = a + b, for a b that holds nothing above 9."""

    roles = ep.Roles(ep.Role.input("a"), ep.Role.input("b", is_inspected=True), ep.Role.output("out"))
    seen: list[np.ndarray] = []  # noqa: RUF012 - emptied before each test
    __slots__ = ()

    def check_contents(self, contents):
        assert list(contents) == ["b"]
        b = contents["b"]
        self.seen.append(b.copy())
        if (b > 9).any():
            message = f"bounded: b{np.argwhere(b > 9)[0].tolist()} is {b.max()}, needs at most 9; lower it"
            raise ValueError(message)


class Lowered(Bounded):
    """The same, by a kernel of Add."""

    __slots__ = ()

    def lower(self):
        return (ep.Stage(manual.Add(**dict(zip(self.operands, self.specs, strict=True)))),)


@pytest.fixture(autouse=True)
def table(provider):
    Bounded.seen.clear()
    provider.twin.table[Bounded] = provider.twin.table[manual.Add]


@pytest.fixture(params=[Bounded, Lowered])
def bounded(request, device):
    return request.param(a=SPEC, b=SPEC, out=SPEC).on(device)


def test_bad_contents_are_refused_and_nothing_is_enqueued(watched, bounded):
    a, b, out = (holding(watched, *values) for values in ((1, 2, 3, 4), (0, 10, 9, 11), (7, 7, 7, 7)))
    with pytest.raises(ValueError, match=r"^bounded: b\[1\] is 11, needs at most 9; lower it$"):
        bounded(watched, a=a, b=b, out=out)
    assert content(watched, out) == [7, 7, 7, 7]
    watched.upload(b, bytes([0, 9, 0, 9]))
    bounded(watched, a=a, b=b, out=out)
    assert content(watched, out) == [1, 11, 3, 13]


def test_contents_are_those_that_the_launch_would_find(watched, bounded):
    """What is enqueued before the launch counts, done or not."""
    a, b, out = holding(watched, 1, 1, 1, 1), holding(watched, 99, 0, 0, 0), holding(watched, 0, 0, 0, 0)
    watched.fill(b, b"\5")
    bounded(watched, a=a, b=b, out=out)
    watched.fill(b, b"\x0a")
    with pytest.raises(ValueError, match="is 10"):
        bounded(watched, a=a, b=b, out=out)
    assert content(watched, out) == [6, 6, 6, 6]
    assert [seen.tolist() for seen in Bounded.seen] == [[5, 5, 5, 5], [10, 10, 10, 10]]


def test_bound_step_is_looked_at_each_time_also_when_its_memory_was_closed(watched, bounded):
    a, b, out = holding(watched, 1, 1, 1, 1), holding(watched, 2, 2, 2, 2), holding(watched, 0, 0, 0, 0)
    other = holding(watched, 10, 0, 0, 0)
    step, wrong = bounded.bind(a=a, b=b, out=out), bounded.bind(a=a, b=other, out=out)
    watched.synchronize()
    for memory in (a, b, other):
        memory.close()
    step(watched)
    with pytest.raises(ValueError, match="is 10"):
        wrong(watched)
    assert content(watched, out) == [3, 3, 3, 3]
    step.close()
    with pytest.raises(ep.ClosedError, match="bound step was closed"):
        step(watched)


def test_graph_is_looked_at_when_it_is_launched_with_what_the_launch_gives(watched, bounded):
    a, b, out = holding(watched, 1, 1, 1, 1), holding(watched, 10, 0, 0, 0), holding(watched, 0, 0, 0, 0)
    whole = holding(watched, 10, 10, 1, 2, 3, 4)
    with watched.capture() as graph:
        watched.fill(a, b"\2")
        bounded(watched, a=a, b=b, out=out)
    graph.slot("b", b)
    assert not Bounded.seen
    with pytest.raises(ValueError, match=r"^graph\.launch: node 1: bounded: b\[0\] is 10"):
        graph.launch(watched)
    assert content(watched, a) == [1, 1, 1, 1]
    graph.launch(watched, b=whole[2:])
    assert content(watched, out) == [3, 4, 5, 6]
    with pytest.raises(ValueError, match=r"^graph\.launch: node 1: bounded: b\[0\] is 10"):
        graph.launch(watched, b=whole[:4])
    assert content(watched, out) == [3, 4, 5, 6]
    graph.close()


def test_contents_that_a_graph_writes_itself_are_not_looked_at(watched, bounded, device):
    a, b, out = holding(watched, 1, 1, 1, 1), holding(watched, 99, 0, 0, 0), holding(watched, 0, 0, 0, 0)
    negate = manual.Negate(x=SPEC, out=SPEC).on(device)
    for write in (lambda: watched.fill(b, b"\3"), lambda: negate(watched, x=a, out=b)):
        watched.fill(b, b"\x63")
        with watched.capture() as graph:
            write()
            bounded(watched, a=a, b=b, out=out)
        graph.launch(watched)
        watched.synchronize()
        graph.close()
    assert not Bounded.seen


def test_contents_have_the_shape_and_strides_of_the_operand(watched, device):
    spec, small = ep.TensorSpec("int8", (2, 3), (1, -2), 4), ep.TensorSpec("int8", (2, 3))
    bounded = Bounded(a=small, b=spec, out=small).on(device)
    b, zeros = holding(watched, 0, 1, 2, 3, 4, 5, 99, 99), (0,) * 8
    bounded(watched, a=holding(watched, *zeros), b=b, out=holding(watched, *zeros))
    assert Bounded.seen[0].tolist() == [[4, 2, 0], [5, 3, 1]]
    assert Bounded.seen[0].dtype == np.int8


def test_types_that_numpy_lacks_and_tensors_without_elements_are_looked_at(watched, device):
    for dtype, nbytes in (("bfloat16", 8), ("float8_e5m2", 4)):
        spec = ep.TensorSpec(dtype, (4,))
        bounded = Bounded(a=spec, b=spec, out=spec).on(device)
        operands = (holding(watched, *(0,) * nbytes) for _ in range(3))
        bounded(watched, **dict(zip("ab", operands, strict=False)), out=holding(watched, *(0,) * nbytes))
        assert Bounded.seen[-1].dtype.name == dtype
    none = ep.TensorSpec("int64", (3, 0))
    nothing = device.allocate(0)
    Bounded(a=none, b=none, out=none).on(device)(watched, a=nothing, b=nothing, out=nothing)
    assert Bounded.seen[-1].shape == (3, 0)


def test_stream_whose_work_failed_is_not_judged_by_what_it_left(watched, bounded):
    a, b, out = holding(watched, 1, 1, 1, 1), holding(watched, 99, 0, 0, 0), holding(watched, 0, 0, 0, 0)
    watched.synchronize()
    watched.twin.ledger.failed(None, ep.DeviceError("broken"))
    bounded(watched, a=a, b=b, out=out)
    with pytest.raises(ep.DeviceError, match="broken"):
        watched.synchronize()
    assert not Bounded.seen


def test_closed_memory_is_named_as_without_validation(watched, bounded):
    a, b, out = (holding(watched, 1, 1, 1, 1) for _ in range(3))
    b.close()
    with pytest.raises(ep.ClosedError, match=f"^{bounded}: the memory"):
        bounded(watched, a=a, b=b, out=out)


def test_nothing_is_looked_at_where_it_is_off(stream, bounded):
    a, b, out = holding(stream, 1, 1, 1, 1), holding(stream, 99, 0, 0, 0), holding(stream, 0, 0, 0, 0)
    bounded(stream, a=a, b=b, out=out)
    step = bounded.bind(a=a, b=b, out=out)
    step(stream)
    assert content(stream, out) == [100, 1, 1, 1]
    assert not Bounded.seen
    step.close()
