"""Buffers and queues of pyopencl as EP's own, and EP's buffers for others."""

import gc
import weakref

import numpy as np
import pyopencl as cl
import pytest
from ep.exchange import dlpack

import ep

SIZE = 256


@pytest.fixture
def buffer(device):
    return cl.Buffer(device.twin.context, cl.mem_flags.READ_WRITE, SIZE)


@pytest.fixture
def queue(device):
    return cl.CommandQueue(device.twin.context, device.twin.native)


@pytest.fixture
def other_context(device):
    return cl.Context([device.twin.native])


def test_a_buffer_of_pyopencl_is_a_memory(device, stream, queue, buffer):
    memory = device.wrap_memory(buffer, SIZE, owner=buffer)
    assert memory.handle.int_ptr == buffer.int_ptr
    stream.fill(memory[64:128], b"abcd")
    stream.synchronize()
    seen = np.zeros(SIZE, np.uint8)
    cl.enqueue_copy(queue, seen, buffer)
    assert bytes(seen[64:128]) == b"abcd" * 16
    memory.close()
    device.synchronize()
    cl.enqueue_copy(queue, seen, buffer)  # which closing did not release


def test_the_owner_of_a_buffer_lives_until_no_work_can_touch_it(device, stream, buffer):
    class Owner:
        pass

    owner = Owner()
    end = weakref.ref(owner)
    memory = device.wrap_memory(buffer, SIZE, owner=owner)
    del owner
    stream.fill(memory, b"\1")
    memory.close()
    gc.collect()
    assert end() is not None
    device.synchronize()
    assert end() is None


def test_buffers_that_work_cannot_freely_use_are_refused(device, buffer, other_context):
    def wrap(handle, nbytes=SIZE):
        return device.wrap_memory(handle, nbytes, owner=handle)

    with pytest.raises(TypeError, match=r"handle is bytes, needs a pyopencl\.Buffer"):
        wrap(b"abc")
    with pytest.raises(ValueError, match=r"another context .* device\.context, or use stream\.upload"):
        wrap(cl.Buffer(other_context, cl.mem_flags.READ_WRITE, SIZE))
    with pytest.raises(ValueError, match="has 256 bytes, needs 257"):
        wrap(buffer, SIZE + 1)
    with pytest.raises(ValueError, match="part of another"):
        wrap(buffer.get_sub_region(0, 128), 64)
    for flags in (cl.mem_flags.READ_ONLY, cl.mem_flags.WRITE_ONLY):
        with pytest.raises(ValueError, match="make it READ_WRITE"):
            wrap(cl.Buffer(device.twin.context, flags, SIZE))


def test_a_queue_of_pyopencl_is_a_stream(device, queue, buffer):
    stream = device.wrap_stream(queue, owner=queue)
    memory = device.wrap_memory(buffer, SIZE, owner=buffer)
    first, second = np.full(SIZE, 7, np.uint8), np.zeros(SIZE, np.uint8)
    cl.enqueue_copy(queue, buffer, first, is_blocking=False)
    stream.copy(memory[:128], memory[128:])
    stream.fill(memory[128:], b"\2")
    cl.enqueue_copy(queue, second, buffer)
    assert second.tolist() == [7] * 128 + [2] * 128
    event = stream.record()
    stream.synchronize()
    assert event.is_done
    stream.close()
    cl.enqueue_copy(queue, second, buffer)


@pytest.mark.parametrize("is_timed", [True, False])
def test_a_wrapped_queue_is_timed_as_it_was_made(device, is_timed):
    properties = cl.command_queue_properties.PROFILING_ENABLE if is_timed else 0
    queue = cl.CommandQueue(device.twin.context, device.twin.native, properties)
    stream = device.wrap_stream(queue, owner=queue)
    assert stream.is_timed == is_timed
    stream.close()


def test_queues_that_are_no_streams_are_refused(device, other_context):
    with pytest.raises(TypeError, match=r"handle is int, needs a pyopencl\.CommandQueue"):
        device.wrap_stream(3, owner=device)
    foreign = cl.CommandQueue(other_context)
    with pytest.raises(ValueError, match="not of opencl:0's context"):
        device.wrap_stream(foreign, owner=foreign)
    unordered = cl.CommandQueue(
        device.twin.context, device.twin.native, cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    )
    with pytest.raises(ValueError, match="out of order"):
        device.wrap_stream(unordered, owner=unordered)


def test_an_export_names_its_buffer_and_the_offset(device, stream):
    memory = device.allocate(SIZE)
    exported = stream.export(memory[64:], ep.TensorSpec("int16", (2, 3), (4, 1), 2))
    assert exported.__dlpack_device__() == (4, 0)
    tensor, _ = dlpack.take(exported.__dlpack__(max_version=(1, 0)))
    assert (tensor.data, tensor.begin, tensor.strides) == (memory.handle.int_ptr, 68, (4, 1))


def test_a_consumers_queue_waits(device, stream, queue):
    memory, seen = device.allocate(1 << 20), np.zeros(1 << 20, np.uint8)
    for value in range(1, 6):
        stream.fill(memory, bytes([value]))
        stream.export(memory, ep.TensorSpec("uint8", (1 << 20,))).__dlpack__(stream=queue)
        cl.enqueue_copy(queue, seen, memory.handle)
        assert (seen == value).all()
    with pytest.raises(ValueError, match="no stream of opencl:0"):
        stream.export(memory, ep.TensorSpec("uint8", (8,))).__dlpack__(stream=1)


def test_an_export_of_another_context_is_refused(device, stream, other_context):
    strange = cl.Buffer(other_context, cl.mem_flags.READ_WRITE, SIZE)

    class Strange:
        def __dlpack_device__(self):
            return (4, 0)

        def __dlpack__(self, **words):
            said = dlpack.Tensor((4, 0), strange.int_ptr, 0, "uint8", (SIZE,), (1,))
            return dlpack.make(said, strange, versioned=True)

    with pytest.raises(ValueError, match="another context"):
        ep.view(Strange(), stream)


class Said:
    """A producer of OpenCL that names an object by its pointer."""

    def __init__(self, pointer, nbytes=SIZE):
        self.pointer, self.nbytes = pointer, nbytes

    def __dlpack_device__(self):
        return (4, 0)

    def __dlpack__(self, **words):
        said = dlpack.Tensor((4, 0), self.pointer, 0, "uint8", (self.nbytes,), (1,))
        return dlpack.make(said, None, versioned=True)


@pytest.mark.parametrize("handle", [0, 5, -1, 2**63, 2**70, np.int64(5), True])
def test_numbers_are_no_buffers(device, handle):
    with pytest.raises(
        TypeError, match=r"wrap_memory: handle is the number .* give the object of the driver's binding"
    ):
        device.wrap_memory(handle, SIZE, owner=device)


def test_the_pointer_of_a_buffer_is_taken_from_dlpack_alone(device, stream, buffer):
    with pytest.raises(TypeError, match="handle is the number"):
        device.wrap_memory(buffer.int_ptr, SIZE, owner=buffer)
    memory, spec = ep.view(Said(buffer.int_ptr), stream)
    stream.fill(memory, b"\5")
    stream.synchronize()
    assert (memory.handle.int_ptr, spec) == (buffer.int_ptr, ep.TensorSpec("uint8", (SIZE,)))


def test_pointers_to_no_buffer_are_refused_and_not_followed(device, stream, queue, buffer):
    array = np.zeros(64, np.uint8)
    wild = (5, 4096, buffer.int_ptr + 1, id(buffer), array.ctypes.data, 2**47, 2**63 - 8, 2**64 - 1)
    for pointer in wild:
        with pytest.raises(
            ValueError, match=r"there is no object of opencl:0's driver; give a buffer that was not released$"
        ):
            ep.view(Said(pointer), stream)
    with pytest.raises(ValueError, match="its data is a null pointer"):
        ep.view(Said(0), stream)
    for other in (device.twin.context, queue, device.twin.native):
        with pytest.raises(ValueError, match="belongs to another object, needs a buffer's pointer"):
            ep.view(Said(other.int_ptr), stream)


def test_a_buffer_that_was_released_is_refused(device, stream):
    gone = cl.Buffer(device.twin.context, cl.mem_flags.READ_WRITE, SIZE)
    pointer = gone.int_ptr
    gone.release()
    with pytest.raises(ValueError, match="give a buffer that was not released"):
        device.wrap_memory(gone, SIZE, owner=gone)
    with pytest.raises(ValueError, match="give a buffer that was not released"):
        ep.view(Said(pointer), stream)
