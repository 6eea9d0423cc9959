"""Capsules of both generations, read and made, against capsules written by hand and against NumPy's."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import weakref

import capsules
import numpy as np
import pytest
from capsules import OLD, VERSIONED, capsule
from ep.dtypes import DTYPES
from ep.exchange import dlpack
from hypothesis import given
from hypothesis import strategies as st

BOTH = pytest.mark.parametrize("generation", [VERSIONED, OLD])
CODES = {
    "bool": (6, 8),
    "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8),
    "float8_e5m2": (12, 8),
    "complex64": (5, 64),
    "complex128": (5, 128),
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
}


class Token:
    """Something whose end can be seen."""


def tensor(**changes):
    return dlpack.Tensor((1, 0), 4096, 0, "float32", (2, 3), (3, 1))._replace(**changes)


@BOTH
def test_fields_are_read_where_the_header_has_them(generation):
    given = {"device": (4, 2), "offset": 24, "deletions": []}
    read, _ = dlpack.take(capsule(generation, 4096, (2, 3), (-7, 5), **given))
    assert read == dlpack.Tensor((4, 2), 4096, 24, "float32", (2, 3), (-7, 5), is_read_only=generation == OLD)
    read, _ = dlpack.take(capsule(generation, 4096, (2, 3), None))
    assert read.strides is None
    read, _ = dlpack.take(capsule(generation, 4096, (), None))
    assert read.shape == ()
    read, _ = dlpack.take(capsule(generation, 0, (0, 3), (3, 1)))
    assert (read.data, read.shape) == (0, (0, 3))


def test_flags_are_read():
    for flags, expected in ((0, (False, False)), (1, (True, False)), (2, (False, True)), (7, (True, True))):
        read, _ = dlpack.take(capsule(VERSIONED, 8, (1,), None, flags=flags))
        assert (read.is_read_only, read.is_copied) == expected


@BOTH
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_has_its_code(generation, dtype):
    code, bits = CODES[dtype]
    read, _ = dlpack.take(capsule(generation, 8, (1,), None, code=code, bits=bits))
    assert read.dtype == dtype
    made = dlpack.make(tensor(dtype=dtype), None, versioned=generation == VERSIONED)
    place = capsules.TENSOR[generation]
    assert capsules.field(made, place + 20, ctypes.c_uint32).value == code | bits << 8 | 1 << 16


@BOTH
def test_a_capsule_is_taken_once_and_renamed(generation):
    made = capsule(generation, 8, (1,), None, deletions=[])
    dlpack.take(made)
    assert capsules.name(made) == b"used_" + generation
    with pytest.raises(BufferError, match="used already"):
        dlpack.take(made)
    with pytest.raises(BufferError, match="int is not a DLPack capsule"):
        dlpack.take(3)


@BOTH
def test_the_end_of_a_loan_calls_the_deleter_once(generation):
    deletions = []
    made = capsule(generation, 8, (1,), None, deletions=deletions)
    address = capsules.address(made)
    _, loan = dlpack.take(made)
    assert deletions == []
    loan.__del__()
    del loan, made
    gc.collect()
    assert deletions == [address]


@BOTH
def test_a_loan_may_end_in_any_thread(generation):
    deletions, held = [], []
    _, loan = dlpack.take(capsule(generation, 8, (1,), None, deletions=deletions))
    held.append(loan)
    del loan
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert len(deletions) == 1


def test_another_major_version_is_only_deleted():
    deletions = []
    made = capsule(VERSIONED, 8, (1,), None, version=(2, 0), deletions=deletions)
    ctypes.memset(capsules.address(made) + 32, 0xFF, 48)  # whoever reads its tensor follows pointers to nowhere
    with pytest.raises(BufferError, match=r"speaks DLPack 2\.0"):
        dlpack.take(made)
    assert len(deletions) == 1


@BOTH
@pytest.mark.parametrize("changes", [{"code": 3, "bits": 64}, {"bits": 80}, {"lanes": 4}, {"code": 17, "bits": 4}])
def test_unknown_element_types_are_refused_and_deleted(generation, changes):
    deletions = []
    with pytest.raises(BufferError, match="none of EP's"):
        dlpack.take(capsule(generation, 8, (1,), None, deletions=deletions, **changes))
    assert len(deletions) == 1


@BOTH
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rank": -1}, "its rank is -1; ranks are 0 to 16"),
        ({"rank": -(2**31)}, "its rank is -2147483648"),
        ({"rank": 17}, "its rank is 17"),
        ({"rank": 2**31 - 1}, "its rank is 2147483647"),
        ({"rank": 2**31 - 1, "shape": None}, "its rank is 2147483647"),
        ({"rank": 1, "shape": None}, "its rank is 1 and its shape is a null pointer"),
        ({"rank": 16, "shape": None}, "its shape is a null pointer"),
        ({"data": 0}, r"its shape is \(2, 3\) and its data is a null pointer"),
        ({"data": 0, "offset": 4096}, "its data is a null pointer"),
        ({"data": 0, "shape": ()}, r"its shape is \(\) and its data is a null pointer"),
        ({"data": 0, "shape": (-1,)}, "its data is a null pointer"),
        ({"offset": 2**63}, "its byte_offset is 9223372036854775808, which is beyond all addresses"),
        ({"offset": 2**64 - 4}, "its byte_offset is 18446744073709551612"),
    ],
)
def test_what_no_tensor_is_like_is_refused_and_deleted_at_once(generation, changes, words):
    deletions = []
    said = {"data": 4096, "shape": (2, 3), "strides": None, "deletions": deletions, **changes}
    made = capsule(generation, **said)
    with pytest.raises(BufferError, match=words) as refusal:
        dlpack.take(made)
    assert deletions == [capsules.address(made)]
    del refusal
    gc.collect()
    assert len(deletions) == 1


@BOTH
def test_null_pointers_that_the_header_allows_are_read(generation):
    assert dlpack.take(capsule(generation, 0, (0, 3), None))[0].shape == (0, 3)
    assert dlpack.take(capsule(generation, 8, None, None))[0].shape == ()
    assert dlpack.take(capsule(generation, 8, (2,), None))[0].strides is None
    _, loan = dlpack.take(capsule(generation, 8, (2,), None, deletions=None))
    loan.end()


@BOTH
def test_capsules_of_other_names_are_left_to_who_made_them(generation):
    for other in (b"", b"something", b"used_", b"DLTENSOR"):
        deletions = []
        with pytest.raises(BufferError, match="PyCapsule is not a DLPack capsule"):
            dlpack.take(capsule(generation, 8, (1,), None, name=other, deletions=deletions))
        assert deletions == []


fields = {
    "data": st.sampled_from((0, 1, 4096, 2**63, 2**64 - 1)),
    "strides": st.one_of(st.none(), st.lists(st.integers(-(2**63), 2**63 - 1), min_size=17, max_size=17)),
    "code": st.integers(0, 19),
    "bits": st.sampled_from((0, 8, 16, 32, 64, 255)),
    "lanes": st.sampled_from((0, 1, 1, 1, 65535)),
    "offset": st.sampled_from((0, 0, 1, 2**62, 2**64 - 1)),
    "device": st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1)),
    "version": st.sampled_from(((1, 0), (1, 1), (1, 2**32 - 1), (0, 0), (2, 0), (2**32 - 1, 0))),
    "flags": st.integers(0, 2**64 - 1),
    "rank": st.one_of(st.integers(0, 17), st.integers(-(2**31), 2**31 - 1)),
}


@BOTH
@given(st.fixed_dictionaries(fields), st.lists(st.integers(-(2**63), 2**63 - 1), min_size=17, max_size=17))
def test_whatever_its_fields_say_a_capsule_is_read_or_refused_and_deleted_once(generation, said, shape):
    deletions = []
    made = capsule(generation, shape=shape, deletions=deletions, **said)
    try:
        read, loan = dlpack.take(made)
    except BufferError:
        assert len(deletions) == 1
    else:
        assert (read.device, read.begin, len(read.shape)) == (said["device"], said["offset"], said["rank"])
        assert deletions == []
        del loan
        assert len(deletions) == 1


def test_numpys_own_capsules_are_read():
    array = np.arange(24, dtype=np.int16).reshape(4, 6)[::2, ::-1]
    for words in ({"max_version": (1, 0)}, {}):
        read, _ = dlpack.take(array.__dlpack__(**words))
        assert read[1:6] == (array.ctypes.data, 0, "int16", (2, 6), (12, -1))


class Shown:
    """Hands a capsule to NumPy."""

    def __init__(self, made):
        self.made = made

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **words):
        return self.made


@BOTH
def test_numpy_reads_what_is_made_and_lets_go(generation):
    array, token = np.arange(6, dtype=np.float32), Token()
    end = weakref.ref(token)
    said = tensor(data=array.ctypes.data + 4, shape=(2, 2), strides=(3, 1))
    made = dlpack.make(said, token, versioned=generation == VERSIONED)
    del token
    seen = np.from_dlpack(Shown(made))
    del made
    assert seen.tolist() == [[1, 2], [4, 5]]
    array[1] = 9
    assert seen[0, 0] == 9
    assert seen.flags.writeable == (generation == VERSIONED)
    assert end() is not None
    del seen
    gc.collect()
    assert end() is None


@BOTH
def test_what_is_made_reads_back(generation):
    for said in (tensor(), tensor(device=(4, 1), begin=64), tensor(shape=(), strides=()), tensor(data=0, shape=(0, 3))):
        read, _ = dlpack.take(dlpack.make(said, None, versioned=generation == VERSIONED))
        assert read == said._replace(strides=said.strides or None, is_read_only=generation == OLD)
    read, _ = dlpack.take(dlpack.make(tensor(is_read_only=True), None, versioned=True))
    assert read.is_read_only


def test_version_and_flags_stand_in_a_versioned_capsule():
    made = dlpack.make(tensor(is_read_only=True), None, versioned=True)
    assert capsules.field(made, 0, ctypes.c_uint32).value == 1
    assert capsules.field(made, 4, ctypes.c_uint32).value == 1
    assert capsules.field(made, 24).value == 1
    assert capsules.field(dlpack.make(tensor(), None, versioned=True), 24).value == 0


@BOTH
def test_a_capsule_that_nobody_takes_lets_go(generation):
    token = Token()
    end = weakref.ref(token)
    made = dlpack.make(tensor(), token, versioned=generation == VERSIONED)
    del token
    assert end() is not None
    del made
    gc.collect()
    assert end() is None


@BOTH
def test_a_consumer_that_fails_keeps_its_own_error(generation):
    token = Token()
    end = weakref.ref(token)
    made = dlpack.make(tensor(dtype="bfloat16"), token, versioned=generation == VERSIONED)
    del token
    shown = Shown(made)
    del made
    shown.__class__ = type("Once", (Shown,), {"__dlpack__": lambda self, **_: self.__dict__.pop("made")})
    with pytest.raises((BufferError, RuntimeError), match="Unsupported dtype"):
        np.from_dlpack(shown)
    gc.collect()
    assert end() is None


@BOTH
def test_a_thread_that_python_never_saw_may_delete(generation):
    token = Token()
    end = weakref.ref(token)
    made = dlpack.make(tensor(), token, versioned=generation == VERSIONED)
    del token
    managed = capsules.address(made)
    delete = capsules.field(made, capsules.DELETER[generation]).value
    capsules.rename_for_ever(made, generation)
    thread = ctypes.c_ulong()
    library = ctypes.CDLL(None)
    assert library.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(delete), ctypes.c_void_p(managed)) == 0
    assert library.pthread_join(thread, None) == 0
    gc.collect()
    assert end() is None


AFTER_THE_END = """
import ctypes, sys
import capsules
from ep.exchange import dlpack

generation = {generation!r}
made = dlpack.make(dlpack.Tensor((1, 0), 4096, 0, "float32", (2, 3), (3, 1)), object(), versioned={versioned})
managed, delete = capsules.address(made), capsules.field(made, capsules.DELETER[generation]).value
capsules.rename_for_ever(made, generation)
exit_call = ctypes.CDLL(None).__cxa_atexit  # what the destructor of a static object of C++ is
assert exit_call(ctypes.c_void_p(delete), ctypes.c_void_p(managed), None) == 0
print("ends")
"""


@BOTH
def test_a_consumer_may_delete_after_the_interpreter_is_gone(generation):
    source = AFTER_THE_END.format(generation=generation, versioned=generation == VERSIONED)
    paths = [str(p) for p in sys.path if p]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{source}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")
