"""A run that continues another: no verdict is lost, none is made up."""

import json

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"


def seconds(report):
    return {case["id"]: case["seconds"] for case in report["cases"]}


def test_passes_are_kept_and_the_rest_runs_again(toy):
    first = toy.run("toy", "--filter", RELU, EP_TOY="wrong")
    assert first.returncode == 1
    earlier = toy.folder / "earlier.json"
    earlier.write_text(json.dumps(first.json))
    done = toy.run("toy", "--filter", RELU, "--resume", earlier)
    assert done.returncode == 0
    before, after = seconds(first.json), seconds(done.json)
    assert before.keys() == after.keys()
    assert {identity for identity in after if before[identity] != after[identity]} == {CULPRIT}


def test_report_of_another_run_is_refused(toy):
    earlier = toy.folder / "earlier.json"
    report = toy.run("toy", "--filter", RELU).json
    for change in ({"seed": 5}, {"suite": "0.9"}, {"provider": {"name": "toy", "version": "0.1"}}, {"device": {}}):
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
