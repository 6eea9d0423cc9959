"""A stranger's package, installed beside EP's wheel into a fresh environment, and run there.

What the wheel says that it needs is lent by the tests' own environment, and nothing else: a need that it does not declare is
missed there, and nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["ep", "ep_primitives", "ep_cpu", "ep_simt", "ep_opencl", "ep_conformance", "ep_benchmarks"]
IMPORT_ROOMS = f"import {', '.join(ROOMS)}; print([m.__file__ for m in ({', '.join(ROOMS)},)])"


class Environment:
    """A virtual environment with the wheel of this tree and the acme package."""

    def __init__(self, folder):
        self.bin = folder / "bin"
        venv.create(folder)
        (self.site,) = folder.glob("lib/python*/site-packages")
        self.lent = set()

    def install(self, *packages):
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "--disable-pip-version-check"]
        offline = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
        subprocess.run([*pip, "install", *offline, *packages], check=True, timeout=600)

    def lend(self, needed):
        """Put a distribution, and what it declares to need, into the environment."""
        wanted = Requirement(needed)
        if (wanted.name, *wanted.extras) in self.lent:
            return
        self.lent.add((wanted.name, *wanted.extras))
        found = distribution(wanted.name)
        if wanted.name != "execution-provider":  # that is the wheel's
            for name in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
                if not (self.site / name).exists():
                    (self.site / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
        for text in found.requires or ():
            marker = Requirement(text).marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in (wanted.extras or {""})):
                self.lend(text.partition(";")[0])

    def run(self, program, *arguments, cwd=ROOT, code=0, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("EP_", "PYTHON"))}
        done = subprocess.run(
            [str(self.bin / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            env={**environment, "COLUMNS": "200", **variables},
            timeout=600,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    made = Environment(tmp_path_factory.mktemp("fresh"))
    wheel = subprocess.run(
        [sys.executable, str(ROOT / "tools"), "wheel"], capture_output=True, text=True, check=True, timeout=600
    ).stdout.strip()
    acme = tmp_path_factory.mktemp("acme") / "ep_acme"
    subprocess.run(["cp", "-r", str(ROOT / "examples/ep_acme"), str(acme)], check=True)
    made.lend("execution-provider[conformance]")
    made.lend("setuptools")
    made.install(wheel, str(acme))
    return made


def test_wheel_imports_every_room_from_the_repository_root(environment):
    shown = environment.run("python", "-c", IMPORT_ROOMS)
    assert shown.count("site-packages") == len(ROOMS)


def test_editable_install_imports_every_room_from_the_repository_root():
    done = subprocess.run([sys.executable, "-c", IMPORT_ROOMS], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.count("__init__.py") == len(ROOMS)


def test_doctor_sees_the_stranger_beside_the_others(environment):
    shown = environment.run("ep", "doctor")
    assert "device acme:0" in shown
    assert "device cpu:0" in shown
    # PoCL comes with an extra that was not installed: the provider says so and harms nobody.
    assert "unavailable" in shown


@pytest.mark.parametrize(
    "filters",
    [("vendor/acme/*", "primitives/copy/-/float32/*[!f]???"), pytest.param(("*",), marks=pytest.mark.thorough)],
)
def test_stranger_passes_its_claims(environment, tmp_path, filters):
    """Its own every day, and copies of float32, but for those launched often, which take Python long; the vendor kit's first package
    is tried with those of the runtime."""
    cases = [case for each in filters for case in judged(environment, tmp_path / "report.json", each)]
    own = {case["id"]: case["status"] for case in cases if case["id"].startswith("vendor/")}
    assert own == {"vendor/acme/verbs-are-done-when-they-return": "pass", "vendor/acme/squares-beyond-float32": "pass"}
    assert len(cases) > 30
    assert {case["attested"] for case in cases} <= {"attested", "no"}


def judged(environment, report, cases):
    """Return the verdicts of the claimed cases that a filter lets through: all pass."""
    words = ("--provider", "acme", "--quick", "--claimed-only", "--filter", cases, "--json", str(report))
    patience = ("--hang-limit", "120")  # a large copy in Python, and other tests beside it
    environment.run("ep-conformance", "run", *words, *patience)
    table = json.loads(report.read_text())
    passed = [case for case in table["cases"] if case["status"] == "pass"]
    assert len(passed) == table["summary"]["expected"] > 0
    return passed


def test_stranger_is_timed_with_its_own_familys_sample(environment, tmp_path):
    words = ("--provider", "acme", "--filter", "rms_norm/*", "--filter", "matmul/*/64", "--rounds", "3")
    page = tmp_path / "page.html"
    shown = environment.run("ep-bench", "run", *words, "--html", str(page))
    assert "rms_norm 64x64" in shown
    assert "1 samples measured, 4 unsupported; all results agree" in shown
    assert "rms_norm 64x64" in page.read_text()


def test_must_methods_alone_are_marked_degraded(environment):
    rows = json.loads(environment.run("ep", "capabilities", "--provider", "acme", "--json"))
    how = {row["layout"]: row["how"] for row in rows if row["family"] == "runtime"}
    assert how["fill"] == how["event"] == how["wait"] == "degraded"
    assert {row["how"] for row in rows if row["family"] == "copy"} == {"native"}


def test_broken_claim_of_a_stranger_fails_the_run(environment, tmp_path):
    claims = next(environment.bin.parent.glob("lib/python*/site-packages/ep_acme/claims.toml"))
    before = claims.read_text()
    try:
        claims.write_text(before + '\n[[claim]]\ncells = "elementwise_unary/exp/float32/dense"\n')
        shown = environment.run(
            "ep-conformance", "run", "--provider", "acme", "--quick", "--filter", "*/exp/float32/dense/*", code=1
        )
        assert "relu, negative on float32 are done" in shown
    finally:
        claims.write_text(before)
