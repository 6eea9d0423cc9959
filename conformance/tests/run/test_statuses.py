"""Every status, by a provider that earns it: only outputs of 17 elements misbehave."""

import pytest

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"


def statuses(done):
    return {case["id"]: case["status"] for case in done.json["cases"]}


def culprit(done):
    (case,) = [case for case in done.json["cases"] if case["id"] == CULPRIT]
    return case


def of_cell(cell, found):
    """Return the first case of a cell that a run had."""
    return next(
        case for identity, case in found.items() if identity.startswith(f"primitives/elementwise_unary/{cell}/")
    )


def assert_only_culprit(done, status):
    found = statuses(done)
    assert found.pop(CULPRIT) == status
    assert set(found.values()) == {"pass"}
    assert done.returncode == 1
    assert done.json["summary"][status.replace("-", "_")] == 1
    assert "Traceback" not in done.stdout + done.stderr


def test_good_passes_and_says_so_last(toy):
    done = toy.run("toy", "--filter", RELU)
    assert done.returncode == 0
    assert set(statuses(done).values()) == {"pass"}
    assert done.stdout.splitlines()[-1].startswith("PASS: toy 1.0 on toy:0")
    assert "about" in done.stdout.splitlines()[0]
    assert {case["attested"] for case in done.json["cases"]} == {"attested"}


def test_wrong_result_fails(toy):
    done = toy.run("toy", "--filter", RELU, EP_TOY="wrong")
    assert_only_culprit(done, "fail")
    assert culprit(done)["reason"].startswith("relu(x[")
    assert done.stdout.splitlines()[-1].startswith("FAIL (1 fail)")


def test_exception_of_a_vendor_fails_with_its_place(toy):
    done = toy.run("toy", "--filter", RELU, EP_TOY="raises")
    assert_only_culprit(done, "fail")
    assert "ZeroDivisionError: deep inside the vendor's code [provider.py:" in culprit(done)["reason"]


def test_crash_costs_its_case_alone(toy):
    done = toy.run("toy", "--filter", RELU, "--jobs", 1, EP_TOY="crash")
    assert_only_culprit(done, "crash")
    assert "signal 6 (SIGABRT)" in culprit(done)["reason"]


def test_hang_ends_at_the_limit(toy):
    done = toy.run("toy", "--filter", RELU, "--hang-limit", 2, EP_TOY="hang")
    assert_only_culprit(done, "hang")
    assert "no verdict after 2 s" in culprit(done)["reason"]


@pytest.mark.parametrize(
    ("behaviour", "status", "said"),
    [
        ("floods", "crash", "bytes of junk (66 6c 6f 6f 64 66 6c 6f ...) into the worker's pipe"),
        ("closes", "crash", "the provider closed the worker's pipe, while the process went on"),
        ("leaves-a-child", "crash", "the process ended with signal 6 (SIGABRT)"),
        ("begins", "hang", "no verdict after 2 s; 42 bytes of a message that does not end lie in the worker's pipe"),
    ],
)
def test_what_a_provider_does_to_the_pipe_of_its_worker_costs_its_case_alone(toy, behaviour, status, said):
    done = toy.run("toy", "--filter", RELU, "--hang-limit", 2, "--jobs", 1, EP_TOY=behaviour)
    assert_only_culprit(done, status)
    assert said in culprit(done)["reason"]


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [("junk-at-once", "9 bytes of junk"), ("begins-at-once", "began an answer and did not end it in 2 s")],
)
def test_junk_before_the_first_answer_is_a_sentence(toy, behaviour, said):
    done = toy.run("toy", "--filter", RELU, "--hang-limit", 2, EP_TOY=behaviour)
    assert (done.returncode, done.json) == (3, None)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_lost_device_costs_its_case_alone(toy):
    done = toy.run("toy", "--filter", RELU, EP_TOY="lost")
    assert_only_culprit(done, "device-lost")
    assert "fell off the bus" in culprit(done)["reason"]


def test_passing_alone_after_a_failure_is_flaky(toy):
    done = toy.run("toy", "--filter", RELU, EP_TOY="flaky")
    assert_only_culprit(done, "flaky")
    assert "only this once" in culprit(done)["reason"]


def test_device_that_does_not_come_back_leaves_the_rest_missing(toy):
    done = toy.run("toy", "--filter", RELU, "--jobs", 1, EP_TOY="dies-for-good")
    found = statuses(done)
    assert found[CULPRIT] == "crash"
    assert "not tried again: toy:0 does not answer a health probe" in culprit(done)["reason"]
    assert "no toy is plugged in" in culprit(done)["reason"]
    assert {"pass", "missing"} <= set(found.values())
    assert done.returncode == 1
    assert f"crash        {CULPRIT}" in done.stdout
    assert done.stdout.count("the rest did not run: toy:0 does not answer") == 1


def test_device_that_is_not_there_when_the_cases_begin_is_one_reason_and_exit_3(toy):
    done = toy.run("toy", "--filter", RELU, "--jobs", 1, EP_TOY="vanishes")
    assert set(statuses(done).values()) == {"missing"}
    assert (done.returncode, done.json["exit_code"], done.json["interrupted"]) == (3, 3, False)
    assert done.stdout.count("no toy is plugged in") == 1
    assert done.stdout.splitlines()[-1].startswith("UNAVAILABLE: toy 1.0 on toy:0: none of ")
    again = toy("run", "--provider", "toy", "--failed", "--filter", RELU)
    assert again.stdout.endswith("nothing failed in the last run\n")


def test_claims_are_not_written_for_a_device_that_is_not_there(toy):
    before = (toy.packages / "ep_toy" / "claims.toml").read_text()
    done = toy("claims", "--provider", "toy", "--write", "--profile", "quick", "--filter", RELU, EP_TOY="vanishes")
    assert done.returncode == 3
    assert "no toy is plugged in" in done.stderr
    assert (toy.packages / "ep_toy" / "claims.toml").read_text() == before


def test_claimed_and_unsupported_fails(toy):
    done = toy.run("toy", "--filter", RELU, EP_TOY="unsupported")
    assert set(statuses(done).values()) == {"fail"}
    assert "claimed, but unsupported" in culprit(done)["reason"]
    assert "relu in float32 only" in culprit(done)["reason"]


def test_unclaimed_and_working_is_a_notice(toy):
    done = toy.run("toy", "--filter", "primitives/elementwise_unary/*/float32/[ds]*/*")
    found = {case["id"]: case for case in done.json["cases"]}
    strided = of_cell("relu/float32/strided", found)
    assert strided["status"] == "unsupported"
    assert "not claimed, but accepted: pass" in strided["reason"]
    assert strided["id"] in done.json["notices"]
    exp = of_cell("exp/float32/strided", found)
    assert exp["status"] == "unsupported"
    assert exp["id"] not in done.json["notices"]
    assert done.json["summary"]["expected"] == done.json["summary"]["pass"] > 0
    assert done.returncode == 0


def test_unclaimed_is_left_out_on_request_and_says_so(toy):
    done = toy.run("toy", "--filter", "primitives/elementwise_unary/relu/float32/[ds]*/*", "--claimed-only")
    found = {case["id"]: case for case in done.json["cases"]}
    strided = of_cell("relu/float32/strided", found)
    assert (strided["status"], strided["seconds"], strided["notice"]) == ("unsupported", 0, False)
    assert strided["reason"] == "not claimed, and left out: --claimed-only"
    assert done.json["notices"] == []
    assert done.json["summary"]["expected"] == done.json["summary"]["pass"] > 0
    assert done.returncode == 0


def test_newer_than_the_claims_is_new_and_nothing_expected_fails(toy):
    claims = toy.packages / "ep_toy" / "claims.toml"
    claims.write_text(claims.read_text().replace("1.1", "0.9"))
    done = toy.run("toy", "--filter", RELU)
    assert set(statuses(done).values()) == {"new"}
    assert done.json["summary"]["expected"] == 0
    assert done.returncode == 1
    assert "no case was expected" in done.stdout.splitlines()[-1]


def test_claim_that_matches_nothing_is_missing(toy):
    claims = toy.packages / "ep_toy" / "claims.toml"
    claims.write_text(claims.read_text() + '[[claim]]\ncells = "elementwise_unray/relu/float32/*"\n')
    done = toy.run("toy", "--filter", RELU)
    assert done.returncode == 0, "a filter chooses among claims as well"
    done = toy.run("toy", "--filter", "claims/*")
    (stale,) = done.json["cases"]
    assert stale["id"] == "claims/elementwise_unray/relu/float32/*"
    assert "matches no installed family" in stale["reason"]
    assert done.json["summary"]["missing"] == 1
    assert done.returncode == 1
    claims.write_text(claims.read_text().replace('"1.1"', '"99.0"'))
    assert toy.run("toy", "--filter", "*relu/float32/*").returncode == 0, "a newer suite may have it"


def test_provider_that_moves_no_bytes_fails_case_by_case(toy):
    done = toy.run("toy", "--filter", "runtime/[cm]*", "--jobs", 2, EP_TOY="deaf")
    found = statuses(done)
    assert found["runtime/memory/views-share-bytes"] == "fail"
    assert set(found.values()) - {"new"} == {"pass", "fail"}


def test_nothing_claimed_leaves_the_mandatory_runtime_level(toy):
    (toy.packages / "ep_toy" / "claims.toml").unlink()
    done = toy.run("toy", "--filter", "*/[dft][eir][!p]*/*", EP_TOY="empty")
    expected = [case for case in done.json["cases"] if case["status"] == "pass"]
    assert done.returncode == 0, done.stdout
    assert len(expected) == done.json["summary"]["expected"] > 20
    assert all(case["id"].startswith("runtime/") for case in expected)


def test_defaults_of_ep_are_degraded(toy):
    done = toy.run("toy", "--filter", "runtime/fill/pattern-of-4-bytes")
    assert done.json["cases"][0]["degraded"] == ["fill"]
    assert done.returncode == 0


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_crash_has_no_victims_whatever_the_jobs(toy, jobs):
    done = toy.run("toy", "--filter", "primitives/elementwise_unary/relu/float32/*", "--jobs", jobs, EP_TOY="crash")
    assert done.json["summary"]["crash"] == 1
    assert done.json["summary"]["pass"] == done.json["summary"]["expected"] - 1
