"""The counter of situations: what is impossible is what no situation has, and what no case has is missing."""

import random
from itertools import combinations, product

import pytest
from click.testing import CliRunner
from ep_conformance.commands.coverage import command
from ep_conformance.coverage.count import count
from ep_conformance.coverage.feasible import Feasibility
from ep_conformance.plan.catalogue import list_ids
from ep_primitives.situations.model import Dimension, Model, Never

import ep


def drawn(seed):
    """Return a model of a few dimensions with rules of one to three of them."""
    dice = random.Random(seed)
    dimensions = [Dimension(name, tuple(f"{name}{number}" for number in range(dice.randint(2, 4)))) for name in "abcde"]
    rules = []
    for _ in range(dice.randint(2, 9)):
        chosen = dice.sample(dimensions, dice.randint(1, 3))
        rules.append(
            Never({each.name: tuple(dice.sample(each.values, dice.randint(1, 2))) for each in chosen}, "a rule")
        )
    return Model(tuple(dimensions), tuple(rules))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_impossible_is_what_no_situation_has(seed):
    model = drawn(seed)
    names = [each.name for each in model.dimensions]
    every = [
        dict(zip(names, values, strict=True))
        for values in product(*(dimension.values for dimension in model.dimensions))
    ]
    possible = [situation for situation in every if model.broken(situation) is None]
    room = Feasibility(model, {}, is_quick=False)
    for first, second in combinations(model.dimensions, 2):
        for pair in product(first.values, second.values):
            asked = dict(zip((first.name, second.name), pair, strict=True))
            has_one = any(asked.items() <= situation.items() for situation in possible)
            assert (room.reasons(asked) == ()) == has_one, asked


def test_value_that_a_kernel_lacks_is_impossible():
    model = Model((Dimension("a", ("x", "y")), Dimension("b", ("u", "v"))))
    room = Feasibility(model, {"a": ("y",)}, is_quick=False)
    assert room.reasons({"a": "x", "b": "v"}) == ()
    assert room.reasons({"a": "y"}) == ("a value that is not tried here",)


def test_pair_of_a_case_that_is_not_there_is_missing():
    copy = ep.families()["copy"]
    ids = {*list_ids("quick", "primitives/copy/*")}
    assert not any(counted.missing for counted in count(copy, "quick", among=ids))
    constructed = sorted(each for each in ids if "/rank0/" in each and "." in each)
    (rank0,) = [each for each in count(copy, "quick", among=ids - {*constructed[::2]}) if each.layout == "rank0"]
    assert rank0.missing
    assert rank0.met.total() + sum(map(len, rank0.missing.values())) == rank0.possible.total()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--family", "copy", "--profile", "quick"], 0, "0 possible tuples are not met"),
        (["--family", "copy", "--profile", "quick"], 0, "impossible: broadcast: "),
        (["--family", "copy", "--profile", "standard"], 0, "triples"),
    ],
)
def test_command_counts_what_is_met_and_says_what_is_impossible(words, code, said):
    done = CliRunner().invoke(command, words, standalone_mode=False)
    assert (done.return_value, said in done.output) == (code, True), done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--family", "coppy"], "no family that constructs cases is called 'coppy'"), (["--triples"], "--family NAME")],
)
def test_wrong_use_is_a_sentence(words, said):
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 2
    assert said in str(done.exception) + done.output
