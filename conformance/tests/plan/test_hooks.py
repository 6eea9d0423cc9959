"""Cases that vendors bring: where they count, and that a broken package of cases harms nobody else."""

import pytest
from ep_conformance import hooks

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CASES = '''\
import ep_conformance
import numpy as np
from ep_primitives import Case, ElementwiseUnary
import ep

@ep_conformance.case()
def memory_can_be_asked_for(trial):
    """A promise of toy's."""
    trial.equal("its bytes", trial.memory(8).nbytes, 8)

@ep_conformance.case(profile="large")
def is_large(trial):
    """Nothing for every day."""

@ep_conformance.hook
def ep_conformance_cases():
    spec = ep.TensorSpec("float32", (3,))
    data = lambda rng: {"x": rng.uniform(-1, 1, 3).astype("float32")}
    return [memory_can_be_asked_for, is_large, Case("three", ElementwiseUnary(op="relu", x=spec, out=spec), data)]
'''


def bring(toy, code, name="toy", package="ep_toy-1.0.dist-info"):
    """Install cases of an entry, in the toy's own distribution unless another is named."""
    (toy.packages / f"{name}_cases.py").write_text(code)
    info = toy.packages / package
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.partition('-')[0]}\nVersion: 1.0\n")
    points = info / "entry_points.txt"
    before = points.read_text() if points.exists() else ""
    points.write_text(f"{before}\n[ep.conformance]\n{name} = {name}_cases\n")


def claim(toy, cells):
    with (toy.packages / "ep_toy" / "claims.toml").open("a") as file:
        file.write(f'\n[[claim]]\ncells = "{cells}"\n')


def statuses(done):
    return {case["id"]: case["status"] for case in done.json["cases"]}


def test_claimed_cases_count_and_pass(toy):
    bring(toy, CASES)
    claim(toy, "vendor/toy/*")
    done = toy.run("toy", "--filter", "vendor/*")
    assert statuses(done) == {"vendor/toy/memory-can-be-asked-for": "pass", "vendor/toy/three": "pass"}
    assert done.returncode == 0
    assert done.json["summary"]["expected"] == 2


def test_own_cases_without_a_claim_run_and_give_notices(toy):
    bring(toy, CASES)
    done = toy.run("toy", "--filter", "vendor/*")
    assert set(statuses(done).values()) == {"unsupported"}
    assert done.json["notices"] == ["vendor/toy/memory-can-be-asked-for", "vendor/toy/three"]


def test_cases_of_others_do_not_run_until_claimed(toy):
    bring(toy, CASES.replace("8).nbytes, 8)", "8).nbytes, 9)"), "other", "ep_other-1.0.dist-info")
    done = toy.run("toy", "--filter", "vendor/*")
    assert set(statuses(done).values()) == {"unsupported"}
    assert done.json["notices"] == []
    claim(toy, "vendor/other/memory-*")
    done = toy.run("toy", "--filter", "vendor/*")
    assert done.returncode == 1
    assert statuses(done)["vendor/other/memory-can-be-asked-for"] == "fail"


def test_own_broken_cases_fail_the_run_and_nothing_else(toy):
    bring(toy, "import nowhere_to_be_found\n")
    done = toy.run("toy", "--filter", "[vp]*/*relu/float32/dense/size-1[67]")
    assert done.returncode == 0
    done = toy.run("toy", "--filter", "vendor/*")
    assert statuses(done) == {"vendor/toy/ep_conformance_cases": "missing"}
    assert done.returncode == 1
    assert "nowhere_to_be_found" in done.json["cases"][0]["reason"]
    listed = toy("list", "--profile", "quick", "--filter", "*event/stays-done")
    assert listed.stdout == "runtime/event/stays-done\n"
    assert "vendor/toy/ep_conformance_cases: its cases could not be loaded: ModuleNotFoundError" in listed.stderr


def test_broken_cases_of_others_do_not_count_unless_claimed(toy):
    bring(toy, "raise SystemExit\n", "other", "ep_other-1.0.dist-info")
    done = toy.run("toy", "--filter", "vendor/*")
    assert statuses(done) == {"vendor/other/ep_conformance_cases": "unsupported"}
    claim(toy, "vendor/other/*")
    done = toy.run("toy", "--filter", "claims/*")
    assert statuses(done)["claims/vendor/other/*"] == "missing"
    assert "they are broken: its cases could not be loaded: SystemExit" in done.json["cases"][0]["reason"]


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("", "implements no hook"),
        (CASES.replace("return [", "return [print, "), "needs functions decorated"),
        (CASES.replace("return [", "return [is_large, "), "two cases are called vendor/toy/is-large"),
        (CASES.replace('"large"', '"huge"'), "of profile 'huge'"),
        (CASES.replace('"three"', '"a/b"'), "case 'a/b'"),
        (CASES.replace('    """A promise of toy\'s."""\n', ""), "has no docstring"),
    ],
)
def test_what_is_wrong_is_said(toy, code, word):
    bring(toy, code)
    assert word in toy("list", "--filter", "runtime/device/*").stderr


def test_vendors_cases_are_listed_and_explained(toy):
    bring(toy, CASES)
    listed = toy("list", "--profile", "quick", "--filter", "vendor/*").stdout.splitlines()
    assert listed == ["vendor/toy/memory-can-be-asked-for", "vendor/toy/three"]
    assert "A promise of toy's." in toy("explain", "vendor/toy/memory-can-be-asked-for").stdout
    assert "relu" in toy("explain", "vendor/toy/three").stdout


def test_marker_is_what_pluggy_expects():
    import pluggy

    assert vars(hooks.hook(lambda: None)) == vars(pluggy.HookimplMarker(hooks.PROJECT)(lambda: None))
