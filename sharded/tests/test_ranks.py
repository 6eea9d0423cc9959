"""Ranks in threads of their own, and ranks that do not do the same."""

import threading

import numpy as np
import pytest
from ep_collectives import local_groups
from ep_primitives import ElementwiseUnary, Matmul
from ep_sharded import Broadcast, Mesh, Partial, Split, distribute, launch
from many import many, whole_numbers

import ep

B, S = Broadcast(), Split


def test_synchronous_streams_have_threads_of_their_own():
    a, b = whole_numbers((7, 5), "float32"), whole_numbers((5, 6), "float32", 1)
    found = {}

    def rank(group):
        device = ep.device("cpu:0")
        communicator = ep.communicator(device, group)
        mesh, stream = Mesh(communicator, (2, 2)), device.stream(synchronous=True)
        left, right = distribute(stream, mesh, a, S(0), S(1)), distribute(stream, mesh, b, B, S(0))
        product = launch(stream, Matmul.infer(left.spec, right.spec), a=left, b=right)
        assert product.placements == (S(0), Partial("sum"))
        clipped = launch(stream, ElementwiseUnary.infer("relu", product.spec), x=product)
        found[mesh.place] = clipped.to(stream, B, B).local.numpy(stream)
        mesh.close()
        communicator.close()

    threads = [threading.Thread(target=rank, args=(group,)) for group in local_groups(4, timeout=20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for each in found.values():
        np.testing.assert_array_equal(each, np.maximum(a @ b, 0))


def test_a_graph_replays_operations_and_conversions():
    a, b = whole_numbers((5, 4), "float32"), whole_numbers((4, 3), "float32", 1)
    with many(2, 2) as made:
        lefts, rights = made.distribute(a, [S(0), S(1)]), made.distribute(b, [B, S(0)])
        graphs, outs = [], []
        for stream, x, y in zip(made.streams, lefts, rights, strict=True):
            stream.synchronize()
            with stream.capture() as graph:
                product = launch(stream, Matmul.infer(x.spec, y.spec), a=x, b=y)
                outs.append(launch(stream, ElementwiseUnary.infer("relu", product.spec), x=product, placements=[B, B]))
            graphs.append(graph)
        for factor in (1, 3):
            for stream, x, graph in zip(made.streams, lefts, graphs, strict=True):
                part = (factor * a)[np.ix_(*x.layout.box(x.mesh.place))]
                stream.upload(x.local.memory, np.ascontiguousarray(part))
                graph.launch(stream)
            for stream, out in zip(made.streams, outs, strict=True):
                np.testing.assert_array_equal(out.local.numpy(stream), np.maximum(factor * a @ b, 0))


def test_ranks_that_convert_to_different_placements_are_told():
    with many(2) as made:
        first, second = made.distribute(np.ones((4, 4), np.float32), [S(0)])
        first.to(made.streams[0], B)
        second.to(made.streams[1], S(1))
        for stream in made.streams:
            with pytest.raises(
                ep.CommunicatorError, match=r"do not agree: all_gather of float32 x 16 .* and all_to_all"
            ):
                stream.synchronize(20)
