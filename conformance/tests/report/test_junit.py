"""JUnit XML as Jenkins, GitLab and the actions of GitHub read it."""

import re
from xml.etree import ElementTree as ET

import pytest
import samples
from ep_conformance.judge.outcome import Status
from ep_conformance.report.junit import write_junit
from ep_conformance.run.verdict import First

# What junit-10.xsd of Jenkins' xUnit plug-in allows.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError"},
}
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped", "timestamp"},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname"},
}
SAID = {"type", "message"}


def written(report, folder):
    write_junit(report, folder / "junit.xml")
    return ET.parse(folder / "junit.xml").getroot()


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return written(samples.every_kind(), tmp_path_factory.mktemp("junit"))


def found(tree, name):
    (case,) = [case for case in tree.iter("testcase") if case.get("name") == name]
    return case


def test_it_is_what_the_schema_of_jenkins_allows(tree):
    for element in tree.iter():
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set()), element.tag
        assert set(element.attrib) <= ATTRIBUTES.get(element.tag, SAID), element.tag
    for element in tree.iter("testsuite"):
        assert {"name", "tests", "failures", "errors"} <= set(element.attrib)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", element.get("timestamp"))
        assert element[0].tag == "properties"
    for element in tree.iter():
        assert re.fullmatch(r"\d*(\.\d*)?", element.get("time", ""))
        if element.tag.startswith(("rerun", "flaky")):
            assert element.get("type")


def test_counts_are_of_what_is_there(tree):
    suite = tree.find("testsuite")
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", None)):
        cases = [case for case in suite.iter("testcase") if tag is None or case.find(tag) is not None]
        assert int(suite.get(name)) == len(cases) > 0
    assert suite.get("tests") == tree.get("tests")


def test_no_two_cases_are_one_to_a_reader(tree):
    names = [(case.get("classname"), case.get("name")) for case in tree.iter("testcase")]
    assert len(set(names)) == len(names) == len(samples.every_kind().verdicts)


def test_no_case_is_said_to_be_two_things(tree):
    for case in tree.iter("testcase"):
        assert sum(child.tag in {"failure", "error", "skipped"} for child in case) <= 1


def test_environment_is_in_properties(tree):
    found = {each.get("name"): each.get("value") for each in tree.iter("property")}
    assert found["device.model"] == "Abacus | Two"
    assert found["environment.numpy"] == "2.1"
    assert found["environment.EP_CPU_THREADS"] == "2"
    assert found["exit_code"] == "1"
    assert (found["profile"], found["seed"], found["jobs"]) == ("quick", "7", "2")


def test_waived_is_skipped_with_who_answers_for_it(tree):
    skipped = found(tree, "known").find("skipped")
    for words in ("waived fail", "sums truncate", "@numerics", "https://tracker.example/17", "2027-03-01"):
        assert words in skipped.get("message")
    assert skipped.text == "as ever"


def test_crashes_hangs_and_missing_are_errors(tree):
    for name in ("crash", "hang", "device-lost", "missing"):
        assert found(tree, name).find("error").get("type") == name
    for name in ("fail", "mistrusted", "flaky", "unexpected-pass"):
        assert found(tree, name).find("failure").get("type") == name


def test_first_try_is_told(tmp_path):
    def first(status):
        return samples.verdict(str(status), status, "why", first=First(Status.CRASH, "signal 6"))

    tree = written(samples.report(first(Status.FLAKY), first(Status.FAIL)), tmp_path)
    flaky, fail = tree.iter("testcase")
    assert (flaky.find("flakyError").get("type"), flaky.find("failure").get("type")) == ("crash", "flaky")
    assert fail.find("rerunError").text == "signal 6"


def test_text_that_xml_cannot_hold_is_replaced(tree):
    failure = found(tree, "far").find("failure")
    assert failure.text == samples.ATTACK.replace("\x00", "?").replace("\x1b", "?").replace("\ud800", "?")
    assert "\n" not in failure.get("message")
    assert len(failure.get("message")) <= 200


def test_hundred_thousand_cases_are_less_than_gitlab_takes(tmp_path):
    write_junit(samples.large(20_000), tmp_path / "junit.xml")
    assert (tmp_path / "junit.xml").stat().st_size * 5 < 30_000_000
