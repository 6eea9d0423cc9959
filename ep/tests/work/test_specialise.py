"""What code may depend on beyond the key: each answer compiles once, is kept as the key's code is, and no more than that."""

from __future__ import annotations

import manual
import pytest
from ep.work.cache import LRU
from graphs import content, holding

import ep


class Static(manual.Strategy):
    """A compiler for static shapes: its code is the number of bytes that it negates."""

    def __init__(self):
        super().__init__("Static", manual.NegateKernel)

    def specialise(self, descriptor):
        return descriptor.specs[0].shape

    def compile(self, key, device):
        self.keys.append(key)
        return key.special

    def create(self, descriptor, device, code):
        assert code == descriptor.specs[0].shape
        return self.kernel()


@pytest.fixture
def static(provider):
    strategy = Static()
    provider.twin.table[manual.Negate] = (strategy,)
    return strategy


def negate(device, *shape):
    spec = ep.TensorSpec("int8", shape)
    return manual.Negate(x=spec, out=spec).on(device)


def test_two_shapes_compile_twice_and_equal_ones_once(device, stream, static):
    first, second, wide = negate(device, 200), negate(device, 300), negate(device, 20, 15)
    assert first.descriptor.key == second.descriptor.key
    assert [key.special for key in static.keys] == [(200,), (300,), (20, 15)]
    assert [key._replace(special=None) for key in static.keys] == [
        each.descriptor.key for each in (first, second, wide)
    ]
    device._primitives._primitives.clear()
    assert negate(device, 200) is not first
    assert device.compiles == len(static.keys) == 3
    x, out = holding(stream, *[1] * 200), device.allocate(200)
    first(stream, x=x, out=out)
    assert content(stream, out) == [255] * 200


def test_whoever_does_not_specialise_compiles_once(device):
    primitives = [negate(device, size) for size in (200, 300, 400)]
    assert device.compiles == 1
    assert primitives[0].implementation.keys == [primitives[0].descriptor.key]
    assert primitives[0].descriptor.key.special is None


def test_no_answer_for_some_shapes_is_the_code_of_the_key(device, static, monkeypatch):
    monkeypatch.setattr(
        Static,
        "specialise",
        lambda _, descriptor: descriptor.specs[0].shape if descriptor.specs[0].size < 100 else None,
    )
    monkeypatch.setattr(Static, "create", lambda self, *_: self.kernel())
    for size in (64, 65, 200, 300):
        negate(device, size)
    assert [key.special for key in static.keys] == [(64,), (65,), None]


def test_code_that_was_not_used_for_longest_is_forgotten(device, static):
    device._primitives._code, device._primitives._primitives = LRU(8), LRU(8)
    for size in range(100, 120):
        negate(device, size)
    assert device.compiles == 20
    assert len(device._primitives._code) <= 8
    negate(device, 119)
    assert device.compiles == 20
    negate(device, 100)
    assert device.compiles == 21


def test_answer_without_a_hash_is_refused_by_name(device, static, monkeypatch):
    monkeypatch.setattr(Static, "specialise", lambda *_: [1, 2])
    with pytest.raises(
        TypeError, match=r"Static\.specialise returned \[1, 2\], which has no hash; return such as a tuple"
    ):
        negate(device, 64)
