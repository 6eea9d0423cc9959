"""The published schema: it describes every report, knows every field and status, and refuses what is broken."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import samples
from ep_conformance.judge.outcome import Status
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.report.report import Report, report_of
from ep_conformance.report.schema import problems, read_schema
from ep_conformance.run.record import record
from jsonschema import Draft202012Validator

import ep

SCHEMA = read_schema()
LATER = {"every", "shard", "bits", "bits_of", "ran", "implementations"}
"""Fields that reports of earlier suites have not."""

WHOLE = json.loads(json.dumps(samples.every_kind().as_json()))


def parts(schema, path="$"):
    """Yield every part of the schema that describes a value, with its place."""
    yield path, schema
    for name, part in schema.get("properties", {}).items():
        yield from parts(part, f"{path}.{name}")
    for name, part in schema.get("$defs", {}).items():
        yield from parts(part, f"{path}#{name}")


def test_schema_is_one_of_draft_2020_12():
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(SCHEMA)


def test_every_field_is_described_needed_and_nothing_else_allowed():
    for path, part in parts(SCHEMA):
        assert part.get("description", "").endswith("."), path
        if "properties" in part:
            assert part["additionalProperties"] is False, path
            needed = part["required"] + [name for name in part["properties"] if name in LATER]
            assert sorted(needed) == sorted(part["properties"]), path


def test_schema_knows_what_the_suite_says_and_no_more():
    properties, defs = SCHEMA["properties"], SCHEMA["$defs"]
    assert set(properties) == set(WHOLE)
    assert set(defs["case"]["properties"]) == set(record(samples.every_kind().verdicts[0]))
    assert defs["status"]["enum"] == [str(status) for status in Status]
    assert all(f"{status}: " in defs["status"]["description"] for status in Status)
    assert set(properties["summary"]["properties"]) == {"expected", "waived", *(status.key for status in Status)}
    assert set(properties["device"]["properties"]) == {*ep.DeviceInfo._fields, "model", "implementations"}
    assert properties["profile"]["enum"] == [*PROFILES]
    assert set(properties["bits"]["properties"]) == set(WHOLE["bits"])
    waived = next(case["waiver"] for case in WHOLE["cases"] if case["waiver"])
    assert set(defs["waiver"]["properties"]) == set(waived)
    first = next(case["first"] for case in WHOLE["cases"] if case["first"])
    assert set(defs["first"]["properties"]) == set(first)


@pytest.mark.parametrize(
    "report",
    [
        samples.every_kind(),
        samples.report(),
        replace(samples.every_kind(), interrupted=True, pattern="*", peak_memory=None),
        samples.large(50),
    ],
    ids=["every kind", "empty", "interrupted", "large"],
)
def test_every_report_is_valid(report: Report):
    assert [*problems(json.loads(json.dumps(report.as_json())))] == []


def change(path, value):
    """Return the whole report with one value changed; a value of `...` is left out."""
    table = json.loads(json.dumps(WHOLE))
    *way, last = path
    inner = table
    for step in way:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return table


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *(((name,), ...) for name in WHOLE.keys() - LATER),
        *((("cases", 0, name), ...) for name in WHOLE["cases"][0].keys() - LATER),
        *((("bits", name), ...) for name in WHOLE["bits"]),
        *((("summary", name), ...) for name in WHOLE["summary"]),
        (("more",), 1),
        (("cases", 0, "more"), 1),
        (("summary", "good"), 1),
        (("device", "uuid"), ""),
        (("environment", "user"), "x"),
        (("environment", "variables"), {"HOME": "x"}),
        (("schema",), 1),
        (("suite",), "one"),
        (("started",), "yesterday"),
        (("jobs",), 0),
        (("exit_code",), 7),
        (("profile",), "huge"),
        (("seed",), "0"),
        (("peak_memory",), 1.5),
        (("summary", "pass"), -1),
        (("cases", 0, "status"), "good"),
        (("cases", 0, "status"), "device_lost"),
        (("cases", 0, "margin"), "large"),
        (("cases", 0, "margin"), -0.5),
        (("cases", 0, "counts"), 1),
        (("cases", 0, "attested"), "yes"),
        (("cases", 0, "degraded"), "fill"),
        (("cases", 0, "id"), ""),
        (("cases", 0, "reason"), None),
        (("cases", 0, "first"), {"status": "fail"}),
        (("cases", 0, "bits"), True),
        (("bits", "compared"), -1),
        (("cases", 0, "waiver"), {"reason": "x"}),
        (("cases",), {}),
    ],
)
def test_broken_report_is_refused_with_its_place(path, value):
    (line,) = problems(change(path, value))
    name = path[-1]
    assert str(name) in line or str(value) in line
    assert line.startswith("$")


def test_reports_from_before_bits_were_compared_are_valid_and_read():
    table = json.loads(json.dumps(samples.every_kind().as_json()))
    for part in (table, *table["cases"]):
        for name in LATER & part.keys():
            del part[name]
    assert [*problems(table)] == []
    assert report_of(table).bits is None


def test_waiver_without_a_day_is_refused():
    at = next(at for at, case in enumerate(WHOLE["cases"]) if case["waiver"])
    assert [*problems(change(("cases", at, "waiver", "expires"), "soon"))]


def test_schema_lies_in_the_package():
    code = "from ep_conformance.report.schema import read_schema; print(read_schema()['title'])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Report of ep-conformance, schema 2\n"
