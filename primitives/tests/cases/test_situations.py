"""Situations: models and arrays agree, texts are content, cases have what their situations say, and seeds vary what they leave open."""

import pytest
from ep_primitives.cases.case import Case
from ep_primitives.situations.array import array_of, read_arrays, write_arrays
from ep_primitives.situations.extents import drawer
from ep_primitives.situations.family import SituatedFamily
from ep_primitives.situations.forms import READ, WRITTEN, laid
from ep_primitives.situations.manner import Manner, manner_read, start_bytes
from ep_primitives.situations.model import Dimension, Model, Never
from every_case import every_case

import ep
from ep import TensorSpec

FAMILIES = [family for family in ep.families().values() if isinstance(family, SituatedFamily)]
MODEL = Model(
    (Dimension("size", ("one", "two", "many"), late=("many",)), Dimension("start", ("0", "1"))),
    (Never({"size": ("one",), "start": ("1",)}, "one has one start"),),
)


def constructed(family):
    return [(cell, case) for cell, case in every_case(family.name) if case.situation]


def test_a_text_is_what_is_not_usual_and_gives_the_situation_back():
    assert MODEL.text({"size": "one", "start": "0"}) == "usual"
    assert MODEL.text({"start": "1", "size": "two"}) == "size.two+start.1"
    for text in ("usual", "size.two", "size.two+start.1", "size.many"):
        assert MODEL.text(MODEL.situation(text)) == text
    assert MODEL.is_late(MODEL.situation("size.many"))
    assert not MODEL.is_late(MODEL.situation("size.two"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("start.1", "one has one start"),
        ("size.three", "no such size"),
        ("rank.2", "no such rank"),
        ("size", "needed are parts such as way.captured"),
    ],
)
def test_a_text_that_a_model_does_not_have_is_refused_with_the_reason(text, words):
    with pytest.raises(ValueError, match=words):
        MODEL.situation(text)


def test_rules_name_values_that_there_are():
    with pytest.raises(ValueError, match=r"names start=2"):
        Model((Dimension("start", ("0", "1")),), (Never({"start": ("2",)}, "it is not there"),))


def test_arrays_are_read_as_they_were_written():
    arrays = {"copy": {"dense": {"quick": ("usual", "tail.2"), "late": ("size.past",)}}}
    assert read_arrays(write_arrays(arrays)) == arrays


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_layout_of_a_model_has_situations_of_it_alone_and_none_twice(family):
    for layout in family.layouts:
        model = family.model(layout)
        if model is None:
            continue
        tiers = array_of(family, layout)
        texts = [text for tier in tiers.values() for text in tier]
        assert texts
        assert len(texts) == len(set(texts))
        assert all(model.text(model.situation(text)) == text for text in texts)
        assert not any(model.is_late(model.situation(text)) for text in tiers["quick"])


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_cases_are_where_their_situations_say_for_every_seed(family):
    every = constructed(family)
    for cell, case in every[:: max(1, len(every) // 300)]:
        for seed in (0, 1, 7):
            seeded = case.seeded(seed)
            assert (seeded.name, seeded.situation, seeded.starts) == (case.name, case.situation, case.starts)
            if not case.inplace:
                assert seeded.descriptor.cell == str(cell), case.name
        named = dict(family.named(family.signature(cell)))
        for name, word in ((name, case.situation.get(f"start-{name}", "0")) for name in named):
            assert case.starts.get(name, 0) == start_bytes(word, ep.dtype(named[name]).itemsize)


def test_seeds_vary_extents_and_gaps():
    family = ep.families()["elementwise_unary"]
    every = [case for cell, case in constructed(family) if cell.layout == "strided"][:200]
    other = [case for case in every if case.seeded(1).descriptor != case.seeded(2).descriptor]
    assert len(other) > 0.9 * len(every)
    assert all(case.seeded(3).descriptor == case.seeded(3).descriptor for case in every[:20])


def test_a_case_made_by_hand_is_the_same_for_every_seed():
    case = Case("by-hand", ep.families()["copy"].sample(next(iter(ep.families()["copy"].cells()))), lambda _: {})
    assert case.seeded(5) is case


@pytest.mark.parametrize("word", READ)
def test_forms_lie_within_their_span_and_outputs_do_not_overlap(word):
    for shape in ((3, 5), (2, 3, 4), (2, 1, 3, 1, 2, 7)):
        for offset in (0, 5):
            spec = TensorSpec("float32", *laid(drawer("test"), word, shape, offset=offset))
            assert spec.lo == offset
            assert spec.is_dense == (word == "dense")
            assert spec.overlaps_itself == (word not in WRITTEN)


def test_manners_are_read_from_their_words():
    assert manner_read([*Manner("often", "last", "one")]) == Manner("often", "last", "one")
    with pytest.raises(ValueError, match="is not of way, stream, memory"):
        manner_read(["soon", "last", "one"])
