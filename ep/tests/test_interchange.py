"""Host tensors as operands: seen in place, never copied, refused where the device does not reach them."""

from __future__ import annotations

import manual
import numpy as np
import pytest

import ep


def negate(spec):
    return manual.Negate(x=spec, out=spec)


def test_spec_of_arrays_and_buffers():
    array = np.zeros((3, 4), np.float32)
    assert ep.TensorSpec.of(array) == ep.TensorSpec("float32", (3, 4))
    assert ep.TensorSpec.of(array.T) == ep.TensorSpec("float32", (4, 3), (1, 4))
    assert ep.TensorSpec.of(array[::-1, 1::2]) == ep.TensorSpec("float32", (3, 2), (-4, 2), 8)
    assert ep.TensorSpec.of(b"abc") == ep.TensorSpec("uint8", (3,))
    with pytest.raises(TypeError, match="buffer or DLPack"):
        ep.TensorSpec.of(3)
    with pytest.raises(ValueError, match="not one of EP's"):
        ep.TensorSpec.of(np.zeros(1, "M8[s]"))
    with pytest.raises(ValueError, match=r"^TensorSpec.of has element type >f4, .*; convert it with astype$"):
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
    stream.advance()
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
    stream = manual.ManualProvider().devices()[0].stream()
    with pytest.raises(ValueError, match=r"manual:0 does not reach; .*stream\.upload"):
        ep.view(np.zeros(3), stream)
    with pytest.raises(ValueError, match=r"DLPack device type 2, .*stream\.upload"):
        ep.view(Foreign(np.zeros(3), kind=2), host.stream())
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
