"""Objects with NumPy's array interface are seen in place; arrays that are no plain ones are refused."""

from __future__ import annotations

import numpy as np
import pytest

import ep


class Nowhere:
    """A DLPack object on a kind of device that DLPack has no number for."""

    def __dlpack__(self, **words):
        raise AssertionError

    def __dlpack_device__(self):
        raise ValueError("no number for it")


class Interface:
    """An object with NumPy's array interface and nothing else."""

    def __init__(self, array, **changed):
        self._array, self.__array_interface__ = array, {**array.__array_interface__, **changed}


def test_array_interface_is_seen_in_place(host):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for part in (array, array.T, array[::-1, 1::2]):
        memory, spec = ep.view(Interface(part), host.stream())
        assert spec == ep.TensorSpec.of(part) == ep.TensorSpec.of(Interface(part))
        memory.host()[:4] = np.float32(-part[-1, -1]).tobytes()
    assert (array[0, 0], array[0, 1]) == (-11, -3)
    array.flags.writeable = False
    memory, _ = ep.view(Interface(array), host.stream())
    with pytest.raises(ValueError, match="read-only"):
        host.stream().fill(memory, b"\0")


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (
            Interface(np.zeros(2), data=bytes(16)),
            "obj: Interface cannot be seen in place: .* without an address, .*; make",
        ),
        (Interface(np.zeros(2), shape=(-2,)), "obj: Interface cannot be seen in place: .*; make a plain array of it"),
        (Interface(np.zeros(2), typestr=">f8"), "obj has element type >f8, which is not one of EP's"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "obj has a mask, which tensors of EP have not; fill it"),
        (Nowhere(), "obj: Nowhere cannot be seen in place: no number for it; make a plain"),
    ],
    ids=["bytes", "shape", "big-endian", "mask", "device"],
)
def test_what_is_no_plain_array_is_refused_in_words(host, obj, message):
    with pytest.raises(ValueError, match=f"^ep.view: {message}"):
        ep.view(obj, host.stream())
