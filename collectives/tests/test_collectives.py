"""Every collective gives what its reference says, on ranks of one device and of several providers."""

import itertools

import numpy as np
import pytest
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
    Scatter,
    Send,
)
from ep_collectives.reference import results
from ep_primitives import REDUCE_OPS
from world import together, world

import ep
from ep import TensorSpec

SIZES = (0, 1, 7, 1025)
MANY = 100_003
"""So many elements, of 4 bytes, that each rank does a share of its own."""


def parts(kind, size, count, root=0):
    """Each rank's part of a collective of `count` elements."""
    part, whole = TensorSpec("float32", (count,)), TensorSpec("float32", (size * count,))
    at_root = [(part, whole) if rank == root else (None, None) for rank in range(size)]
    sends = [[count * ((rank + other) % 3) for other in range(size)] for rank in range(size)]
    receives = [list(column) for column in zip(*sends, strict=True)]
    made = {
        "all_reduce": lambda: [AllReduce("sum", x=part, out=part)] * size,
        "reduce_scatter": lambda: [ReduceScatter("max", x=whole, out=part)] * size,
        "reduce_scatter_in_place": lambda: [ReduceScatter("sum", x=whole)] * size,
        "reduce": lambda: [Reduce("prod", x=part, root=root, out=out) for out, _ in at_root],
        "all_gather": lambda: [AllGather(x=part, out=whole)] * size,
        "all_gather_in_place": lambda: [AllGather(out=whole)] * size,
        "broadcast": lambda: [Broadcast(x=part, root=root)] * size,
        "gather": lambda: [Gather(x=part, ranks=size, root=root, out=out) for _, out in at_root],
        "scatter": lambda: [Scatter(out=part, ranks=size, root=root, x=x) for _, x in at_root],
        "all_to_all": lambda: [AllToAll(x=whole, out=whole)] * size,
        "all_to_all_counted": lambda: [
            AllToAll(x=floats(sum(sent)), out=floats(sum(received)), sends=sent, receives=received)
            for sent, received in zip(sends, receives, strict=True)
        ],
    }
    return made[kind]()


def floats(count):
    return TensorSpec("float32", (count,))


KINDS = (
    "all_reduce",
    "reduce_scatter",
    "reduce_scatter_in_place",
    "reduce",
    "all_gather",
    "all_gather_in_place",
    "broadcast",
    "gather",
    "scatter",
    "all_to_all",
    "all_to_all_counted",
)


def arrays_of(collective, seed):
    rng = np.random.default_rng(seed)
    return {
        name: (rng.integers(-8, 8, spec.shape) / 4).astype(spec.dtype)
        for name, spec in zip(collective.operands, collective.specs, strict=True)
    }


def check(ranks, collectives):
    """Launch each rank's part, and compare all operands afterwards."""
    given = [arrays_of(collective, seed) for seed, collective in enumerate(collectives)]
    tensors = [
        {name: rank.device.tensor(array) for name, array in arrays.items()}
        for rank, arrays in zip(ranks, given, strict=True)
    ]
    for rank, collective, operands in zip(ranks, collectives, tensors, strict=True):
        rank.launch(collective, **operands)
    wanted = [arrays | written for arrays, written in zip(given, results(collectives, given), strict=True)]
    for rank, operands, arrays in zip(ranks, tensors, wanted, strict=True):
        for name, array in arrays.items():
            found = operands[name].numpy(rank.stream)
            np.testing.assert_array_equal(found.reshape(-1), array.reshape(-1), err_msg=f"{collectives[0]!r} {name}")


@pytest.mark.parametrize("size", [1, 3, 5])
def test_every_collective_gives_what_its_reference_says(size):
    with world(*["cpu:0"] * size) as ranks:
        for kind, count in itertools.product(KINDS, SIZES):
            check(ranks, parts(kind, size, count, root=size - 1))
        for kind in KINDS if size == 3 else ():
            check(ranks, parts(kind, size, MANY, root=0))


def test_ranks_of_three_providers_meet():
    with world("cpu:0", "opencl:0", "sim:0", timeout=60) as ranks:
        for kind in ("all_reduce", "reduce", "all_to_all_counted"):
            check(ranks, parts(kind, 3, MANY, root=1))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
def test_element_types_are_those_of_reduce(dtype):
    spec = TensorSpec(dtype, (67,))
    refused = set()
    with world(*["cpu:0"] * 4) as ranks:  # a quarter of a sum is exact
        for op in ("sum", "prod", "min", "max", "mean"):
            if dtype in REDUCE_OPS[op].outs and dtype in REDUCE_OPS[op].outs[dtype]:
                check(ranks, [AllReduce(op, x=spec, out=spec)] * 4)
            else:
                refused.add(op)
                with pytest.raises(ValueError, match=f"all_reduce {op}: x has dtype {dtype}, needs one of"):
                    AllReduce(op, x=spec, out=spec)
        check(ranks, [AllGather.infer(spec, 4)] * 4)
    lacking = {"bool": {"sum", "prod", "mean"}, "int8": {"mean"}, "uint64": {"mean"}, "complex64": {"min", "max"}}
    assert refused == lacking.get(dtype, set())


@pytest.mark.parametrize("count", [130, MANY])
def test_a_sum_has_the_order_of_the_ranks_whoever_comes_first(count):
    spec = floats(count)
    terms = [np.float32(1e8), np.float32(1), np.float32(-1e8), np.float32(1)]
    for order in itertools.islice(itertools.permutations(range(4)), 0, None, 5):
        with world(*["cpu:0"] * 4) as ranks:
            tensors = [ranks[rank].device.tensor(np.full(count, terms[rank])) for rank in range(4)]
            for rank in order:
                ranks[rank].launch(AllReduce("sum", x=spec, out=spec), x=tensors[rank], out=tensors[rank])
            for rank in range(4):
                assert (tensors[rank].numpy(ranks[rank].stream) == 1).all()  # ((1e8 + 1) - 1e8) + 1, in float32


def test_synchronous_streams_meet_in_threads_of_their_own():
    x = np.arange(5, dtype=np.float32)
    device = ep.device("cpu:0")
    with world("cpu:0", "cpu:0") as ranks:

        def part(rank):
            stream, tensor = device.stream(), device.tensor(x)
            AllReduce.infer("sum", tensor).on(rank.communicator)(stream, x=tensor, out=tensor)
            Barrier().on(rank.communicator)(stream)
            return tensor.numpy(stream)

        for found in together(*(lambda rank=rank: part(rank) for rank in ranks)):
            np.testing.assert_array_equal(found, 2 * x)


def test_a_ring_of_sends_and_receives_is_one_group():
    spec, size = TensorSpec("int32", (3,)), 4
    with world(*["cpu:0"] * size) as ranks:
        given = [rank.device.tensor(np.full(3, place, np.int32)) for place, rank in enumerate(ranks)]
        got = [rank.device.empty(spec) for rank in ranks]
        for place, rank in enumerate(ranks):
            with rank.communicator.group():
                rank.launch(Send(x=spec, to=(place + 1) % size), x=given[place])
                rank.launch(Recv(out=spec, source=(place - 1) % size), out=got[place])
        for place, rank in enumerate(ranks):
            assert (got[place].numpy(rank.stream) == (place - 1) % size).all()


def test_collectives_meet_in_the_order_of_their_launches_on_whatever_streams():
    """Two streams of each rank, of which the first stands still until the second is enqueued, at rank 1 the other way round."""
    spec = TensorSpec("float32", (2,))
    collective = AllReduce("sum", x=spec, out=spec)
    with world("cpu:0", "cpu:0") as ranks:
        tensors = []
        for place, rank in enumerate(ranks):
            streams = [rank.stream, rank.device.stream(synchronous=False)]
            streams[place].call(lambda: __import__("time").sleep(0.05))
            for number, stream in enumerate(streams, 1):
                tensors.append((number, stream, rank.device.tensor(np.full(2, number, np.float32))))
                collective.on(rank.communicator)(stream, x=tensors[-1][2], out=tensors[-1][2])
        for number, stream, tensor in tensors:
            assert (tensor.numpy(stream) == 2 * number).all()


def test_a_graph_holds_collectives_and_steps_run_them():
    spec = TensorSpec("float32", (9,))
    with world("cpu:0", "cpu:0") as ranks:
        tensors = [rank.device.tensor(np.ones(9, np.float32)) for rank in ranks]
        graphs = []
        for rank, tensor in zip(ranks, tensors, strict=True):
            step = AllReduce("sum", x=spec, out=spec).on(rank.communicator).bind(x=tensor, out=tensor)
            with rank.stream.capture() as graph:
                step(rank.stream)
                rank.launch(AllReduce("sum", x=spec, out=spec), x=tensor, out=tensor)
                Barrier().on(rank.communicator).bind()(rank.stream)
            graphs.append(graph)
        for _ in range(2):
            for rank, graph in zip(ranks, graphs, strict=True):
                graph.launch(rank.stream)
        for rank, tensor in zip(ranks, tensors, strict=True):
            assert (tensor.numpy(rank.stream) == 16).all()


def test_a_split_is_a_communicator_of_its_own():
    spec = TensorSpec("float32", (4,))
    with world(*["cpu:0"] * 3) as ranks:
        last, first = ranks[2].communicator.split([2, 0]), ranks[0].communicator.split([2, 0])
        assert (last.rank, last.size, first.rank) == (0, 2, 1)
        tensors = {rank: ranks[rank].device.tensor(np.full(4, rank, np.float32)) for rank in (0, 2)}
        for rank, communicator in ((0, first), (2, last)):
            AllReduce("sum", x=spec, out=spec).on(communicator)(ranks[rank].stream, x=tensors[rank], out=tensors[rank])
        for rank, tensor in tensors.items():
            assert (tensor.numpy(ranks[rank].stream) == 2).all()
        with pytest.raises(
            ValueError, match="split: ranks are \\(1, 2\\), needs different numbers from 0 to 2, 0 among them"
        ):
            ranks[0].communicator.split([1, 2])
        for no_order in (3, {0, 2}, "02", None):
            with pytest.raises(TypeError, match=r"split: .* is no sequence of ranks; give a tuple"):
                ranks[0].communicator.split(no_order)
        with pytest.raises(ValueError, match="needs different numbers from 0 to 2"):
            ranks[0].communicator.split(itertools.count())
    for counts in ({"sends": 2}, {"receives": {2, 1}}):
        with pytest.raises(TypeError, match=r"all_to_all: (sends|receives): .* is no sequence of counts; give a tuple"):
            AllToAll(x=spec, out=spec, **counts)


@pytest.mark.parametrize("op", ["max", "min"])
def test_largest_and_smallest_follow_reduce_for_nan_and_zeros_whoever_has_them(op):
    """Each rank has one element that decides, in place, so that a result in between must not be written over a term."""
    special = [np.float32(value) for value in ("nan", "-0.0", "inf", "-inf", "0.0")]
    rows = np.array([special[shift:] + special[:shift] for shift in range(4)], np.float32)
    rows = np.concatenate(
        [np.tile(rows, MANY // 5), [[-0.0, 2], [0.0, 1], [-0.0, 7], [-0.0, 3]]], axis=1, dtype=np.float32
    )
    needed = {"max": np.maximum, "min": np.minimum}[op].reduce(rows)
    needed[-2] = {"max": 0.0, "min": -0.0}[op]
    spec = TensorSpec("float32", rows.shape[1:])
    with world(*["cpu:0"] * 4) as ranks:
        tensors = [rank.device.tensor(row) for rank, row in zip(ranks, rows, strict=True)]
        for rank, tensor in zip(ranks, tensors, strict=True):
            rank.launch(AllReduce(op, x=spec, out=spec), x=tensor, out=tensor)
        for rank, tensor in zip(ranks, tensors, strict=True):
            found = tensor.numpy(rank.stream)
            np.testing.assert_array_equal(found, needed)
            assert np.signbit(found[-2]) == np.signbit(needed[-2])


def test_products_in_place_keep_every_term():
    spec, size = floats(MANY), 5
    with world(*["cpu:0"] * size) as ranks:
        rows = np.random.default_rng(0).choice(np.float32([0.5, 1, 2, -1]), (size, MANY))
        tensors = [rank.device.tensor(row) for rank, row in zip(ranks, rows, strict=True)]
        for rank, tensor in zip(ranks, tensors, strict=True):
            rank.launch(AllReduce("prod", x=spec, out=spec), x=tensor, out=tensor)
        for rank, tensor in zip(ranks, tensors, strict=True):
            np.testing.assert_array_equal(tensor.numpy(rank.stream), np.prod(rows, axis=0))


def test_steps_are_folded_with_the_memories_of_each_and_a_closed_one_gives_its_own_back():
    with world("cpu:0", "cpu:0") as ranks:
        device = ranks[0].device

        def bound(rank, values):
            x = device.tensor(np.asarray(values, np.float32))
            out = device.empty(x.spec)
            return AllReduce("sum", x=x.spec, out=out.spec).on(ranks[rank].communicator).bind(x=x, out=out), x, out

        def sums(*steps):
            for rank, (step, _, _) in zip(ranks, steps, strict=True):
                step(rank.stream)
            return [out.numpy(rank.stream).tolist() for rank, (_, _, out) in zip(ranks, steps, strict=True)]

        one, two = bound(0, [1] * 1000), bound(1, [2] * 1000)
        assert sums(one, two) == sums(one, two) == [[3] * 1000] * 2
        before = device.memory_info().in_use
        other = bound(1, [5] * 1000)
        assert sums(one, other) == sums(one, other) == [[6] * 1000] * 2
        assert sums(one, two) == [[3] * 1000] * 2
        sums(one, other)
        for each in other:
            each.close()
        del other, each
        assert device.memory_info().in_use == before
        assert sums(one, two) == [[3] * 1000] * 2
