"""Waivers: what is known to be broken does not fail a run, and nothing else hides behind it."""

import datetime as dt
from xml.etree import ElementTree as ET

import pytest
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.plan.survey import survey
from ep_conformance.plan.waiver import Waiver
from ep_conformance.plan.waivers import WaiversError, read_waivers
from ep_conformance.plan.waiving import expiring, idle, waived
from ep_conformance.run.tries import Tries
from ep_conformance.run.verdict import settle, suits

import ep

RELU = "primitives/elementwise_unary/relu/float32/dense/*"
CULPRIT = "primitives/elementwise_unary/relu/float32/dense/size-17"
GOOD = "primitives/elementwise_unary/relu/float32/dense/designed"
TODAY = dt.date(2026, 11, 21)
ENTRY = {
    "cases": f'"{CULPRIT}"',
    "reason": '"adds one"',
    "owner": '"kernels@toy.example"',
    "link": '"https://bugs.toy.example/7"',
    "expires": "2999-01-01",
}


def entry(**changed):
    """Return a [[waiver]] table; a key that is changed to None is left out."""
    keys = {key: value for key, value in (ENTRY | changed).items() if value is not None}
    return "[[waiver]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def waiver(cases=CULPRIT, expires=TODAY, status=Status.FAIL, **for_whom):
    return Waiver(cases, "adds one", "kernels", "https://bugs.toy.example/7", expires, status, **for_whom)


def read(tmp_path, text):
    file = tmp_path / "waivers.toml"
    file.write_text(text)
    return read_waivers(file)


def test_entry_is_a_waiver_for_each_pattern(tmp_path):
    text = entry(cases='["a/*", "b"]', status='"crash"', when='["fp64"]', devices='"acme 1*"', drivers='"3.?"')
    first, second = read(tmp_path, text + entry())[:2]
    assert (first.cases, second.cases, first.status) == ("a/*", "b", Status.CRASH)
    assert (first.reason, first.owner, first.expires) == ("adds one", "kernels@toy.example", dt.date(2999, 1, 1))
    device = {"model": "acme 100", "driver": "3.5", "features": ["fp16", "fp64"]}
    assert first.is_for(device)
    for change in ({"model": "acme 2"}, {"driver": "3.10"}, {"features": ["fp16"]}):
        assert not first.is_for(device | change)


def test_no_file_waives_nothing(tmp_path):
    assert read_waivers(tmp_path / "waivers.toml") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[waiver]\n", "waivers.toml cannot be read"),
        ('suite = "1.0"\n', "waivers.toml: holds suite, needs [[waiver]] tables"),
        ("[waiver]\n", "waivers.toml: holds waiver, needs [[waiver]] tables"),
        ("waiver = [1]\n", "waivers.toml: waiver 1 is 1, needs to be a table with cases, reason, owner, link, expires"),
        (entry() + entry(reason=None), "waiver 2: reason is missing, needs the defect in words"),
        (entry(owner='" "'), "waiver 1: owner is ' ', needs a person or team that answers for it"),
        (entry(link='"ticket 7"'), "waiver 1: link is 'ticket 7', needs the address of its issue"),
        (entry(expires='"2027-03-01"'), "waiver 1: expires is '2027-03-01', needs a day without quotes"),
        (entry(expires="2027-03-01T00:00:00Z"), "waiver 1: expires is datetime.datetime(2027"),
        (entry(cases="[]"), "waiver 1: cases is [], needs a glob over case ids"),
        (entry(cases="[1]"), "waiver 1: cases is [1], needs a glob over case ids"),
        (
            entry(cases='"runtime/* primitives/*"'),
            "waiver 1: cases is 'runtime/* primitives/*', needs a glob over case ids",
        ),
        (entry(status='"flaky"'), "waiver 1: status is 'flaky', needs fail, crash or hang"),
        (entry(status="[]"), "waiver 1: status is [], needs fail, crash or hang"),
        (entry(when='"fp64"'), "waiver 1: when is 'fp64', needs a list of features"),
        (entry(devices="1"), "waiver 1: devices is 1, needs a glob over models"),
        (entry(until="2027-03-01"), "waiver 1: until is datetime.date(2027, 3, 1), needs to be one of cases, devices"),
        (entry() + entry(), "waiver 2: cases is"),
    ],
)
def test_mistake_is_a_sentence_that_names_file_entry_key_and_need(tmp_path, text, words):
    with pytest.raises(WaiversError) as refused:
        read(tmp_path, text)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


EXPECTED = Planned(CULPRIT, Standing.EXPECTED, waiver=waiver())


def test_waived_failure_stays_visible_and_fails_nothing():
    verdict = settle(EXPECTED, Outcome(Status.FAIL, "wrong"))
    assert (verdict.status, verdict.counts, verdict.is_failure) == (Status.FAIL, True, False)
    assert verdict.waiver == EXPECTED.waiver


def test_claimed_and_unsupported_can_be_waived():
    assert not settle(EXPECTED, Outcome(Status.UNSUPPORTED, "no kernel")).is_failure


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PASS, Status.FAIL, Status.UNSUPPORTED, Status.NEW}))
def test_other_status_than_the_waived_one_fails(status):
    """An unexpected pass is a pass that was waived."""
    verdict = settle(EXPECTED, Outcome(status, "why"))
    assert verdict.is_failure
    assert verdict.waiver is None
    assert verdict.status is status


def test_waived_case_that_passes_is_an_unexpected_pass_that_says_what_to_do():
    verdict = settle(EXPECTED, Outcome(Status.PASS, margin=0.5))
    assert verdict.status is Status.UNEXPECTED_PASS
    assert verdict.is_failure
    assert f"remove {CULPRIT!r} from the waivers" in verdict.outcome.reason
    assert settle(EXPECTED, verdict.outcome) == verdict
    assert settle(Planned(CULPRIT, Standing.EXPECTED), verdict.outcome).status is Status.PASS


def test_resumed_verdict_stands_only_while_it_is_waived_alike():
    plain = Planned(CULPRIT, Standing.EXPECTED)
    for status in (Status.PASS, Status.FAIL, Status.CRASH, Status.FLAKY):
        outcome = Outcome(status, seconds=1)
        assert suits(EXPECTED, settle(EXPECTED, outcome))
        assert suits(plain, settle(plain, outcome))
        assert suits(EXPECTED, settle(plain, outcome)) == suits(plain, settle(EXPECTED, outcome))
        assert suits(EXPECTED, settle(plain, outcome)) == (status in {Status.CRASH, Status.FLAKY})


def test_waiver_never_covers_what_is_not_expected():
    for standing in (Standing.UNCLAIMED, Standing.NEW):
        (planned,) = waived([Planned(CULPRIT, standing)], [waiver()], TODAY)
        verdict = settle(planned, Outcome(Status.FAIL, "wrong"))
        assert not verdict.counts
        assert verdict.waiver is None


@pytest.mark.parametrize(
    ("standing", "entry", "shown", "then"),
    [
        (Standing.EXPECTED, None, (Status.PASS,), Status.PASS),
        (Standing.EXPECTED, None, (Status.FAIL, Status.FAIL), Status.FAIL),
        (Standing.EXPECTED, None, (Status.FAIL, Status.PASS), Status.FLAKY),
        (Standing.EXPECTED, waiver(), (Status.FAIL, Status.FAIL), Status.FAIL),
        (Standing.EXPECTED, waiver(), (Status.FAIL, Status.PASS), Status.FLAKY),
        (Standing.EXPECTED, waiver(), (Status.PASS, Status.FAIL), Status.FLAKY),
        (Standing.EXPECTED, waiver(), (Status.PASS, Status.PASS), Status.UNEXPECTED_PASS),
        (Standing.UNCLAIMED, None, (Status.FAIL,), Status.UNSUPPORTED),
        (Standing.UNCLAIMED, waiver(), (Status.PASS,), Status.UNSUPPORTED),
        (Standing.NEW, waiver(), (Status.FAIL,), Status.NEW),
    ],
)
def test_case_runs_again_alone_where_its_verdict_needs_it(standing, entry, shown, then):
    kept = []
    tries = Tries({CULPRIT: Planned(CULPRIT, standing, waiver=entry)}, kept.append)
    for status in shown:
        assert not kept
        tries.hear(CULPRIT, Outcome(status, "what it showed"), [CULPRIT])
    (verdict,) = kept
    assert verdict.status is then
    assert verdict.is_failure == (
        then in {Status.FLAKY, Status.UNEXPECTED_PASS} or (then is Status.FAIL and entry is None)
    )


def test_first_entry_that_covers_a_case_waives_it():
    plan = [Planned(CULPRIT, Standing.EXPECTED), Planned(GOOD, Standing.EXPECTED)]
    entries = [waiver(status=Status.CRASH), waiver("*/size-*")]
    assert [planned.waiver for planned in waived(plan, entries, TODAY)] == [entries[0], None]


def test_waiver_holds_to_the_end_of_its_last_day():
    plan, entries = [Planned(CULPRIT, Standing.EXPECTED)], [waiver(expires=TODAY)]
    (planned,) = waived(plan, entries, TODAY)
    assert planned.waiver == entries[0]
    assert not list(idle(plan, entries, TODAY, lambda glob: []))
    tomorrow = TODAY + dt.timedelta(1)
    assert list(waived(plan, entries, tomorrow)) == plan
    (expired,) = idle(plan, entries, tomorrow, lambda glob: [])
    assert expired.id == f"waivers/{CULPRIT}"
    assert "until 2026-11-21, which is over" in expired.reason
    assert settle(expired, Outcome(Status.MISSING, expired.reason)).is_failure


def test_waiver_of_the_status_is_taken_whichever_comes_first():
    entries = [waiver("primitives/*"), waiver(status=Status.CRASH)]
    (planned,) = waived([Planned(CULPRIT, Standing.EXPECTED)], entries, TODAY)
    for entry, status in zip(entries, (Status.FAIL, Status.CRASH), strict=True):
        assert settle(planned, Outcome(status, "why")).waiver == entry
    assert settle(planned, Outcome(Status.HANG, "why")).is_failure


def test_entry_without_an_expected_case_is_missing():
    plan = [Planned(CULPRIT, Standing.UNCLAIMED), Planned(GOOD, Standing.EXPECTED)]
    (stale,) = idle(plan, [waiver(), waiver(GOOD)], TODAY, lambda glob: [])
    assert stale.id == f"waivers/{CULPRIT}"
    assert "no case that is expected of this device matches" in stale.reason
    assert not list(idle(plan, [waiver()], TODAY, lambda glob: [Planned(glob, Standing.EXPECTED)]))


def test_waiver_of_any_number_of_ranks_has_cases(tmp_path):
    file = tmp_path / "waivers.toml"
    file.write_text(entry(cases='["collective/*/all_reduce/*", "collective/*/no_such/*"]', expires="2026-12-21"))
    found = survey(ep.device("cpu:0"), "quick", "waivers/*", file, TODAY)
    assert [planned.id for planned in found.plan] == ["waivers/collective/*/no_such/*"]


def test_waivers_are_told_of_for_a_month_before_they_end():
    days = {left: waiver(expires=TODAY + dt.timedelta(left)) for left in (-1, 0, 30, 31)}
    assert expiring(days.values(), TODAY) == (days[0], days[30])


@pytest.fixture
def waiving(toy):
    """The toy with a waivers.toml beside its claims."""

    def write(text=None):
        (toy.packages / "ep_toy" / "waivers.toml").write_text(entry() if text is None else text)
        return toy

    return write


def status_of(done, identity=CULPRIT):
    (case,) = [case for case in done.json["cases"] if case["id"] == identity]
    return case["status"]


def test_run_with_a_waived_failure_is_good_and_shows_it_everywhere(waiving):
    toy = waiving(entry(expires=f"{dt.datetime.now(dt.UTC).date() + dt.timedelta(3)}"))
    junit = toy.folder / "junit.xml"
    done = toy.run("toy", "--filter", RELU, "--junit", junit, EP_TOY="wrong")
    assert done.returncode == 0, done.stdout
    assert f"waived       {CULPRIT}" in done.stdout
    assert "adds one (kernels@toy.example, https://bugs.toy.example/7" in done.stdout
    assert "notice       waiver of" in done.stdout, "it ends in three days"
    assert "1 waived" in done.stdout.splitlines()[-1]
    assert done.json["summary"]["waived"] == done.json["summary"]["fail"] == 1
    (case,) = [case for case in done.json["cases"] if case["waiver"]]
    assert (case["id"], case["status"], case["waiver"]["owner"]) == (CULPRIT, "fail", "kernels@toy.example")
    (skipped,) = ET.parse(junit).getroot().iter("skipped")
    assert skipped.get("message").startswith("waived fail: adds one")


def test_run_with_a_waived_case_that_passes_fails(waiving):
    done = waiving().run("toy", "--filter", RELU)
    assert done.returncode == 1
    assert status_of(done) == "unexpected-pass"
    assert done.stdout.splitlines()[-1].startswith("FAIL (1 unexpected-pass)")


def test_waived_case_that_fails_only_once_is_flaky(waiving):
    done = waiving().run("toy", "--filter", RELU, EP_TOY="flaky")
    assert done.returncode == 1
    assert status_of(done) == "flaky"


def test_waived_case_that_passes_only_once_is_flaky(waiving):
    done = waiving().run("toy", "--filter", RELU, EP_TOY="flaky-later")
    assert done.returncode == 1
    assert status_of(done) == "flaky"
    (case,) = [case for case in done.json["cases"] if case["id"] == CULPRIT]
    assert "passed, and then alone: fail" in case["reason"]


def test_crash_is_not_waived_as_a_failure(waiving):
    done = waiving().run("toy", "--filter", RELU, "--jobs", 1, EP_TOY="crash")
    assert done.returncode == 1
    assert status_of(done) == "crash"


def test_stale_and_expired_entries_are_missing_whatever_the_filter(waiving):
    gone = "primitives/elementwise_unary/relo/*"
    text = entry(cases=f'["{gone}", "primitives/elementwise_unary/relu/*/size-1"]', expires="2999-01-01") + entry(
        expires="2026-01-01"
    )
    toy = waiving(text)
    done = toy.run("toy", "--filter", "waivers/*")
    assert {case["id"]: case["status"] for case in done.json["cases"]} == {
        f"waivers/{gone}": "missing",
        f"waivers/{CULPRIT}": "missing",
    }
    assert done.returncode == 1
    assert toy.run("toy", "--filter", GOOD).returncode == 0, "a filter chooses among waivers as well"


def test_file_of_the_command_line_takes_the_place_of_the_providers(waiving):
    toy = waiving("nonsense")
    done = toy.run("toy", "--filter", RELU)
    assert done.returncode == 3
    assert "waivers.toml cannot be read" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    file = toy.folder / "mine.toml"
    file.write_text(entry(cases=f'"{RELU}"', status='"crash"'))
    done = toy.run("toy", "--filter", CULPRIT, "--waivers", file, "--jobs", 1, EP_TOY="crash")
    assert done.returncode == 0, done.stdout
    assert toy.run("toy", "--waivers", toy.folder / "nowhere.toml").returncode == 2
