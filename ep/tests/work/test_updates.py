"""Operands that a launch reads and writes, and numbers that only some launches may give."""

from __future__ import annotations

import manual
import numpy as np
import pytest

import ep


class Count(ep.Descriptor):
    """out = steps + state + other; state grows by steps, which are even."""

    family = "count"
    roles = ep.Roles(ep.Role.number("steps"), ep.Role.state("state"), ep.Role.input("other"), ep.Role.output("out"))
    __slots__ = ()

    def __init__(self) -> None:
        self._freeze("-", (ep.Scalar("int8"), *(ep.TensorSpec("int8", (4,)),) * 3))

    def check_numbers(self, numbers):
        if numbers[0] % 2:
            message = f"count: steps is {numbers[0]}, needs an even number"
            raise ValueError(message)


class CountKernel(ep.Kernel):
    def __init__(self) -> None:
        self.numbers: list[int] = []

    def launch(self, stream, memories, scalars):
        self.numbers.append(*scalars)


@pytest.fixture
def count(provider, device):
    provider.twin.table[Count] = (manual.Strategy("Plain", CountKernel),)
    return Count().on(device)


def test_a_read_only_operand_that_would_be_updated_is_refused(provider, host):
    provider.twin.table[Count] = (manual.Strategy("Plain", CountKernel),)
    count, stream = Count().on(host), host.stream()
    state, other, out = np.zeros(4, np.int8), np.zeros(4, np.int8), np.zeros(4, np.int8)
    other.flags.writeable = False
    count(stream, steps=2, state=state, other=other, out=out)
    state.flags.writeable = False
    with pytest.raises(ValueError, match="state is read-only and would be written"):
        count(stream, steps=2, state=state, other=other, out=out)
    memory, _ = ep.view(state, stream)
    with pytest.raises(ValueError, match="count: state: the memory is a view of a read-only object"):
        count(stream, steps=2, state=memory, other=other, out=out)


def test_an_updated_operand_shares_no_byte_with_any_other(count, device, stream):
    one, other = device.allocate(8), device.allocate(8)
    count(stream, steps=2, state=one[:4], other=one[4:], out=other[:4])
    with pytest.raises(ValueError, match=r"state and out share bytes .* give out a memory of its own"):
        count(stream, steps=2, state=one[:4], other=other[:4], out=one[2:6])
    with pytest.raises(ValueError, match=r"other and state share bytes .* give state a memory of its own"):
        count(stream, steps=2, state=one[:4], other=one[2:6], out=other[:4])
    with pytest.raises(ValueError, match="other and state share bytes"):
        count.bind(steps=2, state=one[:4], other=one[:4], out=other[:4])
    assert Count().written == ("state", "out")


def test_numbers_are_checked_before_anything_is_enqueued(count, device, stream):
    memories = {name: device.allocate(4) for name in ("state", "other", "out")}
    before = stream._sequence
    with pytest.raises(ValueError, match="steps is 3, needs an even number"):
        count(stream, steps=3, **memories)
    with pytest.raises(ValueError, match="steps is 3"):
        count.bind(steps=3, **memories)
    assert stream._sequence == before
    count(stream, steps=4, **memories)
    assert count.kernel.numbers == [4]


def test_a_merge_that_keeps_the_order_numbers_elements_by_row():
    from ep.layout.dims import merge

    out = ep.TensorSpec("int8", (2, 3, 4, 5), (1, 40, 10, 2))
    sorted_, kept = merge(out, [out]), merge(out, [out], keeps_order=True)
    assert sorted_.shape == (120,)
    assert kept.shape == (2, 60)
    assert kept.strides == ((1, 2),)
