"""Which bytes of the host are numbers: what upload and download take, and what they say of the rest."""

from __future__ import annotations

import array
import ctypes

import ml_dtypes
import numpy as np
import pytest
from ep.memory.buffers import pattern_of, view_of


class Big(ctypes.BigEndianStructure):
    _fields_ = (("x", ctypes.c_int),)


def released():
    view = memoryview(bytearray(8))
    view.release()
    return view


NUMBERS = [
    b"abcd",
    bytearray(4),
    memoryview(b"abcd").cast("c"),
    array.array("d", [1, 2]),
    (ctypes.c_float * 3)(),
    (ctypes.c_ubyte * 3)(),
    ctypes.c_longlong(3),
    *(np.ones((2, 3), kind) for kind in "?bBhHiIlLqQefdFDg"),
    *(np.ones((2, 3), kind) for kind in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)),
    np.ones(3, ">i1"),
    np.float32(1),
]


@pytest.mark.parametrize("place", range(len(NUMBERS)))
def test_bytes_and_native_numbers_pass(place):
    buffer = NUMBERS[place]
    view = view_of(buffer, "upload: src", writable=False)
    assert (view.format, view.ndim) == ("B", 1)
    assert bytes(view) == (buffer.tobytes() if isinstance(buffer, np.ndarray) else bytes(buffer))


SWAPPED = [np.ones(3, ">f4"), np.ones(3, ">c16"), memoryview(np.ones(3, ">i8")), (ctypes.c_int.__ctype_be__ * 2)()]


@pytest.mark.parametrize("place", range(len(SWAPPED)))
def test_another_byte_order_is_refused_with_the_cure(place):
    with pytest.raises(ValueError, match=r"^upload: src has the byte order of .*\.newbyteorder\('='\)\)$"):
        view_of(SWAPPED[place], "upload: src", writable=False)


OTHERS = [
    *(np.zeros(3, kind) for kind in ("O", "S3", "U3", "V4", "M8[s]", "m8[s]", ">M8[s]", [("a", "i4")], ml_dtypes.int4)),
    (Big * 2)(),
    (ctypes.c_void_p * 2)(),
    (ctypes.c_wchar * 2)(),
    array.array("u", "ab"),
]


@pytest.mark.parametrize("place", range(len(OTHERS)))
def test_what_is_no_number_is_refused_with_the_way_to_its_bytes(place):
    with pytest.raises(ValueError, match=r"^upload: src has element.* if you mean (its bytes|them)$"):
        view_of(OTHERS[place], "upload: src", writable=False)


def test_a_mask_is_not_left_behind():
    masked = np.ma.masked_array(np.ones(2, np.float32), [True, False])
    special = np.ma.masked_array(np.ones(2, ml_dtypes.bfloat16), [True, False])
    for buffer in (masked, memoryview(masked), memoryview(memoryview(masked)), special):
        with pytest.raises(ValueError, match=r"^download: dst has a mask, .*; fill it, as numpy\.ma\.filled does$"):
            view_of(buffer, "download: dst", writable=True)


@pytest.mark.parametrize(
    "buffer", [None, 3, "text", [1.0], object(), released()], ids=lambda buffer: type(buffer).__name__
)
def test_what_is_no_buffer_is_refused_by_its_type(buffer):
    with pytest.raises(
        TypeError, match=f"^upload: src is {type(buffer).__name__}, needs a host buffer: .*; make an array"
    ):
        view_of(buffer, "upload: src", writable=False)


def test_patterns_are_bytes_of_a_power_of_two():
    assert pattern_of(memoryview(b"abcdefgh")[::2].tobytes()) == b"aceg"
    for pattern in (bytes(3), bytes(1 << 20), b""):
        with pytest.raises(ValueError, match=rf"^fill: the pattern has {len(pattern)} bytes"):
            pattern_of(pattern)
    with pytest.raises(TypeError, match=r"^fill: pattern is memoryview"):
        pattern_of(released())


def test_a_stream_refuses_them_before_anything_is_enqueued(device, stream):
    memory = device.allocate(12)
    sequence = stream._sequence
    with pytest.raises(ValueError, match="byte order of other machines"):
        stream.upload(memory, np.ones(3, ">f4"))
    with pytest.raises(ValueError, match="has a mask"):
        stream.upload(memory, np.ma.masked_array(np.ones(3, "f4"), [True, False, False]))
    with pytest.raises(ValueError, match="are no numbers"):
        stream.download(np.zeros(12, "S1"), memory)
    assert stream._sequence == sequence
