"""The accuracy registry: every op of every family in every element type has a bound with a reason."""

import json

import pytest
from click.testing import CliRunner
from ep_conformance.commands.accuracy import command
from ep_conformance.commands.exits import WrongUse
from ep_conformance.plan.accuracies import promises, stated
from ep_conformance.plan.catalogue import cells
from ep_conformance.report.explain import explain_case
from ep_primitives.judging.accuracy import EXACT, Conditioned, Exact, Ulps


@pytest.fixture(scope="module")
def registry():
    return {promise.name: promise for promise in promises()}


def test_every_signature_of_every_family_has_a_bound_with_a_reason(registry):
    assert {name.rpartition("/")[0] for name in map(str, {cell for _, cell in cells()})} == set(registry)
    assert [name for name, promise in registry.items() if not promise.accuracy.why] == []


def test_every_narrowed_domain_states_its_reason(registry):
    narrowed = [domain for promise in registry.values() for domain in promise.domains if not domain.is_open]
    assert len({domain.name for domain in narrowed}) > 20
    assert [domain.name for domain in narrowed if not domain.why] == []


def test_accuracy_of_a_case_that_is_not_its_familys_has_a_reason():
    own = {
        (cell.family, case.accuracy.why)
        for family, cell in cells()
        if cell.layout == "dense" and ("float" in cell.dtypes or "complex64" in cell.dtypes)
        for case in family.cases(cell)
        if case.accuracy is not None
    }
    assert {family for family, _ in own} >= {"add_n", "broadcast_binary", "elementwise_unary", "matmul", "reduce"}
    assert all(why for _, why in own)


def test_promises_are_equal_whatever_their_reasons():
    assert Exact("a") == Exact("b") == EXACT
    assert Ulps(1, why="a") == Ulps(1) != Ulps(2, why="a")
    assert len({Conditioned(2, why="a"), Conditioned(2)}) == 1


def test_family_that_gives_no_reason_is_told_from_one_that_does():
    assert stated(Ulps(4)) == "4 ulp: no reason stated"
    assert stated(Conditioned(2, why="a sum"), 0.25) == "2 eps S (worst margin 0.250): a sum"


def test_registry_can_be_asked_and_read_by_programs():
    found = [*promises("elementwise_unary/tanh/*")]
    assert [promise.name.rpartition("/")[2] for promise in found][:2] == ["float16", "bfloat16"]
    printed = CliRunner().invoke(command, ["elementwise_unary/tanh/float32"], standalone_mode=False).output
    assert printed.startswith("elementwise_unary/tanh/float32  5 ulp: OpenCL 1.2, table 7.1")
    made = CliRunner().invoke(command, ["--json", "broadcast_binary/zeta/float64"], standalone_mode=False).output
    (record,) = json.loads(made)
    assert record["accuracy"] == "32 ulp"
    assert record["why"].startswith("pow's 16 ulp")
    assert set(record["narrowed"]) == {"order above 1", "start above 0"}
    assert CliRunner().invoke(command, ["tanh"], standalone_mode=False).return_value == 1


def test_report_says_how_much_of_each_bound_is_used(tmp_path):
    def case(name, margin, status="pass"):
        return {"id": f"primitives/{name}", "status": status, "margin": margin}

    report = tmp_path / "report.json"
    cases = [
        case("elementwise_unary/exp/float32/dense/a", 0.25),
        case("elementwise_unary/exp/float32/strided/b", 0.5),
        case("elementwise_unary/exp/float32/dense/c", 7.0, "fail"),
        case("elementwise_unary/log/float32/dense/a", 0.01),
        {"id": "runtime/copy/x", "status": "pass", "margin": None},
    ]
    report.write_text(json.dumps({"cases": cases}))

    def said(*words):
        return CliRunner().invoke(command, [*words, "--report", str(report)], standalone_mode=False)

    assert "exp/float32  3 ulp (worst margin 0.500): OpenCL" in said("elementwise_unary/exp/float32").output
    slack = said("--below", "0.05").output.splitlines()
    assert [line.split()[0] for line in slack] == ["elementwise_unary/log/float32"]
    assert json.loads(said("--json", "elementwise_unary/exp/float32").output)[0]["margin"] == 0.5
    with pytest.raises(WrongUse, match="needs --report"):
        CliRunner().invoke(command, ["--below", "0.05"], standalone_mode=False, catch_exceptions=False)
    report.write_text("[]")
    with pytest.raises(WrongUse, match="is no JSON report"):
        CliRunner().invoke(command, ["--report", str(report)], standalone_mode=False, catch_exceptions=False)


def test_explanation_of_a_case_says_why_its_bound_holds():
    text = explain_case("primitives/broadcast_binary/elu_backward_with_dy_x/float32/dense/designed-alpha-0.75")
    assert "accuracy    8 ulp: exp's 3 ulp (OpenCL 1.2, table 7.1) and two products" in text
    assert "narrowed    decay: below it exp(x) is subnormal" in text
    special = explain_case("primitives/elementwise_unary/tanh/float32/dense/special-values")
    assert "accuracy    exact: special values are what the definition says" in special
