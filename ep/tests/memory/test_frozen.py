"""Frozen memories: whatever would write one is refused, and providers keep what they make of it."""

import gc
import weakref

import manual
import pytest

import ep

INT8 = ep.TensorSpec("int8", (4,))


@pytest.fixture
def frozen(device, stream):
    memory = device.allocate(8)
    stream.upload(memory, b"\1\2\3\4\5\6\7\x08")
    memory.freeze()
    return memory


@pytest.fixture
def negate(device):
    device.provider.twin.table[manual.Negate] = (manual.Strategy("Negate", manual.NegateKernel),)
    return manual.Negate(x=INT8, out=INT8).on(device)


def test_verbs_refuse_to_write_it_and_its_views(device, stream, frozen):
    for target in (frozen, frozen[:4]):
        source = device.allocate(target.nbytes)
        with pytest.raises(ValueError, match="upload: dst: the memory is frozen; give a writable one"):
            stream.upload(target, bytes(target.nbytes))
        with pytest.raises(ValueError, match="fill: dst: the memory is frozen"):
            stream.fill(target, b"\0")
        with pytest.raises(ValueError, match="copy: dst: the memory is frozen"):
            stream.copy(target, source)
    stream.copy(device.allocate(8), frozen)


@pytest.mark.parametrize("is_view_of_before", [False, True])
def test_launches_steps_and_slots_refuse_to_write_it(device, stream, negate, is_view_of_before):
    memory, x = device.allocate(4), device.allocate(4)
    target = memory[:] if is_view_of_before else memory
    memory.freeze()
    assert (memory.is_frozen, target.is_frozen) == (True, True)
    for launch in (negate.__call__, lambda _, **operands: negate.bind(**operands)):
        with pytest.raises(ValueError, match="out: the memory is frozen"):
            launch(stream, x=x, out=target)
        with pytest.raises(ValueError, match="out: the memory is frozen"):
            launch(stream, x=target, out=target)
    with stream.capture() as graph, pytest.raises(ValueError, match="out: the memory is frozen"):
        negate(stream, x=x, out=target)
    out = device.allocate(4)
    with stream.capture() as graph:
        negate(stream, x=x, out=out)
    graph.slot("y", out)
    with pytest.raises(ValueError, match="y"):
        graph.launch(stream, y=target)


def test_it_is_read_as_any_other(device, stream, frozen, negate):
    out, back = device.allocate(4), bytearray(4)
    for x in (frozen[4:], frozen[:4]):
        negate(stream, x=x, out=out)
        negate.bind(x=x, out=out)(stream)
    stream.download(back, out)
    stream.twin.advance()
    assert bytes(back) == bytes([256 - n for n in (1, 2, 3, 4)])


def test_work_that_was_enqueued_before_writes_it(device, stream):
    memory, back = device.allocate(4), bytearray(4)
    stream.upload(memory, b"abcd")
    memory.freeze()
    memory.freeze()
    stream.download(back, memory)
    stream.twin.advance()
    assert bytes(back) == b"abcd"


def test_a_view_is_not_frozen_alone(device):
    memory = device.allocate(8)
    with pytest.raises(ValueError, match="this is a view, and others may be written"):
        memory[:4].freeze()
    assert not memory.is_frozen


def test_a_step_a_graph_and_an_export_keep_it_from_being_frozen(device, stream, negate):
    x, out = device.allocate(4), device.allocate(4)
    step = negate.bind(x=x, out=out)
    with pytest.raises(ValueError, match="a step, a graph or an export holds the memory"):
        out.freeze()
    step.close()
    out.freeze()
    with stream.capture() as graph:
        negate(stream, x=out, out=x)
    with pytest.raises(ValueError, match="holds the memory, and may write it"):
        x.freeze()
    graph.close()
    x.freeze()


def test_a_closed_one_is_refused(device, frozen):
    frozen.close()
    for use in (frozen.freeze, lambda: frozen.derive("key", bytes)):
        with pytest.raises(ep.ClosedError):
            use()


def test_what_was_made_of_it_is_made_once_and_let_go_when_it_is_closed(device, frozen):
    gone = []

    def make():
        made = device.allocate(4)
        gone.append(weakref.ref(made))
        return made

    assert frozen.derive("key", make) is frozen[2:6].derive("key", make)
    assert frozen.derive(("key", 4), make) is not frozen.derive("key", make)
    assert len(gone) == 2
    gc.collect()
    assert None not in [each() for each in gone]
    frozen.close()
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_nothing_is_kept_of_a_memory_that_may_be_written(device):
    with pytest.raises(ValueError, match=r"memory\.derive: the memory may still be written"):
        device.allocate(4).derive("key", bytes)


def test_freed_bytes_may_be_written_again(device, stream):
    memory = stream.allocate(4)
    memory.freeze()
    stream.free(memory)
    again = stream.allocate(4)
    assert not again.is_frozen
    stream.upload(again, b"abcd")
