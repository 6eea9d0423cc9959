"""Operations on sharded tensors give what they give on whole ones, by the signature that sends the fewest bytes."""

import itertools

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, ElementwiseUnary, Matmul, Reduce, Softmax
from ep_sharded import Broadcast, Layout, Partial, Split, chosen, launch
from many import legal, many, whole_numbers

import ep
from ep import Scalar, TensorSpec

B, P, S = Broadcast(), Partial("sum"), Split
A, C = TensorSpec("float32", (6, 5)), TensorSpec("float32", (5, 3))

OPERATIONS = {
    "relu": (lambda x: ElementwiseUnary.infer("relu", x), ["x"]),
    "elu": (lambda x: ElementwiseUnary.infer("elu", x, alpha=2.0), ["x"]),
    "negative": (lambda x: ElementwiseUnary.infer("negative", x), ["x"]),
    "add": (lambda a, b: BroadcastBinary.infer("add", a, b), ["a", "b"]),
    "mul": (lambda a, b: BroadcastBinary.infer("mul", a, b), ["a", "b"]),
    "max": (lambda a, b: BroadcastBinary.infer("max", a, b), ["a", "b"]),
    "matmul": (Matmul.infer, ["a", "b"]),
    "sum": (lambda x: Reduce.infer("sum", x, 0), ["x"]),
    "mean": (lambda x: Reduce.infer("mean", x, (0, 1), keepdims=True), ["x"]),
    "max_of": (lambda x: Reduce.infer("max", x, 1), ["x"]),
    "any": (lambda x: Reduce.infer("any", x, 1), ["x"]),
    "norm_2": (lambda x: Reduce.infer("norm_2", x, 1), ["x"]),
}

CALLS = [
    ("relu", [(4, 3)]),
    ("elu", [(5, 3)]),
    ("negative", [(3, 2)]),
    ("add", [(4, 3), (3,)]),
    ("add", [(4, 3), (4, 3)]),
    ("mul", [(4, 1), (4, 3)]),
    ("max", [(5, 2), (5, 2)]),
    ("matmul", [(5, 4), (4, 3)]),
    ("matmul", [(2, 4, 3), (3, 2)]),
    ("matmul", [(2, 1, 3, 2), (3, 2, 3)]),
    ("sum", [(5, 3)]),
    ("mean", [(4, 2)]),
    ("mean", [(5, 2)]),
    ("max_of", [(3, 5)]),
    ("any", [(3, 4)]),
    ("norm_2", [(3, 4)]),
]


def on_one(descriptor, given):
    """What the operation gives on whole tensors, on one device."""
    device = ep.device("cpu:0")
    stream, out = device.stream(), device.empty(descriptor.out)
    descriptor.on(device)(stream, **{name: device.tensor(each) for name, each in given.items()}, out=out)
    return out.numpy(stream)


def check(ranks, operation, shapes, sources, *, special=False):
    make, names = OPERATIONS[operation]
    given = {
        name: whole_numbers(shape, "float32", seed)
        for seed, (name, shape) in enumerate(zip(names, shapes, strict=True))
    }
    if special:
        for each in given.values():
            each.reshape(-1)[[0, 1, -1]] = [np.inf, np.nan, -np.inf]
    descriptor = make(*given.values())
    operands = [ranks.distribute(each, source) for each, source in zip(given.values(), sources, strict=True)]
    outs = ranks.each(
        lambda stream, *tensors: launch(stream, descriptor, **dict(zip(names, tensors, strict=True))), *operands
    )
    # A sum of whole numbers is exact in any order; a mean and a norm are rounded once a term.
    np.testing.assert_allclose(ranks.whole(outs), on_one(descriptor, given), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("number", "call"), [*enumerate(CALLS)])
def test_every_placement_over_one_dimension(number, call):
    operation, shapes = call
    with many(2 + 2 * (number % 2)) as made:
        candidates = [[(S(axis),) for axis in range(len(shape))] + [(B,), (P,)] for shape in shapes]
        for sources in itertools.product(*candidates):
            check(made, operation, shapes, sources)


@pytest.mark.parametrize(
    ("operation", "shapes"), [("relu", [(5, 3)]), ("sum", [(4, 3)]), ("mean", [(4, 2)]), ("max_of", [(3, 5)])]
)
def test_every_placement_over_two_dimensions(operation, shapes):
    with many(2, 2) as made:
        for source in legal([S(0), S(1), B, P], 2):
            check(made, operation, shapes, [source])


@pytest.mark.parametrize(("operation", "shapes"), [("matmul", [(5, 4), (4, 3)]), ("add", [(4, 3), (3,)])])
@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.thorough)])
def test_pairs_of_placements_over_two_dimensions(operation, shapes, every):
    candidates = [[*legal([*map(S, range(len(shape))), B, P], 2)] for shape in shapes]
    with many(2, 2) as made:
        for sources in itertools.islice(itertools.product(*candidates), 0, None, every):
            check(made, operation, shapes, sources)


@pytest.mark.parametrize(("operation", "shapes"), [call for call in CALLS if call[0] not in {"any", "elu"}])
def test_infinities_and_nan_stay_what_they_are(operation, shapes):
    """Whatever is split: zeros that stand for other ranks' parts are no factors."""
    with many(2) as made, np.errstate(invalid="ignore"):
        candidates = [[*map(S, range(len(shape))), B] for shape in shapes]
        for sources in itertools.product(*candidates):
            check(made, operation, shapes, [(each,) for each in sources], special=True)


def test_what_out_held_has_no_rule():
    with many(2) as made:
        (x, y), stream = (made.distribute(np.ones((2, 2), np.float32), [B])[0] for _ in "xy"), made.streams[0]
        with pytest.raises(ep.UnsupportedError, match="matmul: no rule takes placements through beta"):
            launch(stream, Matmul.infer(x.spec, y.spec), a=x, b=y, beta=1)


@pytest.mark.parametrize(
    ("descriptor", "sources", "out", "nbytes"),
    [
        (Matmul.infer(A, C), {"a": S(0), "b": B}, S(0), 0),
        (Matmul.infer(A, C), {"a": B, "b": S(1)}, S(1), 0),
        (Matmul.infer(A, C), {"a": S(1), "b": S(0)}, P, 0),
        (Matmul.infer(A, C), {"a": B, "b": B}, B, 0),
        (Matmul.infer(A, C), {"a": P, "b": B}, P, 0),
        (BroadcastBinary.infer("add", A, A), {"a": P, "b": P}, P, 0),
        (BroadcastBinary.infer("add", A, A), {"a": P, "b": S(1)}, P, 0),
        (BroadcastBinary.infer("mul", A, Scalar("float32")), {"a": P}, P, 0),
        (ElementwiseUnary.infer("negative", A), {"x": P}, P, 0),
        (ElementwiseUnary.infer("relu", A), {"x": P}, S(0), 3 * 5 * 4),  # a reduce_scatter, half of an all_reduce
        (Reduce.infer("sum", A, 1), {"x": S(1)}, P, 0),
        (Reduce.infer("max", A, 1), {"x": S(1)}, Partial("max"), 0),
        (Reduce.infer("mean", A, 0), {"x": S(0)}, Partial("mean"), 0),
        (Reduce.infer("mean", A, 1), {"x": S(1)}, P, 0),  # parts of 3 and 2: among zeros, whose mean is linear
        (Reduce.infer("norm_2", A, 1), {"x": S(1)}, S(0), 36),  # an all_to_all
        (Reduce.infer("sum", A, 1), {"x": S(0)}, S(0), 0),
    ],
)
def test_the_cheapest_signature_is_chosen(descriptor, sources, out, nbytes):
    specs = dict(zip(descriptor.operands, descriptor.specs, strict=True))
    layouts = {name: Layout(specs[name], (2,), (each,)) for name, each in sources.items()}
    choice = chosen(descriptor, (2,), layouts)
    assert choice.plans[-1][1].source.placements == (out,)
    assert choice.nbytes == nbytes


def test_the_outputs_placement_counts_where_it_is_asked_for():
    layouts = {"a": Layout(A, (2,), (S(1),)), "b": Layout(C, (2,), (S(0),))}
    choice = chosen(Matmul.infer(A, C), (2,), layouts, [B])
    assert str(choice).splitlines()[-1].startswith("  1. all_reduce over mesh dimension 0: [P(sum)] -> [B]")
    with many(2) as made:
        a, b = whole_numbers(A.shape, "float32"), whole_numbers(C.shape, "float32", 1)
        outs = made.each(
            lambda stream, a, b: launch(stream, Matmul.infer(a.spec, b.spec), a=a, b=b, placements=[B]),
            made.distribute(a, [S(1)]),
            made.distribute(b, [S(0)]),
        )
        for stream, out in zip(made.streams, outs, strict=True):
            np.testing.assert_array_equal(out.local.numpy(stream), a @ b)


def test_narrow_integers_do_not_wrap_in_parts():
    x = np.full((4, 3), 100, np.int8)
    with many(2) as made:
        whole = made.distribute(x, [P])
        outs = made.each(lambda stream, x: launch(stream, Reduce.infer("sum", x.spec, 0), x=x), whole)
        assert (made.whole(outs) == 400).all()
        found = made.each(
            lambda stream, x: launch(stream, BroadcastBinary.infer("mul", x.spec, Scalar("int8")), a=x, b=2), whole
        )
        assert (made.whole(found) == np.int8(-56)).all()
        assert found[0].placements == (P,)


def test_what_has_no_rule_says_so():
    layouts = {"x": Layout(A, (2,), (S(1),))}
    with pytest.raises(
        ep.UnsupportedError, match=r"softmax: no rule takes placements through it: x \[S\(1\)\]; convert"
    ):
        chosen(Softmax.infer(A), (2,), layouts)
    layouts = {"a": Layout(A, (2,), (B,)), "b": Layout(C, (2,), (B,))}
    bias = Matmul.infer(A, C, bias=TensorSpec("float32", (3,)))
    with pytest.raises(ep.UnsupportedError, match="through a bias or an activation; launch them after it"):
        chosen(bias, (2,), layouts)
    summed = Matmul(a=TensorSpec("float32", (2, 6, 5)), b=C, out=TensorSpec("float32", (6, 3)))
    with pytest.raises(ep.UnsupportedError, match="through a sum over batches"):
        chosen(summed, (2,), {"a": Layout(summed.a, (2,), (B,)), "b": layouts["b"]})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Partial("norm_2"), "op is 'norm_2', needs one of sum, prod, min, max, mean"),
        (lambda: Layout(A, (2,), (S(2),)), r"S\(2\) splits an axis that is not there; the tensor has 2 dimensions"),
        (
            lambda: Layout(A, (2, 2), (B,)),
            r"1 placements are given, needs 2, one for each dimension of the mesh \(2, 2\)",
        ),
        (lambda: Layout(A, (2,), ("B",)), "'B' is no placement; needs Split"),
        (lambda: Layout(A, (2, 2), (P, Partial("max"))), "max and sum do not commute"),
        (lambda: Layout(TensorSpec("int8", (2,)), (2,), (Partial("mean"),)), "all_reduce mean: x has dtype int8"),
        (lambda: Layout(TensorSpec("int8", (2, 2), (1, 2)), (2,), (B,)), "needs a TensorSpec of a dense tensor"),
        (lambda: S("0"), "Split: axis"),
        (lambda: Partial(np.array([1, 2])), r"op is array\(\[1, 2\]\), needs one of"),
        (lambda: Layout(A, (2,), B), r"Layout: Broadcast\(\) is no sequence of placements; give a tuple"),
        (lambda: Layout(A, (2,), itertools.repeat(B)), "17 placements are given, needs 1"),
        (lambda: Layout(A, 2, (B,)), "Layout: mesh: 2 is no sequence of extents"),
        (lambda: Layout(A, (0,), (S(0),)), r"Layout: mesh: extents are \(0,\), needs one or two above 0"),
    ],
)
def test_mistakes_in_layouts_are_named(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_mistakes_at_a_rank_are_named():
    from ep_sharded import Mesh, ShardedTensor, distribute

    with many(2) as made, many(2) as other:
        mesh, stream = made.meshes[0], made.streams[0]
        x = distribute(stream, mesh, np.ones((6, 5), np.float32), S(0))
        foreign = distribute(stream, other.meshes[0], np.ones((6, 5), np.float32), S(0))
        add = BroadcastBinary.infer("add", A, A)
        for make, words in [
            (
                lambda: Mesh(made.communicators[0], (3,)),
                r"extents are \(3,\), needs such whose product is 2",
            ),
            (lambda: Mesh(made.communicators[0], (1, 1, 2)), "needs one or two above 0"),
            (lambda: Mesh(made.communicators[0], 2), "Mesh: 2 is no sequence of extents"),
            (lambda: Mesh(made.communicators[0], itertools.count(1)), "needs one or two above 0"),
            (lambda: distribute(stream, None, np.ones(3), B), "distribute: mesh is None, needs a Mesh"),
            (lambda: distribute(stream, mesh, np.ma.array([1.0, 2.0], mask=[0, 1]), B), "distribute: array has a mask"),
            (lambda: distribute(stream, mesh, [1.0, 2.0], B), "distribute: array is list"),
            (lambda: launch(stream, "relu", x=x), "launch: descriptor is 'relu', needs one"),
            (lambda: ShardedTensor(mesh, A, S(0), x.local), r"Split\(axis=0\) is no sequence of placements"),
            (lambda: launch(stream, add, a=x, b=x, placements=B), "is no sequence of placements"),
            (lambda: Mesh(None), "communicator is None, needs a Communicator"),
            (
                lambda: ShardedTensor(mesh, A, [S(0)], mesh.device.empty(A)),
                r"needs a Tensor of .*\(3, 5\).* place \(0,\)",
            ),
            (lambda: x.to(stream, S(0), S(1)), "2 placements are given, needs 1"),
            (lambda: launch(stream, add, a=x, b=foreign), "the operands have 2 meshes, needs one"),
            (lambda: launch(stream, add, a=x), "sharded tensors are a, needs a, b"),
            (lambda: launch(stream, BroadcastBinary.infer("add", A, C.dense()), a=x, b=x), "broadcast"),
            (
                lambda: launch(stream, ElementwiseUnary.infer("relu", C), x=x),
                r"x is .*, and the descriptor has TensorSpec\('float32', \(5, 3\)\)",
            ),
        ]:
            with pytest.raises((TypeError, ValueError), match=words):
                make()
