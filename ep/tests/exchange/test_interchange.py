"""Host tensors as operands: seen in place, never copied, refused where the device does not reach them."""

from __future__ import annotations

import gc
import weakref

import manual
import ml_dtypes
import numpy as np
import pytest
from capsules import OLD, VERSIONED, Producer, capsule
from ep.exchange import dlpack

import ep


def negate(spec):
    return manual.Negate(x=spec, out=spec)


def test_spec_of_arrays_and_buffers():
    array = np.zeros((3, 4), np.float32)
    assert ep.TensorSpec.of(array) == ep.TensorSpec("float32", (3, 4))
    assert ep.TensorSpec.of(array.T) == ep.TensorSpec("float32", (4, 3), (1, 4))
    assert ep.TensorSpec.of(array[::-1, 1::2]) == ep.TensorSpec("float32", (3, 2), (-4, 2), 8)
    assert ep.TensorSpec.of(b"abc") == ep.TensorSpec("uint8", (3,))
    with pytest.raises(TypeError, match=r"needs a Memory, .* an array interface, a buffer or DLPack; make an array"):
        ep.TensorSpec.of(3)
    with pytest.raises(ValueError, match="not one of EP's"):
        ep.TensorSpec.of(np.zeros(1, "M8[s]"))
    with pytest.raises(
        ValueError, match=r"^TensorSpec.of has element type >f4, .*; give array.astype\(array.dtype.newbyteorder"
    ):
        ep.TensorSpec.of(np.zeros(1, ">f4"))
    with pytest.raises(ValueError, match=r"^TensorSpec.of has stride 6 along axis 0, .* 4; copy the array$"):
        ep.TensorSpec.of(np.zeros(3, [("x", "f4"), ("y", "i2")])["x"])


def test_view_is_the_array_itself(host):
    stream = host.stream()
    array = np.arange(12, dtype=np.int8).reshape(3, 4)[::-1]
    memory, spec = ep.view(array, stream)
    assert (spec.strides, spec.offset, memory.nbytes) == ((-4, 1), 8, 12)
    back = bytearray(12)
    stream.download(back, memory)
    stream.synchronize()
    assert bytes(back) == bytes(range(12))


def test_view_keeps_the_owner_until_no_work_can_touch_it(host):
    stream = host.stream()
    freed = []

    class Owner(np.ndarray):
        def __del__(self):
            freed.append(1)

    memory, _ = ep.view(np.zeros(4, np.int8).view(Owner), stream)
    stream.fill(memory, b"\1")
    del memory
    host.allocate(0)
    assert freed == []
    stream.twin.advance()
    host.allocate(0)
    assert freed == [1]


class Foreign:
    """What another library's tensor looks like to EP."""

    def __init__(self, array, kind=1):
        self.array = array
        self.kind = kind

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.kind, 0)


def test_dlpack_objects_are_seen_in_place(host):
    array = np.arange(4, dtype=np.float64)
    stream = host.stream()
    memory, spec = ep.view(Foreign(array), stream)
    assert spec == ep.TensorSpec("float64", (4,))
    array[0] = 7
    back = np.zeros(4)
    stream.download(back, memory)
    stream.synchronize()
    assert back.tolist() == [7, 1, 2, 3]


def test_tensors_out_of_reach_are_refused_with_the_cure(host):
    stream = manual.provider_over(manual.ManualProvider()).devices()[0].stream()
    with pytest.raises(ValueError, match=r"manual:0 does not reach; .*stream\.upload"):
        ep.view(np.zeros(3), stream)
    with pytest.raises(ValueError, match=r"DLPack device type 2, .*stream\.upload"):
        ep.view(Foreign(np.zeros(3), kind=2), host.stream())
    with pytest.raises(ValueError, match=r"DLPack device type 2, .*stream\.upload"):
        ep.view(CudaArray(np.zeros(3)), host.stream())
    far = Foreign(np.zeros(3), kind=2)
    with pytest.raises(ValueError, match=r"^negate: x is on DLPack device type 2, .*stream\.upload"):
        negate(ep.TensorSpec("int8", (3,))).on(host)(host.stream(), x=far, out=np.zeros(3))
    with pytest.raises(ValueError, match="aligned"):
        ep.view(np.zeros(9, np.uint8)[1:].view(np.float64), host.stream())


def test_arrays_are_operands_where_the_layout_is_the_descriptors(provider, host):
    stream = host.stream()
    x, out = np.array([1, 2, 3, 4], np.int8), np.zeros(4, np.int8)
    primitive = negate(ep.TensorSpec.of(x)).on(host)
    primitive(stream, x=x, out=out)
    stream.synchronize()
    assert out.tolist() == [-1, -2, -3, -4]
    with pytest.raises(ValueError, match=r"x is TensorSpec\('int8', \(3,\)\)"):
        primitive(stream, x=x[:3], out=out)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        primitive(stream, x=x, out=out)


def test_overlapping_arrays_are_refused_and_the_same_array_is_in_place(host):
    stream = host.stream()
    array = np.arange(8, dtype=np.int8)
    primitive = negate(ep.TensorSpec("int8", (4,))).on(host)
    with pytest.raises(ValueError, match="share bytes"):
        primitive(stream, x=array[:4], out=array[2:6])
    first, _ = ep.view(array[:4], stream)
    second, _ = ep.view(array[3:7], stream)
    with pytest.raises(ValueError, match="share bytes"):
        primitive(stream, x=first, out=second)
    primitive(stream, x=array[:4], out=array[:4])
    primitive(stream, x=array[:4], out=array[4:])
    stream.synchronize()
    assert array.tolist() == [0, -1, -2, -3, 0, 1, 2, 3]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_arrays_that_numpy_cannot_lend_are_seen_by_their_attributes(host, name):
    stream = host.stream()
    array = np.arange(6).astype(getattr(ml_dtypes, name)).reshape(2, 3).T
    memory, spec = ep.view(array, stream)
    assert spec == ep.TensorSpec(name, (3, 2), (1, 3))
    array[2, 1] = 0.5
    back = bytearray(memory.nbytes)
    stream.download(back, memory)
    stream.synchronize()
    assert bytes(back) == array.T.tobytes()
    array.flags.writeable = False
    memory, _ = ep.view(array, stream)
    with pytest.raises(ValueError, match="read-only"):
        stream.fill(memory, b"\0")


def test_an_arrays_scalar_is_a_buffer_that_is_kept(host):
    memory, spec = ep.view(np.float32(1.5), host.stream())
    gc.collect()
    assert spec == ep.TensorSpec("float32", ())
    assert np.frombuffer(memory.host(), np.float32) == [1.5]


def test_producers_are_asked_in_the_newest_words_that_they_know(host):
    data = np.arange(4, dtype=np.float32)
    stream = host.stream()

    def make():
        return capsule(VERSIONED, data.ctypes.data, (4,), None)

    newest = Producer(make)
    ep.view(newest, stream)
    assert newest.asked == [{"stream": None, "max_version": dlpack.VERSION, "copy": False}]

    class Middle(Producer):
        def __dlpack__(self, *, stream=None, max_version=None):
            return super().__dlpack__(stream=stream, max_version=max_version)

    middle = Middle(make)
    ep.view(middle, stream)
    assert middle.asked == [{"stream": None, "max_version": dlpack.VERSION}]

    class Oldest(Producer):
        def __dlpack__(self):
            return super().__dlpack__()

    for kind in (Oldest, Producer):
        old = kind(lambda: capsule(OLD, data.ctypes.data, (4,), None), versioned=False)
        memory, spec = ep.view(old, stream)
        assert (old.asked, spec, memory._block.is_read_only) == ([{}], ep.TensorSpec("float32", (4,)), True)


def test_byte_offsets_and_strides_of_dlpack_are_kept(host):
    data = np.arange(12, dtype=np.float32)
    producer = Producer(lambda: capsule(VERSIONED, data.ctypes.data, (2, 3), (6, -2), offset=16))
    memory, spec = ep.view(producer, host.stream())
    assert spec == ep.TensorSpec("float32", (2, 3), (6, -2), 4)
    host_bytes = np.frombuffer(memory.host(), np.float32)
    assert host_bytes.tolist() == list(range(11))


def test_a_producers_copy_is_refused_and_deleted(host):
    deletions, data = [], np.zeros(4, np.float32)
    producer = Producer(lambda: capsule(VERSIONED, data.ctypes.data, (4,), None, flags=2, deletions=deletions))
    with pytest.raises(ValueError, match="its producer made a copy"):
        ep.view(producer, host.stream())
    gc.collect()
    assert len(deletions) == 1


def test_what_cannot_become_a_tensor_is_deleted(host):
    data = np.zeros(64, np.uint8)
    wrong = {
        "misaligned": ({"offset": 2}, (4,), "does not start at a multiple"),
        "rank": ({}, (1,) * 17, "rank is 17; ranks are 0 to 16"),
        "version": ({"version": (7, 0)}, (4,), r"speaks DLPack 7\.0"),
        "dtype": ({"code": 3, "bits": 64}, (4,), "none of EP's"),
    }
    for changes, shape, words in wrong.values():
        deletions = []
        made = capsule(VERSIONED, data.ctypes.data, shape, None, deletions=deletions, **changes)
        with pytest.raises(ValueError, match=words):
            ep.view(Producer(lambda made=made: made), host.stream())
        gc.collect()
        assert len(deletions) == 1


@pytest.mark.parametrize("generation", [VERSIONED, OLD])
def test_a_loan_ends_once_when_no_work_can_touch_it(host, generation):
    deletions, data = [], np.zeros(16, np.uint8)
    stream, target = host.stream(), host.allocate(16)
    made = capsule(generation, data.ctypes.data, (16,), None, code=1, bits=8, deletions=deletions)
    memory, _ = ep.view(Producer(lambda: made, versioned=generation == VERSIONED), stream)
    stream.copy(target, memory)
    memory.close()
    memory.close()
    host.allocate(0)
    assert deletions == []
    stream.twin.advance()
    host.allocate(0)
    assert len(deletions) == 1
    del memory
    gc.collect()
    host.allocate(0)
    assert len(deletions) == 1


def test_nothing_needs_no_pointer(host):
    deletions = []
    made = capsule(VERSIONED, 0, (3, 0), (5, 1), deletions=deletions)
    memory, spec = ep.view(Producer(lambda: made), host.stream())
    assert (memory.nbytes, spec) == (0, ep.TensorSpec("float32", (3, 0)))
    gc.collect()
    assert len(deletions) == 1


def test_a_spec_is_read_wherever_the_tensor_lies():
    producer = Producer(lambda: capsule(VERSIONED, 1 << 40, (2, 2), (1, 2), device=(2, 1)), device=(2, 1))
    assert ep.TensorSpec.of(producer) == ep.TensorSpec("float32", (2, 2), (1, 2))
    assert producer.asked[0]["stream"] == -1
    assert ep.TensorSpec.of(CudaArray(np.zeros((2, 3), np.int16))) == ep.TensorSpec("int16", (2, 3))


class CudaArray:
    """An array that says that it lies on a CUDA device."""

    def __init__(self, array, **more):
        interface = array.__array_interface__
        names = ("shape", "typestr", "data", "strides")
        self.__cuda_array_interface__ = {**{name: interface[name] for name in names}, "version": 3, **more}


@pytest.fixture
def cuda():
    provider = manual.provider_over(manual.ManualProvider())
    provider.twin.devices = lambda: [manual.DLPackDevice(ep.DeviceInfo("Far", "Test"))]
    return provider.devices()[0]


def test_cuda_arrays_are_seen_where_the_device_is_one_of_cuda(cuda):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    stream = cuda.stream()
    memory, spec = ep.view(CudaArray(array[::-1, ::2]), stream)
    assert spec == ep.TensorSpec("float32", (3, 2), (-4, 2), 8)
    back = np.zeros(11, np.float32)
    stream.download(back, memory)
    stream.synchronize()
    assert back.tolist() == list(range(11))
    assert not cuda.twin.queues
    memory, _ = ep.view(CudaArray(array, data=(array.ctypes.data, True)), stream)
    with pytest.raises(ValueError, match="read-only"):
        stream.fill(memory, b"\0")


def test_work_waits_for_the_stream_that_a_cuda_array_names(cuda):
    stream = cuda.stream()
    ep.view(CudaArray(np.zeros(3), stream=7), stream)
    assert [event.stream.twin for event in stream.twin.waits] == [cuda.twin.queues[7]]
    assert cuda.twin.queues[7].closed
    ep.view(CudaArray(np.zeros(3), stream=None), stream)
    assert len(stream.twin.waits) == 1
    with pytest.raises(ValueError, match="its stream is 0"):
        ep.view(CudaArray(np.zeros(3), stream=0), stream)


def test_cuda_arrays_that_are_no_tensors_are_refused(cuda):
    stream = cuda.stream()
    for more, words in (
        ({"mask": object()}, "mask"),
        ({"typestr": ">f4"}, ">f4"),
        ({"typestr": "<M8"}, "<M8"),
        ({"strides": (6,)}, "not multiples"),
    ):
        with pytest.raises(ValueError, match=words):
            ep.view(CudaArray(np.zeros(3, np.float32), **more), stream)


def test_a_producer_is_told_the_consumers_stream(cuda):
    stream = cuda.stream()
    data = np.zeros(4, np.float32)
    producer = Producer(lambda: capsule(VERSIONED, data.ctypes.data, (4,), None, device=(2, 0)), device=(2, 0))
    type(stream.twin).dlpack_stream = lambda self: 7
    try:
        memory, _ = ep.view(producer, stream)
    finally:
        del type(stream.twin).dlpack_stream
    assert producer.asked[0]["stream"] == 7
    assert memory.nbytes == 16


def test_wrapped_things_are_checked_and_kept(cuda, host):
    data = np.zeros(16, np.uint8)
    for wrap in (cuda.wrap_memory, lambda h, n, *, owner: host.wrap_host(h, n, owner)):
        with pytest.raises(TypeError, match="owner is None"):
            wrap(data.ctypes.data, 16, owner=None)
        with pytest.raises(ValueError, match="nbytes -1 is below 0"):
            wrap(data.ctypes.data, -1, owner=data)
        with pytest.raises(TypeError, match=r"nbytes is 1\.5"):
            wrap(data.ctypes.data, 1.5, owner=data)
    with pytest.raises(ep.UnsupportedError, match="wraps no memory of others"):
        host.wrap_memory(data.ctypes.data, 16, owner=data)
    with pytest.raises(ep.UnsupportedError, match="wraps no stream of others"):
        host.wrap_stream(3, owner=data)
    with pytest.raises(TypeError, match="owner is None"):
        cuda.wrap_stream(3, owner=None)


def test_the_owner_of_a_wrapped_stream_lives_until_it_is_closed(cuda):
    class Owner:
        pass

    owner = Owner()
    end = weakref.ref(owner)
    stream = cuda.wrap_stream(3, owner=owner)
    del owner
    assert stream.name.startswith("manual:0/stream")
    memory = cuda.allocate(4)
    stream.fill(memory, b"\1")
    memory.close()
    cuda.trim()
    assert cuda.twin.freed == []  # a wrapped stream's work counts like any other's
    gc.collect()
    assert end() is not None
    stream.close()
    gc.collect()
    assert end() is None
    cuda.trim()
    assert len(cuda.twin.freed) == 1


def test_wrappers_of_one_allocation_share_their_bytes(cuda):
    data = np.zeros(64, np.uint8)
    first = cuda.wrap_memory(data.ctypes.data, 64, owner=data)
    second = cuda.wrap_memory(data.ctypes.data, 32, owner=data)
    assert first._distance_to(second[8:]) == 8
    before = cuda.wrap_memory(data.ctypes.data + 60, 4, owner=data)
    assert before._distance_to(first) == -60
    wider = cuda.wrap_memory(data.ctypes.data - 4, 16, owner=data)
    assert first._distance_to(wider) == -4
    own = cuda.allocate(64)
    inside = cuda.wrap_memory(cuda.twin.address(own.handle) + 16, 8, owner=own)
    assert own._distance_to(inside) == 16
    assert own._distance_to(cuda.wrap_memory(cuda.twin.address(own.handle), 64, owner=own)) == 0
    assert own._distance_to(first) is None
