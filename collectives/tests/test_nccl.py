"""NCCL's shape against a stand-in that writes down how it was called: order, counts, types, streams and groups."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cffi import FFI
from ep_collectives import (
    AllGather,
    AllReduce,
    AllToAll,
    Barrier,
    Broadcast,
    Gather,
    Recv,
    Reduce,
    ReduceScatter,
    Send,
    nccl_group,
    nccl_unique_id,
)

import ep
from ep import TensorSpec

SIZE, RANK = 4, 1
FLAVOURS = {"nccl": ("nccl", 128), "oneccl": ("oneccl", 4096)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The path of a stand-in for each flavour."""
    folder, source = tmp_path_factory.mktemp("standin"), Path(__file__).with_name("standin.c")
    paths = {}
    for flavour, (prefix, nbytes) in FLAVOURS.items():
        paths[flavour] = str(folder / f"{flavour}.so")
        names = [f"-DP(name)={prefix}##name", f"-DID_BYTES={nbytes}"]
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-Wall", "-Werror", *names, str(source), "-o", paths[flavour]], check=True
        )
    return paths


class World:
    """Rank 1 of 4 over a stand-in, on the CPU, whose streams pretend to be a driver's queues."""

    def __init__(self, flavour, path):
        self.device = ep.device("cpu:0")
        group = nccl_group(RANK, SIZE, nccl_unique_id(flavour=flavour, path=path), flavour=flavour, path=path)
        self.communicator = ep.communicator(self.device, group)
        self.stream = self.device.stream()
        self.memory = self.device.allocate(1 << 16)
        self.ffi = FFI()
        self.ffi.cdef(
            "void standin_begin(const void *); const char *standin_record(void); void standin_fail(int, int);"
        )
        self.standin = self.ffi.dlopen(path)
        self.begin()

    def begin(self):
        address = self.device.twin.address(self.memory.handle) + self.memory.offset
        self.standin.standin_begin(self.ffi.cast("void *", address))

    def launch(self, collective, *begins, stream=None):
        parts = [self.memory[at : at + spec.nbytes] for at, spec in zip(begins, collective.specs, strict=True)]
        operands = dict(zip(collective.operands, parts, strict=True))
        collective.on(self.communicator)(stream or self.stream, **operands)

    def calls(self):
        """What was called since the last question, each handle of a communicator counted from the first."""
        lines = self.ffi.string(self.standin.standin_record()).decode().splitlines()
        self.begin()
        return [re.sub(r" on \d+", "", line) for line in lines]


@pytest.fixture(params=FLAVOURS)
def world(request, built, monkeypatch):
    kind = type(ep.device("cpu:0").stream().twin)
    monkeypatch.setattr(kind, "dlpack_stream", lambda self: 0x51 + (self.ledger.name.endswith("beside")), raising=False)
    made = World(request.param, built[request.param])
    yield made
    made.communicator.close()


def spec(dtype, count):
    return TensorSpec(dtype, (count,))


F4, F16 = spec("float32", 4), spec("float32", 16)
SENDS, RECEIVES = [1, 2, 0, 3], [4, 2, 1, 0]


@pytest.mark.parametrize(
    ("collective", "begins", "calls"),
    [
        (AllReduce("sum", x=F4, out=F4), (0, 64), ["AllReduce 0 64 x4 type 7 op 0 at 51"]),
        (AllReduce("mean", x=F4, out=F4), (64, 64), ["AllReduce 64 64 x4 type 7 op 4 at 51"]),
        (
            AllReduce("max", x=spec("bfloat16", 3), out=spec("bfloat16", 3)),
            (0, 64),
            ["AllReduce 0 64 x3 type 9 op 2 at 51"],
        ),
        (
            AllReduce("sum", x=spec("complex64", 3), out=spec("complex64", 3)),
            (0, 64),
            ["AllReduce 0 64 x6 type 7 op 0 at 51"],
        ),
        (AllReduce("prod", x=spec("int64", 0), out=spec("int64", 0)), (0, 0), ["AllReduce -1 -1 x0 type 4 op 1 at 51"]),
        (Reduce("min", x=F4, root=1, out=F4), (0, 64), ["Reduce 0 64 x4 type 7 op 3 root 1 at 51"]),
        (Reduce("min", x=F4, root=2), (0,), ["Reduce 0 -1 x4 type 7 op 3 root 2 at 51"]),
        (ReduceScatter("sum", x=F16, out=F4), (0, 64), ["ReduceScatter 0 64 x4 type 7 op 0 at 51"]),
        (ReduceScatter("sum", x=F16), (0,), ["ReduceScatter 0 16 x4 type 7 op 0 at 51"]),
        (ReduceScatter("sum", x=spec("complex128", 8)), (0,), ["ReduceScatter 0 32 x4 type 8 op 0 at 51"]),
        (AllGather(x=F4, out=F16), (0, 64), ["AllGather 0 64 x16 type 1 at 51"]),
        (AllGather(out=F16), (64,), ["AllGather 80 64 x16 type 1 at 51"]),
        (Broadcast(x=spec("bool", 5), root=3), (8,), ["Broadcast 8 8 x5 type 1 root 3 at 51"]),
        (Send(x=F4, to=2), (0,), ["Send 0 x16 type 1 to 2 at 51"]),
        (Recv(out=F4, source=0), (64,), ["Recv 64 x16 type 1 from 0 at 51"]),
        (Gather(x=F4, ranks=4, root=2), (0,), ["GroupStart", "Send 0 x16 type 1 to 2 at 51", "GroupEnd"]),
        (
            AllToAll(x=spec("float32", 6), out=spec("float32", 7), sends=SENDS, receives=RECEIVES),
            (0, 64),
            [
                "GroupStart",
                "Send 0 x4 type 1 to 0 at 51",
                "Send 12 x12 type 1 to 3 at 51",
                "Recv 64 x16 type 1 from 0 at 51",
                "Recv 88 x4 type 1 from 2 at 51",
                "GroupEnd",
            ],
        ),
    ],
)  # fmt: skip - a call a line
def test_each_collective_is_the_call_that_it_should_be(world, collective, begins, calls):
    world.launch(collective, *begins)
    first, *found = world.calls()
    assert first == "CommInitRank 1 of 4, id 7 7"
    assert found == calls


def test_an_exchange_copies_its_own_part(world):
    x = np.arange(6, dtype=np.float32)
    world.stream.upload(world.memory[:24], x)
    world.launch(AllToAll(x=spec("float32", 6), out=spec("float32", 7), sends=SENDS, receives=RECEIVES), 0, 64)
    np.testing.assert_array_equal(np.frombuffer(world.memory.host()[80:88], np.float32), x[1:3])


def test_a_barrier_reduces_a_byte(world):
    world.launch(Barrier())
    assert re.fullmatch(r"AllReduce (-?\d+) \1 x1 type 1 op 2 at 51", world.calls()[1])


def test_a_group_over_two_streams_is_one_group(world):
    beside = world.device.stream()
    beside.twin.ledger.name = "beside"
    with world.communicator.group():
        world.launch(Send(x=F4, to=2), 0)
        world.launch(Recv(out=F4, source=0), 64, stream=beside)
        world.launch(Broadcast(x=F4, root=0), 128)
        assert world.calls() == []
    assert world.calls()[1:] == [
        "GroupStart",
        "Send 0 x16 type 1 to 2 at 51",
        "Broadcast 128 128 x16 type 1 root 0 at 51",
        "Recv 64 x16 type 1 from 0 at 52",
        "GroupEnd",
    ]


def test_splits_leave_out_ranks_without_their_help(world):
    whole = world.communicator.split([3, 1, 0, 2])
    part = world.communicator.split([1, 2])
    assert (whole.rank, part.rank, part.size) == (1, 0, 2)
    for communicator in (whole, part):
        Broadcast(x=F4, root=0).on(communicator)(world.stream, x=world.memory[:16])
        communicator.close()
    found = [re.sub(r"(Split|Shrink|Destroy) \d+", r"\1", line) for line in world.calls()]
    call = "Broadcast 0 0 x16 type 1 root 0 at 51"
    assert found[1:] == [
        "CommSplit color 0 key 1",
        call,
        "CommDestroy",
        "CommShrink without 0 3 flags 0",
        call,
        "CommDestroy",
    ]  # fmt: skip - a line is a step
    with pytest.raises(ep.UnsupportedError, match="needs ascending ones"):
        world.communicator.split([2, 1])


def test_errors_break_the_communicator_and_name_the_collective(world):
    world.standin.standin_fail(2, 0)
    with pytest.raises(
        ep.CommunicatorError, match=r"all_reduce sum, number 1 of rank 1: unhandled system error .*AllReduce -> 2"
    ):
        world.launch(AllReduce("sum", x=F4, out=F4), 0, 64)
    with pytest.raises(ep.CommunicatorError, match="the communicator is broken"):
        world.launch(AllReduce("sum", x=F4, out=F4), 0, 64)


def test_errors_that_come_later_are_seen(world):
    world.launch(AllReduce("sum", x=F4, out=F4), 0, 64)
    assert world.communicator.error is None
    world.standin.standin_fail(0, 2)
    assert "says: unhandled system error" in str(world.communicator.error)


def test_an_abort_is_the_librarys(world):
    world.launch(AllReduce("sum", x=F4, out=F4), 0, 64)
    world.communicator.abort("enough")
    assert world.calls()[-1].startswith("CommAbort")
    assert "rank 1 aborted: enough" in str(world.communicator.error)


def test_what_the_library_does_not_reduce_is_said(world):
    with pytest.raises(ep.UnsupportedError, match="does not reduce int16; cast it, or take another carrier"):
        AllReduce("sum", x=spec("int16", 2), out=spec("int16", 2)).on(world.communicator)
    with pytest.raises(ep.UnsupportedError, match="does not reduce complex64"):
        AllReduce("prod", x=spec("complex64", 2), out=spec("complex64", 2)).on(world.communicator)


def test_a_stream_without_a_queue_of_a_driver_is_refused(built):
    world = World("nccl", built["nccl"])
    with pytest.raises(ep.UnsupportedError, match="is no queue of a driver, which nccl needs"):
        world.launch(AllReduce("sum", x=F4, out=F4), 0, 64)


def test_on_cuda_the_calls_are_on_its_own_streams(built):
    """On the emulated driver, which has streams as a GPU's has."""
    program = Path(__file__).parent / "programs" / "on_cuda.py"
    emulator = Path(sys.executable).with_name("ep-cuda-emulator")
    command = [emulator, "run", "--", sys.executable, program, built["nccl"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: nccl_unique_id(path="/nowhere/libnccl.so"),
            ep.UnavailableError,
            "cannot be loaded .*; install it, or give its path",
        ),
        (lambda: nccl_unique_id(flavour="mpi"), ValueError, "library is 'mpi', needs one of nccl, rccl, oneccl"),
        (lambda: nccl_group(2, 2, b""), ValueError, "rank is 2, needs one from 0 to 1"),
    ],
)
def test_mistakes_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()
