"""Every pair of placements: the conversion gives what the layout says, and is the cheapest."""

import itertools

import numpy as np
import pytest
from ep_sharded import Broadcast, Layout, Partial, Split, plan
from many import legal, many, whole_numbers

from ep import TensorSpec

B, P, S = Broadcast(), Partial("sum"), Split


def check(ranks, array, source, target):
    """Convert, and look at what each rank holds: its box, or terms whose reduction is that box."""
    converted = ranks.to(ranks.distribute(array, source), target)
    boxes = [tensor.layout.box(tensor.mesh.place) for tensor in converted]
    held = ranks.each(lambda stream, tensor: tensor.local.numpy(stream), converted)
    if not any(isinstance(each, Partial) for each in target):
        for box, part in zip(boxes, held, strict=True):
            np.testing.assert_array_equal(part, array[np.ix_(*box)], err_msg=f"{source} -> {target}")
    np.testing.assert_array_equal(ranks.whole(converted), array, err_msg=f"{source} -> {target}")


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(8, 4), (5, 3), (1, 0)])
def test_every_pair_over_one_dimension(ranks, shape):
    candidates = [S(0), S(1), B, *map(Partial, ("sum", "max", "prod", "mean") if ranks != 3 else ("sum", "min"))]
    array = whole_numbers(shape, "float32")
    with many(ranks) as made:
        for source, target in itertools.product(candidates, repeat=2):
            check(made, array, [source], [target])


@pytest.mark.parametrize(("mesh", "shape", "every"), [((2, 2), (5, 3), 1), ((2, 2), (4, 4), 3), ((2, 1), (2, 3), 5)])
def test_pairs_over_two_dimensions(mesh, shape, every):
    array = whole_numbers(shape, "int32")
    with many(*mesh) as made:
        pairs = itertools.product(legal([S(0), S(1), B, P], 2), repeat=2)
        for source, target in itertools.islice(pairs, 0, None, every):
            check(made, array, source, target)


@pytest.mark.thorough
@pytest.mark.parametrize(("mesh", "shape"), [((2, 3), (7, 5, 2)), ((3, 2), (2, 4, 3)), ((1, 4), (3, 3, 3))])
def test_every_pair_of_larger_tensors(mesh, shape):
    array = whole_numbers(shape, "float64")
    with many(*mesh) as made:
        for source, target in itertools.product(legal([S(0), S(1), S(2), B, P, Partial("max")], 2), repeat=2):
            check(made, array, source, target)


def test_numbers_without_dimensions_stay_so():
    number = np.array(3, np.float32)
    with many(2) as made:
        for source, target in itertools.product([B, P, Partial("max")], repeat=2):
            check(made, number, [source], [target])
            assert [tensor.local.spec.shape for tensor in made.distribute(number, [source])] == [(), ()]


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
def test_element_types_move_as_they_are(dtype):
    array = whole_numbers((3, 5), "int8").astype(dtype)
    with many(2) as made:
        for source, target in itertools.product([S(0), S(1), B], repeat=2):
            check(made, array, [source], [target])


def test_ranks_of_three_providers_hold_one_tensor():
    array = whole_numbers((7, 4), "float32")
    with many(3, names=["cpu:0", "opencl:0", "sim:0"]) as made:
        for source, target in itertools.permutations([S(0), S(1), B, P], 2):
            check(made, array, [source], [target])


@pytest.mark.parametrize(
    ("source", "target", "kind", "nbytes"),  # of 8 x 4 float32 over 4 ranks: 128 bytes, a part of 32
    [
        (S(0), B, "all_gather", 3 * 32),
        (S(0), S(1), "all_to_all", 3 * 8),
        (S(1), P, "embed", 0),
        (B, S(1), "slice", 0),
        (B, P, "keep", 0),
        (P, B, "all_reduce", 2 * 3 * 32),
        (P, S(0), "reduce_scatter", 3 * 32),
    ],
)
def test_a_pair_takes_one_step_of_known_bytes(source, target, kind, nbytes):
    spec = TensorSpec("float32", (8, 4))
    made = plan(Layout(spec, (4,), (source,)), Layout(spec, (4,), (target,)))
    assert [move.kind for move in made.moves] == [kind]
    assert made.nbytes == nbytes


def test_a_plan_takes_all_dimensions_at_once_where_that_is_one_collective_for_several():
    spec = TensorSpec("float32", (8, 8))
    made = plan(Layout(spec, (2, 2), (P, P)), Layout(spec, (2, 2), (B, B)))
    assert str(made) == (
        "float32 (8, 8) [P(sum), P(sum)] over 2 x 2 ranks -> [B, B]: 384 bytes\n"
        "  1. all_reduce over mesh dimension 0 and 1: [P(sum), P(sum)] -> [B, B], a rank sends 384 bytes"
    )


def test_an_axis_that_is_split_twice_is_never_changed_from_the_outside():
    spec = TensorSpec("float32", (8, 8))
    made = plan(Layout(spec, (2, 2), (S(0), S(0))), Layout(spec, (2, 2), (B, S(0))))
    for move in made.moves:
        outer, inner = move.before.placements
        assert move.dimensions != (0,) or inner not in {outer, move.after.placements[0]} or inner in {B, P}
    assert made.nbytes < 3 * 64  # all_gather of all, and a slice


def brute(source, target):
    """The fewest bytes over paths of up to three moves, by looking at all of them."""
    from ep_sharded.plan import _candidates, _moves

    candidates = _candidates(source, target)
    best, layer = {source: 0}, {source: 0}
    for _ in range(3):
        following = {}
        for layout, cost in layer.items():
            for move in _moves(layout, candidates):
                total = cost + move.nbytes
                if total < following.get(move.after, total + 1):
                    following[move.after] = total
        layer = following
        for layout, cost in layer.items():
            best[layout] = min(cost, best.get(layout, cost))
    return best[target]


def test_no_path_of_three_steps_sends_less():
    spec = TensorSpec("float32", (6, 5))
    layouts = [Layout(spec, (2, 2), each) for each in legal([S(0), S(1), B, P], 2)]
    for source, target in itertools.product(layouts, repeat=2):
        assert plan(source, target).nbytes <= brute(source, target)
