"""Random sequences of allocating, using and giving back on several streams, against a model of who may have which bytes."""

from __future__ import annotations

import manual
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import ep

STREAMS = 3
sizes = st.sampled_from([0, 1, 3, 4, 17, 18, 33, 64, 100])
numbers = st.integers(0, STREAMS - 1)
choices = st.integers(0, 1 << 30)


class Use:
    """The streams' places that must be passed before others may touch the bytes behind a handle."""

    def __init__(self):
        self.places = {}
        self.freed_by = None

    def pending(self, streams):
        return {number for number, place in self.places.items() if streams[number].twin.done < place}


class Sequences(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        provider = manual.provider_over(manual.ManualProvider())
        self.device = provider.devices()[0]
        self.streams = [self.device.stream() for _ in range(STREAMS)]
        self.open = []
        self.uses = {}
        self.handles = []  # so that no id is used twice
        self.asked = 0

    def take(self, memory, number=None):
        """Check that the bytes are nobody else's, and enqueue a write of them."""
        if not memory.nbytes:
            return
        self.asked += 1
        key = id(memory.handle)
        assert all(id(other.handle) != key for other, _ in self.open)
        use = self.uses.setdefault(key, Use())
        pending = use.pending(self.streams)
        if number is not None and use.freed_by == number:
            pending -= {number}
        assert not pending, f"handed out while streams {pending} have not passed"
        use.freed_by = None
        self.handles.append(memory.handle)
        self.open.append((memory, None))
        self.write(len(self.open) - 1, self.asked % STREAMS if number is None else number)

    def write(self, place, number):
        memory, _ = self.open[place]
        content = bytes([self.asked % 251]) * memory.nbytes
        stream, use = self.streams[number], self.uses[id(memory.handle)]
        for other in use.pending(self.streams) - {number}:
            self.streams[other].twin.advance()  # in place of waiting for it
        stream.upload(memory, content)
        use.places[number] = stream.twin.enqueued
        self.open[place] = (memory, content)

    def give(self, choice):
        return self.open.pop(choice % len(self.open))[0]

    @rule(nbytes=sizes)
    def allocate(self, nbytes):
        self.take(self.device.allocate(nbytes))

    @rule(number=numbers, nbytes=sizes)
    def allocate_in_order(self, number, nbytes):
        self.take(self.streams[number].allocate(nbytes), number)

    @precondition(lambda self: self.open)
    @rule(choice=choices, number=numbers)
    def use(self, choice, number):
        self.write(choice % len(self.open), number)

    @precondition(lambda self: self.open)
    @rule(choice=choices, dropped=st.booleans())
    def close(self, choice, dropped):
        memory = self.give(choice)
        if not dropped:
            memory.close()

    @precondition(lambda self: self.open)
    @rule(choice=choices, number=numbers)
    def free(self, choice, number):
        memory = self.give(choice)
        use = self.uses[id(memory.handle)]
        for other in use.pending(self.streams) - {number}:
            self.streams[other].twin.advance()
        use.freed_by = number
        self.streams[number].free(memory)
        use.places[number] = self.streams[number].twin.enqueued

    @rule(number=numbers, count=st.integers(1, 4))
    def advance(self, number, count):
        stream = self.streams[number]
        stream.twin.advance(min(count, len(stream.twin.queue)))

    @rule()
    def trim(self):
        before = self.device.twin.in_use
        assert before - self.device.trim() == self.device.twin.in_use

    @rule(budget=st.sampled_from([None, 0, 50, 200]))
    def limit(self, budget):
        self.device.budget = budget
        if budget is None:
            return
        info = self.device.memory_info()
        try:
            memory = self.device.allocate(40)
        except ep.OutOfMemoryError as error:
            assert error.requested == 40  # noqa: PT017 - what was asked for is a claim of its own
            assert info.in_use + 40 > budget or any(stream.twin.queue for stream in self.streams)
        else:
            assert self.device.memory_info().reserved <= max(budget, info.in_use)
            self.take(memory)
        self.device.budget = None

    @invariant()
    def figures_agree(self):
        if not hasattr(self, "device"):
            return
        info = self.device.memory_info()
        assert info.reserved == self.device.twin.in_use
        assert sum(memory.nbytes for memory, _ in self.open) <= info.in_use <= info.reserved
        assert info.in_use <= info.peak
        assert info.reserved <= 2 * info.peak
        assert info.hits + info.misses == self.asked

    def teardown(self):
        if not hasattr(self, "device"):
            return
        for stream in self.streams:
            stream.twin.advance()
        for memory, content in self.open:
            assert bytes(memory.handle[: memory.nbytes]) == content
            memory.close()
        self.device.synchronize()
        assert self.device.memory_info().in_use == 0
        self.device.trim()
        assert self.device.twin.in_use == 0
        freed = [id(handle) for handle in self.device.twin.freed]
        assert len(freed) == len(set(freed))
        assert set(self.uses) <= set(freed)


TestSequences = Sequences.TestCase
TestSequences.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
