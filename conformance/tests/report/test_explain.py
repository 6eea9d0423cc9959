"""`explain`: what a case checks, with which data, and how to run it alone; of whatever a report or a user may name."""

import pytest
from ep_conformance.plan.nearest import nearest
from ep_conformance.replay.file import ReplayError
from ep_conformance.report.explain import explain_case


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        (
            "primitives/softmax/-/float32/dense/rows",
            (
                "cell        softmax/-/float32/dense",
                "accuracy",
                "eps S: S is",
                "data        random",
                "--quick --filter 'primi",
            ),
        ),
        ("primitives/reduce/sum/float32/dense/one-sign", ("bias", "parts", "have to give the same bits")),
        ("primitives/elementwise_unary/exp/float32/dense/every-float32-03", ("2**26 float32", "--profile exhaustive")),
        (
            "runtime/event/wait-orders-kernels",
            ("mandatory for", "def wait_orders_kernels", "replay report-failures/runtime.event"),
        ),
        ("runtime/ability/timing", ("optional: it counts only if claimed",)),
        ("claims/softmax/*/*/*", ("A pattern of the provider's claims.toml", "24 cells and abilities: softmax/-/")),
        ("claims/softmx/*/*/*", ("matches     0 cells",)),
        (
            "waivers/primitives/softmax/*/rows",
            ("once it has expired", "cases: primitives/softmax/-/float16/dense/rows"),
        ),
    ],
)
def test_whatever_a_report_names_is_explained(identity, words):
    text = explain_case(identity)
    assert text.startswith(identity)
    for word in words:
        assert word in text
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("primitives/softmx/-/float16/dense/row", "primitives/softmax/-/float16/dense/rows"),
        (
            "primitives/elementwise_unary/exq/float32/dense/size-17",
            "primitives/elementwise_unary/exp/float32/dense/size-17",
        ),
        ("primitives/cast/-/float32-int8/dense/designed", "primitives/cast/-/float32->int8/dense/designed"),
        ("runtime/event/wait-order-kernels", "runtime/event/wait-orders-kernels"),
    ],
)
def test_id_that_is_misspelt_is_answered_with_the_next_ones(wrong, right):
    assert nearest(wrong)[0] == right
    with pytest.raises(KeyError, match="no case is called") as refused:
        explain_case(wrong)
    assert right in refused.value.args[0]


@pytest.mark.parametrize("wrong", ["", "x", "primitives/", "primitives/nonsense", "/" * 9, "runtime"])
def test_id_that_is_like_nothing_is_a_sentence(wrong):
    assert len(nearest(wrong)) <= 3
    with pytest.raises(KeyError, match="no case is called"):
        explain_case(wrong)


def test_file_that_is_no_replay_file_is_refused(tmp_path):
    with pytest.raises(ReplayError, match="cannot be read"):
        explain_case(str(tmp_path / "nowhere.json"))
