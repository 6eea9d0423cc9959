"""Which elements tensors share: exact, or plainly undecided."""

from __future__ import annotations

import manual
import pytest
from ep.layout.overlap import overlap, overlaps_itself
from hypothesis import given
from hypothesis import strategies as st
from layouts import places, specs

import ep

# Three near-equal strides a side, and 33 steps each: more than the work that overlap() allows itself.
HARD = ep.TensorSpec("int8", (33, 33, 33), (1009, 1013, 1019))
HARD_TOO = ep.TensorSpec("int8", (33, 33, 33), (1015, 1019, 1025), 1)


@given(specs)
def test_self_overlap_is_exact(parts):
    shape, strides, offset = parts
    spec = ep.TensorSpec("float32", tuple(shape), tuple(strides), offset)
    touched = places(spec)
    assert overlaps_itself(spec) == (len(set(touched)) < len(touched))


@given(
    specs, specs, st.sampled_from(["int8", "int16", "int32"]), st.sampled_from(["int8", "int32"]), st.integers(-60, 60)
)
def test_overlap_is_exact(first, second, dtype, other, distance):
    a = ep.TensorSpec(dtype, tuple(first[0]), tuple(first[1]), first[2])
    b = ep.TensorSpec(other, tuple(second[0]), tuple(second[1]), second[2])

    def bytes_of(spec, start):
        return {start + place * spec.itemsize + byte for place in places(spec) for byte in range(spec.itemsize)}

    assert overlap(a, b, distance) == bool(bytes_of(a, 0) & bytes_of(b, distance))


def test_overlap_beyond_the_work_bound_is_none():
    assert overlap(HARD, HARD_TOO, 0) is None


def test_overlap_of_hard_layouts_is_still_exact_where_a_hit_comes_early():
    assert overlap(HARD, HARD, 0) is True
    assert overlap(HARD, HARD_TOO, HARD.nbytes) is False


def test_undecided_overlap_is_refused_by_a_launch_and_by_bind(device, stream):
    negate = manual.Negate(x=HARD, out=HARD_TOO).on(device)
    memory = device.allocate(HARD_TOO.nbytes)
    with pytest.raises(ValueError, match=r"x and out may share \(too many strides to decide\) bytes"):
        negate(stream, x=memory, out=memory)
    with pytest.raises(ValueError, match="may share"):
        negate.bind(x=memory, out=memory)
    assert stream.twin.enqueued == 0


def test_undecidable_layouts_run_on_memories_of_their_own(device, stream):
    negate = manual.Negate(x=HARD, out=HARD_TOO).on(device)
    negate(stream, x=device.allocate(HARD.nbytes), out=device.allocate(HARD_TOO.nbytes))
    assert stream.twin.enqueued == 1


def test_self_overlap_that_cannot_be_decided_counts_as_yes():
    assert ep.TensorSpec("int8", (200, 200, 200, 200), (100003, 100019, 100043, 100049)).overlaps_itself


@pytest.mark.parametrize("length", [1, 4])
def test_copies_overlap_from_either_side_and_not_when_they_touch(device, stream, length):
    memory = device.allocate(16)
    for shift in range(-length - 1, length + 2):
        dst, src = memory[6 : 6 + length], memory[6 + shift : 6 + shift + length]
        if abs(shift) < length:
            with pytest.raises(ValueError, match="overlap"):
                stream.copy(dst, src)
        else:
            before = stream.twin.enqueued
            stream.copy(dst, src)
            assert stream.twin.enqueued == before + 1
