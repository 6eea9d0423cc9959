"""A run that continues another: no verdict is lost, none is made up."""

import json

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"


def test_verdicts_are_kept_failures_too_and_the_missing_run(toy):
    first = toy.run("toy", "--filter", RELU, EP_TOY="wrong").json
    missing = first["cases"][0]
    assert missing["id"] != CULPRIT
    missing["status"] = "missing"
    earlier = toy.folder / "earlier.json"
    earlier.write_text(json.dumps(first))
    done = toy.run("toy", "--filter", RELU, "--resume", earlier)
    assert done.returncode == 1
    assert len(done.json["cases"]) == len(first["cases"])
    changed = [now for was, now in zip(first["cases"], done.json["cases"], strict=True) if was != now]
    assert [(case["id"], case["status"]) for case in changed] == [(missing["id"], "pass")]
    assert done.json["summary"] == first["summary"]
    (culprit,) = (case for case in done.json["cases"] if case["id"] == CULPRIT)
    assert culprit["status"] == culprit["first"]["status"] == "fail"


def test_case_of_another_standing_runs_again(toy):
    first = toy.run("toy", "--filter", RELU, EP_TOY="wrong").json
    earlier = toy.folder / "earlier.json"
    earlier.write_text(json.dumps(first))
    claims = toy.packages / "ep_toy" / "claims.toml"
    claims.write_text('suite = "1.0"\n')
    done = toy.run("toy", "--filter", RELU, "--resume", earlier)
    assert {case["status"] for case in done.json["cases"]} == {"unsupported"}
    assert all("not claimed, but accepted: pass" in case["reason"] for case in done.json["cases"])


def test_report_of_another_run_is_refused(toy):
    earlier = toy.folder / "earlier.json"
    report = toy.run("toy", "--filter", RELU).json
    for change in (
        {"seed": 5},
        {"profile": "standard"},
        {"suite": "0.9"},
        {"provider": {"name": "toy", "version": "0.1"}},
        {"device": {}},
    ):
        earlier.write_text(json.dumps(report | change))
        done = toy.run("toy", "--filter", RELU, "--resume", earlier)
        assert done.returncode == 2
        assert next(iter(change)) in done.stderr
        assert len(done.stderr.splitlines()) == 1
    earlier.write_text(json.dumps(report | {"device": report["device"] | {"compute_units": 99}}))
    said = toy.run("toy", "--filter", RELU, "--resume", earlier).stderr
    assert "is of device {'compute_units': 99}, this run of {'compute_units': " in said
    assert "--jobs" in said
    report["cases"][0]["margin"] = "large"
    earlier.write_text(json.dumps(report))
    said = toy.run("toy", "--filter", RELU, "--resume", earlier).stderr
    assert "is no report of ep-conformance run --json" in said
    assert len(said.splitlines()) == 1


def test_report_that_is_none_is_refused_in_one_line(toy):
    earlier = toy.folder / "earlier.json"
    for text in (None, "{", "[]", '{"schema": 1}'):
        if text is not None:
            earlier.write_text(text)
        done = toy.run("toy", "--filter", RELU, "--resume", earlier)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "Traceback" not in done.stderr
