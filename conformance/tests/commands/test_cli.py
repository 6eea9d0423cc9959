"""The command line: exit codes, sentences in place of tracebacks, files."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from ep.plugin.claims import read_claims
from ep_conformance import __main__
from ep_conformance.report.schema import problems

UNARY = "primitives/elementwise_unary/[er]*/float32/*"
RELU = "primitives/elementwise_unary/relu/float32/dense/*"


def assert_one_line(done, code):
    assert done.returncode == code
    assert "Traceback" not in done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    return line


def test_unknown_provider_is_exit_2_and_names_the_known(toy):
    line = assert_one_line(toy.run("nonesuch"), 2)
    assert "unknown provider 'nonesuch'" in line
    assert "cpu" in line
    assert "toy" in line


def test_unavailable_provider_is_exit_3_with_its_reason(toy):
    assert "no toy is plugged in" in assert_one_line(toy.run("toy", EP_TOY="unavailable"), 3)


def test_broken_provider_is_exit_3_with_its_reason(toy):
    assert "the vendor's library is of another year" in assert_one_line(toy.run("toy", EP_TOY="broken"), 3)


def test_claim_of_the_command_line_counts_as_one_of_the_file(toy):
    within = ("--filter", "primitives/elementwise_unary/*/float32/rank0/*")
    assert toy.run("toy", *within).json["summary"]["expected"] == 0
    claims = [word for op in ("relu", "exp") for word in ("--claim", f"elementwise_unary/{op}/float32/rank0")]
    done = toy.run("toy", *within, *claims)
    assert done.returncode == 1
    counted = {case["id"].split("/")[2]: case for case in done.json["cases"] if case["status"] != "unsupported"}
    assert {op: case["status"] for op, case in counted.items()} == {"relu": "pass", "exp": "fail"}
    assert "claimed, but unsupported" in counted["exp"]["reason"]


def test_claim_of_the_command_line_that_matches_nothing_is_exit_2(toy):
    words = ("--claim", "elementwise_unary/relo/*/*", "--filter", RELU)
    assert "'elementwise_unary/relo/*/*' matches no cell of this run" in assert_one_line(toy.run("toy", *words), 2)


def test_missing_device_is_exit_3(toy):
    assert "toy:5" in assert_one_line(toy.run("toy", "--device", 5), 3)


def test_provider_switched_off_is_exit_3_and_says_by_what(toy):
    assert "EP_DISABLE=toy" in assert_one_line(toy.run("toy", EP_DISABLE="toy"), 3)


def test_wrong_claims_are_exit_3_and_say_where(toy):
    (toy.packages / "ep_toy" / "claims.toml").write_text('suite = "1.0"\n[[claim]]\ncells = "relu"\n')
    assert "claims.toml: claim 1" in assert_one_line(toy.run("toy"), 3)


@pytest.mark.parametrize(
    "words",
    [
        ("--profile", "huge"),
        ("--jobs", "0"),
        ("--no-such-option",),
        ("--seed", "x"),
        ("--filter", "runtime/* collective/4/*"),
    ],
)
def test_wrong_use_is_exit_2(toy, words):
    done = toy.run("toy", *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


def test_report_into_no_folder_is_exit_2_before_the_run(toy):
    done = toy("run", "--provider", "toy", "--json", toy.folder / "nowhere" / "report.json")
    assert "folder does not exist" in assert_one_line(done, 2)


def test_filter_that_matches_nothing_fails(toy):
    done = toy.run("toy", "--filter", "nothing/like/this")
    assert done.returncode == 1
    assert "no case was expected" in done.stdout


def test_missing_extra_is_one_line_and_exit_2(monkeypatch, capsys):
    monkeypatch.setattr(__main__.importlib.util, "find_spec", lambda name: None if name == "scipy" else object())
    monkeypatch.setattr(__main__.signal, "signal", lambda *_: None)  # it ends deaf, and this process goes on
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        "ep-conformance needs its extra: pip install 'execution-provider[conformance]'"
    ]


def test_list_prints_ids_alone(command):
    done = command("list", "--profile", "quick", "--filter", "*/event/*", "--filter", "runtime/fill/*")
    assert done.returncode == 0
    assert {"runtime/event/wait-orders-kernels", "runtime/fill/pattern-of-1-byte"} <= {*done.stdout.splitlines()}
    assert all(line.startswith(("runtime/event/", "runtime/fill/")) for line in done.stdout.splitlines())
    assert command("list", "--filter", "nothing").returncode == 1


def test_explain_says_what_a_case_checks(command):
    done = command("explain", "runtime/event/wait-orders-kernels")
    assert done.returncode == 0
    assert "reads the other stream's earlier write" in done.stdout
    done = command("explain", "primitives/elementwise_unary/exp/float32/strided/transposed")
    assert "3 ulp" in done.stdout
    assert_one_line(command("explain", "primitives/nonsense"), 2)


def test_failed_runs_what_failed_last(toy):
    toy.run("toy", "--filter", RELU, EP_TOY="wrong")
    done = toy.run("toy", "--failed", "--filter", UNARY, EP_TOY="wrong")
    assert [case["id"] for case in done.json["cases"]] == ["primitives/elementwise_unary/relu/float32/dense/size-17"]
    assert done.returncode == 1
    others = toy.run("toy", "--failed", "--filter", "*/relu/float32/dense/size-1", "--html", toy.folder / "page.html")
    assert "1 cases failed in the last run of toy:0, and this profile and --filter choose none" in assert_one_line(
        others, 2
    )
    assert (others.json, (toy.folder / "page.html").exists()) == (None, False)
    assert toy.run("toy", "--failed", "--filter", UNARY).returncode == 0
    done = toy.run("toy", "--failed", "--filter", UNARY)
    assert done.returncode == 0
    assert "nothing failed in the last run" in done.stdout


def test_failed_of_a_device_that_never_ran_is_exit_2(toy):
    assert "no run of toy:0 is known" in assert_one_line(toy.run("toy", "--failed"), 2)


def test_seed_changes_the_data_and_repeats_it(toy):
    def reasons(seed):
        return [
            case["reason"] for case in toy.run("toy", "--filter", RELU, "--seed", seed, EP_TOY="wrong").json["cases"]
        ]

    assert reasons(1) == reasons(1) != reasons(2)


def test_junit_is_written(toy):
    file = toy.folder / "junit.xml"
    toy.run("toy", "--filter", RELU, "--junit", file, EP_TOY="wrong")
    suite = ET.parse(file).getroot().find("testsuite")
    assert suite.get("failures") == "1"
    assert int(suite.get("tests")) > 3


def test_claims_cover_what_passes_and_nothing_else(toy):
    file = toy.folder / "claims.toml"
    for part in ("runtime/ability/*", "primitives/elementwise_unary/[er]*/float32/*"):
        words = ("--profile", "quick", "--filter", part, "--write", file)
        done = toy("claims", "--provider", "toy", *words, EP_TOY="wrong")
        assert done.returncode == 0, done.stderr
        assert "claimed, but unsupported" not in done.stdout, "nobody claimed it"
    claims = read_claims(file)
    assert claims.covers("elementwise_unary/relu/float32/strided", "1.0", ())
    assert not claims.covers("elementwise_unary/relu/float32/dense", "1.0", ())  # size 17 is wrong
    assert not claims.covers("elementwise_unary/exp/float32/strided", "1.0", ())
    assert not claims.covers("runtime/ability/fill", "1.0", ())
    (toy.packages / "ep_toy" / "claims.toml").write_text(file.read_text())
    assert toy.run("toy", "--filter", UNARY, EP_TOY="wrong").returncode == 0


def test_claims_are_never_written_into_an_installed_package(toy):
    file = Path(sysconfig.get_path("purelib")) / "ep_toy_claims.toml"
    assert "installed package" in assert_one_line(toy("claims", "--provider", "toy", "--write", file), 2)
    assert not file.exists()


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_is_130_and_leaves_a_valid_partial_report(toy):
    words = ("run", "--provider", "toy", "--filter", RELU, "--json", toy.report, "--jobs", 1)
    process = subprocess.Popen(
        toy.arguments(*words), env=toy.environment | {"EP_TOY": "hang"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    assert "about" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert "INTERRUPTED" in out
    table = json.loads(toy.report.read_text())
    assert [*problems(table)] == []
    assert table["interrupted"] is True
    assert table["summary"]["missing"] > 0
    assert table["summary"]["expected"] == len(table["cases"])


@pytest.mark.usefixtures("_interruptible")
def test_second_ctrl_c_is_130_as_well(toy):
    process = subprocess.Popen(
        toy.arguments("run", "--provider", "toy", "--filter", RELU), env=toy.environment | {"EP_TOY": "hang"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert "about" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in out + err


def test_abort_while_probed_is_exit_3_in_one_line(toy):
    line = assert_one_line(toy.run("toy", EP_TOY="aborts"), 3)
    assert "SIGABRT" in line


def test_module_and_script_are_one_command():
    script = Path(sys.executable).with_name("ep-conformance")
    done = subprocess.run([script, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "130" in done.stdout
