"""Objects that have a protocol and lie: whatever their own code does, EP ends in one sentence, and gives back what was lent."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest
from capsules import OLD, VERSIONED, Producer, capsule, name

import ep

REFUSED = r"^ep\.view: obj: \w+ (cannot be seen in place|has half a protocol)"


class LieError(Exception):
    """What others raise."""


def raising(error):
    def method(*_, **__):
        raise error

    return method


def told(**attributes):
    """Return an object with these class attributes."""
    return type("Told", (), attributes)()


def shown(**attributes):
    """Return one with DLPack, in host memory."""
    return told(**{"__dlpack_device__": lambda _: (1, 0), **attributes})


CUDA = {"shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}
NUMPY = {**CUDA, "data": (np.zeros(4, np.float32).ctypes.data, False)}


@pytest.mark.parametrize(
    "error",
    [LieError(), ValueError("no"), KeyError("k"), AttributeError("a"), OverflowError(), RecursionError(), IndexError()],
)
@pytest.mark.parametrize(
    "where", ["__dlpack_device__", "__dlpack__", "__array_interface__", "__cuda_array_interface__"]
)
def test_whatever_a_producer_raises_is_told_in_a_sentence(host, where, error):
    if "dlpack" in where:
        obj = shown(**{"__dlpack__": None, where: raising(error)})
    else:
        obj = told(**{where: property(raising(error))})
        if isinstance(error, AttributeError):  # to Python it has no such attribute then
            return
    for use in (lambda: ep.view(obj, host.stream()), lambda: ep.TensorSpec.of(obj)):
        with pytest.raises(
            ValueError, match=r"(obj|of): Told (cannot be seen in place|has half a protocol)"
        ) as refusal:
            use()
        assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("answer", [None, 3, "capsule", (1, 0), b"dltensor", object(), itertools.count()])
def test_what_is_no_capsule_is_refused(host, answer):
    with pytest.raises(ValueError, match=REFUSED):
        ep.view(shown(__dlpack__=lambda *_, **__: answer), host.stream())


@pytest.mark.parametrize(
    "device",
    [None, 1, (1,), (1, 0, 0), ("1", 0), (1.0, 0), (2**70, 0), (1 << 3_400_000, 0), itertools.count(), (True, 0)],
)
def test_what_is_no_device_is_refused(host, device):
    with pytest.raises(ValueError, match=REFUSED):
        ep.view(shown(__dlpack_device__=lambda _: device, __dlpack__=None), host.stream())


@pytest.mark.parametrize("generation", [VERSIONED, OLD])
def test_a_capsule_is_given_back_once_however_it_is_refused(host, generation):
    array = np.zeros(64, np.uint8)
    wrong = (
        {"rank": -1}, {"rank": 99}, {"shape": None, "rank": 2}, {"data": 0}, {"data": 0, "offset": 64}, {"offset": 2**64 - 1},
        {"offset": 2**63 - 1}, {"data": 2**64 - 4}, {"data": 2**63}, {"shape": (2**62,)}, {"shape": (-1,)}, {"shape": (2, -(2**63))},
        {"strides": (2**62,)}, {"strides": (-(2**63),)}, {"device": (2, 0)}, {"device": (99, 0)}, {"device": (-1, 0)}, {"bits": 7},
        {"code": 77}, {"lanes": 0}, {"offset": 1},
    )  # fmt: skip
    for changes in wrong:
        deletions = []
        said = {"data": array.ctypes.data, "shape": (4,), "strides": None, "deletions": deletions, **changes}
        made = capsule(generation, **said)
        with pytest.raises(ValueError, match=r"^(ep\.view|wrap_host): "):
            ep.view(Producer(lambda made=made: made, versioned=generation == VERSIONED), host.stream())
        assert name(made) == b"used_" + generation, changes
        assert len(deletions) == 1, changes


def test_a_capsule_is_taken_once(host):
    array, deletions = np.zeros(4, np.float32), []
    made = capsule(VERSIONED, array.ctypes.data, (4,), None, deletions=deletions)
    producer = Producer(lambda: made)
    memory, _ = ep.view(producer, host.stream())
    with pytest.raises(ValueError, match="its capsule was used already"):
        ep.view(producer, host.stream())
    assert deletions == []
    memory.close()
    host.synchronize()
    del memory
    gc.collect()
    assert len(deletions) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": range(2**62)}, {"shape": itertools.count()}, {"shape": None}, {"shape": (1.5,)}, {"shape": (1,) * 17},
        {"strides": range(2**62)}, {"strides": (3,)}, {"strides": 4}, {"typestr": ""}, {"typestr": None}, {"typestr": ">f4"},
        {"typestr": "x" * 10**6}, {"data": None}, {"data": ("a", False)}, {"data": (2**70, False)}, {"mask": object()}, {"stream": 0},
    ],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_cuda_interfaces_that_lie_are_refused_in_bounded_time(changes):
    with pytest.raises(ValueError, match=r"^TensorSpec\.of: Told (cannot be seen|has half a protocol)") as refusal:
        ep.TensorSpec.of(told(__cuda_array_interface__={**CUDA, **changes}))
    assert len(str(refusal.value)) < 800


def test_strides_of_another_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        ep.TensorSpec.of(told(__cuda_array_interface__={**CUDA, "strides": (4, 4)}))


@pytest.mark.parametrize(
    "changes", [{"shape": range(2**62)}, {"data": bytes(16)}, {"mask": object()}, {"typestr": ">f4"}, {"typestr": "|V4"}, {"strides": (3,)}],
    ids=lambda changes: next(iter(changes)),
)  # fmt: skip
def test_array_interfaces_that_lie_are_refused(host, changes):
    with pytest.raises(ValueError, match=r"^ep\.view: obj"):
        ep.view(told(__array_interface__={**NUMPY, **changes}), host.stream())


@pytest.mark.parametrize(("bit", "cure"), [("is_neg", "resolve_neg"), ("is_conj", "resolve_conj")])
def test_a_tensor_that_changes_its_bytes_when_it_is_read_is_refused_with_the_cure(host, bit, cure):
    array = np.zeros(4, np.float32)

    class Tensor(Producer):
        is_set = True

    setattr(Tensor, bit, lambda self: self.is_set)
    tensor = Tensor(lambda: array.__dlpack__(max_version=(1, 0)))
    with pytest.raises(
        ValueError,
        match=rf"^ep\.view: obj: Tensor has values that are not those of its bytes; give what its {cure}\(\) returns$",
    ):
        ep.view(tensor, host.stream())
    with pytest.raises(ValueError, match=cure):
        ep.TensorSpec.of(tensor)
    assert not tensor.asked
    Tensor.is_set = False
    assert ep.view(tensor, host.stream())[1] == ep.TensorSpec("float32", (4,))


def test_a_mask_is_not_lost_behind_a_memoryview(host):
    masked = np.ma.masked_array(np.ones(2), [True, False])
    for obj in (masked, memoryview(masked), memoryview(memoryview(masked))):
        with pytest.raises(ValueError, match="has a mask, which tensors of EP have not; fill it"):
            ep.view(obj, host.stream())


def test_who_says_to_be_an_array_and_is_none_is_asked_for_a_protocol(host):
    posing = told(__class__=property(lambda _: np.ndarray))
    with pytest.raises(TypeError, match="obj is Told, needs a Memory, a NumPy array"):
        ep.view(posing, host.stream())


def test_wild_addresses_of_callers_are_refused(host):
    owner = np.zeros(64, np.uint8)
    for wrap in (host.wrap_host, host.wrap_memory):
        for address in (1, 5, 4096, 2**47, 2**62):
            with pytest.raises(ValueError, match=r"no memory of this process|no place in host memory"):
                wrap(address, 64, owner=owner)
        with pytest.raises(ValueError, match="no memory of this process"):
            wrap(owner.ctypes.data, 2**46, owner=owner)
    assert host.wrap_host(owner.ctypes.data, 64, owner).nbytes == 64
    assert host.wrap_host(5, 0, owner).nbytes == 0
