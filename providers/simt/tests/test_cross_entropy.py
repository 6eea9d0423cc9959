"""The launches of CrossEntropy: rows of scores are measured and not written, and losses are joined in scratch."""

from __future__ import annotations

import ep_simt
import pytest
from ep_primitives import CrossEntropy

import ep

CPU, GPU = ep_simt.CPU, ep_simt.GPU


def described(shape, labels="int64", **words):
    samples = (shape[0], *shape[2:])
    return CrossEntropy.infer(ep.TensorSpec("float32", shape), ep.TensorSpec(labels, samples), **words)


def plan(shape, target=GPU, labels="int64", **words):
    return ep_simt.bodies()["cross_entropy"].plan(described(shape, labels, **words), target)


def entries(*args, **words):
    return [launch.entry.removeprefix("cross_entropy_") for launch in plan(*args, **words).launches]


@pytest.mark.parametrize("target", [CPU, GPU])
def test_rows_that_a_group_holds_are_measured_by_one_launch_and_long_ones_by_two(target):
    assert entries((64, 1000), target, reduction="none") == ["rows", "losses"]
    assert entries((64, 1000), target, reduction="sum") == ["rows", "losses"]
    assert entries((8, 128256), target, "int32") == ["rows", "totals", "losses"]


@pytest.mark.parametrize("target", [CPU, GPU])
def test_losses_of_several_groups_are_joined_by_another_launch(target):
    assert entries((5000, 10), target) == ["rows", "losses", "joined"]


def test_logarithms_need_no_measures_nor_does_a_loss_without_classes():
    assert entries((64, 1000), is_log=True, reduction="none") == ["losses"]
    assert entries((64, 0), reduction="none") == ["losses"]


@pytest.mark.parametrize(("labels", "element"), [("int32", "i32"), ("int64", "i64")])
def test_program_takes_labels_of_one_type(labels, element):
    program = ep_simt.bodies()["cross_entropy"].program(described((64, 10), labels).key, CPU)
    given = [each.type for entry in program.entries for each in entry.parameters if each.name == "labels"]
    assert given == [element]
    assert element in program.name.split("-")


def test_a_mean_of_no_samples_is_one_group_of_nothing():
    assert [launch.items for launch in plan((0, 5)).launches] == [GPU.group]


@pytest.mark.parametrize("target", [CPU, GPU])
def test_scratch_is_two_numbers_a_row_and_two_a_group_not_the_scores(target):
    shape = (2, 21, 512, 512)
    *_, joined = plan(shape, target).launches
    parts = joined.arguments[-2]
    assert 1 < parts <= (64 if target is CPU else 4 * GPU.group)
    assert plan(shape, target).scratch_nbytes == 4 * 2 * (2 * 512 * 512 + parts)


def test_a_label_that_no_type_holds_is_not_asked_for():
    *_, losses = plan((64, 10), reduction="none", ignore_index=2**63).launches
    assert losses.arguments[-7:-1] == (1, 0, 0, 0, 1, 0)
    *_, losses = plan((64, 10), reduction="none", ignore_index=-1).launches
    assert losses.arguments[-7:-1] == (1, 1, 0, 0, 1, 0)
