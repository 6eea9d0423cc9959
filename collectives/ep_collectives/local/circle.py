"""A Circle is what the ranks of one local communicator share: their meetings, and why the communicator is broken."""

from __future__ import annotations

import itertools
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from ep.locks import Latch

from ep_collectives.carrier.failure import Failure, Part, named

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ep.errors import CommunicatorError

    import ep
    from ep_collectives.local.bound import Bound
    from ep_collectives.local.kernel import LocalKernel

__all__ = ["Circle", "Meeting", "Post"]

_SLICE: Final = 0.02
"""Seconds between two looks at whether the communicator was broken, and at the clock."""


class Post(NamedTuple):
    """What a rank brings to a meeting.

    number   : of the collective at this rank, as errors name it
    memories : of its operands, in their order, and scratch
    bound    : of a step, None of another launch
    """

    rank: int
    number: int
    kernel: LocalKernel
    memories: tuple[ep.Memory, ...]
    bound: Bound | None = None

    @property
    def collective(self) -> ep.Collective:
        """The rank's part."""
        return self.kernel.collective

    @property
    def part(self) -> Part:
        """It, as errors name it."""
        return Part(self.rank, self.number, self.collective)

    def __str__(self) -> str:
        return str(self.part)


class Meeting:
    """One collective of `ranks`. Each comes with its Post, does its share when all are there, and leaves when all are done.

    pace    : changes whenever some rank gets on
    is_busy : True while the last to come does the shares of all: nobody leaves then
    is_done : True if it has done so: nobody has anything to do or to wait for any more
    """

    def __init__(self, ranks: tuple[int, ...]) -> None:
        self.ranks = ranks
        self.posts: dict[int, Post] = {}
        self.gone: dict[int, None] = {}
        self.all_here, self.all_gone = Latch(), Latch()
        self.pace = 0
        self.is_busy = self.is_done = False
        self._comings, self._goings = itertools.count(1), itertools.count(1)

    def come(self) -> bool:
        """Count a rank whose post is here, and looked at; say whether it is the last, which opens `all_here`."""
        return next(self._comings) == len(self.ranks)

    def go(self, rank: int) -> None:
        """Note that a rank touches nobody's memory any more. Once is enough."""
        if rank not in self.gone:
            self.gone[rank] = None
            if next(self._goings) == len(self.ranks):
                self.all_gone.open()


class Circle:
    """The meetings of `size` ranks, which may be threads, and the first failure, which ends all of them.

    timeout : seconds
    closed  : ranks that take part in nothing any more
    lost    : ranks that did not come when they should have
    """

    def __init__(self, size: int, timeout: float) -> None:
        self.size = size
        self.timeout = timeout
        self.closed: dict[int, None] = {}
        self.lost: dict[int, None] = {}
        self._lock = threading.Lock()
        self._failure: Failure | None = None
        self._meetings: dict[Hashable, Meeting] = {}
        self._places: dict[int, Post] = {}  # where each rank waits
        self._joined: dict[int, object] = {}
        self._parts: dict[tuple[tuple[int, ...], int], Circle] = {}

    def joins(self, rank: int) -> bool:
        """Note that a rank has joined, and say whether it is the first time."""
        me = object()
        return self._joined.setdefault(rank, me) is me

    def part(self, ranks: tuple[int, ...], count: int) -> Circle:
        """Return the circle of the count-th split of the same ranks."""
        return self._parts.setdefault((ranks, count), Circle(len(ranks), self.timeout))

    def error(self, rank: int, post: Post | None = None) -> CommunicatorError | None:
        """Return why the circle is broken, as an error of one rank; None while it is not."""
        failure = self._failure
        return None if failure is None else failure.error(rank, None if post is None else post.part)

    def fail(self, sentence: str, blamed: Sequence[int]) -> None:
        """Break the circle, unless it is broken already."""
        failure = Failure(sentence, tuple(blamed))
        with self._lock:
            if self._failure is None:
                self._failure = failure

    def come(self, key: Hashable, ranks: tuple[int, ...], post: Post) -> tuple[Meeting, bool]:
        """Bring a post to the meeting of a key; say whether it is the last. Waits for nobody."""
        meeting = self._meetings.get(key) or self._meetings.setdefault(key, Meeting(ranks))
        # Before it is compared: of two ranks that come at once one at least sees the other.
        meeting.posts[post.rank] = post
        for other in [*meeting.posts.values()]:
            if other.kernel.agreement != post.kernel.agreement:
                both = sorted((other, post))
                said = " and ".join(f"{each.kernel.agreement} as {each}" for each in both)
                self.fail(f"the ranks do not agree: {said}", [each.rank for each in both])
        return meeting, meeting.come()

    def begin_alone(self, meeting: Meeting) -> bool:
        """Let nobody leave a meeting that all have come to, and say whether none has left."""
        meeting.is_busy = True
        if self._failure is not None:
            meeting.is_busy = False
        return meeting.is_busy

    def gather(self, meeting: Meeting, post: Post) -> None:
        """Wait until all ranks of a meeting have come. Raises CommunicatorError."""
        if meeting.all_here.is_open:
            self.check(post)
            return
        end = time.monotonic() + self.timeout
        self._places[post.rank] = post
        try:
            while not meeting.all_here.is_open:
                error = self.error(post.rank, post)
                if error is not None and not meeting.is_busy:  # read in this order: `begin_alone` writes in the other
                    raise error
                missing = [rank for rank in meeting.ranks if rank not in meeting.posts]
                if left := [rank for rank in missing if rank in self.closed]:
                    self.fail(f"{named(left)} closed the communicator without coming to {post}", left)
                elif missing and time.monotonic() > end:
                    self._miss(post, missing)
                else:
                    meeting.all_here.rest(_SLICE)
            self.check(post)
        finally:
            self._places.pop(post.rank, None)

    def see_off(self, key: Hashable, meeting: Meeting, post: Post) -> None:
        """Wait until all have left a meeting, also if it failed: they may touch this rank's memory."""
        if meeting.is_done:
            self._meetings.pop(key, None)
            return
        pace, end = meeting.pace, time.monotonic() + self.timeout
        # Where a rank has not come, no rank has begun.
        while meeting.all_here.is_open and not meeting.all_gone.is_open and not meeting.is_done:
            if pace != meeting.pace:
                pace, end = meeting.pace, time.monotonic() + self.timeout
            if time.monotonic() > end:
                still = [rank for rank in meeting.ranks if rank not in meeting.gone]
                self.lost.update(dict.fromkeys(still))
                self.fail(f"{named(still)} did not get on in {post} for {self.timeout:g} s", still)
                break
            meeting.all_gone.rest(_SLICE)
        self._meetings.pop(key, None)

    def check(self, post: Post) -> None:
        """Raise the circle's error if it is broken."""
        failure = self._failure
        if failure is not None:
            raise failure.error(post.rank, post.part)

    def step(self, meeting: Meeting, post: Post) -> None:
        """Note that a rank gets on. Raises the circle's error if it is broken."""
        meeting.pace += 1
        self.check(post)

    def _miss(self, post: Post, missing: Sequence[int]) -> None:
        """Break the circle because of ranks that have not come to a meeting in time."""
        self.lost.update({rank: None for rank in missing if rank not in self._places})
        elsewhere = [f"; rank {rank} waits in {self._places[rank]}" for rank in missing if rank in self._places]
        self.fail(
            f"{named(missing)} did not come to {post} within {self.timeout:g} s{''.join(elsewhere)}",
            missing,
        )
