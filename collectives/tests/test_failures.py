"""Whatever goes wrong at one rank, every rank gets an error that names rank, collective and number, and nothing hangs."""

import random
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
from ep_collectives import AllReduce, AllToAll, Barrier, Broadcast, Gather, Recv, Reduce, Send, local_groups
from world import error_of, together, world

import ep
from ep import TensorSpec

SPEC = TensorSpec("float32", (64,))
SUM = AllReduce("sum", x=SPEC, out=SPEC)
MANY = TensorSpec("float32", (1 << 20,))  # so many that each rank does a share
SUM_OF_MANY = AllReduce("sum", x=MANY, out=MANY)


def launched(rank, collective=SUM):
    """Launch a collective over new memories."""
    memories = {
        name: rank.device.allocate(spec.nbytes)
        for name, spec in zip(collective.operands, collective.specs, strict=True)
    }
    if collective.family == "all_reduce":
        memories["x"] = memories["out"]
    rank.launch(collective, **memories)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (AllReduce("max", x=SPEC, out=SPEC), "all_reduce max of float32 x 64"),
        (AllReduce("sum", x=TensorSpec("float32", (63,)), out=TensorSpec("float32", (63,))), "float32 x 63"),
        (AllReduce("sum", x=TensorSpec("int32", (64,)), out=TensorSpec("int32", (64,))), "int32 x 64"),
        (Broadcast(x=SPEC, root=0), "broadcast of float32 x 64 from root 0"),
    ],
)
def test_ranks_that_launch_different_things_are_all_told(other, words):
    with world(*["cpu:0"] * 3) as ranks:
        launched(ranks[0])
        launched(ranks[2])
        launched(ranks[1], other)
        errors = [error_of(rank) for rank in ranks]
        for number, error in enumerate(errors):
            assert type(error) is ep.CommunicatorError
            assert (error.rank, error.sequence) == (number, 1)
            assert 1 in error.blamed
            assert "the ranks do not agree" in str(error)
            assert words in str(error)
            assert "all_reduce sum of float32 x 64 as all_reduce sum, number 1 of rank" in str(error)
            assert ranks[number].communicator.living == (0, 1, 2)


def test_counts_that_do_not_fit_are_named():
    two, three = TensorSpec("float32", (2,)), TensorSpec("float32", (3,))
    with world("cpu:0", "cpu:0") as ranks:
        launched(ranks[0], AllToAll(x=two, sends=[0, 2], receives=[0, 0]))
        launched(ranks[1], AllToAll(out=three, sends=[0, 0], receives=[3, 0]))
        for error in map(error_of, ranks):
            assert "rank 0 sends 2 elements to rank 1, which takes 3" in str(error)


def test_a_rank_that_never_comes_is_named_after_the_timeout():
    with world(*["cpu:0"] * 3, timeout=0.2) as ranks:
        begin = time.monotonic()
        launched(ranks[0])
        launched(ranks[2], Recv(out=SPEC, source=0))
        errors = [error_of(ranks[0]), error_of(ranks[2])]
        assert time.monotonic() - begin < 5
        assert all(type(error) is ep.CommunicatorError for error in errors)
        assert "within 0.2 s" in str(errors[0])
        assert errors[0].blamed
        assert "rank 1" in str(errors[0]) or "rank 0" in str(errors[0])
        with pytest.raises(ep.CommunicatorError, match=r"communicator of rank 1: .*the communicator is broken"):
            launched(ranks[1])  # it comes at last, and is told
        assert ranks[1].communicator.error.blamed == errors[0].blamed


def test_the_living_go_on_in_a_split():
    with world(*["cpu:0"] * 3, timeout=0.2) as ranks:
        launched(ranks[0])
        launched(ranks[2])
        assert [error_of(ranks[0]).blamed, error_of(ranks[2]).blamed] == [(1,), (1,)]
        tensors = [rank.device.tensor(np.ones(64, np.float32)) for rank in ranks]
        for number in (0, 2):
            communicator = ranks[number].communicator
            assert communicator.living == (0, 2)
            SUM.on(communicator.split(communicator.living))(
                ranks[number].stream, x=tensors[number], out=tensors[number]
            )
        for number in (0, 2):
            assert (tensors[number].numpy(ranks[number].stream) == 2).all()


def test_abort_ends_what_waits():
    with world("cpu:0", "cpu:0", timeout=60) as ranks:
        launched(ranks[0])
        time.sleep(0.05)
        ranks[1].communicator.abort("the loss is NaN")
        error = error_of(ranks[0])
        assert (error.rank, error.collective, error.sequence, error.blamed) == (0, "all_reduce sum", 1, (1,))
        assert "rank 1 aborted: the loss is NaN" in str(error)
        assert all(rank.communicator.error.blamed == (1,) for rank in ranks)


def test_a_rank_that_closes_is_not_waited_for():
    with world("cpu:0", "cpu:0", timeout=60) as ranks:
        launched(ranks[0])
        launched(ranks[1])
        launched(ranks[0])
        ranks[1].communicator.close()  # after one collective, under way perhaps, which is done
        error = error_of(ranks[0])
        assert "rank 1 closed the communicator without coming to all_reduce sum, number 2 of rank 0" in str(error)
        with pytest.raises(ep.ClosedError, match=r"communicator\.on: <Communicator: rank 1 of 2 on cpu:0> was closed"):
            launched(ranks[1])


def test_a_share_that_fails_is_raised_where_it_failed_and_told_to_the_others(monkeypatch):
    from ep_collectives.local import work

    right = work.Folding._piece

    def fail(self, *given, **named):
        if self._rank == 1:
            message = "the adder is on fire"
            raise ep.DeviceError(message)
        return right(self, *given, **named)

    monkeypatch.setattr(work.Folding, "_piece", fail)
    with world("cpu:0", "cpu:0") as ranks:
        for rank in ranks:
            launched(rank, SUM_OF_MANY)
        assert type(error_of(ranks[1])) is ep.DeviceError
        assert "all_reduce sum, number 1 of rank 1 failed: DeviceError: the adder is on fire" in str(error_of(ranks[0]))


def test_interruption_is_named_without_a_reason_that_it_does_not_give(monkeypatch):
    from ep_collectives.local import work

    right = work.Folding._piece

    def interrupt(self, *given, **named):
        if self._rank == 1:
            raise KeyboardInterrupt
        return right(self, *given, **named)

    monkeypatch.setattr(work.Folding, "_piece", interrupt)
    with world("cpu:0", "cpu:0") as ranks:
        for rank in ranks:
            launched(rank, SUM_OF_MANY)
        assert "number 1 of rank 1 failed: KeyboardInterrupt; the communicator" in str(error_of(ranks[0]))
        with pytest.raises(KeyboardInterrupt):
            ranks[1].stream.synchronize()


def test_work_of_a_device_that_fails_late_breaks_the_communicator():
    with world("sim:0", "sim:1", timeout=30) as ranks:
        launched(ranks[0], SUM_OF_MANY)
        ranks[1].device.twin.inject(ep.spi.Fault(ep.spi.FaultKind.KERNEL))
        launched(ranks[1], SUM_OF_MANY)
        assert "all_reduce sum, number 1 of rank 1 failed: DeviceError" in str(error_of(ranks[0]))
        assert type(error_of(ranks[1])) is ep.DeviceError


def test_a_group_inside_a_group_is_refused():
    with (
        world("cpu:0") as (rank,),
        rank.communicator.group(),
        pytest.raises(ValueError, match="has a group open already"),
        rank.communicator.group(),
    ):
        pass


@pytest.mark.parametrize("place", ["begin", "end"])
def test_ctrl_c_at_the_edge_of_a_group_holds_nothing_back(monkeypatch, place):
    with world("cpu:0", "cpu:0", timeout=30) as ranks:
        twin = ranks[0].communicator.twin
        begin = twin.begin

        def interrupted():
            monkeypatch.undo()
            if place == "begin":
                begin()
            raise KeyboardInterrupt

        monkeypatch.setattr(twin, place, interrupted)
        with pytest.raises(KeyboardInterrupt), ranks[0].communicator.group():
            launched(ranks[0])
        if place == "begin":
            launched(ranks[0])
        launched(ranks[1])
        for rank in ranks:
            rank.stream.synchronize()
        with ranks[0].communicator.group():
            pass


def test_stream_that_does_not_take_its_part_of_a_group_breaks_the_communicator():
    with world("cpu:0", "cpu:0", timeout=30) as ranks:
        launched(ranks[1])
        first, extra = ranks[0], ranks[0].device.stream()
        memory = first.device.allocate(SPEC.nbytes)
        with pytest.raises(ep.ClosedError, match="was closed"), first.communicator.group():  # noqa: PT012 - the group's end raises
            Send(x=SPEC, to=1).on(first.communicator)(extra, x=memory)
            launched(first)
            extra.close()
        for rank in ranks:
            assert "did not take its part of a group: group: " in str(error_of(rank))
        assert first.communicator.twin.is_idle


def test_errors_reach_streams_of_drivers():
    with world("sim:0", "opencl:0", timeout=30) as ranks:
        launched(ranks[0])
        launched(ranks[1], AllReduce("max", x=SPEC, out=SPEC))
        assert all(type(error) is ep.CommunicatorError for error in map(error_of, ranks))


def until_the_end(group, victim, way, when):
    """Go through collectives, and leave at number `when` if the rank is the victim. Return the error that ended it."""
    device = ep.device("cpu:0")
    communicator, stream = ep.communicator(device, group), device.stream()
    tensor = device.tensor(np.ones(64, np.float32))
    try:
        for number in range(1, 8):
            if group.rank == victim and number == when:
                if way == "close":
                    break
                if way == "abort":
                    communicator.abort()
                else:
                    Barrier().on(communicator)(stream)
            SUM.on(communicator)(stream, x=tensor, out=tensor)
    except ep.CommunicatorError as error:
        return error
    finally:
        communicator.close()
    return None


@pytest.mark.parametrize("times", [10, pytest.param(500, marks=pytest.mark.thorough)])
def test_ranks_that_end_at_random_moments_leave_nobody_waiting(times):
    """Threads of three ranks go through collectives until one of them leaves, in one of several ways, at a random moment."""
    rng = random.Random(0)
    for _ in range(times):
        victim, way, when = rng.randrange(3), rng.choice(["close", "abort", "other"]), rng.randrange(1, 6)
        groups = local_groups(3, timeout=20)

        begin = time.monotonic()
        results = together(*(partial(until_the_end, group, victim, way, when) for group in groups))
        assert time.monotonic() - begin < 10
        for rank, error in enumerate(results):
            if rank != victim or way != "close":
                assert type(error) is ep.CommunicatorError, (results, victim, way)
                assert error.rank == rank
                assert victim in error.blamed


def test_a_process_ends_although_a_rank_waits():
    code = """
import ep
from ep_collectives import Barrier, local_groups
device = ep.device("cpu:0")
group, _ = local_groups(2, timeout=0.5)
communicator, stream = ep.communicator(device, group), device.stream(synchronous=False)
Barrier().on(communicator)(stream)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert "rank 1 did not come to barrier, number 1 of rank 0 within 0.5 s" in done.stderr


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: local_groups(0), "size is 0, needs at least 1 rank"),
        (lambda: local_groups(2, timeout=0), "timeout is 0, needs a finite number of seconds above 0"),
        (lambda: ep.communicator(ep.device("cpu:0"), 2), "group is 2, needs a group of a carrier"),
        (lambda: ep.communicator("cpu:0", local_groups(1)[0]), "device is 'cpu:0', needs a Device"),
        (lambda: SUM.on(ep.device("cpu:0")), "all_reduce.on: communicator is .*, needs a Communicator"),
        (lambda: AllReduce("mean", x=TensorSpec("int8", (2,)), out=TensorSpec("int8", (2,))), "x has dtype int8"),
        (lambda: AllReduce("norm_2", x=SPEC, out=SPEC), "op 'norm_2' is not one of its ops"),
        (lambda: Broadcast(x=TensorSpec("int8", (2, 2), (1, 2)), root=0), "needs a dense tensor; make one with Copy"),
        (lambda: AllToAll(x=SPEC, sends=[1, 1], receives=[0, 0]), "sends are 2 elements in all, and x has 64"),
        (lambda: Send(x=SPEC, to=-1), "to is -1, needs a number from 0 on"),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


@pytest.mark.parametrize(
    ("collective", "words"),
    [
        (
            Reduce("sum", x=SPEC, root=1, out=SPEC),
            "rank 0 has an out, and the root is 1; describe out at the root alone",
        ),
        (Gather(x=SPEC, ranks=3, root=1), "ranks is 3, and the communicator has 2"),
        (Broadcast(x=SPEC, root=2), "root is 2, needs a rank from 0 to 1"),
        (Send(x=SPEC, to=0), "that is this rank itself; use stream.copy"),
        (AllToAll(x=TensorSpec("int8", (3,)), out=TensorSpec("int8", (3,))), "x has 3 elements, needs 1 x 2 = 2"),
    ],
)
def test_what_makes_no_sense_at_a_rank_is_named(collective, words):
    with world("cpu:0", "cpu:0") as ranks, pytest.raises(ValueError, match=words):
        collective.on(ranks[0].communicator)


def test_a_rank_joins_once():
    group = local_groups(1)[0]
    ep.communicator(ep.device("cpu:0"), group)
    with pytest.raises(ValueError, match="rank 0 of this group has joined already"):
        ep.communicator(ep.device("cpu:0"), group)
