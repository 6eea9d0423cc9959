"""The bring-up ladder: every case has its rung, and a failing rung names the function to write or mend."""

import json
import subprocess
import sys

import pytest
from ep.plugin.capabilities import ABILITIES as NAMES
from ep_conformance.ladder import rungs
from ep_conformance.ladder.breadth import survey_breadth
from ep_conformance.ladder.contract import find_function
from ep_conformance.ladder.culprit import find_culprit
from ep_conformance.plan.planned import Planned, Standing
from ep_conformance.plan.survey import survey
from ep_conformance.runtime import runtime_cases

import ep

INIT = "import ep\n\n@ep.provider_hook\ndef ep_provider():\n    from ep_late.late import Late\n    return Late()\n"
LATE = """\
import ep

class LateStream(ep.spi.Stream):
    def copy(self, dst, src, nbytes):
        raise NotImplementedError("soon")

class LateDevice(ep.spi.Device):
    def allocate(self, nbytes, kind):
        return bytearray(nbytes)

class Late(ep.spi.Provider):
    def probe(self):
        pass
"""

WHOLE = """\
import ep

class LateStream(ep.spi.Stream):
    def copy(self, dst, src, nbytes):
        raise NotImplementedError("soon")

    def synchronize(self):
        pass

class LateDevice(ep.spi.Device):
    def allocate(self, nbytes, kind):
        return bytearray(nbytes)

    def free(self, handle, kind):
        pass

    def stream(self, ledger, *, priority, timed, synchronous):
        return LateStream(ledger, is_synchronous=True, is_timed=timed)

class Late(ep.spi.Provider):
    def probe(self):
        self.table = {}

    def devices(self):
        return [LateDevice(ep.DeviceInfo("Late", "EP"))]

    @property
    def implementations(self):
        return self.table
"""


SHARE = """
import sys
from ep_conformance.cli import run_command
from ep_conformance.ladder import climb

run = climb._run
climb._run = lambda plan, means: run(plan[::24], means)
sys.exit(run_command(sys.argv[1:]))
"""
"""A program that runs every 24th case of each rung, its first one at least."""


def table_of(toy, provider="toy", program=("-m", "ep_conformance"), **environment):
    """Run `next` and return its process, with what it wrote as `json`."""
    words = [sys.executable, *program, "next", "--provider", provider, "--json", toy.report]
    done = subprocess.run(
        words, env=toy.environment | environment, capture_output=True, text=True, timeout=toy.seconds, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    done.json = json.loads(toy.report.read_text()) if toy.report.exists() else None
    return done


def functions(done):
    return [(each["name"], each["place"]) for each in done.json["rungs"][-1]["functions"]]


def install(toy, code, manifest='name = "late"\nvendor = "EP"\nspi = "0.2"\nfork_safe = true\n'):
    package, info = toy.packages / "ep_late", toy.packages / "ep_late-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text(INIT)
    (package / "late.py").write_text(code)
    (package / "provider.toml").write_text(manifest)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ep-late\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ep.providers]\nlate = ep_late\n")


def test_every_runtime_case_stands_on_one_rung():
    numbers = {identity: rungs.rung_of(case).number for identity, case in runtime_cases().items()}
    assert set(numbers.values()) == set(range(8))
    optional = {identity for identity, case in runtime_cases().items() if case.optional}
    assert {numbers[identity] for identity in optional} == {6}
    assert all(numbers[identity] >= 4 for identity, case in runtime_cases().items() if case.kernels or case.needs)


def test_every_case_is_about_functions_that_ep_has():
    for identity in runtime_cases():
        assert rungs.functions_of(identity), identity
        for contract in rungs.functions_of(identity):
            found = find_function(contract, None)
            assert found.signature.startswith("def ")
            assert found.asks


def test_cases_with_a_rung_of_their_own_are_there():
    assert set(rungs._CASES) <= runtime_cases().keys()
    assert set(rungs._AREAS) == {identity.split("/")[1] for identity in runtime_cases()}


def test_every_ability_has_its_worth():
    assert sorted(ability.name for ability in rungs.ABILITIES) == sorted(NAMES)


def test_copy_is_the_simplest_family_because_it_brings_others():
    plan = [Planned("primitives/elementwise_unary/relu/float32/dense/one", Standing.EXPECTED)]
    breadth = survey_breadth(plan)
    assert breadth.served == ("elementwise_unary",)
    assert breadth.missing[0].family == "copy"
    assert {"permute", "tensor_fill"} <= set(breadth.missing[0].unlocks)
    assert "permute" not in {missing.family for missing in breadth.missing}


def test_broad_provider_lacks_no_family():
    assert survey_breadth(survey(ep.device("cpu:0"), "quick", "primitives/*/dense/*").plan).missing == ()


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("ValueError: no [stream.py:6 helper < stream.py:3 copy < verbs.py:32 upload]", "S.copy"),
        ("ValueError: no [stream.py:6 helper < case.py:3 body]", "helper"),
        ('Fatal\n  File "{0}/stream.py", line 6 in helper\n  File "{0}/stream.py", line 3 in copy', "S.copy"),
        ('(most recent call last):\n  File "{0}/stream.py", line 3, in copy\n  File "/x.py", line 1, in f', "S.copy"),
        ("TypeError: S.copy returned 3, needs nothing [verbs.py:32 upload]", "S.copy"),
        ("TypeError: T.copy returned 3, needs nothing [verbs.py:32 upload]", None),
        ("memory[3] == 0x00, needed 0x01", None),
        ("ValueError: of another file [stream.py:30 upload < stream.py:3 upload]", None),
    ],
)
def test_culprit_is_what_ep_asked_for_else_the_innermost(tmp_path, reason, name):
    (tmp_path / "stream.py").write_text(
        "class S:\n    def copy(self):\n        helper()\n\ndef helper():\n    raise ValueError\n"
    )
    found = find_culprit([reason.format(tmp_path)], tmp_path)
    assert (found and found.name) == name
    if name == "S.copy":
        assert found.contract == "Stream.copy"
        assert "Enqueue a copy" in found.asks
        assert found.place.endswith("stream.py:2" if "returned" in reason else "stream.py:3")


def test_failing_copies_stop_at_rung_1_and_name_the_copy(toy):
    done = table_of(toy, EP_TOY="deaf")
    assert done.returncode == 1
    assert done.json["failed"] == done.json["next"] == 1
    assert [rung["state"] for rung in done.json["rungs"]] == ["holds", "fails"]
    assert [name for name, _ in functions(done)] == ["ToyStream.copy"]
    assert "mend ToyStream.copy in ep_toy/provider.py:" in done.stdout
    assert "Then: ep-conformance next --provider toy" in done.stdout


@pytest.mark.parametrize(
    "program",
    [("-c", SHARE), pytest.param(("-m", "ep_conformance"), marks=pytest.mark.thorough)],
    ids=["share", "whole"],
)
def test_good_provider_reaches_the_top_and_hears_what_is_worthwhile(toy, program):
    done = table_of(toy, program=program)
    assert done.returncode == 0
    assert done.json["failed"] is None
    states = {rung["rung"]: rung["state"] for rung in done.json["rungs"]}
    assert states == {
        0: "holds",
        1: "holds",
        2: "holds",
        3: "holds",
        4: "holds",
        5: "open",
        6: "open",
        7: "holds",
        8: "open",
    }
    assert done.json["rungs"][5]["command"] == "ep-conformance claims --provider toy --write"
    assert done.json["rungs"][6]["functions"][0]["name"] == "ToyDevice.stream"
    assert "copy, which brings" in done.json["rungs"][8]["what"]


def test_missing_methods_are_named_all_at_once(toy):
    install(toy, LATE)
    done = table_of(toy, "late")
    assert done.returncode == 1
    assert done.json["failed"] == 0
    missing = {
        "Late.devices",
        "Late.implementations",
        "LateDevice.free",
        "LateDevice.stream",
        "LateStream.synchronize",
    }
    assert {name for name, _ in functions(done)} == missing
    assert {place for _, place in functions(done)} == {"ep_late/late.py"}
    assert "write LateStream.synchronize in ep_late/late.py" in done.stdout


def test_function_that_is_to_be_written_is_found_though_the_table_needs_the_probe(toy):
    install(toy, WHOLE)
    done = table_of(toy, "late")
    assert done.returncode == 1
    assert done.json["failed"] == 1
    assert functions(done) == [("LateStream.copy", "ep_late/late.py:5")]


def test_provider_that_raises_at_import_is_shown_where(toy):
    install(toy, "def soon():\n    raise OSError('libvendor.so: no such file')\n\nsoon()\n")
    done = table_of(toy, "late")
    assert done.returncode == 1
    assert functions(done) == [("soon", "ep_late/late.py:2")]
    assert "libvendor.so: no such file" in done.stdout


def test_wrong_spi_is_rung_0(toy):
    install(toy, LATE, 'name = "late"\nvendor = "EP"\nspi = "7.0"\nfork_safe = true\n')
    done = table_of(toy, "late")
    assert done.returncode == 1
    assert "written for spi 7.0" in done.stdout


def test_package_that_dies_while_probed_is_rung_0(toy):
    done = table_of(toy, EP_TOY="aborts")
    assert done.returncode == 1
    assert "SIGABRT" in done.stdout
    assert functions(done)[0][0] == "ToyProvider.probe"


def test_absent_hardware_is_exit_3_and_an_unknown_name_exit_2(toy):
    done = table_of(toy, EP_TOY="unavailable")
    assert done.returncode == 3
    assert "no toy is plugged in" in done.stderr
    done = table_of(toy, "nonesuch")
    assert done.returncode == 2
    assert '[project.entry-points."ep.providers"]' in done.stderr
