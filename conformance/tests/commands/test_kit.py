"""`ep-conformance new`: what it writes is clean, installs, and passes the mandatory runtime cases at once."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ep_conformance import SUITE
from ep_conformance.kit import STYLES, check_name, render

ROOT = Path(__file__).resolve().parents[3]
NAMES = ["acme", "my_chip2", "a_very_long_name_of_exactly_40_letters_a"]
SENTENCES = {
    "Acme": "lower-case word",
    "2fast": "lower-case word",
    "my-chip": "lower-case word",
    "my__chip": "lower-case word",
    "with": "no keyword of Python",
    "a" * 41: "at most 40",
    "../acme": "lower-case word",
    "cpu": "a provider cpu is installed already, by execution-provider",
    "simt": "a package ep_simt is installed already",
}


def new(command, *words, cwd):
    done = subprocess.run(
        command.arguments("new", *words), env=command.environment, capture_output=True, text=True, check=False, cwd=cwd
    )
    assert "Traceback" not in done.stderr
    return done


def written(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def tool(name, *words, cwd):
    """Run a program that is installed beside Python."""
    done = subprocess.run(
        [Path(sys.executable).with_name(name), *words], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def package(command, request):
    """The folder of a new package that is installed where the command finds it."""
    pytest.importorskip("setuptools", minversion="70.1")
    name, style = request.param
    done = new(command, name, "--style", style, cwd=command.folder)
    assert done.returncode == 0, done.stderr
    target = ["--no-deps", "--no-build-isolation", "--target", str(command.packages)]
    tool("pip", "install", "--quiet", "--disable-pip-version-check", *target, f"./{name}", cwd=command.folder)
    return command.folder / name


compiler = pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler is here")


def judged(command, package, pattern):
    """Return the verdicts of the cases that a pattern chooses, by case."""
    done = command.run(package.name, "--filter", pattern)
    assert done.returncode == 0, done.stdout
    assert done.json["summary"]["pass"] == done.json["summary"]["expected"]
    return {case["id"]: case for case in done.json["cases"]}


@pytest.mark.parametrize("package", [("my_chip2", "python")], indirect=True)
def test_python_package_passes_at_once(command, package):
    assert len(judged(command, package, "runtime/[a-f]*")) > 80
    assert "def test_my_chip2_means_what_ep_says" in (package / "tests/test_my_chip2.py").read_text()


@compiler
@pytest.mark.parametrize("package", [("acme", "native")], indirect=True)
def test_native_package_passes_at_once_and_its_driver_does_the_work(command, package):
    assert len(judged(command, package, "runtime/[a-f]*")) > 80
    relu = "primitives/elementwise_unary/relu/float32/dense/special-values"
    assert judged(command, package, relu)[relu]["attested"] == "native"


@pytest.mark.thorough
@compiler
@pytest.mark.parametrize(
    ("package", "pattern"),
    [
        (("my_chip2", "python"), "runtime/*"),
        (("acme", "native"), "*"),
        (("acme", "simt"), "runtime/*"),
        (("acme", "simt"), "primitives/[lms][ao][ytf][etm]*/*/float32*/*"),
    ],
    indirect=["package"],
)
def test_package_passes_all_at_once(command, package, pattern):
    """Of a portable package's kernels those that the everyday test tries dense: norms, products, softmax."""
    assert len(judged(command, package, pattern)) > 150


@compiler
@pytest.mark.parametrize("package", [("acme", "simt")], indirect=True)
def test_simt_package_passes_at_once_and_claims_what_it_has(command, package):
    assert len(judged(command, package, "runtime/[gm]*")) > 20
    halves = judged(command, package, "primitives/cast/-/float16->*32/dense/*")
    assert "primitives/cast/-/float16->float32/dense/exhaustive-16bit" in halves
    assert judged(command, package, "primitives/top_k/*/float16*/dense/*")
    found = judged(command, package, "primitives/[lms][ao][ytf][etm]*/*/float32*/dense/*")
    assert {identity.split("/")[1] for identity in found} == {"layer_norm", "matmul", "softmax", "softmax_backward"}
    environment = command.environment
    shown = subprocess.run(
        [sys.executable, "-m", "ep.cli", "capabilities", "--provider", "acme", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [row for row in json.loads(shown.stdout) if row["family"] != "runtime"]
    assert rows
    assert all(row["claimed"] == (row["how"] in ("native", "lowered")) for row in rows)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NAMES)
def test_texts_are_clean_by_the_rules_of_this_repository(tmp_path, name, style):
    check_name(name)
    for path, text in render(name, style).items():
        assert not re.search(r"{{ \w+ }}|{%", text)
        assert "NAME" not in path
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    rules = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    tool("ruff", "check", *rules, "--ignore", "INP001", ".", cwd=tmp_path)  # setup.py is no package's, like any script
    tool("ruff", "format", "--check", *rules, ".", cwd=tmp_path)
    native = [str(path) for suffix in ("cpp", "h") for path in tmp_path.rglob(f"*.{suffix}")]
    if native:
        shutil.copy(ROOT / ".clang-format", tmp_path)
        tool("clang-format", "--dry-run", "--Werror", *native, cwd=tmp_path)
    assert tomllib.loads((tmp_path / f"ep_{name}/claims.toml").read_text())["suite"] == SUITE
    assert tomllib.loads((tmp_path / f"ep_{name}/provider.toml").read_text())["name"] == name
    assert tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]["entry-points"]["ep.providers"] == {
        name: f"ep_{name}"
    }


@pytest.fixture(scope="module")
def typed_before(tmp_path_factory):
    """What mypy keeps of NumPy and EP."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("style", STYLES)
def test_texts_are_typed(tmp_path, typed_before, style):
    for path, text in render("acme", style).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    tool("mypy", "--strict", "--cache-dir", str(typed_before), "-p", "ep_acme", cwd=tmp_path)


def test_what_was_written_and_what_is_next_are_printed(command):
    done = new(command, "acme", cwd=command.folder)
    wrote = {line.removeprefix("wrote acme/") for line in done.stdout.splitlines() if line.startswith("wrote ")}
    assert wrote == written(command.folder / "acme")
    assert "\n  pip install --editable './acme[test]'\n  ep doctor\n  ep-conformance run --provider acme" in done.stdout


@pytest.mark.parametrize("name", SENTENCES)
def test_name_that_no_provider_can_have_is_refused_in_a_sentence(command, name):
    done = new(command, name, cwd=command.folder)
    assert done.returncode == 2
    assert SENTENCES[name] in done.stderr
    assert {entry.name for entry in command.folder.iterdir()} == {"cache"}


def test_nothing_is_overwritten(command):
    kept = command.folder / "acme/ep_acme/device.py"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    done = new(command, "acme", cwd=command.folder)
    assert done.returncode == 2
    assert "acme has ep_acme/device.py already, and nothing is overwritten" in done.stderr
    assert kept.read_text() == "mine"
    assert written(command.folder) == {"acme/ep_acme/device.py"}
    elsewhere = new(command, "acme", "--folder", "other/place", cwd=command.folder)
    assert elsewhere.returncode == 0
    assert (command.folder / "other/place/ep_acme/device.py").is_file()
    assert "pip install --editable './other/place[test]'" in elsewhere.stdout


def test_folder_that_cannot_be_written_is_named(command):
    (command.folder / "file").write_text("")
    done = new(command, "acme", "--folder", "file/acme", cwd=command.folder)
    assert done.returncode == 2
    assert "cannot write file/acme" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_folder_without_permission_is_named(command):
    command.folder.chmod(0o500)
    done = new(command, "acme", cwd=command.folder)
    command.folder.chmod(0o700)
    assert done.returncode == 2
    assert "Permission denied" in done.stderr


def test_nothing_stays_of_a_package_that_did_not_fit(command, tmp_path):
    done = command.on_a_full_disk("new", "acme", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert written(tmp_path / "acme") == set()
    assert new(command, "acme", cwd=tmp_path).returncode == 0
