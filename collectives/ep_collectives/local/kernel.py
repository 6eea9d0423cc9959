"""The kernel of a collective: a rank meets the others, and does its share."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from ep.errors import CommunicatorError
from ep.ground import words

from ep_collectives.carrier.launch import CarriedKernel
from ep_collectives.local.bound import Bound
from ep_collectives.local.circle import Post
from ep_collectives.local.share import Disagreement, fold_of
from ep_collectives.local.transport import Transport
from ep_collectives.local.work import Folding, pull

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import ep
    from ep_collectives.carrier.launch import Task
    from ep_collectives.local.circle import Meeting
    from ep_collectives.local.communicator import LocalCommunicator

__all__ = ["LocalKernel", "perform"]

LITTLE: Final = 1 << 20
"""Bytes of all ranks' operands up to which the last rank to come does the shares of all: waking a thread takes 20 to 50 us."""


class Layout(NamedTuple):
    """Where the elements of an operand lie.

    number : of the operand's memory
    lo     : of its spec, in elements
    """

    number: int
    lo: int
    itemsize: int


class LocalKernel(CarriedKernel):
    """One rank's part in one collective.

    layout : by operand, where its elements lie
    nbytes : of its operands and scratch
    """

    folding_type: ClassVar[type[Folding]] = Folding

    def __init__(self, collective: ep.Collective, communicator: LocalCommunicator) -> None:
        super().__init__(collective, communicator)
        self.agreement = collective.agreement
        self._folding = None
        if fold_of(collective, communicator.rank, communicator.size) is not None:
            rank, size = communicator.rank, communicator.size
            self._folding = self.folding_type(collective, rank, size, communicator.device)
            self.scratch_nbytes = self._folding.nbytes
        operands = enumerate(zip(collective.operands, collective.specs, strict=True))
        self.layout = {name: Layout(number, spec.lo, spec.itemsize) for number, (name, spec) in operands}
        self.nbytes = sum([spec.nbytes for spec in collective.specs]) + self.scratch_nbytes

    def bound(self, memories: tuple[ep.Memory, ...]) -> Bound:
        del memories
        return Bound()

    def work(self, meeting: Meeting, post: Post, lane: ep.spi.Stream) -> None:
        """Do this rank's share. Raises CommunicatorError if the communicator was broken meanwhile."""
        if self._folding is not None and self._folding.is_empty:
            return
        communicator = self.communicator
        transport = Transport(communicator.device, lane, communicator.streams)
        step = partial(communicator.circle.step, meeting, post)
        try:
            if self._folding is None:
                pull(post.rank, meeting.posts, transport, step)
            else:
                self._folding.do(meeting.posts, transport, post.memories[-1], step)
        finally:
            try:
                transport.settle()
            finally:
                transport.close()


def perform(tasks: Sequence[Task], lane: ep.spi.Stream) -> None:
    """Do collectives of one rank on a stream: come to all of their meetings first, then do one share after the other.

    Raises CommunicatorError, or the error that this rank's share failed with, which breaks the communicator.
    """
    come: list[tuple[Hashable, Meeting, Post]] = []
    try:
        for turn, kernel, memories, bound in tasks:
            post = Post(kernel.communicator.rank, turn.number, kernel, memories, bound)
            meeting, is_last = kernel.communicator.circle.come(turn.key, turn.ranks, post)
            come.append((turn.key, meeting, post))
            if is_last:
                _open(meeting, post, lane)
        for _, meeting, post in come:
            if not meeting.is_done:
                _take_part(meeting, post, lane)
    finally:
        for _, meeting, post in come:  # before it waits for any: others' last shares may be of these
            if not meeting.is_done:
                meeting.go(post.rank)
        for key, meeting, post in come:
            post.kernel.communicator.circle.see_off(key, meeting, post)
            post.kernel.communicator.finished(key)
    for _, _, post in come:
        post.kernel.communicator.circle.check(post)


def _take_part(meeting: Meeting, post: Post, lane: ep.spi.Stream) -> None:
    """Wait for the others, and do a share, unless the last to come does it."""
    try:
        post.kernel.communicator.circle.gather(meeting, post)
        if not meeting.is_done:
            post.kernel.work(meeting, post, lane)
    except BaseException as error:
        _tell(post, error)
        raise
    meeting.go(post.rank)


def _open(meeting: Meeting, post: Post, lane: ep.spi.Stream) -> None:
    """Let all ranks begin. Where there is little to do, do it all: so the others wake up once, and not twice."""
    device = post.kernel.communicator.device
    is_here, nbytes = True, 0
    for each in meeting.posts.values():
        nbytes += each.kernel.nbytes
        is_here &= each.kernel.communicator.device is device
    try:
        if is_here and nbytes <= LITTLE and post.kernel.communicator.circle.begin_alone(meeting):
            for each in [*meeting.posts.values()]:
                each.kernel.work(meeting, each, lane)
            meeting.is_done = True
    except BaseException as error:
        _tell(post, error)
        raise
    finally:
        meeting.all_here.open()


def _tell(post: Post, error: BaseException) -> None:
    """Break the circle because of what a rank's share raised. Raises CommunicatorError where ranks do not fit together."""
    circle = post.kernel.communicator.circle
    if isinstance(error, Disagreement):
        circle.fail(error.sentence, error.blamed)
        circle.check(post)
    elif not isinstance(error, CommunicatorError):
        circle.fail(f"{post} failed: {words.said(error)}", [post.rank])
